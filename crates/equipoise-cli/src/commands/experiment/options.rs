//! The grid as it can be typed.

use clap::{Args, ValueEnum};
use equipoise_core::{Criterion, Defense, RootWeighting};
use equipoise_lab::{
    Ablation, ExperimentSettings, Generator, Preprocessing, Profile, ProxySize, ScenarioKind,
    Variant,
};

/// Which cells, and how they are run.
#[derive(Debug, Args)]
pub(super) struct ExperimentOptions {
    /// Datasets: law-school, dutch, synthetic (the demo's population), csv (your own table)
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", default_value = "law-school,dutch")]
    dataset: Vec<String>,
    /// Scenarios
    #[arg(long, value_enum, value_delimiter = ',', default_value = "realistic,ideal")]
    scenario: Vec<ScenarioName>,
    /// Fairness; in a larger grid, Dutch is left out under eo, as in the paper
    #[arg(long, value_enum, value_delimiter = ',', default_value = "sp,eo")]
    fairness: Vec<FairnessName>,
    /// Shares of unreliable clients
    #[arg(long, value_delimiter = ',', value_name = "SHARE,…", default_value = "0.2,0.4,0.6")]
    unreliable: Vec<f64>,
    /// Number of seeds, from 1
    #[arg(long, value_name = "N", default_value_t = 5)]
    seeds: u64,
    /// Defenses; bilevel-rho0 is the method without its penalty
    #[arg(long, value_enum, value_delimiter = ',', default_value = "all")]
    defenses: Vec<DefenseName>,
    /// Constants of the method
    #[arg(long, value_enum, default_value = "paper")]
    profile: ProfileName,
    /// Clients that a dataset is shared among
    #[arg(long, value_name = "K", default_value_t = 5)]
    clients: usize,
    /// Share of each client's training rows in the root
    #[arg(long, value_name = "SHARE", default_value_t = 0.005)]
    root_share: f64,
    /// Rows of a fair proxy [default: as many as the client's training rows]
    #[arg(long, value_name = "N")]
    proxy_rows: Option<usize>,
    /// How fair proxies are made: by Adam from the data, as the paper's figures suggest, or as `proxy` does
    #[arg(long, value_enum, default_value = "adam")]
    generator: GeneratorName,
    /// How columns become features: the paper's way, the same with an intercept, or codes one-hot with an
    /// intercept; an own table is encoded as its schema says
    #[arg(long, value_enum, default_value = "paper")]
    preprocessing: PreprocessingName,
    /// Regulariser
    #[arg(long, value_name = "L", default_value_t = 1e-4)]
    lambda: f64,
    /// How the clients' root rows count
    #[arg(long, value_enum, default_value = "pooled")]
    root_weighting: WeightingName,
    /// Ablations to add, each a table on the page: the method with one thing changed
    #[arg(long, value_enum, value_delimiter = ',', default_value = "none")]
    ablations: Vec<AblationName>,
}

/// Makes an enum of names that stand for values.
macro_rules! names {
    ($name:ident => $value:ty { $($variant:ident => $meaning:expr,)+ }) => {
        #[derive(Debug, Clone, Copy, ValueEnum)]
        enum $name {
            $($variant,)+
        }
        impl $name {
            fn value(self) -> $value {
                match self {
                    $(Self::$variant => $meaning,)+
                }
            }
        }
    };
}

names!(ScenarioName => ScenarioKind {
    Realistic => ScenarioKind::Realistic,
    Ideal => ScenarioKind::Ideal,
});
names!(FairnessName => Criterion {
    Sp => Criterion::Sp,
    Eo => Criterion::Eo,
});
names!(ProfileName => Profile {
    Paper => Profile::Paper,
    Default => Profile::Default,
});
names!(GeneratorName => Generator {
    Adam => Generator::Adam,
    Smoothed => Generator::Smoothed,
});
names!(PreprocessingName => Preprocessing {
    Paper => Preprocessing::Paper,
    Intercept => Preprocessing::Intercept,
    OneHot => Preprocessing::OneHot,
});
names!(WeightingName => RootWeighting {
    Pooled => RootWeighting::Pooled,
    Client => RootWeighting::Client,
});
names!(AblationName => &'static [Ablation] {
    None => &[],
    All => &Ablation::ALL,
    RootWeighting => &[Ablation::RootWeighting],
    Intercept => &[Ablation::Intercept],
    RootShare => &[Ablation::RootShare],
    ProxySize => &[Ablation::ProxySize],
    Lambda => &[Ablation::Lambda],
});
names!(DefenseName => &'static [Variant] {
    All => &Variant::ALL,
    Bilevel => &[Variant::Defense(Defense::Bilevel)],
    BilevelRho0 => &[Variant::BilevelWithoutPenalty],
    Pooled => &[Variant::Defense(Defense::Pooled)],
    Fedasl => &[Variant::Defense(Defense::Fedasl)],
    Fednolowe => &[Variant::Defense(Defense::Fednolowe)],
    RootOnly => &[Variant::Defense(Defense::RootOnly)],
});

impl ExperimentOptions {
    /// The settings that were asked for.
    pub(super) fn resolve(&self) -> ExperimentSettings {
        let variants = distinct(self.defenses.iter().flat_map(|name| name.value()));
        ExperimentSettings {
            datasets: self.dataset.clone(),
            fairness: self.fairness.iter().map(|name| name.value()).collect(),
            scenarios: self.scenario.iter().map(|name| name.value()).collect(),
            unreliable: self.unreliable.clone(),
            seeds: self.seeds,
            variants,
            profile: self.profile.value(),
            n_clients: self.clients,
            root_share: self.root_share,
            proxy_size: self.proxy_rows.map_or(ProxySize::Share(1.0), ProxySize::Rows),
            generator: self.generator.value(),
            preprocessing: self.preprocessing.value(),
            lambda: self.lambda,
            root_weighting: self.root_weighting.value(),
        }
    }

    /// The ablations that were asked for.
    pub(super) fn ablations(&self) -> Vec<Ablation> {
        distinct(self.ablations.iter().flat_map(|name| name.value()))
    }
}

/// Each once, in the order of their first appearance.
fn distinct<'a, T: Copy + PartialEq + 'a>(all: impl Iterator<Item = &'a T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for &item in all {
        if !distinct.contains(&item) {
            distinct.push(item);
        }
    }
    distinct
}
