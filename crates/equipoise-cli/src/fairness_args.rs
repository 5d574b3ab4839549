//! `--fairness`, shared by every command with a fairness setting.

use clap::Args;
use equipoise_core::Fairness;

/// The requested fairness.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct FairnessArgs {
    /// Fairness criterion, or a mixture such as sp:0.5,eo:0.5
    ///
    /// sp: statistical parity, equal selection rates;
    /// eo: equal opportunity, equal true positive rates;
    /// equalized-odds: equal true and equal false positive rates;
    /// fpr: predictive equality, equal false positive rates.
    #[arg(long, value_name = "CRITERION")]
    pub(crate) fairness: Fairness,
}
