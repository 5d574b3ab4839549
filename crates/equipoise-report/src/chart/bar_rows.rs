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
/// Distance between the end of a bar and its text.
const TEXT_GAP: f64 = 6.0;
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
    let mut name_rows: Vec<Taken> = Vec::new();
    let mut placed_bars: Vec<(f64, &DrawnBar)> = Vec::new();
    let mut placed_names: Vec<(f64, &str)> = Vec::new();
    for row in rows {
        let bars_height = BAR_STEP * row.bars.len() as f64;
        let bars_top = bottom + ROW_GAP / 2.0 + if narrow { NAME_HEIGHT } else { 0.0 };
        let name_middle = if narrow { bars_top - 9.5 } else { bars_top + bars_height / 2.0 };
        placed_names.push((name_middle + 4.5, &row.name));
        if narrow {
            let width = text_width(&row.name).min(canvas.width() - 4.0);
            let (from, to) = (name_middle - 8.0, name_middle + 8.0);
            name_rows.push(Taken { left: 0.0, right: 6.0 + width, from, to });
        }
        let bar_top = |i: usize| bars_top + BAR_STEP * i as f64 + 2.0;
        placed_bars.extend(row.bars.iter().enumerate().map(|(i, bar)| (bar_top(i), bar)));
        bottom = bars_top + bars_height + ROW_GAP / 2.0;
    }
    canvas.frame(markup, (canvas.width(), bottom + AXIS_HEIGHT), |markup| {
        area.draw_axis(markup, (top, bottom), axis, &name_rows);
        for &(y, name) in &placed_names {
            if narrow {
                fitted_text(markup, (2.0, y), Anchor::Start, canvas.width() - 4.0, name);
            } else {
                fitted_text(markup, (names_end, y), Anchor::End, names_end, name);
            }
        }
        placed_bars.iter().for_each(|&(y, bar)| area.draw_bar(markup, bar, y));
        if let Some(reference) = reference {
            let values = placed_bars.iter().map(|&(y, bar)| area.taken_by_text(bar, y));
            let taken: Vec<Taken> = name_rows.iter().copied().chain(values).collect();
            area.draw_reference(markup, reference, bottom, &taken);
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

    fn draw_axis(
        &self,
        markup: &mut Markup,
        (top, bottom): (f64, f64),
        axis: &Axis,
        taken: &[Taken],
    ) {
        for tick in &self.scale.ticks {
            draw_upright(markup, self.x(tick.value), (top, bottom), tick.class(), taken);
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
        let (gap, anchor) = match bar.is_negative() {
            true => (-TEXT_GAP, Anchor::End),
            false => (TEXT_GAP, Anchor::Start),
        };
        let at = (self.x(bar.end()) + gap, y + BAR_HEIGHT / 2.0 + 4.5);
        text(markup, at, anchor, "value halo", &bar.text);
    }

    /// The area of the text at the end of a bar.
    fn taken_by_text(&self, bar: &DrawnBar, y: f64) -> Taken {
        let (end, width) = (self.x(bar.end()), TEXT_GAP + text_width(&bar.text));
        let (left, right) = if bar.is_negative() { (end - width, end) } else { (end, end + width) };
        Taken { left, right, from: y - 1.0, to: y + BAR_HEIGHT + 1.0 }
    }

    fn draw_reference(
        &self,
        markup: &mut Markup,
        reference: &Reference,
        bottom: f64,
        taken: &[Taken],
    ) {
        if self.scale.contains(reference.value) {
            let x = self.x(reference.value);
            draw_upright(markup, x, (TOP + 14.0, bottom), "reference", taken);
            centred_text(markup, (x, TOP + 8.0), self.width, "tick", &reference.label);
        }
    }

    fn x(&self, value: f64) -> f64 {
        self.left + self.scale.fraction(value) * (self.right - self.left)
    }
}

/// An area with text, which lines must not cross.
#[derive(Debug, Clone, Copy)]
struct Taken {
    left: f64,
    right: f64,
    from: f64,
    to: f64,
}

/// A vertical line, with gaps where there is text.
fn draw_upright(
    markup: &mut Markup,
    x: f64,
    (top, bottom): (f64, f64),
    class: &str,
    taken: &[Taken],
) {
    let mut crossed: Vec<&Taken> =
        taken.iter().filter(|taken| (taken.left..=taken.right).contains(&x)).collect();
    crossed.sort_by(|a, b| a.from.total_cmp(&b.from));
    let mut from = top;
    for taken in crossed {
        if taken.from > from {
            line(markup, (x, from), (x, taken.from), class);
        }
        from = from.max(taken.to);
    }
    if from < bottom {
        line(markup, (x, from), (x, bottom), class);
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
