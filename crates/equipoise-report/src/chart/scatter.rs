//! Points in a plane, with intervals and names: accuracy against fairness.

use super::canvas::{Anchor, Canvas, fit, line, text, text_width, whisker};
use super::labels::{Area, place_label};
use super::legend::{Swatch, write_legend, write_mark};
use super::lines::Plot;
use super::scale::Scale;
use super::{Axis, finite};
use crate::markup::Markup;

/// Points by series.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scatter {
    /// What runs along x.
    pub x: Axis,
    /// What runs along y.
    pub y: Axis,
    /// Points of one shape and colour each.
    pub series: Vec<ScatterSeries>,
}

/// Points that belong together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScatterSeries {
    /// Their name.
    pub name: String,
    /// The points.
    pub points: Vec<Point>,
}

/// One point.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Point {
    /// Its name; may be empty.
    pub label: String,
    /// Along x. A point without a finite place is not drawn.
    pub x: f64,
    /// Along y.
    pub y: f64,
    /// Half the width of an interval around x.
    pub x_error: Option<f64>,
    /// Half the height of an interval around y.
    pub y_error: Option<f64>,
}

const PLOT_HEIGHT: f64 = 320.0;
const WIDEST_NAME: f64 = 150.0;

impl Scatter {
    pub(crate) fn write_legend(&self, markup: &mut Markup) {
        if self.series.len() < 2 {
            return;
        }
        let entries =
            self.series.iter().enumerate().map(|(i, s)| (Swatch::Mark(i), s.name.as_str()));
        write_legend(markup, entries, false);
    }

    pub(crate) fn draw(&self, markup: &mut Markup, canvas: &Canvas<'_>) {
        let points: Vec<(usize, &Point)> = self
            .series
            .iter()
            .enumerate()
            .flat_map(|(i, series)| series.points.iter().map(move |point| (i, point)))
            .filter(|(_, point)| point.x.is_finite() && point.y.is_finite())
            .collect();
        if points.is_empty() {
            return canvas.empty_frame(markup);
        }
        let plot = self.plot(&points, canvas);
        canvas.frame(markup, (canvas.width(), plot.bottom + 46.0), |markup| {
            plot.draw_axes(markup, canvas.width(), &self.x, &self.y);
            for tick in &plot.x.ticks {
                let x = plot.at_x(tick.value);
                let class = if tick.value == 0.0 { "zero" } else { "grid" };
                line(markup, (x, plot.top), (x, plot.bottom), class);
            }
            points.iter().for_each(|(_, point)| draw_errors(markup, &plot, point));
            for (series, point) in &points {
                markup.element("g", &[], |markup| {
                    markup.leaf("title", &[], &self.hover(*series, point));
                    write_mark(markup, *series, (plot.at_x(point.x), plot.at_y(point.y)));
                });
            }
            draw_names(markup, &plot, &points);
        });
    }

    fn plot(&self, points: &[(usize, &Point)], canvas: &Canvas<'_>) -> Plot {
        let spans = |value: f64, error: Option<f64>| {
            let error = finite(error).unwrap_or(0.0);
            [value - error, value + error]
        };
        let xs = points.iter().flat_map(|(_, point)| spans(point.x, point.x_error));
        let ys = points.iter().flat_map(|(_, point)| spans(point.y, point.y_error));
        let x_ticks = if canvas.is_narrow() { 4.0 } else { 7.0 };
        let x = Scale::linear(xs, self.x.format, x_ticks);
        let y = Scale::linear(ys, self.y.format, 6.0);
        Plot::new(x, y, canvas.width() - 18.0, 28.0, PLOT_HEIGHT)
    }

    fn hover(&self, series: usize, point: &Point) -> String {
        let x = self.x.format.write_with_error(Some(point.x), point.x_error);
        let y = self.y.format.write_with_error(Some(point.y), point.y_error);
        let name = self.series.get(series).map_or("", |series| series.name.as_str());
        format!("{} ({name}) {}: {x}, {}: {y}", point.label, self.x.title, self.y.title)
    }
}

fn draw_errors(markup: &mut Markup, plot: &Plot, point: &Point) {
    let (x, y) = (plot.at_x(point.x), plot.at_y(point.y));
    if let Some(error) = finite(point.x_error) {
        whisker(markup, (plot.at_x(point.x - error), y), (plot.at_x(point.x + error), y));
    }
    if let Some(error) = finite(point.y_error) {
        whisker(markup, (x, plot.at_y(point.y - error)), (x, plot.at_y(point.y + error)));
    }
}

fn draw_names(markup: &mut Markup, plot: &Plot, points: &[(usize, &Point)]) {
    let bounds =
        Area { left: 0.0, top: plot.top - 6.0, right: plot.right + 16.0, bottom: plot.bottom };
    let around = |x: f64, y: f64, dx: f64, dy: f64| Area {
        left: x - dx,
        top: y - dy,
        right: x + dx,
        bottom: y + dy,
    };
    let mut taken: Vec<Area> = Vec::new();
    for (_, point) in points {
        let (x, y) = (plot.at_x(point.x), plot.at_y(point.y));
        taken.push(around(x, y, 6.0, 6.0));
        if let Some(error) = finite(point.x_error) {
            taken.push(around(x, y, plot.at_x(point.x + error) - x, 3.0));
        }
        if let Some(error) = finite(point.y_error) {
            taken.push(around(x, y, 3.0, y - plot.at_y(point.y + error)));
        }
    }
    for (_, point) in points.iter().filter(|(_, point)| !point.label.is_empty()) {
        let at = (plot.at_x(point.x), plot.at_y(point.y));
        let label = fit(&point.label, WIDEST_NAME);
        let area = place_label(at, text_width(&label), &taken, &bounds);
        let middle = (area.left + area.right) / 2.0;
        text(markup, (middle, area.bottom - 3.5), Anchor::Middle, "name halo", &label);
        taken.push(area);
    }
}
