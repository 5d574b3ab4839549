//! Charts, drawn as inline SVG, each with a description and a table of its numbers.
//!
//! Text in an SVG scales with it, so one drawing cannot suit both a phone and a desktop. Each chart is
//! therefore drawn twice, for a narrow and for a wide screen, and the style sheet shows the one that fits.

mod bar_rows;
mod bars;
mod canvas;
mod heatmap;
mod labels;
mod legend;
mod plot;
mod scale;
mod scatter;

pub use bars::{Bar, Bars, GroupedBars, Quantity, Reference};
pub use heatmap::Heatmap;
pub use scatter::{Point, Scatter, ScatterSeries};

pub(crate) use canvas::{FONT_SIZE, text_width, write_patterns};

use crate::format::Format;
use crate::markup::Markup;
use crate::table::Table;
use canvas::Canvas;
use legend::{Swatch, write_legend};

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Its title.
    pub title: String,
    /// What it shows, with the main numbers; also the text alternative of the drawing.
    pub sentence: String,
    /// The drawing.
    pub kind: ChartKind,
    /// Its numbers, folded away below the drawing.
    pub table: Table,
}

/// The kinds of charts.
#[derive(Debug, Clone, PartialEq)]
pub enum ChartKind {
    /// One bar per item.
    Bars(Bars),
    /// Several bars per item.
    GroupedBars(GroupedBars),
    /// Points in a plane.
    Scatter(Scatter),
    /// Values by row and column.
    Heatmap(Heatmap),
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Axis {
    /// What it measures, with the unit.
    pub title: String,
    /// The format of its values.
    pub format: Format,
    /// Whether it starts at 0, in scatter plots.
    pub from_zero: bool,
}

impl Axis {
    /// An axis with a title and a format.
    pub fn new(title: impl Into<String>, format: Format) -> Self {
        Self { title: title.into(), format, from_zero: false }
    }

    /// The same axis, starting at 0.
    pub fn from_zero(self) -> Self {
        Self { from_zero: true, ..self }
    }
}

impl Chart {
    /// `id` is unique on the page.
    pub(crate) fn write(&self, markup: &mut Markup, id: usize) {
        let title_id = format!("chart-{id}-title");
        let sentence_id = format!("chart-{id}-sentence");
        let labelled_by = format!("{title_id} {sentence_id}");
        markup.element("figure", &[("class", &"chart")], |markup| {
            markup.element("figcaption", &[], |markup| {
                markup.leaf("h3", &[("id", &title_id)], &self.title);
                markup.leaf("p", &[("id", &sentence_id)], &self.sentence);
            });
            self.kind.write_legend(markup);
            for narrow in [false, true] {
                let canvas = Canvas { narrow, labelled_by: &labelled_by };
                self.kind.draw(markup, &canvas);
                markup.newline();
            }
            markup.element("details", &[], |markup| {
                markup.leaf("summary", &[], "Show the numbers");
                self.table.write(markup);
            });
        });
    }
}

impl ChartKind {
    fn write_legend(&self, markup: &mut Markup) {
        match self {
            Self::GroupedBars(bars) => {
                write_legend(markup, Swatch::Fill, bars.series.iter());
            }
            Self::Scatter(scatter) if scatter.series.len() > 1 => {
                let names = scatter.series.iter().map(|series| &series.name);
                write_legend(markup, Swatch::Mark, names);
            }
            _ => {}
        }
    }

    fn draw(&self, markup: &mut Markup, canvas: &Canvas<'_>) {
        match self {
            Self::Bars(bars) => bars.draw(markup, canvas),
            Self::GroupedBars(bars) => bars.draw(markup, canvas),
            Self::Scatter(scatter) => scatter.draw(markup, canvas),
            Self::Heatmap(heatmap) => heatmap.draw(markup, canvas),
        }
    }
}

fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|v| v.is_finite())
}
