//! Figure 2: the unfairness of a model trained on each client's proxy alone.

use equipoise_report::{
    Axis, Block, Cell, Chart, ChartKind, Column, Format, Heatmap, Section, Table,
};

use super::Results;
use super::figures::Combination;
use super::wording::{measure, range, share};
use crate::experiment::Cell as GridCell;
use crate::scenario::ScenarioKind;

impl Results<'_> {
    pub(super) fn proxy_fairness_section(&self) -> Option<Section> {
        self.section(
            self.heading("Figure 2: unfairness of each proxy", "Unfairness of each proxy"),
            "|SPD| or |EOD| of a model trained on one client's proxy alone, measured on that client's own test rows, for \
             the first seed, in realistic (“real”) and ideal rounds. The server never sees these figures and does not know which \
             clients are unreliable.",
            |combination| self.proxy_fairness_chart(combination).map(Block::Chart),
        )
    }

    fn proxy_fairness_chart(&self, combination: Combination<'_>) -> Option<Chart> {
        let settings = &self.experiment.settings;
        let scenarios = settings.scenarios.iter();
        let cells: Vec<&GridCell> = scenarios
            .flat_map(|&scenario| settings.unreliable.iter().map(move |&share| (scenario, share)))
            .filter_map(|(scenario, unreliable)| {
                let cells = self.experiment.cells_at(combination, scenario, unreliable);
                cells.into_iter().find(|cell| cell.problem.is_none())
            })
            .collect();
        let first = cells.first()?;
        let (mut reliable, mut unreliable) = (Vec::new(), Vec::new());
        for cell in &cells {
            for (client, &value) in cell.clients.iter().zip(&cell.proxy_unfairness) {
                let is_unreliable = cell.unreliable_clients.contains(client);
                if is_unreliable { unreliable.push(value) } else { reliable.push(value) }
            }
        }
        let columns: Vec<String> = cells
            .iter()
            .map(|cell| {
                // Short, because six columns must fit on a phone.
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
        let measure = measure(combination.1);
        Some(Chart {
            title: format!("Unfairness of each proxy: {}", self.title(combination)),
            sentence: format!(
                "{measure} is {} for unreliable clients, marked * in the table, and {} for reliable clients.",
                range(&unreliable, 3),
                range(&reliable, 3),
            ),
            kind: ChartKind::Heatmap(Heatmap {
                values_axis: Axis::new(measure, Format::Fixed(2)),
                rows: first.clients.clone(),
                columns: columns.clone(),
                values,
                max: reliable.iter().chain(&unreliable).copied().fold(0.0, f64::max),
            }),
            table: proxy_table(measure, &cells, &columns),
        })
    }
}

fn proxy_table(measure: &str, cells: &[&GridCell], columns: &[String]) -> Table {
    let clients = cells.first().map_or(&[][..], |cell| &cell.clients);
    let row = |(i, client): (usize, &String)| {
        let values = cells.iter().map(|cell| {
            let value = cell.proxy_unfairness.get(i).copied();
            let mark = if cell.unreliable_clients.contains(client) { "*" } else { "" };
            Cell::text(Format::Fixed(3).write(value) + mark)
        });
        [Cell::text(client.clone())].into_iter().chain(values).collect()
    };
    Table {
        caption: format!(
            "{measure} of a model trained on the client's proxy alone, on its own test rows (* unreliable)"
        ),
        columns: [Column::text("Client")]
            .into_iter()
            .chain(columns.iter().map(|name| Column::number(name.clone())))
            .collect(),
        rows: clients.iter().enumerate().map(row).collect(),
    }
}
