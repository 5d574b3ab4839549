//! Lines: how something moved, step by step.

use super::Axis;
use super::canvas::{Anchor, Canvas, centred_text, fit, fitted_text, line, text, text_width};
use super::labels::spread;
use super::legend::{Swatch, line_class, write_legend};
use super::scale::Scale;
use crate::markup::{Markup, Px, append};

/// Several series over x.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lines {
    /// What runs along x.
    pub x: Axis,
    /// What is drawn over it.
    pub y: Axis,
    /// Whether y is logarithmic; values that are not above 0 are then left out.
    pub log_y: bool,
    /// The series.
    pub series: Vec<Series>,
    /// Places along x worth a vertical line.
    pub markers: Vec<Marker>,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// x and y, x rising. A y that is not finite is a gap.
    pub points: Vec<(f64, f64)>,
}

/// A place along x.
#[derive(Debug, Clone, PartialEq)]
pub struct Marker {
    /// Where.
    pub x: f64,
    /// What begins there.
    pub label: String,
}

const PLOT_HEIGHT: f64 = 250.0;
const TITLE_HEIGHT: f64 = 26.0;
const MARKER_STEP: f64 = 17.0;
const MARKER_ROWS: usize = 3;
const LABEL_STEP: f64 = 16.0;
const WIDEST_LABEL: f64 = 170.0;
/// More series than this have no room for their names beside their ends.
const MAX_DIRECT_LABELS: usize = 12;

impl Lines {
    pub(crate) fn write_legend(&self, markup: &mut Markup) {
        if self.series.len() < 2 {
            return;
        }
        let entries =
            self.series.iter().enumerate().map(|(i, s)| (Swatch::Line(i), s.name.as_str()));
        write_legend(markup, entries, self.labels_ends());
    }

    pub(crate) fn draw(&self, markup: &mut Markup, canvas: &Canvas<'_>) {
        let points = || self.series.iter().flat_map(|series| &series.points);
        if !points().any(|&(_, y)| y.is_finite() && (!self.log_y || y > 0.0)) {
            return canvas.empty_frame(markup);
        }
        let plot = self.plot(canvas);
        let height = plot.bottom + 46.0;
        canvas.frame(markup, (canvas.width(), height), |markup| {
            plot.draw_axes(markup, canvas.width(), &self.x, &self.y);
            self.draw_markers(markup, &plot);
            for (i, series) in self.series.iter().enumerate() {
                markup.element("g", &[], |markup| {
                    markup.leaf("title", &[], &series.name);
                    plot.draw_series(markup, i, series);
                });
            }
            if !canvas.is_narrow() && self.labels_ends() {
                self.draw_end_labels(markup, &plot, canvas.width());
            }
        });
    }

    fn labels_ends(&self) -> bool {
        (2..=MAX_DIRECT_LABELS).contains(&self.series.len())
    }

    fn plot(&self, canvas: &Canvas<'_>) -> Plot {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let ys = points().map(|point| point.1);
        let y = if self.log_y {
            Scale::logarithmic(ys, self.y.format)
        } else {
            Scale::linear(ys, self.y.format, 5.0)
        };
        let x_ticks = if canvas.is_narrow() { 4.0 } else { 8.0 };
        let x = Scale::tight(points().map(|point| point.0), self.x.format, x_ticks);
        let labels = if canvas.is_narrow() || !self.labels_ends() {
            14.0
        } else {
            let widest = self.series.iter().map(|s| text_width(&s.name)).fold(0.0, f64::max);
            widest.min(WIDEST_LABEL) + 22.0
        };
        let mut plot = Plot::new(x, y, canvas.width() - labels, TITLE_HEIGHT, PLOT_HEIGHT);
        let rows = self.marker_rows(&plot).into_iter().flatten().max().map_or(0, |row| row + 1);
        let added = MARKER_STEP * rows as f64;
        plot.top += added;
        plot.bottom += added;
        plot
    }

    /// The row above the plot that each marker's name stands in; none where every row is taken.
    fn marker_rows(&self, plot: &Plot) -> Vec<Option<usize>> {
        let mut free_from = [f64::MIN; MARKER_ROWS];
        let place = |marker: &Marker| {
            let x = plot.at_x(marker.x);
            let end = x + text_width(&marker.label) + 10.0;
            let inside =
                (0.0..=1.0).contains(&plot.x.fraction(marker.x)) && end < plot.right + 24.0;
            let row = free_from.iter().position(|&free| inside && x >= free)?;
            free_from[row] = end;
            Some(row)
        };
        self.markers.iter().map(place).collect()
    }

    fn draw_markers(&self, markup: &mut Markup, plot: &Plot) {
        let rows = self.marker_rows(plot);
        let top =
            |row: Option<usize>| plot.top - 4.0 - MARKER_STEP * row.map_or(0, |r| r + 1) as f64;
        let inside = |marker: &Marker| (0.0..=1.0).contains(&plot.x.fraction(marker.x));
        for (marker, row) in self.markers.iter().zip(&rows).filter(|(marker, _)| inside(marker)) {
            let x = plot.at_x(marker.x);
            markup.element("g", &[], |markup| {
                markup.leaf("title", &[], &marker.label);
                line(markup, (x, top(*row)), (x, plot.bottom), "stage");
            });
        }
        // After all lines: a name may cross the line of the next marker.
        for (marker, row) in self.markers.iter().zip(&rows).filter(|(_, row)| row.is_some()) {
            let at = (plot.at_x(marker.x) + 4.0, top(*row) + 10.0);
            text(markup, at, Anchor::Start, "tick halo", &marker.label);
        }
    }

    fn draw_end_labels(&self, markup: &mut Markup, plot: &Plot, width: f64) {
        let ends: Vec<(usize, (f64, f64))> = self
            .series
            .iter()
            .enumerate()
            .filter_map(|(i, series)| {
                let last = series.points.iter().rev().find(|p| plot.y.holds(p.1))?;
                Some((i, (plot.at_x(last.0), plot.at_y(last.1))))
            })
            .collect();
        let wanted: Vec<f64> = ends.iter().map(|(_, (_, y))| *y).collect();
        let placed = spread(&wanted, LABEL_STEP, (plot.top, plot.bottom));
        for ((i, (x, y)), label_y) in ends.into_iter().zip(placed) {
            let label_x = plot.right + 20.0;
            line(markup, (x + 2.0, y), (label_x - 4.0, label_y), "leader");
            let series = &self.series[i];
            let at = (label_x, label_y + 4.5);
            fitted_text(markup, at, Anchor::Start, width - label_x, &series.name);
        }
    }
}

/// The area between the axes.
pub(crate) struct Plot {
    pub(crate) x: Scale,
    pub(crate) y: Scale,
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

impl Plot {
    /// The names of the ticks along y decide where the area begins.
    pub(crate) fn new(x: Scale, y: Scale, right: f64, top: f64, height: f64) -> Self {
        let left = 12.0 + y.ticks.iter().map(|t| text_width(&t.label)).fold(0.0, f64::max);
        Self { x, y, left, right, top, bottom: top + height }
    }

    pub(crate) fn at_x(&self, value: f64) -> f64 {
        self.left + self.x.fraction(value) * (self.right - self.left)
    }

    pub(crate) fn at_y(&self, value: f64) -> f64 {
        self.bottom - self.y.fraction(value) * (self.bottom - self.top)
    }

    pub(crate) fn draw_axes(&self, markup: &mut Markup, width: f64, x_axis: &Axis, y_axis: &Axis) {
        for tick in &self.y.ticks {
            let y = self.at_y(tick.value);
            let class = if tick.value == 0.0 { "zero" } else { "grid" };
            line(markup, (self.left, y), (self.right, y), class);
            text(markup, (self.left - 6.0, y + 4.5), Anchor::End, "tick", &tick.label);
        }
        let mut free_from = f64::MIN;
        for tick in &self.x.ticks {
            let x = self.at_x(tick.value);
            line(markup, (x, self.bottom), (x, self.bottom + 5.0), "zero");
            let half = text_width(&tick.label) / 2.0;
            if x - half > free_from {
                text(markup, (x, self.bottom + 19.0), Anchor::Middle, "tick", &tick.label);
                free_from = x + half + 6.0;
            }
        }
        line(markup, (self.left, self.bottom), (self.right, self.bottom), "zero");
        let middle = (self.left + self.right) / 2.0;
        centred_text(markup, (middle, self.bottom + 40.0), width, "axis", &x_axis.title);
        // Upright at the top: nobody likes to tilt the head.
        text(markup, (2.0, 13.0), Anchor::Start, "axis", &fit(&y_axis.title, 0.9 * width));
    }

    fn draw_series(&self, markup: &mut Markup, number: usize, series: &Series) {
        let drawn: Vec<&(f64, f64)> = series.points.iter().filter(|p| p.0.is_finite()).collect();
        let shown: Vec<_> = drawn.iter().filter(|p| self.y.holds(p.1)).collect();
        if let [only] = shown[..] {
            let at = (self.at_x(only.0), self.at_y(only.1));
            return super::legend::write_mark(markup, number, at);
        }
        let mut path = String::new();
        let mut pen_down = false;
        let mut last = (f64::MIN, f64::MIN);
        for (i, &&(x, y)) in drawn.iter().enumerate() {
            if !self.y.holds(y) {
                pen_down = false;
                continue;
            }
            let at = (self.at_x(x), self.at_y(y));
            // What moves less than the eye can see need not be written, the last point aside.
            let moved = (at.0 - last.0).abs() + (at.1 - last.1).abs();
            if pen_down && moved < 0.6 && i + 1 < drawn.len() {
                continue;
            }
            let command = if pen_down { 'L' } else { 'M' };
            append(&mut path, format_args!("{command}{} {}", Px(at.0), Px(at.1)));
            (pen_down, last) = (true, at);
        }
        markup.empty("path", &[("d", &path), ("class", &line_class(number))]);
    }
}
