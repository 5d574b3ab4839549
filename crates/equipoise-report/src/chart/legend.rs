//! Legends: what each fill, line or mark stands for.

use super::canvas::{N_COLOURS, fill_class};
use crate::markup::{Markup, Px};

/// How an entry is drawn in the chart.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Swatch {
    Fill(usize),
    Line(usize),
    Mark(usize),
}

/// A list of names with their swatches. With `narrow_only` the wide drawing names its series itself.
pub(crate) fn write_legend<'a>(
    markup: &mut Markup,
    entries: impl Iterator<Item = (Swatch, &'a str)>,
    narrow_only: bool,
) {
    let class = if narrow_only { "legend narrow" } else { "legend" };
    markup.element("ul", &[("class", &class)], |markup| {
        for (swatch, name) in entries {
            markup.element("li", &[], |markup| {
                swatch.write(markup);
                markup.leaf("span", &[], name);
            });
        }
    });
}

impl Swatch {
    fn write(self, markup: &mut Markup) {
        let svg: crate::markup::Attributes<'_> =
            &[("viewBox", &"0 0 28 14"), ("class", &"swatch"), ("aria-hidden", &"true")];
        markup.element("svg", svg, |markup| match self {
            Self::Fill(i) => {
                let class = fill_class(i, i);
                let size: crate::markup::Attributes<'_> = &[
                    ("x", &"1"),
                    ("y", &"1"),
                    ("width", &"26"),
                    ("height", &"12"),
                    ("class", &class),
                ];
                markup.empty("rect", size);
            }
            Self::Line(i) => {
                markup.empty("path", &[("d", &"M0 7H28"), ("class", &line_class(i))]);
            }
            Self::Mark(i) => write_mark(markup, i, (14.0, 7.0)),
        });
    }
}

/// Colour by number, dashes by number.
pub(crate) fn line_class(series: usize) -> String {
    format!("line k{} dash{}", series % N_COLOURS, series % 4)
}

/// Shape and colour of a series' points.
pub(crate) fn write_mark(markup: &mut Markup, series: usize, (x, y): (f64, f64)) {
    let class = format!("mark c{0} k{0}", series % N_COLOURS);
    let path = match series % 5 {
        0 => {
            return markup.empty(
                "circle",
                &[("cx", &Px(x)), ("cy", &Px(y)), ("r", &"5"), ("class", &class)],
            );
        }
        1 => "m-4.5 -4.5h9v9h-9z",
        2 => "m0 -6l5.5 10h-11z",
        3 => "m0 -6.5l6 6.5l-6 6.5l-6 -6.5z",
        _ => "m0 6l5.5 -10h-11z",
    };
    markup.empty("path", &[("d", &format!("M{} {}{path}", Px(x), Px(y))), ("class", &class)]);
}
