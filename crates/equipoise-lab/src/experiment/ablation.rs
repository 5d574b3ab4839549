//! Ablations: the same rounds with one setting changed.

use equipoise_core::{Choice, RootWeighting};
use serde::{Deserialize, Serialize};

use super::settings::ExperimentSettings;
use crate::dataset::Preprocessing;
use crate::scenario::ProxySize;
use crate::source::{OWN_TABLE, SYNTHETIC};

/// A setting that an ablation varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ablation {
    /// Root rows pooled, or weighted by their client's weight as in the paper's formula.
    RootWeighting,
    /// Without and with an intercept.
    Intercept,
    /// The size of the root.
    RootShare,
    /// The size of fair proxies.
    ProxySize,
    /// λ.
    Lambda,
}

/// One changed setting.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// How root rows are weighted.
    RootWeighting(RootWeighting),
    /// How columns become features.
    Preprocessing(Preprocessing),
    /// Share of training rows in the root.
    RootShare(f64),
    /// Rows of a fair proxy.
    ProxySize(ProxySize),
    /// λ throughout.
    Lambda(f64),
}

impl Ablation {
    /// The values tried, usually including the experiment's own.
    pub fn changes(self) -> Vec<Change> {
        match self {
            Self::RootWeighting => {
                [RootWeighting::Pooled, RootWeighting::Client].map(Change::RootWeighting).to_vec()
            }
            Self::Intercept => {
                [Preprocessing::Paper, Preprocessing::Intercept, Preprocessing::OneHot]
                    .map(Change::Preprocessing)
                    .to_vec()
            }
            Self::RootShare => {
                [0.0025, 0.005, 0.01, 0.02, 0.05, 0.1].map(Change::RootShare).to_vec()
            }
            Self::ProxySize => [0.1, 0.25, 0.5, 1.0, 2.0]
                .map(|share| Change::ProxySize(ProxySize::Share(share)))
                .to_vec(),
            Self::Lambda => [1e-6, 1e-4, 1e-2, 1.0].map(Change::Lambda).to_vec(),
        }
    }

    /// Whether it applies to a dataset: your own table is encoded by its schema, and the synthetic population has no
    /// categorical codes.
    pub(super) fn applies_to(self, dataset: &str, changed: &ExperimentSettings) -> bool {
        self != Self::Intercept
            || match dataset {
                OWN_TABLE => false,
                SYNTHETIC => changed.preprocessing != Preprocessing::OneHot,
                _ => true,
            }
    }
}

impl Change {
    /// The settings with this change, which may equal the original ones.
    pub fn apply(self, settings: &ExperimentSettings) -> ExperimentSettings {
        let mut changed = settings.clone();
        match self {
            Self::RootWeighting(weighting) => changed.root_weighting = weighting,
            Self::Preprocessing(preprocessing) => changed.preprocessing = preprocessing,
            Self::RootShare(share) => changed.root_share = share,
            Self::ProxySize(size) => changed.proxy_size = size,
            Self::Lambda(lambda) => changed.lambda = lambda,
        }
        changed
    }

    /// Name and value, such as `root-share=0.01`.
    pub fn label(self) -> String {
        match self {
            Self::RootWeighting(weighting) => format!("root-weighting={}", weighting.name()),
            Self::Preprocessing(preprocessing) => {
                format!("preprocessing={}", preprocessing.name())
            }
            Self::RootShare(share) => format!("root-share={share}"),
            Self::ProxySize(ProxySize::Rows(rows)) => format!("proxy-rows={rows}"),
            Self::ProxySize(ProxySize::Share(share)) => format!("proxy-share={share}"),
            Self::Lambda(lambda) => format!("lambda={lambda}"),
        }
    }
}
