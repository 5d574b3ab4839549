//! A few bars per thing, the same few for each: rates by group, models by measure.

use super::Axis;
use super::bars::{AXIS_HEIGHT, BarArea};
use super::canvas::{Anchor, Canvas, fill_class, fitted_text, text_width};
use super::legend::{Swatch, write_legend};
use crate::markup::Markup;

/// Bars by group and series.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GroupedBars {
    /// What the bars measure.
    pub axis: Axis,
    /// Names of the series: the bars of each group, from top to bottom.
    pub series: Vec<String>,
    /// Each group's name and its values in the order of the series.
    pub groups: Vec<(String, Vec<Quantity>)>,
}

/// A value with an interval.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Quantity {
    /// The value; none is shown as a dash.
    pub value: Option<f64>,
    /// Half the width of the interval around it.
    pub error: Option<f64>,
}

impl Quantity {
    /// A value without interval.
    pub fn new(value: impl Into<Option<f64>>) -> Self {
        Self { value: value.into(), error: None }
    }
}

const TOP: f64 = 4.0;
const BAR_HEIGHT: f64 = 16.0;
const BAR_STEP: f64 = 20.0;
const NAME_HEIGHT: f64 = 22.0;
const GROUP_GAP: f64 = 14.0;
const WIDEST_NAME: f64 = 200.0;

impl GroupedBars {
    pub(crate) fn write_legend(&self, markup: &mut Markup) {
        let entries = self.series.iter().enumerate().map(|(i, n)| (Swatch::Fill(i), n.as_str()));
        write_legend(markup, entries, false);
    }

    pub(crate) fn draw(&self, markup: &mut Markup, canvas: &Canvas<'_>) {
        if self.groups.is_empty() {
            return canvas.empty_frame(markup);
        }
        let narrow = canvas.is_narrow();
        let names = if narrow {
            0.0
        } else {
            12.0 + self.groups.iter().map(|g| text_width(&g.0)).fold(0.0, f64::max).min(WIDEST_NAME)
        };
        let format = self.axis.format;
        let values = self.groups.iter().flat_map(|(_, quantities)| {
            quantities.iter().map(|q| (q.value, q.error, format.write_with_error(q.value, q.error)))
        });
        let area = BarArea::new(values, &self.axis, names, canvas);
        let above = if narrow { NAME_HEIGHT } else { 0.0 };
        let height =
            |group: &(String, Vec<Quantity>)| above + BAR_STEP * group.1.len() as f64 + GROUP_GAP;
        let bottom = TOP + self.groups.iter().map(height).sum::<f64>();
        canvas.frame(markup, (canvas.width(), bottom + AXIS_HEIGHT), |markup| {
            area.draw_axis(markup, TOP, bottom, &self.axis);
            let mut y = TOP;
            for group in &self.groups {
                let (name, quantities) = group;
                let inside = height(group) - GROUP_GAP;
                if narrow {
                    fitted_text(markup, (2.0, y + 18.0), Anchor::Start, canvas.width() - 4.0, name);
                } else {
                    let at = (names - 12.0, y + (inside + GROUP_GAP) / 2.0 + 4.5);
                    fitted_text(markup, at, Anchor::End, names - 12.0, name);
                }
                for (i, quantity) in quantities.iter().enumerate() {
                    let printed = format.write_with_error(quantity.value, quantity.error);
                    let series = self.series.get(i).map_or("", String::as_str);
                    let hover = format!("{name}, {series}: {printed}");
                    let top = y + above + BAR_STEP * i as f64 + if narrow { 4.0 } else { 8.0 };
                    let values = (quantity.value, quantity.error);
                    let fill = fill_class(i, i);
                    area.draw_bar(markup, values, (top, BAR_HEIGHT), &fill, &hover);
                    area.draw_value(markup, values, top + BAR_HEIGHT / 2.0, &printed);
                }
                y += height(group);
            }
        });
    }
}
