//! The summary of the demo: what each client sent, its weight, and how fair each model is.

use std::collections::BTreeMap;
use std::path::Path;

use equipoise_core::{Defense, Metrics, Outcome, Termination};
use equipoise_lab::Demo;
use serde::Serialize;

use crate::formatting::{bar, count, figure, gap_text, rate, table};

/// The outcome of a defense, and its figures on the test rows.
type Run<'a> = (&'a Outcome, &'a Metrics);

/// The demo in JSON.
#[derive(Serialize)]
pub(super) struct Summary<'a> {
    path: &'a Path,
    people: usize,
    seed: u64,
    test_rows: usize,
    clients: Vec<ClientSummary<'a>>,
    defenses: Vec<DefenseSummary<'a>>,
}

#[derive(Serialize)]
struct ClientSummary<'a> {
    id: &'a str,
    reliable: bool,
    /// |SPD| of a model trained on the client's training rows, measured on its test rows.
    unfairness: f64,
    proxy_rows: usize,
    root_rows: usize,
}

#[derive(Serialize)]
struct DefenseSummary<'a> {
    defense: Defense,
    weights: BTreeMap<&'a str, f64>,
    unreliable_weight: f64,
    termination: Termination,
    #[serde(flatten)]
    metrics: &'a Metrics,
}

impl<'a> Summary<'a> {
    pub(super) fn new(path: &'a Path, demo: &'a Demo, runs: &[Run<'a>]) -> Self {
        let clients = &demo.scenario.clients;
        Self {
            path,
            people: demo.settings.n_people,
            seed: demo.settings.seed,
            test_rows: demo.test.len(),
            clients: clients
                .iter()
                .map(|client| ClientSummary {
                    id: &client.id,
                    reliable: client.reliable,
                    unfairness: client.unfairness,
                    proxy_rows: client.proxy.len(),
                    root_rows: client.root.len(),
                })
                .collect(),
            defenses: runs.iter().map(|&run| DefenseSummary::new(demo, run)).collect(),
        }
    }
}

impl<'a> DefenseSummary<'a> {
    fn new(demo: &Demo, (outcome, metrics): Run<'a>) -> Self {
        let clients = outcome.clients.iter();
        Self {
            defense: outcome.settings.defense,
            weights: clients.map(|client| (client.id.as_str(), client.weight)).collect(),
            unreliable_weight: demo.scenario.unreliable_weight(&outcome.weights()),
            termination: outcome.termination,
            metrics,
        }
    }
}

pub(super) fn text(demo: &Demo, runs: &[Run<'_>], path: &Path) -> String {
    let unreliable = demo.scenario.clients.iter().filter(|client| !client.reliable).count();
    let path = path.display();
    format!(
        "{} people, {}, {unreliable} of them unreliable; {}, seed {}\n\n\
         What each client sent, and its weight in the model of the default defense, tilt:\n{}\n\
         Every defense on this round, measured on {} of the reliable clients:\n{}\n\
         SPD and EOD: group A minus group B, with 95 % intervals; 0 is fair.\n\
         Files are in {path}. Try:\n  \
         equipoise evaluate {path}/tilt/model.json {path}/test.csv\n  \
         equipoise check {path}/proxies/{}.parquet --data {path}/data/{}.csv \\\n      \
         --schema {path}/schema.toml --fairness sp --max-gap 0.05\n",
        demo.settings.n_people,
        count(demo.settings.n_clients, "client"),
        demo.settings.fairness,
        demo.settings.seed,
        clients(demo, runs),
        count(demo.test.len(), "test row"),
        defenses(demo, runs),
        demo.scenario.clients[0].id,
        demo.scenario.clients[0].id,
    )
}

/// Width of the longest bar, in characters.
const BAR_WIDTH: usize = 20;

fn clients(demo: &Demo, runs: &[Run<'_>]) -> String {
    let mut outcomes = runs.iter().map(|(outcome, _)| outcome);
    let method = outcomes.find(|outcome| outcome.settings.defense == Defense::default());
    let weights = method.map(|outcome| outcome.weights()).unwrap_or_default();
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let rows = demo.scenario.clients.iter().zip(weights).map(|(client, weight)| {
        vec![
            client.id.clone(),
            rate(Some(client.unfairness)),
            if client.reliable { "a fair proxy" } else { "its rows unchanged" }.to_owned(),
            format!("{weight:.3}"),
            bar(weight / largest, BAR_WIDTH),
        ]
    });
    table(&["client", "own |SPD|", "sent", "weight", ""], rows.collect(), &[1, 3])
}

fn defenses(demo: &Demo, runs: &[Run<'_>]) -> String {
    let rows = runs.iter().map(|(outcome, metrics)| {
        let unreliable = demo.scenario.unreliable_weight(&outcome.weights());
        vec![
            outcome.settings.defense.to_string(),
            figure(metrics.accuracy),
            figure(metrics.balanced_accuracy),
            gap_text(metrics.gaps.sp.as_ref()),
            gap_text(metrics.gaps.eo.as_ref()),
            rate(outcome.uses_proxies().then_some(unreliable)),
        ]
    });
    let header = ["defense", "accuracy", "balanced", "SPD", "EOD", "weight on unreliable"];
    table(&header, rows.collect(), &[1, 2, 3, 4, 5])
}
