//! Values by row and column: the darker (on dark paper: the brighter) the more, and each printed.

use super::canvas::{Anchor, Canvas, fit, fitted_text, text, text_width};
use super::{Axis, finite};
use crate::markup::{Markup, Px};

/// A grid of values between 0 and `max`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Heatmap {
    /// What the values are.
    pub values_axis: Axis,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Values by row, then column; none is shown as a dash.
    pub values: Vec<Vec<Option<f64>>>,
    /// The value of full colour.
    pub max: f64,
}

const CELL_HEIGHT: f64 = 34.0;
const WIDEST_ROW_NAME: f64 = 190.0;
const WIDEST_COLUMN: f64 = 110.0;
/// Names of columns may make them this wide, where values do not.
const WIDEST_NAME: f64 = 84.0;
/// Below this width columns have no room for their names: the drawing scrolls instead.
const NARROWEST_COLUMN: f64 = 54.0;
const SCALE_STEPS: usize = 6;

impl Heatmap {
    pub(crate) fn draw(&self, markup: &mut Markup, canvas: &Canvas<'_>) {
        if self.rows.is_empty() || self.columns.is_empty() {
            return canvas.empty_frame(markup);
        }
        let widest_name = if canvas.is_narrow() { 100.0 } else { WIDEST_ROW_NAME };
        let names =
            10.0 + self.rows.iter().map(|n| text_width(n)).fold(0.0, f64::max).min(widest_name);
        let n_columns = self.columns.len() as f64;
        let printed = self
            .values
            .iter()
            .flatten()
            .map(|v| text_width(&self.values_axis.format.write(*v)) + 8.0)
            .chain(self.columns.iter().map(|name| (text_width(name) + 8.0).min(WIDEST_NAME)))
            .fold(NARROWEST_COLUMN, f64::max);
        let cell = ((canvas.width() - names - 2.0) / n_columns).min(WIDEST_COLUMN).max(printed);
        let width = canvas.width().max(names + cell * n_columns + 2.0);
        let top = 30.0;
        let bottom = top + CELL_HEIGHT * self.rows.len() as f64;
        canvas.frame(markup, (width, bottom + 54.0), |markup| {
            for (j, name) in self.columns.iter().enumerate() {
                let at = (names + cell * (j as f64 + 0.5), top - 9.0);
                fitted_text(markup, at, Anchor::Middle, cell - 6.0, name);
            }
            for (i, name) in self.rows.iter().enumerate() {
                let y = top + CELL_HEIGHT * i as f64;
                fitted_text(markup, (names - 8.0, y + 21.0), Anchor::End, names - 8.0, name);
                for (j, column) in self.columns.iter().enumerate() {
                    let value = self.values.get(i).and_then(|row| row.get(j)).copied().flatten();
                    let hover =
                        format!("{name}, {column}: {}", self.values_axis.format.write(value));
                    let place = (names + cell * j as f64, y, cell);
                    self.draw_cell(markup, value, place, &hover);
                }
            }
            self.draw_scale(markup, (names, bottom + 14.0), width);
        });
    }

    fn draw_cell(
        &self,
        markup: &mut Markup,
        value: Option<f64>,
        (x, y, width): (f64, f64, f64),
        hover: &str,
    ) {
        let share = self.share(value);
        markup.element("g", &[], |markup| {
            markup.leaf("title", &[], hover);
            draw_tile(markup, share, (x, y), (width, CELL_HEIGHT));
            let at = (x + width / 2.0, y + CELL_HEIGHT / 2.0 + 4.5);
            text(markup, at, Anchor::Middle, ink(share), &self.values_axis.format.write(value));
        });
    }

    /// Tiles from 0 to the maximum, with the title of the values.
    fn draw_scale(&self, markup: &mut Markup, (left, top): (f64, f64), width: f64) {
        let zero = self.values_axis.format.write(Some(0.0));
        let most = self.values_axis.format.write(Some(self.max));
        let start = left + text_width(&zero) + 8.0;
        text(markup, (left, top + 12.0), Anchor::Start, "tick", &zero);
        for step in 0..SCALE_STEPS {
            let share = step as f64 / (SCALE_STEPS - 1) as f64;
            draw_tile(markup, Some(share), (start + 18.0 * step as f64, top), (18.0, 15.0));
        }
        let end = start + 18.0 * SCALE_STEPS as f64 + 8.0;
        text(markup, (end, top + 12.0), Anchor::Start, "tick", &most);
        let title = fit(&self.values_axis.title, 0.9 * (width - left));
        text(markup, (left, top + 34.0), Anchor::Start, "axis", &title);
    }

    /// Where a value lies between 0 and the maximum.
    fn share(&self, value: Option<f64>) -> Option<f64> {
        finite(value).map(|v| if self.max > 0.0 { (v / self.max).clamp(0.0, 1.0) } else { 0.0 })
    }
}

fn draw_tile(
    markup: &mut Markup,
    share: Option<f64>,
    (x, y): (f64, f64),
    (width, height): (f64, f64),
) {
    let opacity = format!("{:.3}", share.map_or(0.0, |share| 0.05 + 0.95 * share));
    let place: crate::markup::Attributes<'_> = &[
        ("x", &Px(x + 1.0)),
        ("y", &Px(y + 1.0)),
        ("width", &Px(width - 2.0)),
        ("height", &Px(height - 2.0)),
        ("class", &"heat"),
        ("fill-opacity", &opacity),
    ];
    markup.empty("rect", place);
}

/// Which ink reads best on a tile, as the style sheet knows for light and for dark paper. The two limits
/// are where black and white contrast equally with the blended colour, on dark and on light paper.
fn ink(share: Option<f64>) -> &'static str {
    match share {
        None => "value",
        Some(share) if share < 0.5 => "value low",
        Some(share) if share < 0.68 => "value mid",
        Some(_) => "value high",
    }
}
