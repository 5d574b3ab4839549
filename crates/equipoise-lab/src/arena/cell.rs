//! One cell: a round under attack, and the result of every contender.

use equipoise_core::{Choice, Criterion, Estimate, Fairness, Gap, Metrics, Rows};
use serde::{Deserialize, Serialize};
use std::time::Instant;

use super::Ground;
use super::contender::{Contender, Contest, Entry};
use super::root_error::{GapPlace, RootErrors};
use super::settings::ArenaSettings;
use crate::attack::{Attack, Attackers};
use crate::error::Error;
use crate::experiment::effective_number;
use crate::journal::Line;
use crate::scenario::ScenarioKind;

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
    /// What the root can tell about the gap of the reliable clients' average model.
    pub root: Option<RootErrors>,
    /// The results: the contenders, then the references.
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
    /// Its standard error, because test rows are a sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_error: Option<f64>,
    /// The clients' weights; `None` if the model is not a weighted combination of clients.
    pub weights: Option<Vec<f64>>,
    /// What the root can tell about the difference between its gap and that of the default defense.
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

    fn failed(&self) -> bool {
        self.problem.is_some()
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
    /// Runs all contenders.
    pub(super) fn run(key: &ArenaKey, ground: &Ground, settings: &ArenaSettings) -> Self {
        Self::try_run(key, ground, settings).unwrap_or_else(|problem| Self {
            key: key.clone(),
            clients: Vec::new(),
            root: None,
            results: Vec::new(),
            problem: Some(describe(&problem)),
        })
    }

    fn try_run(key: &ArenaKey, ground: &Ground, settings: &ArenaSettings) -> Result<Self, Error> {
        let fairness = Fairness::from(key.fairness);
        let honest = ground.split.scenario(ScenarioKind::Realistic, key.rate, &mut |_, _| {})?;
        // Taken before the attack, which may add clients.
        let test = honest.test_rows()?;
        let attacked = match key.attack {
            None => honest,
            Some(attack) => {
                let proxies = ground.split.honest_proxies(key.rate)?;
                attack.apply(&Attackers {
                    scenario: &honest,
                    honest: &proxies,
                    fairness,
                    lambda: settings.lambda,
                    seed: key.seed,
                })?
            }
        };
        let contest = Contest::new(&attacked, &ground.central, fairness, settings.lambda)?;
        let clients = contest.clients(&test, fairness)?;
        let entries: Vec<(Contender, f64, Result<Entry, Error>)> = settings
            .entries()
            .map(|contender| {
                let started = Instant::now();
                let entry = contender.run(&contest);
                (contender, started.elapsed().as_secs_f64(), entry)
            })
            .collect();
        let model = |wanted: Contender| {
            let found = entries.iter().find(|(contender, _, _)| *contender == wanted)?;
            found.2.as_ref().ok().map(|entry| entry.theta.clone())
        };
        let judge = Judge {
            test: &test,
            root: contest.round.root().all_rows()?,
            fairness,
            default: model(Contender::DEFAULT),
        };
        let root = model(Contender::RELIABLE_MEAN).map(|mean| judge.root_errors(&mean));
        let results = entries.into_iter().map(|(contender, seconds, entry)| {
            let measured = entry.and_then(|entry| judge.measure(contender, entry, seconds));
            measured.unwrap_or_else(|problem| ContenderResult::failed(contender, &problem, seconds))
        });
        Ok(Self {
            key: key.clone(),
            clients,
            root: root.transpose()?.flatten(),
            results: results.collect(),
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
        (!weights.is_empty()).then(|| effective_number(&weights) / weights.len() as f64)
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
    root: Rows,
    fairness: Fairness,
    /// The model of the default defense, if it takes part.
    default: Option<Vec<f64>>,
}

impl Judge<'_> {
    fn root_errors(&self, theta: &[f64]) -> Result<Option<RootErrors>, Error> {
        let place = self.place(Metrics::of(theta, self.test)?.gap(self.fairness).as_ref());
        Ok(place.and_then(|place| RootErrors::of_gap(theta, &self.root, &place)))
    }

    /// Where a gap is on the root: the same groups and rows.
    fn place(&self, gap: Option<&Gap>) -> Option<GapPlace> {
        let gap = gap?;
        let names = self.root.layout().groups.names();
        let index = |name: &String| names.iter().position(|other| other == name);
        let [first, second] = &gap.groups;
        Some(GapPlace { condition: gap.condition, groups: [index(first)?, index(second)?] })
    }

    fn measure(
        &self,
        contender: Contender,
        entry: Entry,
        seconds: f64,
    ) -> Result<ContenderResult, Error> {
        let metrics = Metrics::of(&entry.theta, self.test)?;
        let gap = metrics.gap(self.fairness).ok_or(Error::NoGap)?;
        let place = self.place(Some(&gap));
        let difference = match (&self.default, &place) {
            (Some(default), Some(place)) => {
                RootErrors::of_difference(&entry.theta, default, &self.root, place)
            }
            _ => None,
        };
        let on_test = place.and_then(|place| RootErrors::of_gap(&entry.theta, self.test, &place));
        Ok(ContenderResult {
            contender,
            accuracy: value(metrics.accuracy),
            balanced_accuracy: value(metrics.balanced_accuracy),
            auc: value(metrics.auc),
            gap: Some(gap.value),
            gap_error: on_test.map(|errors| errors.hard),
            weights: entry.weights,
            difference,
            decided: entry.decided,
            problem: None,
            seconds,
        })
    }
}

impl ContenderResult {
    /// The size of the gap beyond what the test rows show by chance: `√(gap² − error²)`, or 0. Even a fair model has a gap on a
    /// sample, of 0.8 errors on average; only a constant has none. So sizes as they are cannot be compared with a constant's.
    pub(super) fn gap_beyond_chance(&self) -> Option<f64> {
        let (gap, error) = (self.gap?, self.gap_error.unwrap_or(0.0));
        Some((gap * gap - error * error).max(0.0).sqrt())
    }

    fn failed(contender: Contender, problem: &Error, seconds: f64) -> Self {
        Self {
            contender,
            accuracy: None,
            balanced_accuracy: None,
            auc: None,
            gap: None,
            gap_error: None,
            weights: None,
            difference: None,
            decided: None,
            problem: Some(describe(problem)),
            seconds,
        }
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
