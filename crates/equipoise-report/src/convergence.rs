//! Charts of a solver's way: objective, violation and weights, step by step.

use equipoise_core::TracePoint;

use crate::chart::{Axis, Chart, ChartKind, Lines, Marker, Series};
use crate::format::{Format, count, counted};
use crate::table::{Cell, Column, Table};

/// Rows of a trace that a table shows.
const MAX_ROWS: usize = 40;
/// Clients whose weights are drawn over the steps.
const MAX_LINES: usize = 10;

/// The way of a solver and where it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Convergence<'a> {
    /// The steps.
    pub trace: &'a [TracePoint],
    /// The objective of the model given.
    pub objective: f64,
    /// Its violation on the root.
    pub violation: f64,
    /// Each client's name and its weight in the end.
    pub clients: Vec<(&'a str, f64)>,
}

impl Convergence<'_> {
    /// Objective, violation and weights over the steps.
    pub fn charts(&self) -> [Chart; 3] {
        [self.objective_chart(), self.violation_chart(), self.weights_path()]
    }

    fn objective_chart(&self) -> Chart {
        self.path_chart(
            "Objective, step by step",
            "Objective (lower is better)",
            |point| point.objective,
            self.objective,
            "Each time ρ grows, unfairness costs more and the objective may jump up.",
        )
    }

    fn violation_chart(&self) -> Chart {
        self.path_chart(
            "Violation of fairness on the root, step by step",
            "Violation (0 is fair)",
            |point| point.violation,
            self.violation,
            "The violation is what the solver sees of unfairness; steps of exactly 0 are not drawn.",
        )
    }

    fn path_chart(
        &self,
        title: &str,
        y_title: &str,
        value: fn(&TracePoint) -> f64,
        result: f64,
        remark: &str,
    ) -> Chart {
        let trace = self.trace;
        let first = trace.first().map(value);
        let steps = trace.last().map_or(0, |point| point.iteration);
        let sentence = format!(
            "From {} at the first step to {} for the model given, over {}{}. {remark}",
            Format::Auto.write(first),
            Format::Auto.write(Some(result)),
            counted(steps, "step", "steps"),
            self.starts_phrase(),
        );
        Chart {
            title: title.to_owned(),
            sentence,
            kind: ChartKind::Lines(Lines {
                x: Axis::new("Step", Format::Auto),
                y: Axis::new(y_title, Format::Auto),
                log_y: true,
                series: series_by_start(trace, value),
                markers: stage_markers(trace),
            }),
            table: trace_table(trace),
        }
    }

    fn starts_phrase(&self) -> String {
        match self.trace.iter().map(|point| point.start).max() {
            None | Some(0) => String::new(),
            Some(last) => format!(
                " and {}: the search began from uniform weights, then from single clients, and the \
                 best result was kept",
                counted(last + 1, "start", "starts")
            ),
        }
    }

    fn weights_path(&self) -> Chart {
        let trace = self.trace;
        let mut order: Vec<usize> = (0..self.clients.len()).collect();
        if order.len() > MAX_LINES {
            order.sort_by(|&i, &j| self.clients[j].1.total_cmp(&self.clients[i].1));
            order.truncate(MAX_LINES);
        }
        let line = |&c: &usize| {
            let at = |point: &TracePoint| {
                (point.iteration as f64, point.weights.get(c).copied().unwrap_or(f64::NAN))
            };
            // A point without a value between two starts: the line ends there and begins anew.
            let runs = trace.chunk_by(|a, b| a.start == b.start);
            let points = runs.flat_map(|run| {
                let end = run.last().map_or(f64::NAN, |point| point.iteration as f64);
                run.iter().map(at).chain([(end, f64::NAN)])
            });
            Series { name: self.clients[c].0.to_owned(), points: points.collect() }
        };
        let series: Vec<Series> = order.iter().map(line).collect();
        let shown = match self.clients.len() {
            n if n > MAX_LINES => {
                format!("the {MAX_LINES} clients (of {}) with the largest weights", count(n))
            }
            n => counted(n, "client", "clients"),
        };
        Chart {
            title: "Weights, step by step".to_owned(),
            sentence: format!(
                "How the weights of {shown} moved, from the first step to the last{}.",
                self.starts_phrase()
            ),
            kind: ChartKind::Lines(Lines {
                x: Axis::new("Step", Format::Auto),
                y: Axis::new("Share of the weight", Format::Percent(1)),
                log_y: false,
                series,
                markers: stage_markers(trace),
            }),
            table: self.weights_table(&order),
        }
    }

    fn weights_table(&self, order: &[usize]) -> Table {
        let trace = self.trace;
        let names = order.iter().map(|&c| Column::number(self.clients[c].0.to_owned()));
        let row = |point: &TracePoint| {
            let weights = order
                .iter()
                .map(|&c| Cell::number(point.weights.get(c).copied(), Format::Percent(1)));
            [Cell::text(count(point.iteration))].into_iter().chain(weights).collect()
        };
        Table {
            caption: thinned_caption("Weights", trace),
            columns: [Column::text("Step")].into_iter().chain(names).collect(),
            rows: TracePoint::thinned(trace, MAX_ROWS).into_iter().map(row).collect(),
        }
    }
}

/// One line per descent, named where there are several.
fn series_by_start(trace: &[TracePoint], value: fn(&TracePoint) -> f64) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for run in trace.chunk_by(|a, b| a.start == b.start) {
        let name = match run.first().map_or(0, |point| point.start) {
            0 => "from uniform weights".to_owned(),
            n => format!("from one client ({n})"),
        };
        let points = run.iter().map(|point| (point.iteration as f64, value(point))).collect();
        series.push(Series { name, points });
    }
    series
}

/// Where a new ρ begins.
fn stage_markers(trace: &[TracePoint]) -> Vec<Marker> {
    trace
        .chunk_by(|a, b| a.rho == b.rho && a.start == b.start)
        .filter_map(|stage| stage.first())
        .map(|point| Marker {
            x: point.iteration as f64,
            label: format!("ρ = {}", Format::Auto.write_log_tick(point.rho)),
        })
        .collect()
}

fn trace_table(trace: &[TracePoint]) -> Table {
    let row = |point: &TracePoint| {
        vec![
            Cell::text(count(point.iteration)),
            Cell::text(count(point.start)),
            Cell::number(point.rho, Format::Auto),
            Cell::number(point.objective, Format::Auto),
            Cell::number(point.violation, Format::Auto),
        ]
    };
    Table {
        caption: thinned_caption("Steps", trace),
        columns: vec![
            Column::text("Step"),
            Column::number("Start"),
            Column::number("ρ"),
            Column::number("Objective"),
            Column::number("Violation"),
        ],
        rows: TracePoint::thinned(trace, MAX_ROWS).into_iter().map(row).collect(),
    }
}

fn thinned_caption(what: &str, trace: &[TracePoint]) -> String {
    if trace.len() <= MAX_ROWS {
        format!("{what}, all that were recorded")
    } else {
        format!("{what}: {MAX_ROWS} of {} that were recorded", count(trace.len()))
    }
}
