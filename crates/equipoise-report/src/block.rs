//! The blocks of a section.

use crate::chart::Chart;
use crate::markup::Markup;
use crate::table::Table;

/// A piece of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Running text.
    Paragraph(String),
    /// A highlighted remark.
    Notice {
        /// How serious it is.
        kind: NoticeKind,
        /// The remark.
        text: String,
    },
    /// Key figures in large print, side by side.
    Figures(Vec<Figure>),
    /// A table.
    Table(Table),
    /// A chart with its description and its numbers.
    Chart(Chart),
    /// Preformatted text.
    Code(String),
}

/// How serious a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeKind {
    /// Background information.
    Info,
    /// May change how the figures should be read.
    Warning,
}

/// A key figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// What it measures.
    pub label: String,
    /// The formatted value.
    pub value: String,
    /// A short explanation, or empty.
    pub note: String,
}

impl Block {
    /// `chart_id` identifies the chart on its page if this block is one.
    pub(crate) fn write(&self, markup: &mut Markup, chart_id: usize) {
        match self {
            Self::Paragraph(text) => markup.leaf("p", &[], text),
            Self::Notice { kind, text } => {
                let class = match kind {
                    NoticeKind::Info => "notice info",
                    NoticeKind::Warning => "notice warning",
                };
                markup.element("p", &[("class", &class), ("role", &"note")], |markup| {
                    markup.leaf("strong", &[], kind.label());
                    markup.text(&format!(" {text}"));
                });
            }
            Self::Figures(figures) => markup.element("dl", &[("class", &"figures")], |markup| {
                figures.iter().for_each(|figure| figure.write(markup));
            }),
            Self::Table(table) => table.write(markup),
            Self::Chart(chart) => chart.write(markup, chart_id),
            Self::Code(code) => markup
                .element("pre", &[("tabindex", &"0")], |markup| markup.leaf("code", &[], code)),
        }
        markup.newline();
    }
}

impl NoticeKind {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Info => "Note",
            Self::Warning => "Warning",
        }
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
