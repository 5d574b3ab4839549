//! The options that select the cells of the grid and how they are run.

use clap::Args;
use equipoise_core::{Choice, Criterion, Profile, RootWeighting};
use equipoise_lab::{
    Distribution, ExperimentSettings, Generator, OWN_TABLE, Preprocessing, RECOMMENDED_ROOT_SHARE,
    ScenarioKind, Variant,
};

use crate::choice_args::{Chosen, choice, choice_among, choice_or_group, distinct};

/// Which cells to run, and how.
#[derive(Debug, Args)]
pub(super) struct ExperimentOptions {
    /// Datasets: law-school, dutch, synthetic (the demo's population) or csv (your own table)
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", default_value = "law-school,dutch")]
    dataset: Vec<String>,
    /// What reliable clients send: each its own fair proxy (realistic), or all the same proxy (ideal)
    #[arg(long, value_parser = choice::<ScenarioKind>(), value_delimiter = ',', default_value = "realistic,ideal")]
    scenario: Vec<ScenarioKind>,
    /// Fairness criteria; as in the paper, dutch is not run with eo, unless nothing else is selected
    #[arg(
        long,
        value_parser = choice_among(&[Criterion::Sp, Criterion::Eo]),
        value_delimiter = ',',
        default_value = "sp,eo"
    )]
    fairness: Vec<Criterion>,
    /// Shares of unreliable clients
    #[arg(long, value_delimiter = ',', value_name = "SHARE,…", default_value = "0.2,0.4,0.6")]
    unreliable: Vec<f64>,
    /// Number of seeds
    #[arg(long, value_name = "N", default_value_t = 5)]
    seeds: u64,
    /// The first seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    first_seed: u64,
    /// Defenses; bilevel-rho0 is bilevel without its fairness penalty
    #[arg(
        long,
        value_parser = choice_or_group(&[("all", Variant::ALL)]),
        value_delimiter = ',',
        default_value = "all"
    )]
    defenses: Vec<Chosen<Variant>>,
    /// What to run: the paper's experiments, or what `proxy` and `defend` do without options [default: paper; with
    /// --dataset csv: default]
    #[arg(long, value_parser = choice::<Profile>())]
    profile: Option<Profile>,
    /// Number of clients that each dataset is split among
    #[arg(long, value_name = "K", default_value_t = 5)]
    clients: usize,
    /// How rows are distributed among clients
    #[arg(long, value_parser = choice::<Distribution>(), default_value = "even")]
    split: Distribution,
    /// Share of each client's training rows to use as root [default: 0.005, as in the paper; with --dataset csv: 0.01, as
    /// `defend --help` recommends]
    #[arg(long, value_name = "SHARE")]
    root_share: Option<f64>,
    /// How fair proxies are generated [default: adam; with --profile default: target]
    #[arg(long, value_parser = choice::<Generator>())]
    generator: Option<Generator>,
    /// How columns become features [default: paper; with --profile default: inferred]
    ///
    /// Your own table (--dataset csv) is always encoded by its schema.
    #[arg(long, value_parser = choice::<Preprocessing>())]
    preprocessing: Option<Preprocessing>,
    /// Regularisation strength of the model
    #[arg(long, value_name = "L", default_value_t = 1e-4)]
    lambda: f64,
    /// How root rows are weighted
    #[arg(long, value_parser = choice::<RootWeighting>(), default_value = "pooled")]
    root_weighting: RootWeighting,
}

impl ExperimentOptions {
    /// The settings. `n_people` is the number of people to draw from each dataset.
    pub(super) fn resolve(&self, n_people: Option<usize>) -> ExperimentSettings {
        let is_own = self.dataset.iter().all(|name| name == OWN_TABLE);
        let (profile, root_share) = match is_own {
            true => (Profile::Default, RECOMMENDED_ROOT_SHARE),
            false => (Profile::Paper, ExperimentSettings::default().root_share),
        };
        let profile = self.profile.unwrap_or(profile);
        let (generator, preprocessing) = match profile {
            Profile::Paper => (Generator::Adam, Preprocessing::Paper),
            Profile::Default => (Generator::Target, Preprocessing::Inferred),
        };
        ExperimentSettings {
            datasets: self.dataset.clone(),
            fairness: self.fairness.clone(),
            scenarios: self.scenario.clone(),
            unreliable: self.unreliable.clone(),
            first_seed: self.first_seed,
            seeds: self.seeds,
            variants: distinct(&self.defenses),
            profile,
            n_people,
            n_clients: self.clients,
            distribution: self.split,
            root_share: self.root_share.unwrap_or(root_share),
            generator: self.generator.unwrap_or(generator),
            preprocessing: self.preprocessing.unwrap_or(preprocessing),
            lambda: self.lambda,
            root_weighting: self.root_weighting,
        }
    }

    pub(super) fn datasets(&self) -> &[String] {
        &self.dataset
    }
}
