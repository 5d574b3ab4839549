//! Legends and the marks they explain.

use super::canvas::{N_COLOURS, fill_class, rect};
use crate::markup::{Attributes, Markup, Px};

/// The sample of a series in a legend, by the index of the series.
#[derive(Debug, Clone, Copy)]
pub(super) enum Swatch {
    Fill(usize),
    Mark(usize),
}

/// Writes a legend.
pub(super) fn write_legend<'a>(
    markup: &mut Markup,
    swatch: fn(usize) -> Swatch,
    names: impl Iterator<Item = &'a String>,
) {
    markup.element("ul", &[("class", &"legend")], |markup| {
        for (i, name) in names.enumerate() {
            markup.element("li", &[], |markup| {
                swatch(i).write(markup);
                markup.leaf("span", &[], name);
            });
        }
    });
}

impl Swatch {
    fn write(self, markup: &mut Markup) {
        let svg: Attributes<'_> =
            &[("viewBox", &"0 0 28 14"), ("class", &"swatch"), ("aria-hidden", &"true")];
        markup.element("svg", svg, |markup| match self {
            Self::Fill(i) => {
                rect(markup, (1.0, 1.0), (26.0, 12.0), &[("class", &fill_class(i, i))]);
            }
            Self::Mark(i) => write_mark(markup, i, (14.0, 7.0)),
        });
    }
}

/// A point, with the shape and colour of its series.
pub(super) fn write_mark(markup: &mut Markup, series: usize, (x, y): (f64, f64)) {
    let class = format!("mark c{0} k{0}", series % N_COLOURS);
    let shape = match series % 5 {
        0 => "m-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z",
        1 => "m-4.5 -4.5h9v9h-9z",
        2 => "m0 -6l5.5 10h-11z",
        3 => "m0 -6.5l6 6.5l-6 6.5l-6 -6.5z",
        _ => "m0 6l5.5 -10h-11z",
    };
    markup.empty("path", &[("d", &format!("M{} {}{shape}", Px(x), Px(y))), ("class", &class)]);
}
