//! Charts: drawn as SVG inside the page, each with a sentence and the table of its numbers.
//!
//! Letters in a drawing shrink and grow with it, so one drawing cannot suit a phone and a desk. Each chart
//! is drawn twice, for a narrow and for a wide screen, and the style sheet shows the one that fits.

mod bars;
mod canvas;
mod grouped_bars;
mod heatmap;
mod labels;
mod legend;
mod lines;
mod scale;
mod scatter;

pub use bars::{Bar, Bars, Reference};
pub use grouped_bars::{GroupedBars, Quantity};
pub use heatmap::Heatmap;
pub use lines::{Lines, Marker, Series};
pub use scatter::{Point, Scatter, ScatterSeries};

pub(crate) use canvas::write_patterns;

use crate::format::Format;
use crate::markup::Markup;
use crate::table::Table;
use canvas::{Canvas, Screen};

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What it is.
    pub title: String,
    /// What it shows, in words and with its numbers: who cannot see the drawing reads this.
    pub sentence: String,
    /// How it is drawn.
    pub kind: ChartKind,
    /// The numbers behind it, one click away.
    pub table: Table,
}

/// The ways to draw.
#[derive(Debug, Clone, PartialEq)]
pub enum ChartKind {
    /// A bar per thing.
    Bars(Bars),
    /// A few bars per thing.
    GroupedBars(GroupedBars),
    /// Something over something.
    Lines(Lines),
    /// Points in a plane.
    Scatter(Scatter),
    /// Values by row and column.
    Heatmap(Heatmap),
}

/// What an axis measures.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Axis {
    /// In words, with the unit.
    pub title: String,
    /// How its values are written.
    pub format: Format,
}

impl Axis {
    /// An axis with a title and a format.
    pub fn new(title: impl Into<String>, format: Format) -> Self {
        Self { title: title.into(), format }
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
            for screen in [Screen::Wide, Screen::Narrow] {
                let canvas = Canvas { screen, labelled_by: &labelled_by };
                self.kind.draw(markup, &canvas);
                markup.newline();
            }
            markup.element("details", &[], |markup| {
                markup.leaf("summary", &[], "The numbers behind this chart");
                self.table.write(markup);
            });
        });
    }
}

impl ChartKind {
    fn write_legend(&self, markup: &mut Markup) {
        match self {
            Self::Bars(_) | Self::Heatmap(_) => {}
            Self::GroupedBars(bars) => bars.write_legend(markup),
            Self::Lines(lines) => lines.write_legend(markup),
            Self::Scatter(scatter) => scatter.write_legend(markup),
        }
    }

    fn draw(&self, markup: &mut Markup, canvas: &Canvas<'_>) {
        match self {
            Self::Bars(bars) => bars.draw(markup, canvas),
            Self::GroupedBars(bars) => bars.draw(markup, canvas),
            Self::Lines(lines) => lines.draw(markup, canvas),
            Self::Scatter(scatter) => scatter.draw(markup, canvas),
            Self::Heatmap(heatmap) => heatmap.draw(markup, canvas),
        }
    }
}

/// A value that can be drawn.
fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|v| v.is_finite())
}
