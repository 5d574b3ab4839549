//! What drawings share: the frame, text of known size, patterns.

use crate::markup::{Markup, Px};

/// Where a chart is drawn.
pub(crate) struct Canvas<'a> {
    pub(crate) screen: Screen,
    /// Ids of the elements that say what the drawing shows.
    pub(crate) labelled_by: &'a str,
}

/// The two sizes of every drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Screen {
    /// A phone.
    Narrow,
    /// A desk, or paper.
    Wide,
}

/// Where text is anchored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Height of letters in a drawing, as the style sheet sets it.
pub(crate) const FONT_SIZE: f64 = 13.0;

/// Series after the last colour begin again at the first.
pub(crate) const N_COLOURS: usize = 6;
/// Fills by pattern: solid, two hatches and dots, so that grey paper tells them apart.
pub(crate) const N_FILLS: usize = 4;

impl Canvas<'_> {
    pub(crate) fn is_narrow(&self) -> bool {
        self.screen == Screen::Narrow
    }

    /// The width that drawings are laid out for.
    pub(crate) fn width(&self) -> f64 {
        match self.screen {
            Screen::Narrow => 340.0,
            Screen::Wide => 760.0,
        }
    }

    /// The frame of a drawing. One that is wider than the canvas scrolls in its box.
    pub(crate) fn frame(
        &self,
        markup: &mut Markup,
        (width, height): (f64, f64),
        content: impl FnOnce(&mut Markup),
    ) {
        let class = match self.screen {
            Screen::Narrow => "plot narrow",
            Screen::Wide => "plot wide",
        };
        let view_box = format!("0 0 {} {}", Px(width), Px(height));
        let style = if width > self.width() {
            format!("width:{}px;max-width:none", Px(width))
        } else {
            String::new()
        };
        markup.element("div", &[("class", &class)], |markup| {
            let attributes: crate::markup::Attributes<'_> = &[
                ("viewBox", &view_box),
                ("role", &"img"),
                ("aria-labelledby", &self.labelled_by),
                ("style", &style),
            ];
            let shown = if style.is_empty() { &attributes[..3] } else { attributes };
            markup.element("svg", shown, content);
        });
    }

    /// A drawing of nothing.
    pub(crate) fn empty_frame(&self, markup: &mut Markup) {
        let width = self.width();
        self.frame(markup, (width, 60.0), |markup| {
            text(markup, (width / 2.0, 34.0), Anchor::Middle, "muted", "No figures to draw");
        });
    }
}

/// Text at a baseline.
pub(crate) fn text(
    markup: &mut Markup,
    (x, y): (f64, f64),
    anchor: Anchor,
    class: &'static str,
    content: &str,
) {
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    markup.leaf(
        "text",
        &[("x", &Px(x)), ("y", &Px(y)), ("text-anchor", &anchor), ("class", &class)],
        content,
    );
}

/// A name in at most `width`, cut with an ellipsis where it is longer; the whole is then shown on hover.
pub(crate) fn fitted_text(
    markup: &mut Markup,
    at: (f64, f64),
    anchor: Anchor,
    width: f64,
    name: &str,
) {
    let short = fit(name, width);
    if short == name {
        return text(markup, at, anchor, "name halo", name);
    }
    markup.element("g", &[], |markup| {
        markup.leaf("title", &[], name);
        text(markup, at, anchor, "name halo", &short);
    });
}

pub(crate) fn line(
    markup: &mut Markup,
    (x1, y1): (f64, f64),
    (x2, y2): (f64, f64),
    class: &'static str,
) {
    markup.empty(
        "line",
        &[("x1", &Px(x1)), ("y1", &Px(y1)), ("x2", &Px(x2)), ("y2", &Px(y2)), ("class", &class)],
    );
}

/// An interval with caps, along x or along y, edged so that it stands out from what it crosses.
pub(crate) fn whisker(markup: &mut Markup, from: (f64, f64), to: (f64, f64)) {
    let cap = if from.1 == to.1 { (0.0, 4.0) } else { (4.0, 0.0) };
    for class in ["whisker-edge", "whisker"] {
        line(markup, from, to, class);
        for (x, y) in [from, to] {
            line(markup, (x - cap.0, y - cap.1), (x + cap.0, y + cap.1), class);
        }
    }
}

/// How wide text is, about: no font is at hand here, so letters count by their usual widths.
pub(crate) fn text_width(text: &str) -> f64 {
    FONT_SIZE * text.chars().map(letter_width).sum::<f64>()
}

/// In heights of letters, as the wider of the usual fonts have it: too much room is better than a cut name.
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

/// Cut in the middle: names of one kind often differ only at their ends.
pub(crate) fn fit(name: &str, width: f64) -> String {
    if text_width(name) <= width {
        return name.to_owned();
    }
    let letters: Vec<char> = name.chars().collect();
    let mut room = width - text_width("…");
    let (mut head, mut tail) = (0, letters.len());
    while head < tail {
        // Two letters of the head for one of the tail.
        let from_head = head <= 2 * (letters.len() - tail);
        room -= FONT_SIZE * letter_width(letters[if from_head { head } else { tail - 1 }]);
        if room < 0.0 {
            break;
        }
        if from_head { head += 1 } else { tail -= 1 }
    }
    letters[..head].iter().chain(&['…']).chain(&letters[tail..]).collect()
}

/// Text centred at x, moved or cut where it would leave the drawing.
pub(crate) fn centred_text(
    markup: &mut Markup,
    (x, y): (f64, f64),
    width: f64,
    class: &'static str,
    content: &str,
) {
    // Axis titles are bold, hence a little wider than what is measured.
    let shown = fit(content, 0.88 * width);
    let half = (0.55 * text_width(&shown)).min(width / 2.0);
    text(markup, (x.clamp(half, width - half), y), Anchor::Middle, class, &shown);
}

/// The patterns that fills refer to, once per page.
pub(crate) fn write_patterns(markup: &mut Markup) {
    let svg: crate::markup::Attributes<'_> =
        &[("class", &"patterns"), ("width", &"0"), ("height", &"0"), ("aria-hidden", &"true")];
    markup.element("svg", svg, |markup| {
        markup.element("defs", &[], |markup| {
            for colour in 0..N_COLOURS {
                write_pattern(markup, "hatch", colour, "M-2 2L2 -2M0 8L8 0M6 10L10 6");
                write_pattern(markup, "back", colour, "M-2 6L2 10M0 0L8 8M6 -2L10 2");
                write_pattern(markup, "dots", colour, "M2 2h0M6 6h0");
            }
        });
    });
}

fn write_pattern(markup: &mut Markup, name: &str, colour: usize, path: &'static str) {
    let id = format!("{name}-{colour}");
    let ground = format!("ground c{colour}");
    let strokes = format!("{name} k{colour}");
    let pattern: crate::markup::Attributes<'_> =
        &[("id", &id), ("width", &"8"), ("height", &"8"), ("patternUnits", &"userSpaceOnUse")];
    markup.element("pattern", pattern, |markup| {
        markup.empty("rect", &[("width", &"8"), ("height", &"8"), ("class", &ground)]);
        markup.empty("path", &[("d", &path), ("class", &strokes)]);
    });
}

/// The class of a bar's fill: colour by number, pattern by `fill`.
pub(crate) fn fill_class(colour: usize, fill: usize) -> String {
    let colour = colour % N_COLOURS;
    match fill % N_FILLS {
        0 => format!("bar c{colour} k{colour}"),
        1 => format!("bar hatch{colour} k{colour}"),
        2 => format!("bar dots{colour} k{colour}"),
        _ => format!("bar back{colour} k{colour}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_to_its_room() {
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
