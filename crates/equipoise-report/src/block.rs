//! The blocks of a section.

use crate::chart::Chart;
use crate::markup::{Attributes, Markup};
use crate::matrix::Matrix;
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
    /// Many numbers, shaded by value.
    Matrix(Matrix),
    /// A chart with its description and its numbers.
    Chart(Chart),
    /// Preformatted text.
    Code(String),
    /// The answer to the question of the page, in large print.
    Answer(Answer),
    /// Names and values, such as who ran a round and when.
    Facts(Vec<Fact>),
    /// One card per item.
    Cards(Vec<Card>),
    /// Blocks that are folded away until the reader opens them.
    Details {
        /// What is folded away.
        summary: String,
        /// The blocks.
        blocks: Vec<Block>,
    },
}

/// How serious a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeKind {
    /// Background information.
    Info,
    /// May change how the figures should be read.
    Warning,
}

/// An answer: a few words, and a sentence that explains them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Its colour. The words say the same.
    pub tone: Tone,
    /// The answer.
    pub headline: String,
    /// Why.
    pub sentence: String,
}

/// How an answer turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Well.
    Good,
    /// Badly.
    Bad,
    /// Undecided.
    Open,
}

/// A name and a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// What it is.
    pub name: String,
    /// The value.
    pub value: String,
    /// Whether it is read letter by letter, like a digest.
    pub is_code: bool,
}

/// One item and what is known about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Its name.
    pub title: String,
    /// Its most important figure, or empty.
    pub figure: String,
    /// A short remark in place of a colour, or empty.
    pub tag: String,
    /// A sentence, or empty.
    pub text: String,
    /// The rest.
    pub facts: Vec<Fact>,
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
    /// `chart_id` is the number of the latest chart or other block on the page.
    pub(crate) fn write(&self, markup: &mut Markup, chart_id: &mut usize) {
        *chart_id += 1;
        match self {
            Self::Paragraph(text) => write_paragraph(markup, &[], text),
            Self::Notice { kind, text } => {
                let class = match kind {
                    NoticeKind::Info => "notice info",
                    NoticeKind::Warning => "notice warning",
                };
                markup.element("p", &[("class", &class), ("role", &"note")], |markup| {
                    markup.leaf("strong", &[], kind.label());
                    markup.text_with_names(&format!(" {text}"));
                });
            }
            Self::Figures(figures) => markup.element("dl", &[("class", &"figures")], |markup| {
                figures.iter().for_each(|figure| figure.write(markup));
            }),
            Self::Table(table) => table.write(markup),
            Self::Matrix(matrix) => matrix.write(markup),
            Self::Chart(chart) => chart.write(markup, *chart_id),
            Self::Code(code) => markup
                .element("pre", &[("tabindex", &"0")], |markup| markup.leaf("code", &[], code)),
            Self::Answer(answer) => answer.write(markup),
            Self::Facts(facts) => write_facts(markup, facts),
            Self::Cards(cards) => markup.element("div", &[("class", &"cards")], |markup| {
                cards.iter().for_each(|card| card.write(markup));
            }),
            Self::Details { summary, blocks } => {
                markup.element("details", &[("class", &"folded")], |markup| {
                    markup.leaf("summary", &[], summary);
                    blocks.iter().for_each(|block| block.write(markup, chart_id));
                });
            }
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

impl Answer {
    /// Writes the answer, also on pages of the server.
    pub fn write(&self, markup: &mut Markup) {
        let class = match self.tone {
            Tone::Good => "answer good",
            Tone::Bad => "answer bad",
            Tone::Open => "answer open",
        };
        markup.element("div", &[("class", &class)], |markup| {
            markup.leaf("p", &[("class", &"headline")], &self.headline);
            write_paragraph(markup, &[], &self.sentence);
        });
    }
}

impl Fact {
    /// A name and a value.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into(), is_code: false }
    }

    /// A name and a digest.
    pub fn code(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { is_code: true, ..Self::new(name, value) }
    }
}

/// A paragraph in which names between backticks are set as code.
fn write_paragraph(markup: &mut Markup, attributes: Attributes<'_>, text: &str) {
    markup.element("p", attributes, |markup| markup.text_with_names(text));
}

fn write_facts(markup: &mut Markup, facts: &[Fact]) {
    markup.element("dl", &[("class", &"pairs")], |markup| {
        for fact in facts {
            markup.element("div", &[], |markup| {
                markup.leaf("dt", &[], &fact.name);
                markup.element("dd", &[], |markup| match fact.is_code {
                    true => markup.leaf("code", &[], &fact.value),
                    false => markup.text_with_names(&fact.value),
                });
            });
        }
    });
}

impl Card {
    fn write(&self, markup: &mut Markup) {
        markup.element("article", &[("class", &"card")], |markup| {
            markup.element("h3", &[], |markup| {
                markup.leaf("span", &[], &self.title);
                if !self.figure.is_empty() {
                    markup.text(" ");
                    markup.leaf("span", &[("class", &"figure")], &self.figure);
                }
            });
            if !self.tag.is_empty() {
                write_paragraph(markup, &[("class", &"tag")], &self.tag);
            }
            if !self.text.is_empty() {
                write_paragraph(markup, &[], &self.text);
            }
            write_facts(markup, &self.facts);
        });
        markup.newline();
    }
}

impl Figure {
    fn write(&self, markup: &mut Markup) {
        markup.element("div", &[], |markup| {
            markup.leaf("dt", &[], &self.label);
            markup.element("dd", &[("class", &"value")], |markup| write_value(markup, &self.value));
            if !self.note.is_empty() {
                markup.leaf("dd", &[("class", &"note")], &self.note);
            }
        });
    }
}

/// Writes a key figure. Its interval, in brackets, is set smaller.
pub fn write_value(markup: &mut Markup, value: &str) {
    match value.split_once(" (") {
        Some((figure, interval)) => {
            markup.text(figure);
            markup.leaf("span", &[("class", &"interval")], &format!(" ({interval}"));
        }
        None => markup.text(value),
    }
}
