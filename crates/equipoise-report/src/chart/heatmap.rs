//! Heatmaps: values by row and column, as colours and as numbers.

use super::canvas::{
    Anchor, Canvas, Xy, fit, fitted_text, rect, text, text_width, tooltip, widest,
};
use super::{Axis, finite};
use crate::markup::Markup;

/// A grid of values between 0 and `max`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Heatmap {
    /// What the values measure.
    pub values_axis: Axis,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Values by row, then column. A missing value is shown as a dash.
    pub values: Vec<Vec<Option<f64>>>,
    /// The value drawn in full colour.
    pub max: f64,
}

const CELL_HEIGHT: f64 = 34.0;
const MAX_ROW_NAME_WIDTH: f64 = 190.0;
const MAX_COLUMN_WIDTH: f64 = 110.0;
/// Names widen their column at most this far. Values have no such limit.
const MAX_COLUMN_NAME_WIDTH: f64 = 84.0;
/// Narrower columns have no room for their names: the drawing scrolls instead.
const MIN_COLUMN_WIDTH: f64 = 54.0;
const SCALE_STEPS: usize = 6;

impl Heatmap {
    pub(super) fn draw(&self, markup: &mut Markup, canvas: &Canvas<'_>) {
        if self.rows.is_empty() || self.columns.is_empty() {
            return canvas.empty_frame(markup);
        }
        let max_name_width = if canvas.narrow { 100.0 } else { MAX_ROW_NAME_WIDTH };
        let left = 10.0 + widest(self.rows.iter().map(String::as_str)).min(max_name_width);
        let n_columns = self.columns.len() as f64;
        let values = self.values.iter().flatten().map(|&value| text_width(&self.format(value)));
        let names = self.columns.iter().map(|n| text_width(n).min(MAX_COLUMN_NAME_WIDTH - 8.0));
        let min_width = values.chain(names).map(|w| w + 8.0).fold(MIN_COLUMN_WIDTH, f64::max);
        let share = (canvas.width() - left - 2.0) / n_columns;
        let cell = share.min(MAX_COLUMN_WIDTH).max(min_width);
        let width = canvas.width().max(left + cell * n_columns + 2.0);
        let top = 30.0;
        let bottom = top + CELL_HEIGHT * self.rows.len() as f64;
        canvas.frame(markup, (width, bottom + 54.0), |markup| {
            for (j, name) in self.columns.iter().enumerate() {
                let at = (left + cell * (j as f64 + 0.5), top - 9.0);
                fitted_text(markup, at, Anchor::Middle, cell - 6.0, name);
            }
            for (i, name) in self.rows.iter().enumerate() {
                let y = top + CELL_HEIGHT * i as f64;
                fitted_text(markup, (left - 8.0, y + 21.0), Anchor::End, left - 8.0, name);
                for (j, column) in self.columns.iter().enumerate() {
                    let value = self.values.get(i).and_then(|row| row.get(j)).copied().flatten();
                    tooltip(
                        markup,
                        &format!("{name}, {column}: {}", self.format(value)),
                        |markup| {
                            self.draw_cell(markup, value, (left + cell * j as f64, y), cell);
                        },
                    );
                }
            }
            self.draw_scale(markup, (left, bottom + 14.0), width);
        });
    }

    fn format(&self, value: Option<f64>) -> String {
        self.values_axis.format.write(value)
    }

    fn draw_cell(&self, markup: &mut Markup, value: Option<f64>, (x, y): Xy, width: f64) {
        let max = self.max;
        let share = finite(value).map(|v| if max > 0.0 { (v / max).clamp(0.0, 1.0) } else { 0.0 });
        draw_tile(markup, share, (x, y), (width, CELL_HEIGHT));
        let at = (x + width / 2.0, y + CELL_HEIGHT / 2.0 + 4.5);
        text(markup, at, Anchor::Middle, text_class(share), &self.format(value));
    }

    /// The colours from 0 to the maximum, above the title of the values.
    fn draw_scale(&self, markup: &mut Markup, (left, top): Xy, width: f64) {
        let zero = self.format(Some(0.0));
        let start = left + text_width(&zero) + 8.0;
        text(markup, (left, top + 12.0), Anchor::Start, "tick", &zero);
        for step in 0..SCALE_STEPS {
            let share = step as f64 / (SCALE_STEPS - 1) as f64;
            draw_tile(markup, Some(share), (start + 18.0 * step as f64, top), (18.0, 15.0));
        }
        let end = (start + 18.0 * SCALE_STEPS as f64 + 8.0, top + 12.0);
        text(markup, end, Anchor::Start, "tick", &self.format(Some(self.max)));
        let title = fit(&self.values_axis.title, 0.9 * (width - left));
        text(markup, (left, top + 34.0), Anchor::Start, "axis", &title);
    }
}

fn draw_tile(markup: &mut Markup, share: Option<f64>, (x, y): Xy, size: Xy) {
    let opacity = format!("{:.3}", share.map_or(0.0, |share| 0.05 + 0.95 * share));
    let inner_size = (size.0 - 2.0, size.1 - 2.0);
    let look = [("class", &"heat" as _), ("fill-opacity", &opacity as _)];
    rect(markup, (x + 1.0, y + 1.0), inner_size, &look);
}

/// The style sheet picks black or white text per class and colour scheme. The thresholds are where both
/// contrast equally with the tile, in the dark and in the light scheme.
fn text_class(share: Option<f64>) -> &'static str {
    match share {
        None => "value",
        Some(share) if share < 0.5 => "value low",
        Some(share) if share < 0.68 => "value mid",
        Some(_) => "value high",
    }
}
