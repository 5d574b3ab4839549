//! The frame of a page and its building blocks.

use equipoise_report::{Attributes, Markup, write_value};

use super::view::RoundView;

/// Head, header and footer of a page.
pub(super) struct Frame<'a> {
    pub(super) title: &'a str,
    pub(super) subtitle: &'a str,
    /// Paths and names of the parent pages.
    pub(super) breadcrumbs: &'a [(String, String)],
    /// The round whose changes the page follows.
    pub(super) live: Option<&'a RoundView>,
}

impl Frame<'_> {
    pub(super) fn render(&self, content: impl FnOnce(&mut Markup)) -> String {
        let mut markup = Markup::default();
        markup.verbatim("<!DOCTYPE html>\n");
        markup.element("html", &[("lang", &"en")], |markup| {
            markup.element("head", &[], |markup| self.write_head(markup));
            markup.newline();
            markup.element("body", &[], |markup| {
                markup.element("header", &[], |markup| self.write_header(markup));
                markup.newline();
                markup.element("div", &[("class", &"columns")], |markup| {
                    self.write_main(markup, content);
                });
                markup.newline();
                let footer = concat!(
                    "Served by equipoise ",
                    env!("CARGO_PKG_VERSION"),
                    ". This page loads nothing from other sites."
                );
                markup.leaf("footer", &[], footer);
            });
        });
        markup.newline();
        markup.into_html()
    }

    fn write_head(&self, markup: &mut Markup) {
        markup.empty("meta", &[("charset", &"utf-8")]);
        let viewport = "width=device-width, initial-scale=1";
        markup.empty("meta", &[("name", &"viewport"), ("content", &viewport)]);
        markup.empty("meta", &[("name", &"color-scheme"), ("content", &"light dark")]);
        // An explicit icon keeps browsers from requesting /favicon.ico.
        markup.empty("link", &[("rel", &"icon"), ("href", &"data:,")]);
        markup.empty("link", &[("rel", &"stylesheet"), ("href", &"/assets/page.css")]);
        markup.leaf("title", &[], &format!("{} · Equipoise", self.title));
        if self.live.is_some() {
            markup.leaf("script", &[("src", &"/assets/round.js"), ("defer", &"")], "");
        }
    }

    fn write_header(&self, markup: &mut Markup) {
        if !self.breadcrumbs.is_empty() {
            markup.element("p", &[("class", &"breadcrumbs")], |markup| {
                for (i, (path, name)) in self.breadcrumbs.iter().enumerate() {
                    if i > 0 {
                        markup.text(" / ");
                    }
                    markup.leaf("a", &[("href", path)], name);
                }
            });
        }
        markup.leaf("h1", &[], self.title);
        if !self.subtitle.is_empty() {
            markup.leaf("p", &[("class", &"subtitle")], self.subtitle);
        }
        if self.live.is_some_and(|view| !view.info.state.is_final()) {
            let status: Attributes<'_> =
                &[("id", &"live"), ("class", &"live"), ("role", &"status"), ("hidden", &"")];
            markup.leaf("p", status, "");
            markup.element("noscript", &[], |markup| {
                markup.element("p", &[("class", &"live")], |markup| {
                    markup.leaf("a", &[("href", &"")], "Reload");
                    markup.text(" to see changes.");
                });
            });
        }
    }

    fn write_main(&self, markup: &mut Markup, content: impl FnOnce(&mut Markup)) {
        let Some(view) = self.live else { return markup.element("main", &[], content) };
        let events = format!("/v1/rounds/{}/events", view.info.round);
        let over = if view.info.state.is_final() { "yes" } else { "no" };
        let version = view.version();
        let attributes: Attributes<'_> =
            &[("data-events", &events), ("data-version", &version), ("data-over", &over)];
        markup.element("main", attributes, content);
    }
}

pub(super) fn section(markup: &mut Markup, heading: &str, content: impl FnOnce(&mut Markup)) {
    markup.newline();
    markup.element("section", &[], |markup| {
        markup.leaf("h2", &[], heading);
        content(markup);
    });
}

pub(super) fn warning(markup: &mut Markup, label: &str, text: &str) {
    markup.element("p", &[("class", &"notice warning"), ("role", &"note")], |markup| {
        markup.leaf("strong", &[], label);
        markup.text(" ");
        markup.text_with_names(text);
    });
}

pub(super) fn figure(markup: &mut Markup, label: &str, value: &str, note: &str) {
    markup.element("div", &[], |markup| {
        markup.leaf("dt", &[], label);
        markup.element("dd", &[("class", &"value")], |markup| write_value(markup, value));
        markup.leaf("dd", &[("class", &"note")], note);
    });
}

/// A command. Its lines break between words, and never within an option such as `--server-key`.
pub(super) fn code(markup: &mut Markup, text: &str) {
    let write = |markup: &mut Markup| {
        for (i, word) in text.split(' ').enumerate() {
            if i > 0 {
                markup.text(" ");
            }
            match word.starts_with("--") {
                true => markup.leaf("span", &[("class", &"option")], word),
                false => markup.text(word),
            }
        }
    };
    markup.element("pre", &[("tabindex", &"0")], |markup| markup.element("code", &[], write));
}

/// A form with a button. It carries the session's CSRF token.
pub(super) fn form(
    markup: &mut Markup,
    target: &str,
    csrf: &str,
    button: (&str, &str),
    rest: impl FnOnce(&mut Markup),
) {
    form_with(markup, target, csrf, |_| {}, button, rest);
}

/// A form with fields above its button.
pub(super) fn form_with(
    markup: &mut Markup,
    target: &str,
    csrf: &str,
    fields: impl FnOnce(&mut Markup),
    (button, class): (&str, &str),
    rest: impl FnOnce(&mut Markup),
) {
    markup.element("form", &[("method", &"post"), ("action", &target)], |markup| {
        markup.empty("input", &[("type", &"hidden"), ("name", &"csrf"), ("value", &csrf)]);
        fields(markup);
        markup.leaf("button", &[("type", &"submit"), ("class", &class)], button);
        rest(markup);
    });
}

/// A table. On a phone, each row becomes a list of names and values.
pub(super) fn table(
    markup: &mut Markup,
    caption: &str,
    columns: &[&str],
    rows: impl FnOnce(&mut Markup),
) {
    let scroll: Attributes<'_> = &[
        ("class", &"scroll stacked"),
        ("tabindex", &"0"),
        ("role", &"region"),
        ("aria-label", &caption),
    ];
    markup.element("div", scroll, |markup| {
        markup.element("table", &[], |markup| {
            markup.element("caption", &[], |markup| markup.leaf("span", &[], caption));
            markup.element("thead", &[], |markup| {
                markup.element("tr", &[], |markup| {
                    for column in columns {
                        markup.leaf("th", &[("scope", &"col"), ("class", &"left")], column);
                    }
                });
            });
            markup.element("tbody", &[], rows);
        });
    });
}

/// A table row with a header cell.
pub(super) fn row(
    markup: &mut Markup,
    header: impl FnOnce(&mut Markup),
    cells: impl FnOnce(&mut Markup),
) {
    markup.element("tr", &[], |markup| {
        markup.element("th", &[("scope", &"row"), ("class", &"left")], header);
        cells(markup);
    });
}

/// A cell of text in this column.
pub(super) fn cell(markup: &mut Markup, column: &str, content: impl FnOnce(&mut Markup)) {
    markup.element("td", &[("class", &"left"), ("data-label", &column)], content);
}

/// A cell with a text, or an empty one.
pub(super) fn text_cell(markup: &mut Markup, column: &str, text: &str) {
    cell(markup, column, |markup| markup.text(text));
}
