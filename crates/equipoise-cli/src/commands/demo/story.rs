//! What the demo tells: who sent what, whom the method trusted, and how fair each model came out.

use std::collections::BTreeMap;
use std::path::Path;

use equipoise_core::{Defense, Metrics, Termination};
use equipoise_lab::{DefenseRun, Demo};
use serde::Serialize;

use crate::fairness_args;
use crate::figures::{bar, count, difference, rate, table};

/// The demo in JSON.
#[derive(Serialize)]
pub(super) struct Story<'a> {
    path: &'a Path,
    people: usize,
    seed: u64,
    test_rows: usize,
    clients: Vec<ClientStory<'a>>,
    defenses: Vec<DefenseStory<'a>>,
}

#[derive(Serialize)]
struct ClientStory<'a> {
    id: &'a str,
    reliable: bool,
    /// |SPD| on its own test rows of a model on its own training rows.
    unfairness: f64,
    proxy_rows: usize,
    root_rows: usize,
}

#[derive(Serialize)]
struct DefenseStory<'a> {
    defense: Defense,
    weights: BTreeMap<&'a str, f64>,
    unreliable_weight: f64,
    termination: Termination,
    seconds: f64,
    #[serde(flatten)]
    metrics: &'a Metrics,
}

impl<'a> Story<'a> {
    pub(super) fn new(path: &'a Path, demo: &'a Demo, runs: &'a [DefenseRun]) -> Self {
        let clients = &demo.scenario.clients;
        Self {
            path,
            people: demo.settings.n_people,
            seed: demo.settings.seed,
            test_rows: demo.test.len(),
            clients: clients
                .iter()
                .map(|client| ClientStory {
                    id: &client.id,
                    reliable: client.reliable,
                    unfairness: client.unfairness,
                    proxy_rows: client.proxy.len(),
                    root_rows: client.root.len(),
                })
                .collect(),
            defenses: runs
                .iter()
                .map(|run| DefenseStory {
                    defense: run.defense,
                    weights: clients
                        .iter()
                        .map(|client| client.id.as_str())
                        .zip(run.outcome.weights.iter().copied())
                        .collect(),
                    unreliable_weight: demo.scenario.unreliable_weight(&run.outcome.weights),
                    termination: run.outcome.termination,
                    seconds: run.seconds,
                    metrics: &run.metrics,
                })
                .collect(),
        }
    }
}

/// The demo for people.
pub(super) fn in_words(demo: &Demo, runs: &[DefenseRun], path: &Path) -> String {
    let unreliable = demo.scenario.clients.iter().filter(|client| !client.reliable).count();
    let path = path.display();
    format!(
        "{} people, {}, {unreliable} of them unreliable; {}, seed {}\n\n\
         What each client sent, and the weight that the method gave it:\n{}\n\
         Every defense on this same round, judged on {} of the reliable clients:\n{}\n\
         SPD and EOD: group A minus group B, ± 1.96 standard errors; 0 is fair.\n\
         Files are in {path}. Try:\n  \
         equipoise evaluate {path}/bilevel/model.json {path}/test.csv\n  \
         equipoise check {path}/proxies/{}.parquet --data {path}/data/{}.csv \\\n      \
         --schema {path}/schema.toml --fairness sp --epsilon 0.01\n",
        demo.settings.n_people,
        count(demo.settings.n_clients, "client"),
        fairness_args::in_words(demo.settings.fairness),
        demo.settings.seed,
        clients(demo, runs),
        count(demo.test.len(), "test row"),
        defenses(demo, runs),
        demo.scenario.clients[0].id,
        demo.scenario.clients[0].id,
    )
}

/// Characters of the longest bar.
const BAR: usize = 20;

fn clients(demo: &Demo, runs: &[DefenseRun]) -> String {
    let weights = runs
        .iter()
        .find(|run| run.defense == Defense::Bilevel)
        .map(|run| run.outcome.weights.as_slice())
        .unwrap_or_default();
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let rows = demo.scenario.clients.iter().zip(weights).map(|(client, &weight)| {
        vec![
            client.id.clone(),
            rate(Some(client.unfairness)),
            if client.reliable { "a fair proxy" } else { "its rows as they are" }.to_owned(),
            format!("{weight:.3}"),
            bar(weight / largest, BAR),
        ]
    });
    table(&["client", "own |SPD|", "sent", "weight", ""], rows.collect(), &[1, 3])
}

fn defenses(demo: &Demo, runs: &[DefenseRun]) -> String {
    let rows = runs.iter().map(|run| {
        let metrics = &run.metrics;
        let unreliable = demo.scenario.unreliable_weight(&run.outcome.weights);
        vec![
            run.defense.to_string(),
            rate(metrics.accuracy),
            rate(metrics.balanced_accuracy),
            difference(metrics.spd, metrics.spd_standard_error),
            difference(metrics.eod, metrics.eod_standard_error),
            if run.defense == Defense::RootOnly {
                "—".to_owned()
            } else {
                rate(Some(unreliable))
            },
        ]
    });
    let header = ["defense", "accuracy", "balanced", "SPD", "EOD", "weight on unreliable"];
    table(&header, rows.collect(), &[1, 2, 3, 4, 5])
}
