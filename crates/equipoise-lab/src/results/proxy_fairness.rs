//! Figure 2: how unfair a model on each client's proxy alone would be.

use equipoise_report::{
    Axis, Block, Cell, Chart, ChartKind, Column, Format, Heatmap, Section, Table,
};

use super::Results;
use super::figures::Place;
use super::wording::{measure, place_words, share};
use crate::experiment::Cell as GridCell;
use crate::scenario::ScenarioKind;

impl Results<'_> {
    /// Figure 2.
    pub(super) fn proxy_fairness_section(&self) -> Option<Section> {
        let places = self.experiment.settings.combinations();
        let charts: Vec<Block> = places
            .into_iter()
            .filter_map(|place| self.proxy_fairness_chart(place))
            .map(Block::Chart)
            .collect();
        if charts.is_empty() {
            return None;
        }
        Some(Section {
            heading: "Figure 2: what each client sends".to_owned(),
            lead: "A model trained on one client's proxy alone, measured on that client's own test rows, \
                   for seed 1, in realistic (real) and ideal rounds. The server never sees these figures: it has no labels of who is unreliable."
                .to_owned(),
            blocks: charts,
        })
    }

    fn proxy_fairness_chart(&self, place: Place<'_>) -> Option<Chart> {
        let settings = &self.experiment.settings;
        let scenarios = settings.scenarios.iter();
        let cells: Vec<&GridCell> = scenarios
            .flat_map(|&scenario| settings.unreliable.iter().map(move |&share| (scenario, share)))
            .filter_map(|(scenario, unreliable)| {
                self.experiment.cells_at(place, scenario, unreliable, None).first().copied()
            })
            .collect();
        let first = cells.first()?;
        let (mut fair, mut unfair) = (Vec::new(), Vec::new());
        for cell in &cells {
            for (client, &value) in cell.clients.iter().zip(&cell.proxy_unfairness) {
                let reliable = !cell.unreliable_clients.contains(client);
                if reliable { fair.push(value) } else { unfair.push(value) }
            }
        }
        let columns: Vec<String> = cells
            .iter()
            .map(|cell| {
                // Short, for six of them stand side by side on a phone.
                let kind = match cell.key.scenario {
                    ScenarioKind::Realistic => "real",
                    ScenarioKind::Ideal => "ideal",
                };
                format!("{kind}\u{a0}{}", share(cell.key.unreliable))
            })
            .collect();
        let values: Vec<Vec<Option<f64>>> = (0..first.clients.len())
            .map(|client| cells.iter().map(|c| c.proxy_unfairness.get(client).copied()).collect())
            .collect();
        let max = fair.iter().chain(&unfair).copied().fold(0.0, f64::max);
        Some(Chart {
            title: format!("Unfairness of each client's proxy: {}", place_words(place)),
            sentence: format!(
                "Unreliable clients, marked * in the table, send data whose models have {} {}; models of \
                 reliable clients' proxies have {}.",
                measure(place.1),
                range(&unfair),
                range(&fair),
            ),
            kind: ChartKind::Heatmap(Heatmap {
                values_axis: Axis::new(measure(place.1), Format::Fixed(2)),
                rows: first.clients.clone(),
                columns: columns.clone(),
                values,
                max,
            }),
            table: proxy_table(place, &cells, &columns),
        })
    }
}

fn proxy_table(place: Place<'_>, cells: &[&GridCell], columns: &[String]) -> Table {
    let clients = cells.first().map_or(&[][..], |cell| &cell.clients);
    let row = |(i, client): (usize, &String)| {
        let values = cells.iter().map(|cell| {
            let value = cell.proxy_unfairness.get(i).copied();
            let mark = if cell.unreliable_clients.contains(client) { "*" } else { "" };
            Cell { number: value, ..Cell::text(Format::Fixed(3).write(value) + mark) }
        });
        [Cell::text(client.clone())].into_iter().chain(values).collect()
    };
    Table {
        caption: format!(
            "{} of a model on the client's proxy alone, on its own test rows; * unreliable",
            measure(place.1)
        ),
        columns: [Column::text("Client")]
            .into_iter()
            .chain(columns.iter().map(|name| Column::number(name.clone())))
            .collect(),
        rows: clients.iter().enumerate().map(row).collect(),
    }
}

/// "from 0.10 to 0.20".
fn range(values: &[f64]) -> String {
    let write = |value: f64| Format::Fixed(3).write(Some(value));
    match values {
        [] => "no value".to_owned(),
        _ => format!(
            "from {} to {}",
            write(values.iter().copied().fold(f64::INFINITY, f64::min)),
            write(values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
        ),
    }
}
