//! The settings of an experiment.

use equipoise_core::{
    Choice, Criterion, Defense, Fairness, Profile, RhoSchedule, RootWeighting, Settings,
};
use serde::{Deserialize, Serialize};

use super::cell::{CellKey, Variant};
use crate::dataset::{DATASETS, Dataset, Preprocessing};
use crate::error::Error;
use crate::scenario::{Distribution, Generator, ScenarioKind, ScenarioSettings};
use crate::source::{OWN_TABLE, SYNTHETIC};

/// The share of each client's rows that a coordinator should collect as root, if nothing is known about the data: see
/// `docs/FAIRNESS.md`.
pub const RECOMMENDED_ROOT_SHARE: f64 = 0.01;

/// More seeds than this are surely a typo.
const MAX_SEEDS: u64 = 100_000;

/// A grid of scenarios, and how each is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentSettings {
    /// Names of datasets.
    pub datasets: Vec<String>,
    /// Fairness criteria. Like the paper, a grid with several combinations omits equal opportunity on Dutch.
    pub fairness: Vec<Criterion>,
    /// Scenario kinds.
    pub scenarios: Vec<ScenarioKind>,
    /// Shares of unreliable clients.
    pub unreliable: Vec<f64>,
    /// The first seed.
    pub first_seed: u64,
    /// Number of seeds.
    pub seeds: u64,
    /// The variants run on each round.
    pub variants: Vec<Variant>,
    /// Constants of the method.
    pub profile: Profile,
    /// How many people of a dataset take part, drawn by the seed; `None`: all.
    pub n_people: Option<usize>,
    /// Number of clients.
    pub n_clients: usize,
    /// How rows are distributed among clients.
    pub distribution: Distribution,
    /// Share of training rows in the root.
    pub root_share: f64,
    /// How fair proxies are generated.
    pub generator: Generator,
    /// How columns become features.
    pub preprocessing: Preprocessing,
    /// λ throughout.
    pub lambda: f64,
    /// How root rows are weighted.
    pub root_weighting: RootWeighting,
}

impl Default for ExperimentSettings {
    /// The paper's grid.
    fn default() -> Self {
        Self {
            datasets: vec!["law-school".to_owned(), "dutch".to_owned()],
            fairness: vec![Criterion::Sp, Criterion::Eo],
            scenarios: vec![ScenarioKind::Realistic, ScenarioKind::Ideal],
            unreliable: vec![0.2, 0.4, 0.6],
            first_seed: 1,
            seeds: 5,
            variants: Variant::ALL.to_vec(),
            profile: Profile::Paper,
            n_people: None,
            n_clients: 5,
            distribution: Distribution::Even,
            root_share: 0.005,
            generator: Generator::Adam,
            preprocessing: Preprocessing::Paper,
            lambda: 1e-4,
            root_weighting: RootWeighting::Pooled,
        }
    }
}

impl ExperimentSettings {
    /// The defense that the profile proposes.
    pub fn method(&self) -> Variant {
        let criterion = self.fairness.first().copied().unwrap_or(Criterion::Sp);
        Variant::Defense(Settings::of_profile(self.profile, fairness_of(criterion)).defense)
    }

    /// Whether the paper has figures for one of the datasets.
    pub(crate) fn has_papers_datasets(&self) -> bool {
        self.datasets.iter().any(|name| Dataset::named(name).is_some())
    }

    /// The seeds, in order.
    pub(crate) fn seeds(&self) -> std::ops::Range<u64> {
        self.first_seed..self.first_seed.saturating_add(self.seeds)
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        let refuse = |name, range, found| Err(Error::Setting { name, range, found });
        if !(1..=MAX_SEEDS).contains(&self.seeds) {
            return refuse("seeds", "between 1 and 100000", self.seeds as f64);
        }
        if !(self.lambda > 0.0 && self.lambda.is_finite()) {
            return refuse("lambda", "above 0", self.lambda);
        }
        if self.n_clients < 2 {
            return refuse("clients", "at least 2", self.n_clients as f64);
        }
        if !(self.root_share > 0.0 && self.root_share <= 1.0) {
            return refuse("root-share", "above 0 and at most 1", self.root_share);
        }
        if let Some(&share) = self.unreliable.iter().find(|share| !(0.0..1.0).contains(*share)) {
            return refuse("unreliable", "at least 0 and below 1", share);
        }
        let counts: Vec<usize> =
            self.unreliable.iter().map(|&share| self.n_unreliable(share)).collect();
        if let Some(at) = counts.iter().position(|&count| count >= self.n_clients) {
            let range = "small enough to leave at least one reliable client";
            return refuse("unreliable", range, self.unreliable[at]);
        }
        if has_duplicates(&counts) {
            let what =
                "the same number of unreliable clients (shares are rounded to whole clients)";
            return Err(Error::Twice(what.to_owned()));
        }
        if !self.fairness.iter().all(|f| matches!(f, Criterion::Sp | Criterion::Eo)) {
            return refuse("fairness", "sp or eo in an experiment", 0.0);
        }
        for (position, name) in self.datasets.iter().enumerate() {
            let known = DATASETS.iter().map(|dataset| dataset.name);
            if !known.chain([SYNTHETIC, OWN_TABLE]).any(|known| known == name) {
                return Err(Error::UnknownDataset(name.clone()));
            }
            if self.datasets[..position].contains(name) {
                return Err(Error::Twice(format!("dataset {name}")));
            }
        }
        let twice = |what: &str| Err(Error::Twice(what.to_owned()));
        if has_duplicates(&self.fairness) {
            return twice("a fairness criterion");
        }
        if has_duplicates(&self.scenarios) {
            return twice("a scenario");
        }
        Ok(())
    }

    /// Number of unreliable clients for a share.
    pub(crate) fn n_unreliable(&self, share: f64) -> usize {
        let scenario = self.scenario(Criterion::Sp, 1);
        ScenarioSettings { unreliable_share: share, ..scenario }.n_unreliable()
    }

    /// Dataset and fairness, as the paper combines them.
    pub fn combinations(&self) -> Vec<(&str, Criterion)> {
        let all = self.datasets.iter().flat_map(|dataset| {
            self.fairness.iter().map(move |&fairness| (dataset.as_str(), fairness))
        });
        let alone = self.datasets.len() * self.fairness.len() == 1;
        all.filter(|&pair| alone || pair != ("dutch", Criterion::Eo)).collect()
    }

    pub(super) fn grid(&self) -> Vec<Unit> {
        let splits = self
            .combinations()
            .into_iter()
            .flat_map(|pair| self.seeds().map(move |seed| (pair, seed)));
        splits
            .map(|((dataset, fairness), seed)| Unit {
                dataset: dataset.to_owned(),
                keys: self
                    .scenarios
                    .iter()
                    .flat_map(|&kind| self.unreliable.iter().map(move |&share| (kind, share)))
                    .map(|(scenario, unreliable)| CellKey {
                        dataset: dataset.to_owned(),
                        fairness,
                        scenario,
                        unreliable,
                        seed,
                    })
                    .collect(),
                scenario: self.scenario(fairness, seed),
            })
            .collect()
    }

    /// The split of a population. Kind and share are set later.
    fn scenario(&self, fairness: Criterion, seed: u64) -> ScenarioSettings {
        ScenarioSettings {
            n_people: self.n_people,
            n_clients: self.n_clients,
            distribution: self.distribution,
            root_share: self.root_share,
            generator: self.generator,
            lambda: self.lambda,
            ..ScenarioSettings::new(ScenarioKind::Realistic, fairness_of(fairness), 0.0, seed)
        }
    }

    pub(super) fn solve(&self, criterion: Criterion, variant: Variant) -> Settings {
        let mut settings = Settings::of_profile(self.profile, fairness_of(criterion));
        settings.lambda = self.lambda;
        settings.root_weighting = self.root_weighting;
        (settings.defense, settings.outer.rho) = match variant {
            Variant::Defense(defense) => (defense, settings.outer.rho),
            Variant::BilevelWithoutPenalty => (Defense::Bilevel, RhoSchedule::off()),
        };
        settings
    }
}

/// A unit of work: cells that share their clients and fair proxies.
pub(super) struct Unit {
    pub(super) dataset: String,
    /// The split. Kind and share are set by the cells.
    pub(super) scenario: ScenarioSettings,
    pub(super) keys: Vec<CellKey>,
}

fn has_duplicates<T: PartialEq>(list: &[T]) -> bool {
    list.iter().enumerate().any(|(i, item)| list[..i].contains(item))
}

pub(super) fn fairness_of(criterion: Criterion) -> Fairness {
    criterion.into()
}
