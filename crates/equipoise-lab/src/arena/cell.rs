//! One cell: a round under attack, and the result of every contender.

use equipoise_core::{Choice, Criterion, Estimate, Fairness, Gap, Metrics, Rows};
use serde::{Deserialize, Serialize};
use std::time::Instant;

use super::Ground;
use super::contender::{Contender, Contest, Entry};
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
        let results = settings.entries().map(|contender| {
            let started = Instant::now();
            let entry = contender.run(&contest);
            let seconds = started.elapsed().as_secs_f64();
            let measured =
                entry.and_then(|entry| ContenderResult::of(contender, entry, &test, fairness));
            let result = measured.unwrap_or_else(|e| ContenderResult::failed(contender, &e));
            ContenderResult { seconds, ..result }
        });
        Ok(Self { key: key.clone(), clients, results: results.collect(), problem: None })
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

impl ContenderResult {
    /// Measures a model on the test rows.
    fn of(
        contender: Contender,
        entry: Entry,
        test: &Rows,
        fairness: Fairness,
    ) -> Result<Self, Error> {
        let metrics = Metrics::of(&entry.theta, test)?;
        let gap = metrics.gap(fairness).ok_or(Error::NoGap)?;
        Ok(Self {
            contender,
            accuracy: value(metrics.accuracy),
            balanced_accuracy: value(metrics.balanced_accuracy),
            auc: value(metrics.auc),
            gap: Some(gap.value),
            gap_error: gap_error(&entry.theta, test, &gap),
            weights: entry.weights,
            decided: entry.decided,
            problem: None,
            seconds: 0.0,
        })
    }

    /// The size of the gap beyond what the test rows show by chance: `√(gap² − error²)`, or 0. Even a fair model has a gap on a
    /// sample, of 0.8 errors on average; only a constant has none. So sizes as they are cannot be compared with a constant's.
    pub(super) fn gap_beyond_chance(&self) -> Option<f64> {
        let (gap, error) = (self.gap?, self.gap_error.unwrap_or(0.0));
        Some((gap * gap - error * error).max(0.0).sqrt())
    }

    fn failed(contender: Contender, problem: &Error) -> Self {
        Self {
            contender,
            accuracy: None,
            balanced_accuracy: None,
            auc: None,
            gap: None,
            gap_error: None,
            weights: None,
            decided: None,
            problem: Some(describe(problem)),
            seconds: 0.0,
        }
    }
}

/// The standard error of a model's gap on a sample. `None` if a group has no rows that count.
fn gap_error(theta: &[f64], rows: &Rows, gap: &Gap) -> Option<f64> {
    let names = rows.layout().groups.names();
    let squared_error = |name: &String| {
        let group = names.iter().position(|other| other == name)?;
        let counts =
            |i: &usize| rows.group(*i) == group && gap.condition.includes(rows.is_positive(*i));
        let score = |i| rows.a(i).iter().zip(theta).map(|(a, t)| a * t).sum::<f64>();
        let scores: Vec<f64> = (0..rows.len()).filter(counts).map(score).collect();
        let selected = scores.iter().filter(|score| **score > 0.0).count();
        // One more row of either kind, so that a group that is selected as a whole still has an error.
        let n = scores.len() as f64 + 2.0;
        let rate = (selected as f64 + 1.0) / n;
        (!scores.is_empty()).then(|| rate * (1.0 - rate) / n)
    };
    let [first, second] = &gap.groups;
    Some((squared_error(first)? + squared_error(second)?).sqrt())
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use equipoise_core::Layout;

    #[test]
    fn error_of_a_gap_by_hand() {
        // Group 1 has the scores 1, 1, −1, −1 and group 0 has 2, −2, −2, −2 for the model (1, 0, 0).
        let x = [1.0, 1.0, -1.0, -1.0, 2.0, -2.0, -2.0, -2.0];
        let groups = [true, true, true, true, false, false, false, false];
        let positive = [true, false, true, false, true, true, true, false];
        let rows = Rows::new(Layout::two_groups(1, true), &x, &groups, &positive).unwrap();
        let theta = [1.0, 0.0, 0.0];
        let gap = |fairness| Metrics::of(&theta, &rows).unwrap().gap(fairness).unwrap();
        // Rates (2 + 1)/6 and (1 + 1)/6: √(1/4/6 + 2/9/6).
        let error = gap_error(&theta, &rows, &gap(Fairness::SP)).unwrap();
        assert!((error - (0.25 / 6.0 + 2.0 / 54.0_f64).sqrt()).abs() < 1e-12);
        // Among positives, one of two and one of three: rates 2/4 and 2/5.
        let error = gap_error(&theta, &rows, &gap(Fairness::EO)).unwrap();
        assert!((error - (0.25 / 4.0 + 0.24 / 5.0_f64).sqrt()).abs() < 1e-12);
    }
}
