//! Scatter plots of named points with intervals, such as accuracy against fairness.

use super::Axis;
use super::canvas::{Anchor, Canvas, Xy, fit, line, text, text_width, tooltip, whisker};
use super::labels::{Area, place_label};
use super::legend::write_mark;
use super::lines::Series;
use super::plot::{AXIS_HEIGHT, Plot};
use super::scale::Scale;
use crate::markup::Markup;

/// Series of points.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scatter {
    /// The x axis.
    pub x: Axis,
    /// The y axis.
    pub y: Axis,
    /// The series, each with its own shape and colour.
    pub series: Vec<ScatterSeries>,
}

/// A series of points.
pub type ScatterSeries = Series<Point>;

/// A point. It is drawn only if both coordinates are finite.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Point {
    /// Its name, or empty.
    pub label: String,
    /// Its x coordinate.
    pub x: f64,
    /// Its y coordinate.
    pub y: f64,
    /// The ends of an interval around x.
    pub x_interval: Option<[f64; 2]>,
    /// The ends of an interval around y.
    pub y_interval: Option<[f64; 2]>,
}

const PLOT_HEIGHT: f64 = 320.0;
const MAX_NAME_WIDTH: f64 = 150.0;

impl Scatter {
    pub(super) fn draw(&self, markup: &mut Markup, canvas: &Canvas<'_>) {
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
        canvas.frame(markup, (canvas.width(), plot.bottom + AXIS_HEIGHT), |markup| {
            plot.draw_axes(markup, canvas.width(), &self.x, &self.y);
            for tick in &plot.x.ticks {
                let x = plot.at_x(tick.value);
                line(markup, (x, plot.top), (x, plot.bottom), tick.class());
            }
            for [from, to] in points.iter().flat_map(|(_, point)| intervals(point)) {
                whisker(markup, plot.at(from), plot.at(to));
            }
            for &(series, point) in &points {
                tooltip(markup, &self.describe(series, point), |markup| {
                    write_mark(markup, series, plot.at((point.x, point.y)));
                });
            }
            draw_names(markup, &plot, &points);
        });
    }

    fn plot(&self, points: &[(usize, &Point)], canvas: &Canvas<'_>) -> Plot {
        let ends = points
            .iter()
            .flat_map(|(_, point)| intervals(point).flatten().chain([(point.x, point.y)]));
        let zero = |axis: &Axis| axis.from_zero.then_some(0.0);
        let xs = ends.clone().map(|end| end.0).chain(zero(&self.x));
        let ys = ends.map(|end| end.1).chain(zero(&self.y));
        let x = Scale::linear(xs, self.x.format, if canvas.narrow { 4.0 } else { 7.0 });
        let y = Scale::linear(ys, self.y.format, 6.0);
        Plot::new(x, y, canvas.width() - 18.0, 28.0, PLOT_HEIGHT)
    }

    fn describe(&self, series: usize, point: &Point) -> String {
        let x = self.x.format.write_interval(Some(point.x), point.x_interval);
        let y = self.y.format.write_interval(Some(point.y), point.y_interval);
        let name = &self.series[series].name;
        format!("{} ({name}) {}: {x}, {}: {y}", point.label, self.x.title, self.y.title)
    }
}

/// The ends of the intervals around a point.
fn intervals(point: &Point) -> impl Iterator<Item = [Xy; 2]> + Clone {
    let &Point { x, y, .. } = point;
    let finite = |ends: &[f64; 2]| ends.iter().all(|end| end.is_finite());
    let along_x = point.x_interval.filter(finite).map(|[low, high]| [(low, y), (high, y)]);
    let along_y = point.y_interval.filter(finite).map(|[low, high]| [(x, high), (x, low)]);
    along_x.into_iter().chain(along_y)
}

fn draw_names(markup: &mut Markup, plot: &Plot, points: &[(usize, &Point)]) {
    let bounds = Area {
        left: plot.left,
        top: plot.top - 6.0,
        right: plot.right + 16.0,
        bottom: plot.bottom,
    };
    let mut taken: Vec<Area> = Vec::new();
    for (_, point) in points {
        let at = plot.at((point.x, point.y));
        taken.push(Area::around(at, at, 6.0));
        taken.extend(
            intervals(point).map(|[from, to]| Area::around(plot.at(from), plot.at(to), 3.0)),
        );
    }
    for (_, point) in points.iter().filter(|(_, point)| !point.label.is_empty()) {
        let label = fit(&point.label, MAX_NAME_WIDTH);
        let area = place_label(plot.at((point.x, point.y)), text_width(&label), &taken, &bounds);
        let middle = (area.left + area.right) / 2.0;
        text(markup, (middle, area.bottom - 3.5), Anchor::Middle, "name halo", &label);
        taken.push(area);
    }
}
