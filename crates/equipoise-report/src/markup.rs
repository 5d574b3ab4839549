//! Writes HTML: escapes every text and attribute value, and closes every element it opens.

use std::fmt::Display;

/// Names and values of an element's attributes. Values are escaped.
pub type Attributes<'a> = &'a [(&'a str, &'a dyn Display)];

/// HTML under construction.
#[derive(Debug, Default)]
pub struct Markup {
    html: String,
}

impl Markup {
    /// Writes an element around what `content` writes.
    pub fn element(
        &mut self,
        tag: &'static str,
        attributes: Attributes<'_>,
        content: impl FnOnce(&mut Self),
    ) {
        self.open(tag, attributes);
        self.html.push('>');
        content(self);
        self.html += &format!("</{tag}>");
    }

    /// Writes an element that contains only text.
    pub fn leaf(&mut self, tag: &'static str, attributes: Attributes<'_>, text: &str) {
        self.element(tag, attributes, |markup| markup.text(text));
    }

    /// Writes an element without content, such as `meta` or an SVG shape.
    pub fn empty(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.open(tag, attributes);
        self.html.push_str("/>");
    }

    /// Writes escaped text.
    pub fn text(&mut self, text: &str) {
        escape_into(&mut self.html, text);
    }

    /// Writes escaped text in which names between backticks are set as code. A single backtick stays as it is.
    pub fn text_with_names(&mut self, text: &str) {
        let mut rest = text;
        while let Some((before, name, after)) = next_name(rest) {
            self.text(before);
            self.leaf("code", &[], name);
            rest = after;
        }
        self.text(rest);
    }

    /// Writes a constant without escaping it, such as the document type or the style sheet.
    pub fn verbatim(&mut self, html: &'static str) {
        self.html.push_str(html);
    }

    /// Breaks the line, to keep the source readable.
    pub fn newline(&mut self) {
        self.html.push('\n');
    }

    /// The finished HTML.
    pub fn into_html(self) -> String {
        self.html
    }

    fn open(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.html += &format!("<{tag}");
        for (name, value) in attributes {
            self.html += &format!(" {name}=\"");
            escape_into(&mut self.html, &value.to_string());
            self.html.push('"');
        }
    }
}

/// A coordinate, rounded to a tenth of a pixel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Px(pub(crate) f64);

impl Display for Px {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Adding 0 turns -0 into 0.
        write!(f, "{}", (self.0 * 10.0).round() / 10.0 + 0.0)
    }
}

/// The text before the first name in backticks, the name, and the text after it.
fn next_name(text: &str) -> Option<(&str, &str, &str)> {
    let (before, from_name) = text.split_once('`')?;
    let (name, after) = from_name.split_once('`')?;
    Some((before, name, after))
}

fn escape_into(html: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            '\n' | '\t' => html.push(character),
            c if c.is_control() || reorders_text(c) => html.push('\u{fffd}'),
            c => html.push(c),
        }
    }
}

/// Bidirectional control characters: a client's name could use them to rearrange the figures beside it.
fn reorders_text(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_text_and_attributes() {
        let mut markup = Markup::default();
        markup.leaf("b", &[("title", &"\"><i>")], "<script>'&'");
        assert_eq!(
            markup.into_html(),
            "<b title=\"&quot;&gt;&lt;i&gt;\">&lt;script&gt;&#39;&amp;&#39;</b>"
        );
    }

    #[test]
    fn names_in_backticks_become_code() {
        let html = |text: &str| {
            let mut markup = Markup::default();
            markup.text_with_names(text);
            markup.into_html()
        };
        assert_eq!(html("clients `a<b` and `c`"), "clients <code>a&lt;b</code> and <code>c</code>");
        assert_eq!(html("none"), "none");
        assert_eq!(html("`a` and one ` more"), "<code>a</code> and one ` more");
    }

    #[test]
    fn replaces_control_and_bidirectional_characters() {
        let mut markup = Markup::default();
        markup.text("a\u{0}b\u{202e}c\u{1b}");
        assert_eq!(markup.into_html(), "a\u{fffd}b\u{fffd}c\u{fffd}");
    }

    #[test]
    fn coordinates_have_at_most_one_decimal_and_no_negative_zero() {
        let texts = [12.0, 12.34, -0.01, -3.25].map(|x| Px(x).to_string());
        assert_eq!(texts, ["12", "12.3", "0", "-3.3"]);
    }
}
