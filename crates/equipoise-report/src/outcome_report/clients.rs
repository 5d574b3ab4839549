//! The clients and their weights.

use equipoise_core::{Choice, ClientOutcome, Termination};

use super::{MAX_BARS, OutcomePage, sentence};
use crate::block::Block;
use crate::chart::{Axis, Bar, Bars, Chart, ChartKind, Reference};
use crate::format::{Format, count, counted, listed};
use crate::page::Section;
use crate::table::{Cell, Column, Table};

const SHARE: Format = Format::Percent(1);
/// A share of the weight up to this is negligible.
pub(super) const NEGLIGIBLE: f64 = 0.01;
/// Maximum number of clients that a sentence names; more are counted.
const MAX_NAMES: usize = 5;

impl OutcomePage<'_> {
    pub(super) fn clients_section(&self) -> Section {
        let defense = self.outcome.settings.defense;
        let lead = format!(
            "A weight is the share of a client's proxy in the model; all weights add up to 100\u{202f}%. A proxy with \
             weight 0 has no influence. The defense “{defense}” chose them: {}.",
            lower_first(defense.description())
        );
        let mut blocks = vec![Block::Chart(self.weights_chart())];
        blocks.extend(self.counted_block());
        blocks.extend(self.overlap_blocks());
        Section::new("Client weights", lead, blocks)
    }

    fn weights_chart(&self) -> Chart {
        let n_clients = self.clients().len();
        let mut shown: Vec<&ClientOutcome> = self.clients().iter().collect();
        if n_clients > MAX_BARS {
            shown.sort_by(|a, b| b.weight.total_cmp(&a.weight));
            shown.truncate(MAX_BARS);
        }
        let bars = shown.iter().map(|client| Bar {
            label: client.id.clone(),
            value: Some(client.weight),
            tag: self.tag(client).map(str::to_owned),
        });
        let equal_share = Reference::new(1.0 / n_clients.max(1) as f64, "equal share");
        Chart {
            title: "Weight of each client".to_owned(),
            sentence: self.weights_sentence(),
            kind: ChartKind::Bars(Bars {
                axis: Axis::new("Share of the weight", SHARE),
                bars: bars.collect(),
                reference: (n_clients > 1).then_some(equal_share),
            }),
            table: self.clients_table(),
        }
    }

    fn weights_sentence(&self) -> String {
        let Some(heaviest) = self.clients().iter().max_by(|a, b| a.weight.total_cmp(&b.weight))
        else {
            return "There are no clients to show.".to_owned();
        };
        if self.outcome.termination == Termination::FellBack {
            return "This is the root-only model, so every weight is 0.".to_owned();
        }
        if !self.outcome.uses_proxies() {
            return "This defense uses no proxy, so every weight is 0.".to_owned();
        }
        let headline = self.outcome.tilt.as_ref().map(|tilt| tilt.headline() + ". ");
        let mut text = headline.unwrap_or_default();
        text += &format!(
            "{} of {} more than 1\u{202f}% of the weight; the largest weight is {} ({}).",
            count(self.n_weighted_clients()),
            counted(self.clients().len(), "client has", "clients have"),
            SHARE.write(Some(heaviest.weight)),
            heaviest.id,
        );
        if self.clients().len() > MAX_BARS {
            text += &format!(
                " The chart shows the {MAX_BARS} largest of {} weights; the table lists all.",
                count(self.clients().len())
            );
        }
        text + &self.tags_sentence()
    }

    fn tags_sentence(&self) -> String {
        let tagged: Vec<String> = self
            .clients()
            .iter()
            .filter_map(|client| {
                let tag = self.tag(client)?;
                Some(format!("{} ({tag}, {})", client.id, SHARE.write(Some(client.weight))))
            })
            .collect();
        match tagged.len() {
            0 => String::new(),
            1..=MAX_NAMES => format!(" Hatched: {}.", listed(&tagged)),
            n => format!(" Hatched: {} unreliable clients.", count(n)),
        }
    }

    fn tag(&self, client: &ClientOutcome) -> Option<&'static str> {
        self.unreliable.contains(&client.id.as_str()).then_some("unreliable")
    }

    /// What the defense did with each client and why. Folded away if there are many clients.
    fn counted_block(&self) -> Option<Block> {
        let row = |client: &ClientOutcome| {
            let counted = client.tilt.as_ref()?.counted;
            let weight = Cell::number(client.weight, SHARE);
            let reason = sentence(&self.outcome.reason(client)?);
            let texts = [client.id.as_str(), counted.name(), &reason].map(Cell::text);
            Some(texts.into_iter().chain([weight]).collect())
        };
        let rows: Vec<Vec<Cell>> = self.clients().iter().filter_map(row).collect();
        self.outcome.tilt.as_ref()?;
        let columns = Column::list(["Client", "Counted", "Why"], ["Weight"]);
        let table = Block::Table(Table {
            caption: "How each client was counted, and why".to_owned(),
            columns,
            rows,
        });
        Some(match self.clients().len() > MAX_BARS {
            false => table,
            true => Block::Details {
                summary: "Show how each client was counted, and why".to_owned(),
                blocks: vec![table],
            },
        })
    }

    fn clients_table(&self) -> Table {
        let tagged = !self.unreliable.is_empty();
        let mut columns = Column::list(["Client"], ["Weight", "Proxy rows", "Root rows"]);
        if tagged {
            columns.push(Column::text("Remark"));
        }
        let row = |client: &ClientOutcome| {
            let mut row = vec![
                Cell::text(&client.id),
                Cell::number(client.weight, Format::Percent(2)),
                Cell::text(count(client.proxy_rows)),
                Cell::text(count(client.root_rows)),
            ];
            if tagged {
                row.push(Cell::text(self.tag(client).unwrap_or("")));
            }
            row
        };
        let rows = self.clients().iter().map(row).collect();
        Table { caption: "Weights and rows of every client".to_owned(), columns, rows }
    }
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}
