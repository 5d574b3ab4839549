//! What all pages have around their content.

use equipoise_report::Markup;

use super::view::RoundView;

/// Head, heading and foot of a page.
pub(super) struct Frame<'a> {
    pub(super) title: &'a str,
    pub(super) subtitle: &'a str,
    /// Where the reader may have come from: address and name.
    pub(super) way: &'a [(String, String)],
    /// The round that the page is kept up to date with.
    pub(super) live: Option<&'a RoundView>,
}

impl Frame<'_> {
    /// The page with what `content` writes.
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
                let made_by = concat!(
                    "Served by equipoise ",
                    env!("CARGO_PKG_VERSION"),
                    ". This page loads nothing from elsewhere."
                );
                markup.leaf("footer", &[], made_by);
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
        // An icon of its own, or a browser would ask for one.
        markup.empty("link", &[("rel", &"icon"), ("href", &"data:,")]);
        markup.empty("link", &[("rel", &"stylesheet"), ("href", &"/assets/page.css")]);
        markup.leaf("title", &[], &format!("{} · Equipoise", self.title));
        if self.live.is_some() {
            let script: equipoise_report::Attributes<'_> =
                &[("src", &"/assets/round.js"), ("defer", &"")];
            markup.leaf("script", script, "");
        }
    }

    fn write_header(&self, markup: &mut Markup) {
        if !self.way.is_empty() {
            markup.element("p", &[("class", &"way")], |markup| {
                for (address, name) in self.way {
                    markup.leaf("a", &[("href", address)], name);
                    markup.text(" / ");
                }
            });
        }
        markup.leaf("h1", &[], self.title);
        if !self.subtitle.is_empty() {
            markup.leaf("p", &[("class", &"subtitle")], self.subtitle);
        }
        if self.live.is_some_and(|view| !view.info.state.is_final()) {
            let sign: equipoise_report::Attributes<'_> =
                &[("id", &"live"), ("class", &"live"), ("role", &"status"), ("hidden", &"")];
            markup.leaf("p", sign, "");
            markup.element("noscript", &[], |markup| {
                markup.element("p", &[("class", &"live")], |markup| {
                    markup.leaf("a", &[("href", &"")], "Reload");
                    markup.text(" to see what has changed.");
                });
            });
        }
    }

    fn write_main(&self, markup: &mut Markup, content: impl FnOnce(&mut Markup)) {
        match self.live {
            None => markup.element("main", &[], content),
            Some(view) => {
                let events = format!("/v1/rounds/{}/events", view.info.round);
                let over = if view.info.state.is_final() { "yes" } else { "no" };
                let version = view.version();
                let attributes: equipoise_report::Attributes<'_> =
                    &[("data-events", &events), ("data-version", &version), ("data-over", &over)];
                markup.element("main", attributes, content);
            }
        }
    }
}

/// A part of a page.
pub(super) fn section(markup: &mut Markup, heading: &str, content: impl FnOnce(&mut Markup)) {
    markup.newline();
    markup.element("section", &[], |markup| {
        markup.leaf("h2", &[], heading);
        content(markup);
    });
}

/// A notice that the reader must not miss.
pub(super) fn warning(markup: &mut Markup, word: &str, text: &str) {
    markup.element("p", &[("class", &"notice warning"), ("role", &"note")], |markup| {
        markup.leaf("strong", &[], word);
        markup.text(" ");
        markup.text(text);
    });
}

/// A big number with its name and what to know about it.
pub(super) fn figure(markup: &mut Markup, label: &str, value: &str, note: &str) {
    markup.element("div", &[], |markup| {
        markup.leaf("dt", &[], label);
        markup.leaf("dd", &[("class", &"value")], value);
        markup.leaf("dd", &[("class", &"note")], note);
    });
}

/// Text of a machine, its spaces kept.
pub(super) fn code(markup: &mut Markup, text: &str) {
    markup.element("pre", &[("tabindex", &"0")], |markup| markup.leaf("code", &[], text));
}

/// A table in a box that scrolls by itself.
pub(super) fn table(
    markup: &mut Markup,
    caption: &str,
    columns: &[&str],
    rows: impl FnOnce(&mut Markup),
) {
    let scroll: equipoise_report::Attributes<'_> =
        &[("class", &"scroll"), ("tabindex", &"0"), ("role", &"region"), ("aria-label", &caption)];
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
