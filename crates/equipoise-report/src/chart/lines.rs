//! Line charts.

use super::Axis;
use super::canvas::{Anchor, Canvas, fitted_text, line, text, text_width, tooltip, widest};
use super::labels::spread;
use super::legend::{line_class, write_mark};
use super::plot::{AXIS_HEIGHT, Plot};
use super::scale::Scale;
use crate::markup::{Markup, Px};

/// Several lines over a common x axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lines {
    /// The x axis.
    pub x: Axis,
    /// The y axis.
    pub y: Axis,
    /// Whether y is logarithmic. Values of 0 and below are then left out.
    pub log_y: bool,
    /// The lines.
    pub series: Vec<Series>,
    /// Labelled vertical lines.
    pub markers: Vec<Marker>,
}

/// A line or another series of points.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series<P = (f64, f64)> {
    /// Its name.
    pub name: String,
    /// Its points. In a line, they are sorted by x, and a non-finite y leaves a gap.
    pub points: Vec<P>,
}

/// A labelled vertical line.
#[derive(Debug, Clone, PartialEq)]
pub struct Marker {
    /// Its x coordinate.
    pub x: f64,
    /// What begins there.
    pub label: String,
}

const PLOT_HEIGHT: f64 = 250.0;
const TITLE_HEIGHT: f64 = 26.0;
const MARKER_STEP: f64 = 17.0;
/// Minimum distance between the labels of two markers in a row.
const MARKER_GAP: f64 = 20.0;
const MAX_MARKER_ROWS: usize = 3;
const LABEL_STEP: f64 = 16.0;
const MAX_LABEL_WIDTH: f64 = 170.0;
/// There is no room for more names next to the ends of the lines.
const MAX_END_LABELS: usize = 12;

impl Lines {
    pub(super) fn draw(&self, markup: &mut Markup, canvas: &Canvas<'_>) {
        if !self.points().any(|&(_, y)| y.is_finite() && (!self.log_y || y > 0.0)) {
            return canvas.empty_frame(markup);
        }
        let plot = self.plot(canvas);
        canvas.frame(markup, (canvas.width(), plot.bottom + AXIS_HEIGHT), |markup| {
            plot.draw_axes(markup, canvas.width(), &self.x, &self.y);
            self.draw_markers(markup, &plot);
            for (i, series) in self.series.iter().enumerate() {
                tooltip(markup, &series.name, |markup| draw_series(markup, &plot, i, series));
            }
            if !canvas.narrow && self.labels_ends() {
                self.draw_end_labels(markup, &plot, canvas.width());
            }
        });
    }

    fn points(&self) -> impl Iterator<Item = &(f64, f64)> {
        self.series.iter().flat_map(|series| &series.points)
    }

    /// Whether the wide drawing names each line at its end.
    pub(super) fn labels_ends(&self) -> bool {
        (2..=MAX_END_LABELS).contains(&self.series.len())
    }

    fn plot(&self, canvas: &Canvas<'_>) -> Plot {
        let ys = self.points().map(|point| point.1);
        let y = if self.log_y {
            Scale::logarithmic(ys, self.y.format)
        } else {
            Scale::linear(ys, self.y.format, 5.0)
        };
        let x_ticks = if canvas.narrow { 4.0 } else { 8.0 };
        let x = Scale::tight(self.points().map(|point| point.0), self.x.format, x_ticks);
        let labels_width = if canvas.narrow || !self.labels_ends() {
            14.0
        } else {
            widest(self.series.iter().map(|s| &*s.name)).min(MAX_LABEL_WIDTH) + 22.0
        };
        let mut plot = Plot::new(x, y, canvas.width() - labels_width, TITLE_HEIGHT, PLOT_HEIGHT);
        let rows = self.marker_rows(&plot).into_iter().flatten().max().map_or(0, |row| row + 1);
        plot.top += MARKER_STEP * rows as f64;
        plot.bottom += MARKER_STEP * rows as f64;
        plot
    }

    /// The row above the plot for the label of each marker, or `None` if no row has room for it.
    fn marker_rows(&self, plot: &Plot) -> Vec<Option<usize>> {
        let mut free_from = [f64::MIN; MAX_MARKER_ROWS];
        let row_of = |marker: &Marker| {
            let x = plot.at_x(marker.x);
            let end = x + text_width(&marker.label) + MARKER_GAP;
            let fits = plot.x.contains(marker.x) && end < plot.right + 24.0;
            let row = free_from.iter().position(|&free| fits && x >= free)?;
            free_from[row] = end;
            Some(row)
        };
        self.markers.iter().map(row_of).collect()
    }

    fn draw_markers(&self, markup: &mut Markup, plot: &Plot) {
        let rows = self.marker_rows(plot);
        let top =
            |row: Option<usize>| plot.top - 4.0 - MARKER_STEP * row.map_or(0, |r| r + 1) as f64;
        let markers = || self.markers.iter().zip(&rows);
        for (marker, &row) in markers().filter(|(marker, _)| plot.x.contains(marker.x)) {
            let x = plot.at_x(marker.x);
            tooltip(markup, &marker.label, |markup| {
                line(markup, (x, top(row)), (x, plot.bottom), "stage");
            });
        }
        // Labels come last because they may cross the line of the next marker.
        for (marker, &row) in markers().filter(|(_, row)| row.is_some()) {
            let at = (plot.at_x(marker.x) + 4.0, top(row) + 10.0);
            text(markup, at, Anchor::Start, "tick halo", &marker.label);
        }
    }

    fn draw_end_labels(&self, markup: &mut Markup, plot: &Plot, width: f64) {
        let last_point = |series: &Series| {
            series.points.iter().rev().find(|p| plot.y.can_show(p.1)).map(|&p| plot.at(p))
        };
        let ends: Vec<(&str, (f64, f64))> = self
            .series
            .iter()
            .filter_map(|series| Some((series.name.as_str(), last_point(series)?)))
            .collect();
        let preferred: Vec<f64> = ends.iter().map(|(_, (_, y))| *y).collect();
        let label_x = plot.right + 20.0;
        let label_ys = spread(&preferred, LABEL_STEP, (plot.top, plot.bottom));
        for ((name, (x, y)), label_y) in ends.into_iter().zip(label_ys) {
            line(markup, (x + 2.0, y), (label_x - 4.0, label_y), "leader");
            fitted_text(markup, (label_x, label_y + 4.5), Anchor::Start, width - label_x, name);
        }
    }
}

fn draw_series(markup: &mut Markup, plot: &Plot, index: usize, series: &Series) {
    let points: Vec<(f64, f64)> =
        series.points.iter().copied().filter(|point| point.0.is_finite()).collect();
    let visible: Vec<_> = points.iter().filter(|point| plot.y.can_show(point.1)).collect();
    if let [&only] = visible[..] {
        return write_mark(markup, index, plot.at(only));
    }
    let mut path = String::new();
    let mut pen_down = false;
    let mut last = (f64::MIN, f64::MIN);
    for (i, &point) in points.iter().enumerate() {
        if !plot.y.can_show(point.1) {
            pen_down = false;
            continue;
        }
        let (x, y) = plot.at(point);
        // Skip moves too small to see, except to the last point.
        let moved = (x - last.0).abs() + (y - last.1).abs();
        if pen_down && moved < 0.6 && i + 1 < points.len() {
            continue;
        }
        path += &format!("{}{} {}", if pen_down { 'L' } else { 'M' }, Px(x), Px(y));
        (pen_down, last) = (true, (x, y));
    }
    markup.empty("path", &[("d", &path), ("class", &line_class(index))]);
}
