//! The frame, text and shapes that all drawings use.

use super::scale::Scale;
use crate::markup::{Attributes, Markup, Px};

/// Where a chart is drawn: on a narrow or on a wide screen.
pub(super) struct Canvas<'a> {
    pub(super) narrow: bool,
    /// Ids of the elements that describe the drawing.
    pub(super) labelled_by: &'a str,
}

/// A point, or a width and a height.
pub(super) type Xy = (f64, f64);

/// Which point of a text is at its coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// As in the style sheet.
pub(crate) const FONT_SIZE: f64 = 13.0;

/// Series beyond the last colour start again at the first.
pub(super) const N_COLOURS: usize = 6;

impl Canvas<'_> {
    pub(super) fn width(&self) -> f64 {
        if self.narrow { 340.0 } else { 760.0 }
    }

    /// Writes a drawing. If it is wider than the canvas, it scrolls.
    pub(super) fn frame(&self, markup: &mut Markup, size: Xy, content: impl FnOnce(&mut Markup)) {
        let (width, height) = size;
        let class = if self.narrow { "plot narrow" } else { "plot wide" };
        let view_box = format!("0 0 {} {}", Px(width), Px(height));
        let style = format!("width:{}px;max-width:none", Px(width));
        let attributes: Attributes<'_> = &[
            ("viewBox", &view_box),
            ("role", &"img"),
            ("aria-labelledby", &self.labelled_by),
            ("style", &style),
        ];
        let n_attributes = if width > self.width() { 4 } else { 3 };
        markup.element("div", &[("class", &class)], |markup| {
            markup.element("svg", &attributes[..n_attributes], content);
        });
    }

    /// Writes a drawing that says there is nothing to draw.
    pub(super) fn empty_frame(&self, markup: &mut Markup) {
        let width = self.width();
        self.frame(markup, (width, 60.0), |markup| {
            text(markup, (width / 2.0, 34.0), Anchor::Middle, "muted", "No data to draw");
        });
    }
}

/// Writes text on a baseline.
pub(super) fn text(markup: &mut Markup, (x, y): Xy, anchor: Anchor, class: &str, content: &str) {
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let attributes: Attributes<'_> =
        &[("x", &Px(x)), ("y", &Px(y)), ("text-anchor", &anchor), ("class", &class)];
    markup.leaf("text", attributes, content);
}

/// Writes a name, shortened to `width` if necessary; the tooltip then has all of it.
pub(super) fn fitted_text(markup: &mut Markup, at: Xy, anchor: Anchor, width: f64, name: &str) {
    let short = fit(name, width);
    if short == name {
        return text(markup, at, anchor, "name halo", name);
    }
    tooltip(markup, name, |markup| text(markup, at, anchor, "name halo", &short));
}

/// Writes text centred at x, moved or shortened to stay within the drawing.
pub(super) fn centred_text(markup: &mut Markup, at: Xy, width: f64, class: &str, content: &str) {
    // Axis titles are bold, so they are a little wider than estimated.
    let shown = fit(content, 0.88 * width);
    let half = (0.55 * text_width(&shown)).min(width / 2.0);
    text(markup, (at.0.clamp(half, width - half), at.1), Anchor::Middle, class, &shown);
}

/// Labels the ticks of an x axis, except those that would touch the label before.
pub(super) fn tick_labels(markup: &mut Markup, scale: &Scale, at_x: impl Fn(f64) -> f64, y: f64) {
    let mut free_from = f64::MIN;
    for tick in &scale.ticks {
        let (x, half) = (at_x(tick.value), text_width(&tick.label) / 2.0);
        if x - half > free_from {
            text(markup, (x, y), Anchor::Middle, "tick", &tick.label);
            free_from = x + half + 6.0;
        }
    }
}

/// Writes a group that shows `tip` on hover.
pub(super) fn tooltip(markup: &mut Markup, tip: &str, content: impl FnOnce(&mut Markup)) {
    markup.element("g", &[], |markup| {
        markup.leaf("title", &[], tip);
        content(markup);
    });
}

pub(super) fn line(markup: &mut Markup, (x1, y1): Xy, (x2, y2): Xy, class: &str) {
    markup.empty(
        "line",
        &[("x1", &Px(x1)), ("y1", &Px(y1)), ("x2", &Px(x2)), ("y2", &Px(y2)), ("class", &class)],
    );
}

pub(super) fn rect(markup: &mut Markup, (x, y): Xy, (width, height): Xy, style: Attributes<'_>) {
    let geometry: Attributes<'_> =
        &[("x", &Px(x)), ("y", &Px(y)), ("width", &Px(width)), ("height", &Px(height))];
    markup.empty("rect", &[geometry, style].concat());
}

/// Writes a horizontal or vertical interval with caps, outlined to stand out from what it crosses.
pub(super) fn whisker(markup: &mut Markup, from: Xy, to: Xy) {
    let cap = if from.1 == to.1 { (0.0, 4.0) } else { (4.0, 0.0) };
    for class in ["whisker-edge", "whisker"] {
        line(markup, from, to, class);
        for (x, y) in [from, to] {
            line(markup, (x - cap.0, y - cap.1), (x + cap.0, y + cap.1), class);
        }
    }
}

/// Estimates the width of a text from typical widths of letters, since the font is not known here.
pub(crate) fn text_width(text: &str) -> f64 {
    FONT_SIZE * text.chars().map(letter_width).sum::<f64>()
}

/// The width of the widest text, 0 if there is none.
pub(super) fn widest<'a>(texts: impl Iterator<Item = &'a str>) -> f64 {
    texts.map(text_width).fold(0.0, f64::max)
}

/// In multiples of the font size, for the wider of the usual fonts: spare room is better than a cut name.
fn letter_width(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' | ' ' | '\u{a0}' => 0.33,
        'f' | 'r' | 't' | '(' | ')' | '-' => 0.41,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '—' | '…' => 0.98,
        'A'..='Z' => 0.73,
        '±' | '=' | '\u{2212}' | '+' => 0.84,
        '\u{202f}' => 0.2,
        c if (c as u32) < 0x1100 => 0.63,
        _ => 1.05,
    }
}

/// Shortens a name in the middle, because similar names often differ only at their ends.
pub(super) fn fit(name: &str, width: f64) -> String {
    if text_width(name) <= width {
        return name.to_owned();
    }
    let letters: Vec<char> = name.chars().collect();
    let mut room = width - text_width("…");
    let (mut head, mut tail) = (0, letters.len());
    while head < tail {
        // Keep two letters of the head for each letter of the tail.
        let from_head = head <= 2 * (letters.len() - tail);
        room -= FONT_SIZE * letter_width(letters[if from_head { head } else { tail - 1 }]);
        if room < 0.0 {
            break;
        }
        if from_head { head += 1 } else { tail -= 1 }
    }
    letters[..head].iter().chain(&['…']).chain(&letters[tail..]).collect()
}

/// Writes the patterns that fills refer to, once per page.
pub(crate) fn write_patterns(markup: &mut Markup) {
    const PATTERNS: [(&str, &str); 3] = [
        ("hatch", "M-2 2L2 -2M0 8L8 0M6 10L10 6"),
        ("back", "M-2 6L2 10M0 0L8 8M6 -2L10 2"),
        ("dots", "M2 2h0M6 6h0"),
    ];
    let svg: Attributes<'_> =
        &[("class", &"patterns"), ("width", &"0"), ("height", &"0"), ("aria-hidden", &"true")];
    markup.element("svg", svg, |markup| {
        for (colour, (name, path)) in (0..N_COLOURS).flat_map(|i| PATTERNS.map(|p| (i, p))) {
            let id = format!("{name}-{colour}");
            let size: Attributes<'_> = &[("width", &"8"), ("height", &"8")];
            let units: Attributes<'_> = &[("id", &id), ("patternUnits", &"userSpaceOnUse")];
            markup.element("pattern", &[units, size].concat(), |markup| {
                let background: Attributes<'_> = &[("class", &format!("ground c{colour}"))];
                markup.empty("rect", &[size, background].concat());
                markup.empty("path", &[("d", &path), ("class", &format!("{name} k{colour}"))]);
            });
        }
    });
}

/// The class of a fill: solid, two hatchings or dots, which also differ in greyscale.
pub(super) fn fill_class(colour: usize, fill: usize) -> String {
    let colour = colour % N_COLOURS;
    let pattern = ["c", "hatch", "dots", "back"][fill % 4];
    format!("bar {pattern}{colour} k{colour}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortens_long_names_to_the_given_width() {
        assert_eq!(fit("client", 200.0), "client");
        let short = fit("a-client-with-a-very-long-name-indeed", 100.0);
        assert!(text_width(&short) <= 100.0, "{short}");
        assert!(
            short.starts_with("a-cl") && short.contains('…') && short.ends_with("eed"),
            "{short}"
        );
        assert_eq!(fit("abc", 0.0), "…");
    }
}
