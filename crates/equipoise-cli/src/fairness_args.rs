//! `--fairness` and `--nu`, shared by every command with a fairness setting.

use anyhow::bail;
use clap::Args;
use equipoise_core::{Choice, Criterion, Fairness};

use crate::choice_args::choice;
use crate::commands::setting::name_the_option;

/// The requested fairness.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct FairnessArgs {
    /// Fairness criterion
    #[arg(long, value_parser = choice::<Criterion>(), value_name = "CRITERION")]
    fairness: Criterion,
    /// Share of equal opportunity in the combined criterion, ν, from 0 to 1; required with `--fairness both`
    #[arg(long, value_name = "V", allow_negative_numbers = true)]
    nu: Option<f64>,
}

impl FairnessArgs {
    pub(crate) fn resolve(&self) -> anyhow::Result<Fairness> {
        if let Some(nu) = self.nu {
            // The range of ν is checked first, whatever the criterion.
            Fairness::both(nu).map_err(name_the_option)?;
        }
        match (self.fairness, self.nu) {
            (Criterion::Sp, None | Some(0.0)) => Ok(Fairness::SP),
            (Criterion::Eo, None | Some(1.0)) => Ok(Fairness::EO),
            (Criterion::Both, Some(nu)) => Ok(Fairness::both(nu)?),
            (Criterion::Both, None) => bail!(
                "--fairness both needs --nu, the share of equal opportunity in the combined criterion. For \
                 equal shares, use --nu 0.5."
            ),
            (criterion, Some(nu)) => bail!(
                "--nu {nu} cannot be combined with --fairness {}. Omit it, or use --fairness both.",
                criterion.name()
            ),
        }
    }
}
