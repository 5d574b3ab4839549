//! The key figures at the top.

use equipoise_core::{Gap, GroupMetrics, Metrics};

use super::{OutcomeReport, wording};
use crate::block::Figure;
use crate::format::{Format, MISSING, count, counted};

/// A share of the weight up to this is negligible.
const NEGLIGIBLE_WEIGHT: f64 = 0.01;

impl OutcomeReport<'_> {
    pub(super) fn key_figures(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        if let Some(primary) = self.primary() {
            let metrics = &primary.metrics;
            let measured_on = format!("{primary}, {}", counted(metrics.rows, "row", "rows"));
            figures.extend([
                figure(
                    "Accuracy",
                    Format::Percent(1).write(metrics.accuracy.map(|e| e.value)),
                    &measured_on,
                ),
                figure(
                    "Balanced accuracy",
                    Format::Percent(1).write(metrics.balanced_accuracy.map(|e| e.value)),
                    "a constant model reaches 50\u{202f}%",
                ),
                figure("Statistical parity (SPD)", spd(metrics), &spd_note(metrics)),
                figure(
                    "Equal opportunity (EOD)",
                    eod(metrics),
                    "true positive rate, privileged group minus the other; 0 means equal",
                ),
            ]);
        }
        let weighted = self.n_weighted_clients();
        let (stopped, how) = wording::termination(self.outcome().termination);
        figures.extend([
            figure(
                "Clients with weight",
                format!("{} of {}", count(weighted), count(self.clients().len())),
                "with more than 1\u{202f}% of the weight",
            ),
            figure("Solver status", stopped.to_owned(), how),
        ]);
        figures
    }

    pub(super) fn n_weighted_clients(&self) -> usize {
        self.clients().iter().filter(|client| client.weight > NEGLIGIBLE_WEIGHT).count()
    }
}

pub(super) fn spd(metrics: &Metrics) -> String {
    gap_text(&metrics.gaps.sp)
}

pub(super) fn eod(metrics: &Metrics) -> String {
    gap_text(&metrics.gaps.eo)
}

fn gap_text(gap: &Option<Gap>) -> String {
    let gap = gap.as_ref();
    Format::Fixed(3).write_with_error(gap.map(|g| g.value), gap.map(|g| 0.5 * (g.high - g.low)))
}

fn spd_note(metrics: &Metrics) -> String {
    let rate = |group: &GroupMetrics| {
        let selected = Format::Percent(1).write(group.selection_rate.map(|e| e.value));
        format!("{selected} of {}", group.name)
    };
    let rates: Vec<String> = metrics.groups.iter().map(rate).collect();
    format!("selects {}; 0 means equal", rates.join(", "))
}

fn figure(label: &str, value: String, note: &str) -> Figure {
    let note = if value == MISSING { "no such rows".to_owned() } else { note.to_owned() };
    Figure { label: label.to_owned(), value, note }
}
