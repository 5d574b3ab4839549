//! What a section is made of.

use crate::chart::Chart;
use crate::markup::Markup;
use crate::table::Table;

/// One piece of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Running text.
    Paragraph(String),
    /// Something the reader must not miss.
    Notice {
        /// How much it matters.
        kind: NoticeKind,
        /// What it says.
        text: String,
    },
    /// Big numbers, side by side.
    Figures(Vec<Figure>),
    /// A table.
    Table(Table),
    /// A chart with its sentence and its numbers.
    Chart(Chart),
    /// Text of a machine, its spaces kept.
    Code(String),
}

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeKind {
    /// Good to know.
    Info,
    /// May change what the figures mean.
    Warning,
}

/// A big number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// What it is.
    pub label: String,
    /// The number, as it is to be read.
    pub value: String,
    /// What to know about it; may be empty.
    pub note: String,
}

impl Block {
    /// `chart_id` is the number of the chart on its page, should this block be one.
    pub(crate) fn write(&self, markup: &mut Markup, chart_id: usize) {
        match self {
            Self::Paragraph(text) => markup.leaf("p", &[], text),
            Self::Notice { kind, text } => write_notice(markup, *kind, text),
            Self::Figures(figures) => markup.element("dl", &[("class", &"figures")], |markup| {
                figures.iter().for_each(|figure| figure.write(markup));
            }),
            Self::Table(table) => table.write(markup),
            Self::Chart(chart) => chart.write(markup, chart_id),
            Self::Code(code) => {
                markup
                    .element("pre", &[("tabindex", &"0")], |markup| markup.leaf("code", &[], code));
            }
        }
        markup.newline();
    }
}

impl Figure {
    fn write(&self, markup: &mut Markup) {
        markup.element("div", &[], |markup| {
            markup.leaf("dt", &[], &self.label);
            markup.leaf("dd", &[("class", &"value")], &self.value);
            if !self.note.is_empty() {
                markup.leaf("dd", &[("class", &"note")], &self.note);
            }
        });
    }
}

fn write_notice(markup: &mut Markup, kind: NoticeKind, text: &str) {
    let (class, word) = match kind {
        NoticeKind::Info => ("notice info", "Note"),
        NoticeKind::Warning => ("notice warning", "Warning"),
    };
    markup.element("p", &[("class", &class), ("role", &"note")], |markup| {
        markup.leaf("strong", &[], word);
        markup.text(" ");
        markup.text(text);
    });
}
