//! The outcome as the coordinator sees it on stdout.

use std::path::Path;
use std::time::Duration;

use equipoise_core::{Defense, Metrics, Outcome, SweepPoint, Termination, describe_verdict};
use serde_json::Value;

use crate::figures::gap_lines;
use crate::formatting::{bar, count, gap_text, number, table, with_interval};

/// outcome.json without the settings and the trace, with the path of its folder.
pub(super) fn document(path: &Path, outcome: &Outcome) -> anyhow::Result<Value> {
    let mut document = serde_json::to_value(outcome)?;
    if let Some(keys) = document.as_object_mut() {
        keys.remove("settings");
        keys.remove("trace");
        keys.insert("path".to_owned(), serde_json::to_value(path)?);
    }
    Ok(document)
}

pub(super) fn text(outcome: &Outcome, took: Duration) -> String {
    let verdict = describe_verdict(&outcome.judgements, "this root");
    let verdict = verdict.map_or_else(String::new, |sentence| sentence + "\n\n");
    format!(
        "{verdict}{} for {}\n\n{}\n{}\nthe model on all {} ([ ] is a 95 % interval)\n{}",
        outcome.settings.defense,
        outcome.settings.fairness,
        weights(outcome),
        solve_lines(outcome, took),
        count(outcome.root_metrics.rows, "root row"),
        root_lines(&outcome.root_metrics),
    ) + &trade_off(outcome)
}

/// Accuracy and gap of every model between accuracy alone and what the settings ask for.
fn trade_off(outcome: &Outcome) -> String {
    if outcome.sweep.is_empty() {
        return String::new();
    }
    let fairness = outcome.settings.fairness;
    let row = |point: &SweepPoint| {
        let metrics = &point.root_metrics;
        vec![
            point.strength_text(),
            with_interval(metrics.accuracy),
            with_interval(metrics.balanced_accuracy),
            gap_text(metrics.gap(fairness).as_ref()),
        ]
    };
    let header = ["fairness", "accuracy", "balanced accuracy", "worst gap"];
    let rows = outcome.sweep.iter().map(row).collect();
    format!(
        "\nthe trade-off on the root: from accuracy alone (0) to this model (1)\n{}",
        table(&header, rows, &[0, 1, 2, 3])
    )
}

/// Width of the longest bar, in characters.
const BAR_WIDTH: usize = 24;

fn weights(outcome: &Outcome) -> String {
    if let Some(summary) = &outcome.tilt {
        return format!("{}\n{}", summary.headline(), counted(outcome));
    }
    let largest = outcome.clients.iter().map(|client| client.weight).fold(0.0, f64::max);
    let rows = outcome.clients.iter().map(|client| {
        let share = if largest > 0.0 { client.weight / largest } else { 0.0 };
        vec![
            client.id.clone(),
            client.proxy_rows.to_string(),
            client.root_rows.to_string(),
            format!("{:.4}", client.weight),
            bar(share, BAR_WIDTH),
        ]
    });
    let text =
        table(&["client", "proxy rows", "root rows", "weight", ""], rows.collect(), &[1, 2, 3]);
    let unused = match outcome.termination {
        _ if largest > 0.0 => "",
        Termination::FellBack => "no client has any weight: this is the root-only model\n",
        _ => "this defense does not use the proxies\n",
    };
    text + unused
}

/// How much each client counts, and why.
fn counted(outcome: &Outcome) -> String {
    let rows = outcome.clients.iter().map(|client| {
        let tilt = client.tilt.as_ref();
        vec![
            client.id.clone(),
            client.proxy_rows.to_string(),
            format!("{:.4}", client.weight),
            tilt.map_or_else(String::new, |tilt| tilt.counted.name().to_owned()),
            tilt.map_or_else(String::new, |tilt| tilt.reason.short()),
        ]
    });
    let text = table(&["client", "rows", "weight", "counted", "reason"], rows.collect(), &[1, 2]);
    match outcome.termination {
        Termination::FellBack => text + "no client has any weight: this is the root-only model\n",
        _ => text,
    }
}

fn solve_lines(outcome: &Outcome, took: Duration) -> String {
    let counts = &outcome.counts;
    let mut rows = Vec::new();
    // The other defenses minimise no objective.
    if outcome.settings.defense == Defense::Bilevel {
        rows.push(line(
            "objective",
            format!("{} at ρ = {}", number(outcome.objective), outcome.rho),
        ));
    }
    rows.extend([
        line("root loss", number(outcome.root_loss)),
        line("violation", format!("{} on the root", number(outcome.violation))),
        line("termination", describe_termination(outcome)),
    ]);
    let mut effort = Vec::new();
    if counts.evaluations > 0 {
        effort.push(count(counts.evaluations, "evaluation"));
    }
    effort.push(count(counts.inner_fits, "inner fit"));
    effort.push(format!(
        "{} over the rows",
        if counts.passes == 1 { "1 pass".to_string() } else { format!("{} passes", counts.passes) }
    ));
    effort.push(format!("{:.2} s", took.as_secs_f64()));
    rows.push(line("effort", effort.join(", ")));
    table(&[], rows, &[])
}

fn describe_termination(outcome: &Outcome) -> String {
    let gap = outcome.gap.map_or_else(|| "—".to_string(), number);
    match outcome.termination {
        Termination::Converged => {
            format!("converged: relative gap {gap}")
        }
        Termination::ScheduleCompleted => {
            format!("all scheduled steps taken (relative gap {gap}, not tested)")
        }
        Termination::IterationLimit => {
            format!("NOT converged: stopped with a relative gap of {gap}")
        }
        Termination::Direct => "direct: this defense does not optimise weights".to_string(),
        Termination::FellBack => {
            "fell back: the root-only model is clearly better than the clients' model".to_string()
        }
    }
}

fn root_lines(metrics: &Metrics) -> String {
    let mut rows = vec![
        line("accuracy", with_interval(metrics.accuracy)),
        line("balanced accuracy", with_interval(metrics.balanced_accuracy)),
    ];
    rows.extend(gap_lines(metrics));
    let mut text = table(&[], rows, &[]);
    for reason in metrics.missing() {
        text += &format!("{reason}\n");
    }
    text
}

fn line(name: &str, value: String) -> Vec<String> {
    vec![name.to_string(), value]
}
