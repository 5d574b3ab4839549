//! A page as Markdown: the same words and tables, for where HTML is not read.
//!
//! A drawing has no place there; its sentence and its numbers have.

use crate::block::{Block, NoticeKind};
use crate::chart::Chart;
use crate::page::Page;
use crate::table::{Align, Table};

/// A chart with more numbers than this is told by its sentence alone.
const MAX_ROWS_OF_A_CHART: usize = 30;

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
                let word = match kind {
                    NoticeKind::Info => "Note",
                    NoticeKind::Warning => "Warning",
                };
                format!("> **{word}** {}", escape(text))
            }
            Self::Figures(figures) => {
                let line = |figure: &crate::block::Figure| {
                    let note = match figure.note.as_str() {
                        "" => String::new(),
                        note => format!(" ({})", escape(note)),
                    };
                    format!("- **{}**: {}{note}", escape(&figure.label), escape(&figure.value))
                };
                figures.iter().map(line).collect::<Vec<_>>().join("\n")
            }
            Self::Table(table) => table.to_markdown(),
            Self::Chart(chart) => chart.to_markdown(),
            Self::Code(code) => {
                // A fence longer than any run of backticks inside.
                let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
                let fence = "`".repeat(longest.max(2) + 1);
                format!("{fence}\n{}\n{fence}", code.trim_end_matches('\n'))
            }
        }
    }
}

impl Chart {
    fn to_markdown(&self) -> String {
        let told = format!("**{}.** {}", escape(&self.title), escape(&self.sentence));
        if self.table.rows.len() > MAX_ROWS_OF_A_CHART {
            return told;
        }
        format!("{told}\n\n{}", self.table.to_markdown())
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
        let rule = |align: Align| match align {
            Align::Left => "---".to_owned(),
            Align::Right => "---:".to_owned(),
        };
        lines.push(row(self.columns.iter().map(|column| rule(column.align)).collect()));
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

/// Text that Markdown shows as it is, on one line.
fn escape(text: &str) -> String {
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
    use crate::table::{Cell, Column};

    #[test]
    fn a_page_is_headings_text_and_tables() {
        let table = Table {
            caption: "Weights".to_owned(),
            columns: vec![Column::text("client"), Column::number("w")],
            rows: vec![vec!["a|b*".into(), Cell::text("0.5").strong()]],
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
