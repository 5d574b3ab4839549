//! `--fairness` and `--nu`, the same for every command that asks for fairness.

use anyhow::bail;
use clap::{Args, ValueEnum};
use equipoise_core::Fairness;
pub(crate) use equipoise_defend::page::fairness_in_words as in_words;

/// Which fairness is asked for.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct FairnessArgs {
    /// Which fairness is asked for
    #[arg(long, value_enum, value_name = "CRITERION")]
    fairness: CriterionArg,
    /// Share of equal opportunity, from 0 to 1; needed with `--fairness both`
    #[arg(long, value_name = "V", allow_negative_numbers = true)]
    nu: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CriterionArg {
    /// Statistical parity: equal selection rates
    Sp,
    /// Equal opportunity: equal true positive rates
    Eo,
    /// Both, balanced by --nu
    Both,
}

impl FairnessArgs {
    /// The checked fairness.
    pub(crate) fn resolve(&self) -> anyhow::Result<Fairness> {
        if let Some(nu) = self.nu {
            // Whatever the criterion, the range is the first thing to be right.
            Fairness::both(nu).map_err(|error| anyhow::anyhow!("--{error}"))?;
        }
        match (self.fairness, self.nu) {
            (CriterionArg::Sp, None | Some(0.0)) => Ok(Fairness::SP),
            (CriterionArg::Eo, None | Some(1.0)) => Ok(Fairness::EO),
            (CriterionArg::Both, Some(nu)) => Ok(Fairness::both(nu)?),
            (CriterionArg::Both, None) => bail!(
                "--fairness both needs --nu, the share of equal opportunity. For equal shares, \
                 use --nu 0.5."
            ),
            (CriterionArg::Sp, Some(nu)) => {
                bail!("--nu {nu} does not go with --fairness sp. Leave it out, or use both.")
            }
            (CriterionArg::Eo, Some(nu)) => {
                bail!("--nu {nu} does not go with --fairness eo. Leave it out, or use both.")
            }
        }
    }
}
