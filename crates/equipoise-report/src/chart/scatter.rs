//! Scatter plots of named points with intervals, such as accuracy against fairness.

use super::Axis;
use super::canvas::{Anchor, Canvas, Xy, fit, line, text, text_width, tooltip, whisker};
use super::labels::{Area, place_beside, place_label};
use super::legend::write_mark;
use super::plot::{AXIS_HEIGHT, Plot};
use super::scale::Scale;
use crate::markup::{Markup, Px};

/// Series of points.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scatter {
    /// The x axis.
    pub x: Axis,
    /// The y axis.
    pub y: Axis,
    /// The series, each with its own shape and colour.
    pub series: Vec<ScatterSeries>,
    /// Whether the points of a series are steps from its first point to its last. They are then joined by a line, and
    /// only the ends have intervals; the other points are named if there is room beside them.
    pub is_path: bool,
}

/// A series of points.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScatterSeries {
    /// Its name in the legend.
    pub name: String,
    /// Its points.
    pub points: Vec<Point>,
}

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
/// Points of a path that are closer than this to another are not named.
const MIN_DISTANCE: f64 = 28.0;

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
            let with_intervals =
                points.iter().filter(|(series, point)| self.is_end(*series, point));
            for [from, to] in with_intervals.flat_map(|(_, point)| intervals(point)) {
                match self.is_path {
                    true => line(markup, plot.at(from), plot.at(to), "interval"),
                    false => whisker(markup, plot.at(from), plot.at(to)),
                }
            }
            if self.is_path {
                self.draw_paths(markup, &plot);
            }
            for &(series, point) in &points {
                tooltip(markup, &self.describe(series, point), |markup| {
                    write_mark(markup, series, plot.at((point.x, point.y)));
                });
            }
            self.draw_names(markup, &plot, &points);
        });
    }

    /// Whether a point is the first or the last of its path. Without paths, every point counts.
    fn is_end(&self, series: usize, point: &Point) -> bool {
        let points = &self.series[series].points;
        let ends = [points.first(), points.last()];
        !self.is_path || ends.into_iter().flatten().any(|end| std::ptr::eq(end, point))
    }

    fn draw_paths(&self, markup: &mut Markup, plot: &Plot) {
        for series in &self.series {
            let points = series.points.iter().map(|point| (point.x, point.y));
            let points = points.filter(|(x, y)| x.is_finite() && y.is_finite());
            let steps =
                points.map(|point| plot.at(point)).map(|(x, y)| format!("{} {}", Px(x), Px(y)));
            let path = format!("M{}", steps.collect::<Vec<_>>().join("L"));
            markup.empty("path", &[("d", &path), ("class", &"path")]);
        }
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

    fn draw_names(&self, markup: &mut Markup, plot: &Plot, points: &[(usize, &Point)]) {
        let bounds = Area {
            left: plot.left,
            top: plot.top - 6.0,
            right: plot.right + 16.0,
            bottom: plot.bottom,
        };
        let mut taken: Vec<Area> = Vec::new();
        for (series, point) in points {
            let at = plot.at((point.x, point.y));
            taken.push(Area::around(at, at, 6.0));
            if self.is_end(*series, point) {
                let drawn = intervals(point).map(|[from, to]| [plot.at(from), plot.at(to)]);
                taken.extend(drawn.map(|[from, to]| Area::around(from, to, 3.0)));
            }
        }
        let mut named: Vec<_> =
            points.iter().filter(|(_, point)| !point.label.is_empty()).collect();
        if self.is_path {
            // The last point matters most, then the first.
            named.reverse();
            named.sort_by_key(|(series, point)| !self.is_end(*series, point));
        }
        let marks: Vec<Xy> = points.iter().map(|(_, point)| plot.at((point.x, point.y))).collect();
        let is_crowded = |(x, y): Xy| {
            let near = |other: &&Xy| (other.0 - x).hypot(other.1 - y) < MIN_DISTANCE;
            marks.iter().filter(near).count() > 1
        };
        for (series, point) in named {
            let label = fit(&point.label, MAX_NAME_WIDTH);
            let (at, width) = (plot.at((point.x, point.y)), text_width(&label));
            let area = match self.is_end(*series, point) {
                true => Some(place_label(at, width, &taken, &bounds)),
                // In a crowd, it would not be clear which point a label belongs to.
                false if is_crowded(at) => None,
                false => place_beside(at, width, &taken, &bounds),
            };
            let Some(area) = area else { continue };
            let middle = (area.left + area.right) / 2.0;
            text(markup, (middle, area.bottom - 3.5), Anchor::Middle, "name halo", &label);
            taken.push(area);
        }
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
