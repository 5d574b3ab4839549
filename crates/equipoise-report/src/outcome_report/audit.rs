//! The audit of every client, as cards.

use equipoise_core::{
    ClientAudit, ClientOutcome, DistinctRows, LeftOut, Overlap, PrivacyStatement,
};

use super::gaps::{POINTS, size_text};
use super::{OutcomePage, sentence};
use crate::block::{Block, Card, Fact};
use crate::format::{Format, MISSING, count, counted, listed};
use crate::page::Section;
use crate::table::{Cell, Column, Table};

const SHARE: Format = Format::Percent(1);

/// Maximum number of cards; the table lists all clients.
const MAX_CARDS: usize = 24;
const WORST_GAP: &str = "Worst gap of its decisions on the root";
/// Maximum number of clients that a card names as sharing rows.
const MAX_NAMES: usize = 4;

impl OutcomePage<'_> {
    /// `None` if the outcome has no audit.
    pub(super) fn audit_section(&self) -> Option<Section> {
        let mut audited: Vec<(&ClientOutcome, &ClientAudit)> =
            self.clients().iter().filter_map(|c| Some((c, c.audit.as_ref()?))).collect();
        if audited.is_empty() {
            return None;
        }
        let table = self.audit_table(&audited);
        let mut lead = "What each client sent, how good a model its proxy alone would give on the root, and what the \
                        published model owes to it. “If left out” is what would change on the root without the \
                        client, if the other weights kept their proportions. Intervals are 95\u{202f}%. None of this \
                        proves intent: it shows where to ask."
            .to_owned();
        if audited.len() > MAX_CARDS {
            lead += &format!(
                " The cards show {MAX_CARDS} of {} clients: first those with something unusual, then those with the \
                 most weight. The table lists all.",
                count(audited.len())
            );
            let rank = |&(client, audit): &(&ClientOutcome, &ClientAudit)| {
                (!self.remarks(client, audit).is_empty(), client.weight)
            };
            audited.sort_by(|a, b| {
                let (a, b) = (rank(a), rank(b));
                b.0.cmp(&a.0).then(b.1.total_cmp(&a.1))
            });
            audited.truncate(MAX_CARDS);
        }
        let cards = audited.into_iter().map(|(client, audit)| self.card(client, audit));
        let summary = "Show the audit of all clients as a table".to_owned();
        let blocks = vec![
            Block::Cards(cards.collect()),
            Block::Details { summary, blocks: vec![Block::Table(table)] },
        ];
        Some(Section::new("Client audit", lead, blocks))
    }

    fn card(&self, client: &ClientOutcome, audit: &ClientAudit) -> Card {
        let mut facts = Vec::new();
        if let Some(own) = &audit.own_model {
            facts.push(Fact::new(WORST_GAP, size_text(own.gap.as_ref())));
            let accuracy = SHARE.write_estimate(own.accuracy);
            facts.push(Fact::new("Its accuracy on the root", accuracy));
        }
        if let Some(left_out) = &audit.left_out {
            facts.push(Fact::new("If left out", left_out_text(left_out)));
        }
        facts.push(Fact::new("Rows", rows_text(client.proxy_rows, audit.distinct_rows)));
        if let Some(privacy) = &audit.privacy {
            facts.push(Fact::new("Privacy, as it declares", privacy_text(privacy)));
        }
        if let Some(shared) = self.shared_text(&client.id) {
            facts.push(Fact::new("Shares rows with", shared));
        }
        let mut remarks = self.remarks(client, audit);
        if self.unreliable.contains(&client.id.as_str()) {
            remarks.insert(0, "known to be unreliable".to_owned());
        }
        Card {
            title: client.id.clone(),
            figure: format!("weight {}", SHARE.write(Some(client.weight))),
            tag: if remarks.is_empty() { String::new() } else { sentence(&remarks.join("; ")) },
            text: sentence(&audit.reason),
            facts,
        }
    }

    /// What is unusual about a client.
    fn remarks(&self, client: &ClientOutcome, audit: &ClientAudit) -> Vec<String> {
        let mut remarks = Vec::new();
        let is_repetitive = |distinct: DistinctRows| 2 * distinct.rows < client.proxy_rows;
        if audit.distinct_rows.is_some_and(is_repetitive) {
            remarks.push("fewer than half of its rows are distinct".to_owned());
        }
        if self.outcome.overlaps.iter().any(|overlap| overlap.clients.contains(&client.id)) {
            remarks.push("shares rows with others".to_owned());
        }
        if audit.own_model.is_none() {
            remarks.push("no model could be fitted to its rows".to_owned());
        }
        remarks
    }

    fn shared_text(&self, id: &str) -> Option<String> {
        let shares = |overlap: &Overlap| {
            let other = overlap.clients.iter().find(|other| *other != id)?;
            let about = if overlap.estimated { "about " } else { "" };
            let rows = count(overlap.shared_rows as usize);
            let is_own = overlap.clients.iter().any(|client| client == id);
            is_own.then(|| format!("{other} ({about}{rows})"))
        };
        let mut names: Vec<String> = self.outcome.overlaps.iter().filter_map(shares).collect();
        if names.len() > MAX_NAMES {
            let more = names.len() - MAX_NAMES;
            names.truncate(MAX_NAMES);
            names.push(counted(more, "other", "others"));
        }
        (!names.is_empty()).then(|| listed(&names))
    }

    /// Everything about every client.
    fn audit_table(&self, audited: &[(&ClientOutcome, &ClientAudit)]) -> Table {
        let row = |(client, audit): &(&ClientOutcome, &ClientAudit)| {
            let own = audit.own_model.as_ref();
            let gap = own.and_then(|own| own.gap.as_ref());
            vec![
                Cell::text(&client.id),
                Cell::text(sentence(&audit.reason)),
                Cell::number(client.weight, Format::Percent(2)),
                Cell::text(size_text(gap)),
                Cell::text(SHARE.write_estimate(own.and_then(|own| own.accuracy))),
                Cell::number(audit.left_out.map(|l| l.loss), Format::Fixed(4)),
                Cell::number(audit.left_out.and_then(|l| l.gap), POINTS),
                Cell::text(count(client.proxy_rows)),
                Cell::text(audit.distinct_rows.map_or(MISSING.to_owned(), distinct_text)),
            ]
        };
        let columns = Column::list(
            ["Client", "Reason"],
            [
                "Weight",
                "Worst gap of its own model",
                "Accuracy of its own model",
                "Change of the loss if left out",
                "Change of the gap if left out",
                "Rows",
                "Distinct rows",
            ],
        );
        Table {
            caption: "Audit of every client, measured on the root".to_owned(),
            columns,
            rows: audited.iter().map(row).collect(),
        }
    }
}

fn left_out_text(&LeftOut { loss, gap }: &LeftOut) -> String {
    if loss == 0.0 && gap.unwrap_or(0.0) == 0.0 {
        return "no change".to_owned();
    }
    let is_zero = |value: f64, format: Format| !has_digits(&format.write(Some(value)));
    if is_zero(loss, Format::Fixed(4)) && is_zero(gap.unwrap_or(0.0), POINTS) {
        return "hardly any change".to_owned();
    }
    let loss_text = format!("loss {}", signed(loss, Format::Fixed(4)));
    match gap {
        Some(gap) => format!("{loss_text}, worst gap {}", signed(gap, POINTS)),
        None => loss_text,
    }
}

/// ε and δ, or that nothing is protected.
fn privacy_text(privacy: &PrivacyStatement) -> String {
    let PrivacyStatement { epsilon, delta, private, .. } = privacy;
    match private {
        true => format!("differential privacy with ε = {epsilon:.3}, δ = {delta:e}"),
        false => format!("none: a test run with ε = {epsilon:.3} whose noise is known"),
    }
}

/// With a sign, unless it is 0 after rounding.
fn signed(value: f64, format: Format) -> String {
    let text = format.write(Some(value));
    if value > 0.0 && has_digits(&text) { format!("+{text}") } else { text }
}

/// Whether a formatted number has any digit but 0.
fn has_digits(text: &str) -> bool {
    text.contains(|digit: char| ('1'..='9').contains(&digit))
}

fn rows_text(rows: usize, distinct: Option<DistinctRows>) -> String {
    match distinct {
        Some(distinct) => format!("{}, of which {} distinct", count(rows), distinct_text(distinct)),
        None => count(rows),
    }
}

fn distinct_text(distinct: DistinctRows) -> String {
    let about = if distinct.estimated { "about " } else { "" };
    format!("{about}{}", count(distinct.rows))
}
