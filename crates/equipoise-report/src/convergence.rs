//! Convergence charts: objective, violation and weights at each step of a solve.

use equipoise_core::TracePoint;

use crate::chart::{Axis, Chart, ChartKind, Lines, Marker, Series};
use crate::format::{Format, count, counted};
use crate::table::{Cell, Column, Table};

/// Maximum number of steps listed in a table.
const MAX_ROWS: usize = 40;
/// Maximum number of clients whose weights are drawn.
const MAX_LINES: usize = 10;

/// The trajectory of a solve and its result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Convergence<'a> {
    /// The steps.
    pub(crate) trace: &'a [TracePoint],
    /// The objective of the resulting model.
    pub(crate) objective: f64,
    /// Its violation on the root.
    pub(crate) violation: f64,
    /// The name and final weight of each client.
    pub(crate) clients: Vec<(&'a str, f64)>,
}

impl Convergence<'_> {
    /// Charts of the objective, the violation and the weights.
    pub(crate) fn charts(&self) -> [Chart; 3] {
        [
            self.value_chart(
                "Objective, step by step",
                "Objective (lower is better)",
                |point| point.objective,
                self.objective,
                "Each time ρ grows, unfairness costs more and the objective may jump up.",
            ),
            self.value_chart(
                "Fairness violation on the root, step by step",
                "Violation (0 is fair)",
                |point| point.violation,
                self.violation,
                "The violation is the solver's measure of unfairness. Steps at exactly 0 are not drawn.",
            ),
            self.weights_chart(),
        ]
    }

    fn value_chart(
        &self,
        title: &str,
        y_title: &str,
        value: fn(&TracePoint) -> f64,
        result: f64,
        remark: &str,
    ) -> Chart {
        let trace = self.trace;
        let sentence = format!(
            "From {} at the first step to {} for the final model, in {}.{} {remark}",
            Format::Auto.write(trace.first().map(value)),
            Format::Auto.write(Some(result)),
            counted(trace.last().map_or(0, |point| point.iteration), "step", "steps"),
            self.describe_starts(),
        );
        let series = runs(trace).map(|run| Series {
            name: match run[0].start {
                0 => "from uniform weights".to_owned(),
                n => format!("start {n}, from one client"),
            },
            points: run.iter().map(|point| (point.iteration as f64, value(point))).collect(),
        });
        let columns = ["Start", "ρ", "Objective", "Violation"].map(str::to_owned);
        let table = self.table("Steps", columns, |point| {
            let numbers = [point.rho, point.objective, point.violation];
            [Cell::text(count(point.start))]
                .into_iter()
                .chain(numbers.map(|number| Cell::number(number, Format::Auto)))
                .collect()
        });
        let axis = Axis::new(y_title, Format::Auto);
        self.chart(title, sentence, (axis, true), series.collect(), table)
    }

    fn weights_chart(&self) -> Chart {
        let mut shown: Vec<usize> = (0..self.clients.len()).collect();
        if shown.len() > MAX_LINES {
            shown.sort_by(|&i, &j| self.clients[j].1.total_cmp(&self.clients[i].1));
            shown.truncate(MAX_LINES);
        }
        let weight = |point: &TracePoint, c: usize| point.weights.get(c).copied();
        let series = shown.iter().map(|&c| {
            // A point without a value after each start breaks the line.
            let points = runs(self.trace).flat_map(|run| {
                let points =
                    run.iter().map(move |point| (point.iteration as f64, weight(point, c)));
                points.chain([(run[run.len() - 1].iteration as f64, None)])
            });
            Series {
                name: self.clients[c].0.to_owned(),
                points: points.map(|(x, weight)| (x, weight.unwrap_or(f64::NAN))).collect(),
            }
        });
        let which = match self.clients.len() {
            n if n > MAX_LINES => {
                format!("the {MAX_LINES} clients (of {}) with the largest weights", count(n))
            }
            n => counted(n, "client", "clients"),
        };
        let sentence = format!(
            "How the weights of {which} moved from the first step to the last.{}",
            self.describe_starts()
        );
        let names = shown.iter().map(|&c| self.clients[c].0.to_owned());
        let table = self.table("Weights", names, |point| {
            let cell = |&c: &usize| Cell::number(weight(point, c), Format::Percent(1));
            shown.iter().map(cell).collect()
        });
        let axis = Axis::new("Share of the weight", Format::Percent(1));
        self.chart("Weights, step by step", sentence, (axis, false), series.collect(), table)
    }

    fn chart(
        &self,
        title: &str,
        sentence: String,
        (y, log_y): (Axis, bool),
        series: Vec<Series>,
        table: Table,
    ) -> Chart {
        // A marker where ρ changes. A new start that keeps ρ is a gap in the lines.
        let stages = self.trace.chunk_by(|a, b| a.rho == b.rho);
        let markers = stages.map(|stage| Marker {
            x: stage[0].iteration as f64,
            label: format!("ρ = {}", Format::Auto.write_log_tick(stage[0].rho)),
        });
        let x = Axis::new("Step", Format::Auto);
        Chart {
            title: title.to_owned(),
            sentence,
            kind: ChartKind::Lines(Lines { x, y, log_y, series, markers: markers.collect() }),
            table,
        }
    }

    /// Lists the steps, or [`MAX_ROWS`] of them, with the cells that `cells` adds to each.
    fn table(
        &self,
        what: &str,
        columns: impl IntoIterator<Item = String>,
        cells: impl Fn(&TracePoint) -> Vec<Cell>,
    ) -> Table {
        let row = |point: &TracePoint| {
            [Cell::text(count(point.iteration))].into_iter().chain(cells(point)).collect()
        };
        Table {
            caption: match self.trace.len() {
                n if n > MAX_ROWS => format!("{what}: {MAX_ROWS} of {} recorded steps", count(n)),
                _ => format!("{what}: all recorded steps"),
            },
            columns: [Column::text("Step")]
                .into_iter()
                .chain(columns.into_iter().map(Column::number))
                .collect(),
            rows: TracePoint::thinned(self.trace, MAX_ROWS).into_iter().map(row).collect(),
        }
    }

    fn describe_starts(&self) -> String {
        match self.trace.iter().map(|point| point.start).max() {
            None | Some(0) => String::new(),
            Some(last) => format!(
                " The search had {}, from uniform weights and then from single clients, and kept the \
                 best result.",
                counted(last + 1, "start", "starts")
            ),
        }
    }
}

/// The steps of each start.
fn runs(trace: &[TracePoint]) -> impl Iterator<Item = &[TracePoint]> {
    trace.chunk_by(|a, b| a.start == b.start)
}
