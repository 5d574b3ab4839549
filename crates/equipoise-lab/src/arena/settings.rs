//! The settings of an arena.

use equipoise_core::{Choice, Criterion};
use serde::{Deserialize, Serialize};

use super::cell::ArenaKey;
use super::contender::Contender;
use crate::attack::Attack;
use crate::dataset::{DATASETS, Preprocessing};
use crate::error::Error;
use crate::scenario::{Distribution, Generator, ScenarioKind, ScenarioSettings};
use crate::source::{OWN_TABLE, SYNTHETIC, dataset_title};

/// More seeds than this are surely a typo.
const MAX_SEEDS: u64 = 100_000;

/// A dataset and a fairness criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context {
    /// Name of the dataset.
    pub dataset: String,
    /// The fairness that the coordinator requests.
    pub fairness: Criterion,
}

/// Which contenders meet which attacks, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct ArenaSettings {
    /// Datasets with their fairness criteria.
    pub contexts: Vec<Context>,
    /// What unreliable clients do.
    pub attacks: Vec<Attack>,
    /// The contenders that are ranked.
    pub contenders: Vec<Contender>,
    /// Shares of unreliable clients. At 0, no attack takes place.
    pub rates: Vec<f64>,
    /// Number of seeds.
    pub seeds: u64,
    /// The first seed.
    pub first_seed: u64,
    /// How many people of a dataset take part, drawn by the seed; `None`: all.
    pub n_people: Option<usize>,
    /// Number of clients.
    pub n_clients: usize,
    /// How rows are distributed among clients.
    pub distribution: Distribution,
    /// Share of training rows in the root.
    pub root_share: f64,
    /// λ throughout.
    pub lambda: f64,
}

/// The settings on which the bits of a cell depend. A folder can be extended by more attacks, rates or seeds.
#[derive(Serialize)]
pub(super) struct CellSettings<'a> {
    arena: u32,
    contenders: &'a [Contender],
    #[serde(skip_serializing_if = "Option::is_none")]
    n_people: Option<usize>,
    n_clients: usize,
    distribution: Distribution,
    root_share: f64,
    lambda: f64,
}

/// Version of the journal's lines.
const VERSION: u32 = 1;

impl Context {
    /// "Law School, statistical parity".
    pub fn title(&self) -> String {
        format!("{}, {}", dataset_title(&self.dataset), self.fairness.title())
    }
}

impl Default for ArenaSettings {
    fn default() -> Self {
        let context = |dataset: &str, fairness| Context { dataset: dataset.to_owned(), fairness };
        Self {
            contexts: vec![
                context("law-school", Criterion::Sp),
                context("law-school", Criterion::Eo),
                context("dutch", Criterion::Sp),
                context(SYNTHETIC, Criterion::Sp),
            ],
            attacks: Attack::ALL.to_vec(),
            contenders: Contender::ALL.to_vec(),
            rates: vec![0.0, 0.2, 0.4, 0.6, 0.8],
            seeds: 5,
            first_seed: 1,
            n_people: None,
            n_clients: 5,
            distribution: Distribution::Even,
            root_share: 0.005,
            lambda: 1e-4,
        }
    }
}

impl ArenaSettings {
    /// How columns become features: what `schema infer` chooses.
    pub(super) const PREPROCESSING: Preprocessing = Preprocessing::OneHot;

    pub(super) fn check(&self) -> Result<(), Error> {
        let refuse = |name, range, found| Err(Error::Setting { name, range, found });
        if !(1..=MAX_SEEDS).contains(&self.seeds) {
            return refuse("seeds", "between 1 and 100000", self.seeds as f64);
        }
        if self.first_seed.checked_add(self.seeds).is_none() {
            return refuse("first-seed", "small enough to count on from", self.first_seed as f64);
        }
        if self.n_clients < 2 {
            return refuse("clients", "at least 2", self.n_clients as f64);
        }
        if !(self.root_share > 0.0 && self.root_share <= 1.0) {
            return refuse("root-share", "above 0 and at most 1", self.root_share);
        }
        if !(self.lambda > 0.0 && self.lambda.is_finite()) {
            return refuse("lambda", "above 0", self.lambda);
        }
        if let Some(&rate) = self.rates.iter().find(|rate| !(0.0..=1.0).contains(*rate)) {
            return refuse("rates", "between 0 and 1", rate);
        }
        let counts: Vec<usize> = self.rates.iter().map(|&rate| self.n_unreliable(rate)).collect();
        if let Some(at) = (0..counts.len()).find(|&at| counts[at] == 0 && self.rates[at] > 0.0) {
            let range = "0, or large enough for one unreliable client";
            return refuse("rates", range, self.rates[at]);
        }
        if let Some(count) = first_repeated(&counts) {
            let what = format!(
                "a rate of {count} unreliable clients (rates are rounded to whole clients)"
            );
            return Err(Error::Twice(what));
        }
        for context in &self.contexts {
            let known = DATASETS.iter().map(|dataset| dataset.name);
            if !known.chain([SYNTHETIC, OWN_TABLE]).any(|known| known == context.dataset) {
                return Err(Error::UnknownDataset(context.dataset.clone()));
            }
        }
        if let Some(context) = first_repeated(&self.contexts) {
            let what = format!("dataset {} with {}", context.dataset, context.fairness.name());
            return Err(Error::Twice(what));
        }
        Ok(())
    }

    pub(super) fn cell_settings(&self) -> CellSettings<'_> {
        CellSettings {
            arena: VERSION,
            contenders: &self.contenders,
            n_people: self.n_people,
            n_clients: self.n_clients,
            distribution: self.distribution,
            root_share: self.root_share,
            lambda: self.lambda,
        }
    }

    /// All contenders, then the references.
    pub(super) fn entries(&self) -> impl Iterator<Item = Contender> {
        self.contenders.iter().copied().chain(Contender::REFERENCES)
    }

    /// The attacks at each rate, each once: at rate 0 there is none.
    pub fn challenges(&self) -> Vec<(Option<Attack>, f64)> {
        let at = |&rate: &f64| match self.n_unreliable(rate) {
            0 => vec![(None, rate)],
            _ => self.attacks.iter().map(|&attack| (Some(attack), rate)).collect(),
        };
        self.rates.iter().flat_map(at).collect()
    }

    /// The units of work, in order: cells that share their clients and fair proxies.
    pub(super) fn units(&self) -> Vec<Vec<ArenaKey>> {
        let seeds = self.first_seed..self.first_seed + self.seeds;
        let splits = self.contexts.iter().flat_map(|c| seeds.clone().map(move |seed| (c, seed)));
        let challenges = self.challenges();
        let key = |context: &Context, &(attack, rate): &(Option<Attack>, f64), seed| ArenaKey {
            dataset: context.dataset.clone(),
            fairness: context.fairness,
            attack,
            rate,
            seed,
        };
        splits.map(|(c, seed)| challenges.iter().map(|ch| key(c, ch, seed)).collect()).collect()
    }

    /// Sort key of a cell: context, attack and rate, seed.
    pub(super) fn order(&self, key: &ArenaKey) -> (Option<usize>, Option<usize>, u64) {
        let is_context = |c: &Context| (&c.dataset, c.fairness) == (&key.dataset, key.fairness);
        let challenges = self.challenges();
        let challenge = challenges.iter().position(|&c| c == (key.attack, key.rate));
        (self.contexts.iter().position(is_context), challenge, key.seed)
    }

    /// The split of a population. The share of unreliable clients is set by the cells.
    pub(super) fn scenario(&self, fairness: Criterion, seed: u64) -> ScenarioSettings {
        ScenarioSettings {
            n_people: self.n_people,
            n_clients: self.n_clients,
            distribution: self.distribution,
            root_share: self.root_share,
            lambda: self.lambda,
            generator: Generator::Target,
            ..ScenarioSettings::new(ScenarioKind::Realistic, fairness.into(), 0.0, seed)
        }
    }

    fn n_unreliable(&self, rate: f64) -> usize {
        let scenario = self.scenario(Criterion::Sp, self.first_seed);
        ScenarioSettings { unreliable_share: rate, ..scenario }.n_unreliable()
    }
}

fn first_repeated<T: PartialEq>(list: &[T]) -> Option<&T> {
    list.iter().enumerate().find(|(i, item)| list[..*i].contains(item)).map(|(_, item)| item)
}
