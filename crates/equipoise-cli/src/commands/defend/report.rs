//! What the coordinator is told about an outcome.

use std::collections::BTreeMap;
use std::path::Path;

use equipoise_core::{Counts, Metrics, Termination, Violation};
use equipoise_data::{OutcomeFile, OutcomeWarning, Overlap, Schema};
use serde::Serialize;

use crate::commands::evaluate::difference_lines;
use crate::fairness_args;
use crate::figures::{bar, count, number, rate, table};

/// The outcome on stdout: outcome.json without settings and trace, and where it was written.
#[derive(Serialize)]
pub(super) struct Report<'a> {
    path: &'a Path,
    schema_digest: &'a str,
    weights: &'a BTreeMap<String, f64>,
    features: &'a [String],
    theta: &'a [f64],
    objective: f64,
    root_loss: f64,
    rho: f64,
    violation: f64,
    violations: Violation,
    termination: Termination,
    gap: Option<f64>,
    evaluations: usize,
    counts: Counts,
    root_metrics: &'a Metrics,
    warnings: &'a [OutcomeWarning],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    overlaps: &'a [Overlap],
    seconds: f64,
}

impl<'a> Report<'a> {
    pub(super) fn new(path: &'a Path, file: &'a OutcomeFile) -> Self {
        Self {
            path,
            schema_digest: &file.schema_digest,
            weights: &file.weights,
            features: &file.features,
            theta: &file.theta,
            objective: file.objective,
            root_loss: file.root_loss,
            rho: file.rho,
            violation: file.violation,
            violations: file.violations,
            termination: file.termination,
            gap: file.gap,
            evaluations: file.evaluations,
            counts: file.counts,
            root_metrics: &file.root_metrics,
            warnings: &file.warnings,
            overlaps: &file.overlaps,
            seconds: file.seconds,
        }
    }
}

/// The outcome for people.
pub(super) fn in_words(file: &OutcomeFile, schema: &Schema) -> String {
    let settings = &file.settings;
    format!(
        "{} for {}\n\n{}\n{}\nthe model on all {}: few rows, so noisy figures (± is 1.96 standard errors)\n{}",
        settings.defense,
        fairness_args::in_words(settings.fairness),
        weights(file),
        solve_lines(file),
        count(file.root_metrics.rows, "root row"),
        root_lines(&file.root_metrics, schema),
    )
}

/// Characters of the longest bar.
const BAR: usize = 24;

fn weights(file: &OutcomeFile) -> String {
    let largest = file.clients.iter().map(|client| client.weight).fold(0.0, f64::max);
    let rows = file.clients.iter().map(|client| {
        let share = if largest > 0.0 { client.weight / largest } else { 0.0 };
        vec![
            client.id.clone(),
            client.proxy_rows.to_string(),
            client.root_rows.to_string(),
            format!("{:.4}", client.weight),
            bar(share, BAR),
        ]
    });
    let text =
        table(&["client", "proxy rows", "root rows", "weight", ""], rows.collect(), &[1, 2, 3]);
    let unused = match file.termination {
        _ if largest > 0.0 => "",
        Termination::FellBack => "no client counts: the model is that of the root alone\n",
        _ => "this defense does not use the proxies\n",
    };
    text + unused
}

fn solve_lines(file: &OutcomeFile) -> String {
    let counts = &file.counts;
    let mut rows = vec![
        line("objective", format!("{} at ρ = {}", number(file.objective), file.rho)),
        line("root loss", number(file.root_loss)),
        line("violation", format!("{} on the root", number(file.violation))),
        line("termination", termination_in_words(file)),
    ];
    let mut effort = Vec::new();
    if counts.evaluations > 0 {
        effort.push(count(counts.evaluations, "evaluation"));
    }
    effort.push(count(counts.inner_fits, "inner fit"));
    effort.push(format!(
        "{} over the rows",
        if counts.passes == 1 { "1 pass".to_string() } else { format!("{} passes", counts.passes) }
    ));
    effort.push(format!("{:.2} s", file.seconds));
    rows.push(line("effort", effort.join(", ")));
    table(&[], rows, &[])
}

fn termination_in_words(file: &OutcomeFile) -> String {
    let gap = file.gap.map_or_else(|| "—".to_string(), number);
    match file.termination {
        Termination::Converged => {
            format!("converged: no direction promises more than {gap} of the objective")
        }
        Termination::ScheduleCompleted => {
            format!("all steps of the schedule done (gap {gap}, not tested)")
        }
        Termination::IterationLimit => {
            format!("NOT converged: stopped with a gap of {gap} of the objective")
        }
        Termination::Direct => "direct: this defense has a formula for its weights".to_string(),
        Termination::FellBack => {
            "fell back: the root alone gives a clearly better model than all clients".to_string()
        }
    }
}

fn root_lines(metrics: &Metrics, schema: &Schema) -> String {
    let mut rows = vec![
        line("accuracy", rate(metrics.accuracy)),
        line("balanced accuracy", rate(metrics.balanced_accuracy)),
    ];
    rows.extend(difference_lines(metrics, schema));
    let mut text = table(&[], rows, &[]);
    for gap in metrics.gaps() {
        text += &format!("{gap}\n");
    }
    text
}

fn line(name: &str, value: String) -> Vec<String> {
    vec![name.to_string(), value]
}
