//! Horizontal bar charts, with one or several bars per item.

use equipoise_core::Estimate;

use super::Axis;
use super::bar_rows::{BarRow, DrawnBar, draw_rows};
use super::canvas::{Canvas, fill_class};
use crate::markup::Markup;

/// A chart with one bar per item.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bars {
    /// What the bars measure.
    pub axis: Axis,
    /// The bars, from top to bottom.
    pub bars: Vec<Bar>,
    /// A value to compare with, drawn as a dashed line.
    pub reference: Option<Reference>,
}

/// A bar.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bar {
    /// The name of the item.
    pub label: String,
    /// Its value. A missing value is shown as a dash.
    pub value: Option<f64>,
    /// A short remark, such as "unreliable". It is printed, and the bar is hatched.
    pub tag: Option<String>,
}

/// A value to compare bars with.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// The value.
    pub value: f64,
    /// Its name.
    pub label: String,
}

/// A chart with the same few bars for each item.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GroupedBars {
    /// What the bars measure.
    pub axis: Axis,
    /// Names of the bars in each group, from top to bottom.
    pub series: Vec<String>,
    /// The name of each group and its values, in the order of the series.
    pub groups: Vec<(String, Vec<Quantity>)>,
    /// A value to compare with, drawn as a dashed line.
    pub reference: Option<Reference>,
}

/// A value with an interval.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Quantity {
    /// The value. A missing value is shown as a dash.
    pub value: Option<f64>,
    /// The lower and upper end of the interval, which need not be symmetric.
    pub interval: Option<[f64; 2]>,
}

impl Bar {
    /// A bar without a tag.
    pub fn new(label: impl Into<String>, value: impl Into<Option<f64>>) -> Self {
        Self { label: label.into(), value: value.into(), tag: None }
    }
}

impl Reference {
    /// A value and its name.
    pub fn new(value: f64, label: impl Into<String>) -> Self {
        Self { value, label: label.into() }
    }
}

impl Quantity {
    /// A value without an interval.
    pub fn new(value: impl Into<Option<f64>>) -> Self {
        Self { value: value.into(), interval: None }
    }

    /// A figure with its interval, if it was measured.
    pub fn estimate(estimate: Option<Estimate>) -> Self {
        Self { value: estimate.map(|e| e.value), interval: estimate.map(|e| [e.low, e.high]) }
    }
}

impl Bars {
    pub(super) fn draw(&self, markup: &mut Markup, canvas: &Canvas<'_>) {
        let row = |bar: &Bar| {
            let value = self.axis.format.write(bar.value);
            let tagged = |text: &str| match &bar.tag {
                Some(tag) => format!("{text} · {}", shorten_tag(tag)),
                None => text.to_owned(),
            };
            let drawn = DrawnBar {
                quantity: Quantity::new(bar.value),
                tooltip: format!("{}: {}", bar.label, tagged(&value)),
                // A narrow screen has room for the tag only beside the name.
                text: if canvas.narrow { value } else { tagged(&value) },
                fill: fill_class(0, usize::from(bar.tag.is_some())),
            };
            let name = if canvas.narrow { tagged(&bar.label) } else { bar.label.clone() };
            BarRow { name, bars: vec![drawn] }
        };
        let rows: Vec<BarRow> = self.bars.iter().map(row).collect();
        draw_rows(markup, canvas, &self.axis, &rows, self.reference.as_ref());
    }
}

impl GroupedBars {
    pub(super) fn draw(&self, markup: &mut Markup, canvas: &Canvas<'_>) {
        let row = |(name, quantities): &(String, Vec<Quantity>)| {
            let bars = quantities.iter().enumerate().map(|(i, &quantity)| {
                let text = self.axis.format.write(quantity.value);
                let precise = self.axis.format.write_interval(quantity.value, quantity.interval);
                let series = self.series.get(i).map_or("", String::as_str);
                let tooltip = format!("{name}, {series}: {precise}");
                DrawnBar { quantity, text, tooltip, fill: fill_class(i, i) }
            });
            BarRow { name: name.clone(), bars: bars.collect() }
        };
        let rows: Vec<BarRow> = self.groups.iter().map(row).collect();
        draw_rows(markup, canvas, &self.axis, &rows, self.reference.as_ref());
    }
}

/// Shortens a tag that would leave too little room for the bars.
fn shorten_tag(tag: &str) -> String {
    const MAX_CHARS: usize = 24;
    if tag.chars().count() <= MAX_CHARS {
        return tag.to_owned();
    }
    tag.chars().take(MAX_CHARS - 1).chain(['…']).collect()
}
