//! One cell: a round under attack, and the result of every contender.

use equipoise_core::{Choice, Criterion, Estimate, Fairness, Gap, Metrics, Rows};
use serde::{Deserialize, Serialize};
use std::time::Instant;

use super::contender::{Contender, Contest, Entry};
use super::root_error::{GapPlace, RootErrors};
use super::settings::ArenaSettings;
use crate::attack::{Attack, Attackers};
use crate::error::Error;
use crate::journal::Line;
use crate::scenario::{Scenario, ScenarioKind, Split};

/// Identifies a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArenaKey {
    /// Name of the dataset.
    pub dataset: String,
    /// The fairness that the coordinator requests.
    pub fairness: Criterion,
    /// What unreliable clients do; `None` if there are none.
    pub attack: Option<Attack>,
    /// Share of unreliable clients.
    pub rate: f64,
    /// The seed.
    pub seed: u64,
}

/// A finished cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArenaCell {
    /// Its key.
    pub key: ArenaKey,
    /// The clients, in the order of the weights.
    pub clients: Vec<ArenaClient>,
    /// What the root can tell about the average model of the reliable clients. `None` if there are none.
    pub root: Option<RootErrors>,
    /// The results: the contenders, then the reference.
    pub results: Vec<ContenderResult>,
    /// Why there is no round: for example, the attack is impossible here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A client of a cell's round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArenaClient {
    /// Its name.
    pub id: String,
    /// Whether it sent a fair proxy.
    pub reliable: bool,
    /// Accuracy of the model of its proxy alone, on the test rows.
    pub accuracy: Option<f64>,
    /// Signed gap of that model.
    pub gap: Option<f64>,
}

/// The result of a contender, on the test rows of the reliable clients, or of all clients if none is reliable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContenderResult {
    /// The contender.
    pub contender: Contender,
    /// Share of rows whose label is predicted.
    pub accuracy: Option<f64>,
    /// Mean of true positive and true negative rate.
    pub balanced_accuracy: Option<f64>,
    /// Area under the ROC curve.
    pub auc: Option<f64>,
    /// The worst gap between two groups, signed.
    pub gap: Option<f64>,
    /// The clients' weights; `None` if the model is not a weighted combination of clients.
    pub weights: Option<Vec<f64>>,
    /// What the root can tell about the difference to the model of [`ArenaCell::root`].
    pub difference: Option<RootErrors>,
    /// Whether the defense could tell which clients are reliable, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<bool>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// How long it took, while other cells were running.
    pub seconds: f64,
}

impl Line for ArenaCell {
    type Key = ArenaKey;

    fn key(&self) -> &ArenaKey {
        &self.key
    }
}

impl std::fmt::Display for ArenaKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { dataset, fairness, attack, rate, seed } = self;
        let attack = attack.map_or("no attack", |attack| attack.name());
        write!(f, "{dataset}, {}, {attack}, rate {rate}, seed {seed}", fairness.name())
    }
}

impl ArenaCell {
    /// Runs all contenders. `fair` is the round of the same split in which every client is reliable.
    pub(super) fn run(
        key: &ArenaKey,
        split: &Split,
        fair: &Scenario,
        settings: &ArenaSettings,
    ) -> Self {
        Self::try_run(key, split, fair, settings).unwrap_or_else(|problem| Self {
            key: key.clone(),
            clients: Vec::new(),
            root: None,
            results: Vec::new(),
            problem: Some(describe(&problem)),
        })
    }

    fn try_run(
        key: &ArenaKey,
        split: &Split,
        fair: &Scenario,
        settings: &ArenaSettings,
    ) -> Result<Self, Error> {
        let fairness = Fairness::from(key.fairness);
        let honest = split.scenario(ScenarioKind::Realistic, key.rate, &mut |_, _| {})?;
        // Taken before the attack, which may add clients.
        let test = honest.test_rows()?;
        let attacked = match key.attack {
            None => honest,
            Some(attack) => {
                let unreliable = honest.clients.iter().zip(&fair.clients);
                let unreliable = unreliable.filter(|(client, _)| !client.reliable);
                let proxies: Vec<Rows> = unreliable.map(|(_, fair)| fair.proxy.clone()).collect();
                attack.apply(&Attackers {
                    scenario: &honest,
                    honest: &proxies,
                    fairness,
                    lambda: settings.lambda,
                    seed: key.seed,
                })?
            }
        };
        let contest = Contest::new(&attacked, fairness, settings.lambda)?;
        let clients = contest.clients(&test, fairness)?;
        let judge = Judge::new(&contest, &test, fairness)?;
        Ok(Self {
            key: key.clone(),
            clients,
            root: judge.root.clone(),
            results: settings.entries().map(|c| judge.result(c, &contest)).collect(),
            problem: None,
        })
    }

    /// The result of a contender, unless the cell or the contender failed.
    pub fn result(&self, contender: Contender) -> Option<&ContenderResult> {
        self.results.iter().find(|result| result.contender == contender)
    }

    /// The total weight of the unreliable clients.
    pub fn unreliable_weight(&self, result: &ContenderResult) -> Option<f64> {
        let weights = result.weights.as_ref()?;
        let unreliable = self.clients.iter().zip(weights).filter(|(client, _)| !client.reliable);
        // An empty sum is −0, which would be printed as such.
        Some(unreliable.map(|(_, w)| w).sum::<f64>() + 0.0)
    }

    /// The effective number of reliable clients, `(Σ w)² / Σ w²` over them, as a share of their number.
    pub fn effective_share(&self, result: &ContenderResult) -> Option<f64> {
        let weights = result.weights.as_ref()?;
        let reliable = self.clients.iter().zip(weights).filter(|(client, _)| client.reliable);
        let weights: Vec<f64> = reliable.map(|(_, w)| *w).collect();
        let (sum, squares) =
            weights.iter().fold((0.0, 0.0), |(sum, squares), w| (sum + w, squares + w * w));
        match (weights.len(), squares > 0.0) {
            (0, _) => None,
            (_, false) => Some(0.0),
            (n, true) => Some(sum * sum / squares / n as f64),
        }
    }
}

impl Contest<'_> {
    fn clients(&self, test: &Rows, fairness: Fairness) -> Result<Vec<ArenaClient>, Error> {
        let clients = self.scenario.clients.iter().zip(&self.input.models);
        let client = clients.map(|(client, model)| {
            let metrics = Metrics::of(model, test)?;
            Ok(ArenaClient {
                id: client.id.clone(),
                reliable: client.reliable,
                accuracy: value(metrics.accuracy),
                gap: metrics.gap(fairness).map(|gap| gap.value),
            })
        });
        client.collect()
    }
}

/// Measures models on the test rows and on the root.
struct Judge<'a> {
    test: &'a Rows,
    root_rows: Rows,
    fairness: Fairness,
    /// The average model of the reliable clients.
    mean: Option<Vec<f64>>,
    root: Option<RootErrors>,
}

impl<'a> Judge<'a> {
    fn new(contest: &Contest<'_>, test: &'a Rows, fairness: Fairness) -> Result<Self, Error> {
        let root_rows = contest.round.root().all_rows()?;
        let mean = Contender::RELIABLE_MEAN.run(contest).ok().map(|entry| entry.theta);
        let mut judge = Self { test, root_rows, fairness, mean, root: None };
        if let Some(mean) = &judge.mean {
            let gap = Metrics::of(mean, test)?.gap(fairness);
            judge.root = judge
                .place(gap)
                .and_then(|place| RootErrors::of_gap(mean, &judge.root_rows, &place));
        }
        Ok(judge)
    }

    /// Where a gap is on the root: the same groups and rows.
    fn place(&self, gap: Option<Gap>) -> Option<GapPlace> {
        let gap = gap?;
        let names = self.root_rows.layout().groups.names();
        let index = |name: &String| names.iter().position(|other| other == name);
        let [first, second] = &gap.groups;
        Some(GapPlace { condition: gap.condition, groups: [index(first)?, index(second)?] })
    }

    fn result(&self, contender: Contender, contest: &Contest<'_>) -> ContenderResult {
        let started = Instant::now();
        let entry = contender.run(contest);
        let seconds = started.elapsed().as_secs_f64();
        let failed = |problem: Error| ContenderResult {
            contender,
            accuracy: None,
            balanced_accuracy: None,
            auc: None,
            gap: None,
            weights: None,
            difference: None,
            decided: None,
            problem: Some(describe(&problem)),
            seconds,
        };
        entry.and_then(|entry| self.measure(contender, entry, seconds)).unwrap_or_else(failed)
    }

    fn measure(
        &self,
        contender: Contender,
        entry: Entry,
        seconds: f64,
    ) -> Result<ContenderResult, Error> {
        let metrics = Metrics::of(&entry.theta, self.test)?;
        let gap = metrics.gap(self.fairness).ok_or(Error::NoGap)?;
        let value_of_gap = gap.value;
        let difference = match (&self.mean, self.place(Some(gap))) {
            (Some(mean), Some(place)) => {
                RootErrors::of_difference(&entry.theta, mean, &self.root_rows, &place)
            }
            _ => None,
        };
        Ok(ContenderResult {
            contender,
            accuracy: value(metrics.accuracy),
            balanced_accuracy: value(metrics.balanced_accuracy),
            auc: value(metrics.auc),
            gap: Some(value_of_gap),
            weights: entry.weights,
            difference,
            decided: entry.trust.map(|trust| trust.decided),
            problem: None,
            seconds,
        })
    }
}

fn value(figure: Option<Estimate>) -> Option<f64> {
    figure.map(|figure| figure.value)
}

/// An error with its causes, on one line.
fn describe(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}
