//! Horizontal bars, one per thing, each with its name and its value.

use super::canvas::{
    Anchor, Canvas, centred_text, fill_class, fitted_text, line, text, text_width, whisker,
};
use super::scale::Scale;
use super::{Axis, finite};
use crate::markup::{Markup, Px};

/// A bar per thing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bars {
    /// What the bars measure.
    pub axis: Axis,
    /// From top to bottom.
    pub bars: Vec<Bar>,
    /// A value to compare with; a dashed line.
    pub reference: Option<Reference>,
}

/// One bar.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bar {
    /// What it stands for.
    pub label: String,
    /// Its length; none is shown as a dash.
    pub value: Option<f64>,
    /// Half the width of an interval around the value.
    pub error: Option<f64>,
    /// A remark, such as "unreliable": the bar is hatched and the remark printed.
    pub tag: Option<String>,
}

/// A value to compare bars with.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// The value.
    pub value: f64,
    /// What it is.
    pub label: String,
}

impl Bar {
    /// A bar with neither interval nor remark.
    pub fn new(label: impl Into<String>, value: impl Into<Option<f64>>) -> Self {
        Self { label: label.into(), value: value.into(), error: None, tag: None }
    }
}

const TOP: f64 = 8.0;
const REFERENCE_HEIGHT: f64 = 18.0;
const BAR_HEIGHT: f64 = 18.0;
const WIDEST_NAME: f64 = 240.0;

impl Bars {
    pub(crate) fn draw(&self, markup: &mut Markup, canvas: &Canvas<'_>) {
        if self.bars.is_empty() {
            return canvas.empty_frame(markup);
        }
        let narrow = canvas.is_narrow();
        let names = if narrow {
            0.0
        } else {
            12.0 + self
                .bars
                .iter()
                .map(|b| text_width(&b.label))
                .fold(0.0, f64::max)
                .min(WIDEST_NAME)
        };
        let values = self.bars.iter().map(|bar| (bar.value, bar.error, self.remark(bar, narrow)));
        let area = BarArea::new(values, &self.axis, names, canvas);
        let top = TOP + if self.reference.is_some() { REFERENCE_HEIGHT } else { 0.0 };
        let row = if narrow { 46.0 } else { 30.0 };
        let bottom = top + row * self.bars.len() as f64;
        canvas.frame(markup, (canvas.width(), bottom + AXIS_HEIGHT), |markup| {
            area.draw_axis(markup, top, bottom, &self.axis);
            for (i, bar) in self.bars.iter().enumerate() {
                let y = top + row * i as f64;
                if narrow {
                    self.draw_name_above(markup, bar, y, canvas.width());
                } else {
                    fitted_text(
                        markup,
                        (names - 12.0, y + 20.0),
                        Anchor::End,
                        names - 12.0,
                        &bar.label,
                    );
                }
                let fill = fill_class(0, usize::from(bar.tag.is_some()));
                let place = (y + if narrow { 22.0 } else { 6.0 }, BAR_HEIGHT);
                let hover = format!("{}: {}", bar.label, self.remark(bar, false));
                area.draw_bar(markup, (bar.value, bar.error), place, &fill, &hover);
            }
            if let Some(reference) = &self.reference {
                area.draw_reference(markup, reference, (TOP, bottom));
            }
            for (i, bar) in self.bars.iter().enumerate() {
                let middle = top + row * i as f64 + if narrow { 31.0 } else { 15.0 };
                let remark = self.remark(bar, narrow);
                area.draw_value(markup, (bar.value, bar.error), middle, &remark);
            }
        });
    }

    /// What is printed at the end of a bar; on a narrow screen the tag stands beside the name.
    fn remark(&self, bar: &Bar, narrow: bool) -> String {
        let value = self.axis.format.write_with_error(bar.value, bar.error);
        match &bar.tag {
            Some(tag) if !narrow => format!("{value} · {}", shortened(tag)),
            _ => value,
        }
    }

    fn draw_name_above(&self, markup: &mut Markup, bar: &Bar, y: f64, width: f64) {
        let name = match &bar.tag {
            Some(tag) => format!("{} · {}", bar.label, shortened(tag)),
            None => bar.label.clone(),
        };
        fitted_text(markup, (2.0, y + 16.0), Anchor::Start, width - 4.0, &name);
    }
}

/// A tag is a word or two; what is longer would leave no room for the bars.
fn shortened(tag: &str) -> String {
    const LONGEST: usize = 24;
    if tag.chars().count() <= LONGEST {
        return tag.to_owned();
    }
    tag.chars().take(LONGEST - 1).chain(['…']).collect()
}

/// Height of ticks and axis title below bars.
pub(crate) const AXIS_HEIGHT: f64 = 46.0;

/// The part of a drawing that bars stretch over, with room beside it for their values.
pub(crate) struct BarArea {
    left: f64,
    right: f64,
    /// Of the whole drawing.
    width: f64,
    scale: Scale,
}

impl BarArea {
    /// `values` are value, error and the text printed at the end.
    pub(crate) fn new(
        values: impl Iterator<Item = (Option<f64>, Option<f64>, String)> + Clone,
        axis: &Axis,
        names: f64,
        canvas: &Canvas<'_>,
    ) -> Self {
        let ends = values.clone().filter_map(|(value, error, _)| {
            finite(value).map(|v| (v, finite(error).unwrap_or(0.0)))
        });
        let reach = ends.flat_map(|(v, e)| [v - e, v + e]).chain([0.0]);
        let scale = Scale::linear(reach, axis.format, if canvas.is_narrow() { 4.0 } else { 6.0 });
        let texts: Vec<(bool, f64, f64)> = values
            .map(|(value, error, printed)| {
                let (value, error) = (finite(value).unwrap_or(0.0), finite(error).unwrap_or(0.0));
                let end = if value < 0.0 { value - error } else { value + error };
                (value < 0.0, scale.fraction(end), text_width(&printed) + 8.0)
            })
            .collect();
        let (left, right) = fit_beside_texts(names, canvas.width(), &texts);
        Self { left, right, width: canvas.width(), scale }
    }

    pub(crate) fn draw_axis(&self, markup: &mut Markup, top: f64, bottom: f64, axis: &Axis) {
        let middle = (self.left + self.right) / 2.0;
        let mut free_from = f64::MIN;
        for tick in &self.scale.ticks {
            let x = self.x(tick.value);
            let class = if tick.value == 0.0 { "zero" } else { "grid" };
            line(markup, (x, top), (x, bottom), class);
            // Names that would touch are left out, their lines stay.
            let half = text_width(&tick.label) / 2.0;
            if x - half > free_from {
                text(markup, (x, bottom + 17.0), Anchor::Middle, "tick", &tick.label);
                free_from = x + half + 6.0;
            }
        }
        centred_text(markup, (middle, bottom + 38.0), self.width, "axis", &axis.title);
    }

    /// The bar with its interval.
    pub(crate) fn draw_bar(
        &self,
        markup: &mut Markup,
        (value, error): (Option<f64>, Option<f64>),
        (y, height): (f64, f64),
        fill: &str,
        hover: &str,
    ) {
        let Some(value) = finite(value) else { return };
        let (zero, end) = (self.x(0.0), self.x(value));
        markup.element("g", &[], |markup| {
            markup.leaf("title", &[], hover);
            let place: crate::markup::Attributes<'_> = &[
                ("x", &Px(zero.min(end))),
                ("y", &Px(y)),
                // A value of 0 is a hair, not nothing.
                ("width", &Px((end - zero).abs().max(1.0))),
                ("height", &Px(height)),
                ("class", &fill),
            ];
            markup.empty("rect", place);
        });
        if let Some(error) = finite(error) {
            let middle = y + height / 2.0;
            whisker(markup, (self.x(value - error), middle), (self.x(value + error), middle));
        }
    }

    /// What is printed at the end of the bar whose middle is at `y`.
    pub(crate) fn draw_value(
        &self,
        markup: &mut Markup,
        (value, error): (Option<f64>, Option<f64>),
        y: f64,
        printed: &str,
    ) {
        let (value, error) = (finite(value).unwrap_or(0.0), finite(error).unwrap_or(0.0));
        let (x, anchor) = if value < 0.0 {
            (self.x(value - error) - 6.0, Anchor::End)
        } else {
            (self.x(value + error) + 6.0, Anchor::Start)
        };
        text(markup, (x, y + 4.5), anchor, "value halo", printed);
    }

    fn draw_reference(
        &self,
        markup: &mut Markup,
        reference: &Reference,
        (top, bottom): (f64, f64),
    ) {
        let fraction = self.scale.fraction(reference.value);
        if !(0.0..=1.0).contains(&fraction) {
            return;
        }
        let x = self.x(reference.value);
        line(markup, (x, top + 14.0), (x, bottom), "reference");
        centred_text(markup, (x, top + 8.0), self.width, "tick", &reference.label);
    }

    fn x(&self, value: f64) -> f64 {
        self.left + self.scale.fraction(value) * (self.right - self.left)
    }
}

/// The widest area between `from` and `to` that leaves room for what is printed at the ends of bars: for each
/// whether it stands to the left, where the bar ends (0 to 1) and how wide it is.
fn fit_beside_texts(from: f64, to: f64, texts: &[(bool, f64, f64)]) -> (f64, f64) {
    /// Half a tick's name stands out on either side.
    const EDGE: f64 = 24.0;
    let to_left = || texts.iter().filter(|text| text.0);
    let to_right = || texts.iter().filter(|text| !text.0);
    let left = to_left().map(|text| from + text.2).fold(from + EDGE, f64::max);
    let right = to_right()
        .filter(|text| text.1 > 0.0)
        .map(|&(_, end, width)| left + (to - width - left) / end)
        .fold(to - EDGE, f64::min);
    // With the right edge known, bars that end far from the left edge give room back to the left one.
    let left = to_left()
        .filter(|text| text.1 < 1.0)
        .map(|&(_, end, width)| (from + width - end * right) / (1.0 - end))
        .fold(from + EDGE, f64::max);
    (left, right.max(left + 20.0))
}

impl Reference {
    /// A value with its name.
    pub fn new(value: f64, label: impl Into<String>) -> Self {
        Self { value, label: label.into() }
    }
}
