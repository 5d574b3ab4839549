//! Renders a page as Markdown, with the description and the table of each chart in place of its drawing.

use crate::block::{Block, Card, Fact, Figure};
use crate::chart::Chart;
use crate::markup::next_name;
use crate::page::Page;
use crate::table::{Column, Table};

/// The table of a chart is left out if it is longer than this.
const MAX_CHART_ROWS: usize = 30;

impl Page {
    /// The page as Markdown. All text is escaped.
    pub fn to_markdown(&self) -> String {
        let mut parts = vec![format!("# {}", escape(&self.title))];
        if !self.subtitle.is_empty() {
            parts.push(escape(&self.subtitle));
        }
        for section in &self.sections {
            parts.push(format!("## {}", escape(&section.heading)));
            if !section.lead.is_empty() {
                parts.push(escape(&section.lead));
            }
            parts.extend(section.blocks.iter().map(Block::to_markdown));
        }
        parts.join("\n\n") + "\n"
    }
}

impl Block {
    fn to_markdown(&self) -> String {
        match self {
            Self::Paragraph(text) => escape(text),
            Self::Notice { kind, text } => {
                format!("> **{}** {}", kind.label(), escape(text))
            }
            Self::Figures(figures) => {
                let line = |figure: &Figure| {
                    let text =
                        format!("- **{}**: {}", escape(&figure.label), escape(&figure.value));
                    match figure.note.as_str() {
                        "" => text,
                        note => format!("{text} ({})", escape(note)),
                    }
                };
                figures.iter().map(line).collect::<Vec<_>>().join("\n")
            }
            Self::Table(table) => table.to_markdown(),
            Self::Matrix(matrix) => matrix.to_table().to_markdown(),
            Self::Chart(chart) => chart.to_markdown(),
            Self::Code(code) => {
                // The fence must be longer than any run of backticks inside.
                let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
                let fence = "`".repeat(longest.max(2) + 1);
                format!("{fence}\n{}\n{fence}", code.trim_end_matches('\n'))
            }
            Self::Answer(answer) => {
                format!("**{}** {}", escape(&answer.headline), escape(&answer.sentence))
            }
            Self::Facts(facts) => facts_to_markdown(facts),
            Self::Cards(cards) => {
                let card = |card: &Card| {
                    let heading = [card.title.as_str(), &card.figure, &card.tag];
                    let heading = heading.into_iter().filter(|part| !part.is_empty());
                    let heading = heading.map(escape).collect::<Vec<_>>().join(" · ");
                    let facts = facts_to_markdown(&card.facts);
                    format!("### {heading}\n\n{}\n\n{facts}", escape(&card.text))
                };
                cards.iter().map(card).collect::<Vec<_>>().join("\n\n")
            }
            Self::Details { summary, blocks } => {
                let heading = format!("### {}", escape(summary));
                let parts = [heading].into_iter().chain(blocks.iter().map(Self::to_markdown));
                parts.collect::<Vec<_>>().join("\n\n")
            }
        }
    }
}

fn facts_to_markdown(facts: &[Fact]) -> String {
    let line = |fact: &Fact| format!("- {}: {}", escape(&fact.name), escape(&fact.value));
    facts.iter().map(line).collect::<Vec<_>>().join("\n")
}

impl Chart {
    fn to_markdown(&self) -> String {
        let text = format!("**{}.** {}", escape(&self.title), escape(&self.sentence));
        if self.table.rows.len() > MAX_CHART_ROWS {
            return text;
        }
        format!("{text}\n\n{}", self.table.to_markdown())
    }
}

impl Table {
    fn to_markdown(&self) -> String {
        let row = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let mut lines = Vec::new();
        if !self.caption.is_empty() {
            lines.push(format!("{}:\n", escape(&self.caption)));
        }
        lines.push(row(self.columns.iter().map(|column| escape(&column.name)).collect()));
        let rule = |column: &Column| if column.numeric { "---:" } else { "---" }.to_owned();
        lines.push(row(self.columns.iter().map(rule).collect()));
        for cells in &self.rows {
            let texts = cells.iter().map(|cell| match (cell.strong, escape(&cell.text)) {
                (true, text) if !text.trim().is_empty() => format!("**{text}**"),
                (_, text) => text,
            });
            lines.push(row(texts.collect()));
        }
        lines.join("\n")
    }
}

/// Escapes text so that Markdown shows it literally, on one line.
/// Names in backticks stay code, as on a page.
fn escape(text: &str) -> String {
    match next_name(text) {
        Some((before, name, after)) if is_plain_code(name) => {
            format!("{}`{name}`{}", escape_text(before), escape(after))
        }
        Some((before, name, after)) => {
            format!("{}\\`{}\\`{}", escape_text(before), escape_text(name), escape(after))
        }
        None => escape_text(text),
    }
}

/// Whether a name is the same inside backticks. Escapes do not work there, and a bar would end a table's cell.
fn is_plain_code(name: &str) -> bool {
    !name.is_empty() && !name.contains(['|', '\n', '\r'])
}

fn escape_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '&' => {
                escaped.push('\\');
                escaped.push(character);
            }
            '\n' | '\r' => escaped.push(' '),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Section;
    use crate::table::Cell;

    #[test]
    fn renders_headings_text_and_tables() {
        let table = Table {
            caption: "Weights".to_owned(),
            columns: vec![Column::text("client"), Column::number("w")],
            rows: vec![vec![Cell::text("a|b*"), Cell::text("0.5").strong()]],
        };
        let page = Page {
            title: "T_1".to_owned(),
            subtitle: String::new(),
            sections: vec![Section {
                heading: "One".to_owned(),
                lead: "<b>".to_owned(),
                blocks: vec![Block::Table(table), Block::Code("a ```` b\n".to_owned())],
            }],
        };
        let expected = "# T\\_1\n\n## One\n\n\\<b\\>\n\nWeights:\n\n| client | w |\n| --- | ---: |\n\
                        | a\\|b\\* | **0.5** |\n\n`````\na ```` b\n`````\n";
        assert_eq!(page.to_markdown(), expected);
    }
}
