//! Draws rows of horizontal bars: names to the left, values at the ends of the bars.

use super::bars::{Quantity, Reference};
use super::canvas::{
    Anchor, Canvas, centred_text, fitted_text, line, rect, text, text_width, tick_labels, tooltip,
    whisker, widest,
};
use super::scale::Scale;
use super::{Axis, finite};
use crate::markup::{Markup, Px};

/// A row: a name and its bars.
pub(super) struct BarRow {
    pub(super) name: String,
    pub(super) bars: Vec<DrawnBar>,
}

/// A bar and the text printed at its end.
pub(super) struct DrawnBar {
    pub(super) quantity: Quantity,
    pub(super) text: String,
    pub(super) tooltip: String,
    pub(super) fill: String,
}

impl DrawnBar {
    fn is_negative(&self) -> bool {
        finite(self.quantity.value).is_some_and(|value| value < 0.0)
    }

    fn interval(&self) -> [f64; 2] {
        let value = finite(self.quantity.value).unwrap_or(0.0);
        match self.quantity.interval {
            Some([low, high]) if low.is_finite() && high.is_finite() => {
                [low.min(value), high.max(value)]
            }
            _ => [value; 2],
        }
    }

    /// The outer end of the bar and its interval.
    fn end(&self) -> f64 {
        self.interval()[usize::from(!self.is_negative())]
    }
}

const TOP: f64 = 6.0;
const REFERENCE_HEIGHT: f64 = 18.0;
const BAR_HEIGHT: f64 = 16.0;
const BAR_STEP: f64 = 20.0;
/// Narrower bars are drawn as a dot.
const MIN_BAR_WIDTH: f64 = 2.0;
/// Height of a name above its bars, on a narrow screen.
const NAME_HEIGHT: f64 = 18.0;
const ROW_GAP: f64 = 12.0;
/// Height of tick labels and axis title.
const AXIS_HEIGHT: f64 = 46.0;
const MAX_NAME_WIDTH: f64 = 240.0;

pub(super) fn draw_rows(
    markup: &mut Markup,
    canvas: &Canvas<'_>,
    axis: &Axis,
    rows: &[BarRow],
    reference: Option<&Reference>,
) {
    if rows.is_empty() {
        return canvas.empty_frame(markup);
    }
    let narrow = canvas.narrow;
    let names_end = match narrow {
        true => 0.0,
        false => widest(rows.iter().map(|row| &*row.name)).min(MAX_NAME_WIDTH),
    };
    let area = BarArea::new(rows, axis, names_end + if narrow { 0.0 } else { 12.0 }, canvas);
    let top = TOP + if reference.is_some() { REFERENCE_HEIGHT } else { 0.0 };
    let mut bottom = top;
    let mut placed_bars: Vec<(f64, &DrawnBar)> = Vec::new();
    let mut placed_names: Vec<(f64, &str)> = Vec::new();
    for row in rows {
        let bars_height = BAR_STEP * row.bars.len() as f64;
        let bars_top = bottom + ROW_GAP / 2.0 + if narrow { NAME_HEIGHT } else { 0.0 };
        let name_middle = if narrow { bars_top - 9.5 } else { bars_top + bars_height / 2.0 };
        placed_names.push((name_middle + 4.5, &row.name));
        let bar_top = |i: usize| bars_top + BAR_STEP * i as f64 + 2.0;
        placed_bars.extend(row.bars.iter().enumerate().map(|(i, bar)| (bar_top(i), bar)));
        bottom = bars_top + bars_height + ROW_GAP / 2.0;
    }
    canvas.frame(markup, (canvas.width(), bottom + AXIS_HEIGHT), |markup| {
        area.draw_axis(markup, (top, bottom), axis);
        for &(y, name) in &placed_names {
            if narrow {
                fitted_text(markup, (2.0, y), Anchor::Start, canvas.width() - 4.0, name);
            } else {
                fitted_text(markup, (names_end, y), Anchor::End, names_end, name);
            }
        }
        placed_bars.iter().for_each(|&(y, bar)| area.draw_bar(markup, bar, y));
        if let Some(reference) = reference {
            area.draw_reference(markup, reference, bottom);
        }
        placed_bars.iter().for_each(|&(y, bar)| area.draw_text(markup, bar, y));
    });
}

/// The area that bars stretch over, with room next to it for the texts at their ends.
struct BarArea {
    left: f64,
    right: f64,
    /// The width of the whole drawing.
    width: f64,
    scale: Scale,
}

impl BarArea {
    fn new(rows: &[BarRow], axis: &Axis, left: f64, canvas: &Canvas<'_>) -> Self {
        let bars = || rows.iter().flat_map(|row| &row.bars);
        let ends = bars().flat_map(DrawnBar::interval).chain([0.0]);
        let scale = Scale::linear(ends, axis.format, if canvas.narrow { 4.0 } else { 6.0 });
        let texts: Vec<(bool, f64, f64)> = bars()
            .map(|bar| (bar.is_negative(), scale.fraction(bar.end()), text_width(&bar.text) + 8.0))
            .collect();
        let (left, right) = fit_beside_texts(left, canvas.width(), &texts);
        Self { left, right, width: canvas.width(), scale }
    }

    fn draw_axis(&self, markup: &mut Markup, (top, bottom): (f64, f64), axis: &Axis) {
        for tick in &self.scale.ticks {
            let x = self.x(tick.value);
            line(markup, (x, top), (x, bottom), tick.class());
        }
        tick_labels(markup, &self.scale, |value| self.x(value), bottom + 17.0);
        let middle = (self.left + self.right) / 2.0;
        centred_text(markup, (middle, bottom + 38.0), self.width, "axis", &axis.title);
    }

    fn draw_bar(&self, markup: &mut Markup, bar: &DrawnBar, y: f64) {
        let Some(value) = finite(bar.quantity.value) else { return };
        let (zero, end) = (self.x(0.0), self.x(value));
        tooltip(markup, &bar.tooltip, |markup| {
            if (end - zero).abs() < MIN_BAR_WIDTH {
                return draw_dot(markup, (end, y + BAR_HEIGHT / 2.0), &bar.fill);
            }
            let size = ((end - zero).abs(), BAR_HEIGHT);
            rect(markup, (zero.min(end), y), size, &[("class", &bar.fill)]);
        });
        if bar.quantity.interval.is_some() {
            let [from, to] = bar.interval().map(|end| (self.x(end), y + BAR_HEIGHT / 2.0));
            whisker(markup, from, to);
        }
    }

    fn draw_text(&self, markup: &mut Markup, bar: &DrawnBar, y: f64) {
        let (gap, anchor) =
            if bar.is_negative() { (-6.0, Anchor::End) } else { (6.0, Anchor::Start) };
        let at = (self.x(bar.end()) + gap, y + BAR_HEIGHT / 2.0 + 4.5);
        text(markup, at, anchor, "value halo", &bar.text);
    }

    fn draw_reference(&self, markup: &mut Markup, reference: &Reference, bottom: f64) {
        if self.scale.contains(reference.value) {
            let x = self.x(reference.value);
            line(markup, (x, TOP + 14.0), (x, bottom), "reference");
            centred_text(markup, (x, TOP + 8.0), self.width, "tick", &reference.label);
        }
    }

    fn x(&self, value: f64) -> f64 {
        self.left + self.scale.fraction(value) * (self.right - self.left)
    }
}

/// A dot in place of a bar that would be too narrow to see.
fn draw_dot(markup: &mut Markup, (x, y): (f64, f64), class: &str) {
    let path = format!("M{} {}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", Px(x), Px(y));
    markup.empty("path", &[("d", &path), ("class", &class)]);
}

/// The widest area between `from` and `to` that leaves room for the texts at the ends of the bars. For each
/// text: whether it is to the left of its bar, where the bar ends (0 to 1), and the width of the text.
fn fit_beside_texts(from: f64, to: f64, texts: &[(bool, f64, f64)]) -> (f64, f64) {
    /// Half a tick label may stick out on either side.
    const MARGIN: f64 = 24.0;
    let left_texts = || texts.iter().filter(|text| text.0);
    let left = left_texts().map(|text| from + text.2).fold(from + MARGIN, f64::max);
    let right = texts
        .iter()
        .filter(|text| !text.0 && text.1 > 0.0)
        .map(|&(_, end, width)| left + (to - width - left) / end)
        .fold(to - MARGIN, f64::min);
    // With the right edge known, bars that end far from the left edge let it move back.
    let left = left_texts()
        .filter(|text| text.1 < 1.0)
        .map(|&(_, end, width)| (from + width - end * right) / (1.0 - end))
        .fold(from + MARGIN, f64::max);
    (left, right.max(left + 20.0))
}
