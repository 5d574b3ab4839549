//! The page: head, title, contents, sections.

use crate::block::Block;
use crate::chart::write_patterns;
use crate::markup::Markup;

/// A page. [`render`](Page::render) gives one HTML file that needs nothing else.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// What the page is about.
    pub title: String,
    /// A line below the title; may be empty.
    pub subtitle: String,
    /// What follows.
    pub sections: Vec<Section>,
}

/// A part of a page with a heading.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Its heading.
    pub heading: String,
    /// What it says, in one or two sentences; may be empty.
    pub lead: String,
    /// What it shows.
    pub blocks: Vec<Block>,
}

/// Below this many sections nobody needs a table of contents.
const SECTIONS_WORTH_CONTENTS: usize = 4;

/// Nothing may be fetched; only the style sheet inside the page counts.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
                      form-action 'none'";

impl Page {
    /// The page as HTML.
    pub fn render(&self) -> String {
        let mut markup = Markup::default();
        markup.verbatim("<!DOCTYPE html>\n");
        markup.element("html", &[("lang", &"en")], |markup| {
            markup.newline();
            markup.element("head", &[], |markup| self.write_head(markup));
            markup.newline();
            markup.element("body", &[], |markup| self.write_body(markup));
            markup.newline();
        });
        markup.newline();
        markup.into_html()
    }

    fn write_head(&self, markup: &mut Markup) {
        markup.newline();
        markup.empty("meta", &[("charset", &"utf-8")]);
        let viewport = "width=device-width, initial-scale=1";
        markup.empty("meta", &[("name", &"viewport"), ("content", &viewport)]);
        markup.empty("meta", &[("http-equiv", &"Content-Security-Policy"), ("content", &POLICY)]);
        markup.empty("meta", &[("name", &"color-scheme"), ("content", &"light dark")]);
        markup.empty("meta", &[("name", &"referrer"), ("content", &"no-referrer")]);
        // An icon of its own, or a browser would ask the server for one.
        markup.empty("link", &[("rel", &"icon"), ("href", &"data:,")]);
        markup.newline();
        markup.leaf("title", &[], &self.title);
        markup.newline();
        markup.element("style", &[], |markup| markup.verbatim(crate::STYLE));
        markup.newline();
    }

    fn write_body(&self, markup: &mut Markup) {
        markup.newline();
        write_patterns(markup);
        markup.element("header", &[], |markup| {
            markup.leaf("h1", &[], &self.title);
            if !self.subtitle.is_empty() {
                markup.leaf("p", &[("class", &"subtitle")], &self.subtitle);
            }
        });
        markup.newline();
        markup.element("div", &[("class", &"columns")], |markup| {
            if self.sections.len() >= SECTIONS_WORTH_CONTENTS {
                self.write_contents(markup);
            }
            markup.element("main", &[], |markup| {
                let mut chart_id = 0;
                for (i, section) in self.sections.iter().enumerate() {
                    section.write(markup, i + 1, &mut chart_id);
                }
            });
        });
        markup.newline();
        let made_by = concat!(
            "Made by equipoise-report ",
            env!("CARGO_PKG_VERSION"),
            ". This page is one file and loads nothing from elsewhere."
        );
        markup.leaf("footer", &[], made_by);
        markup.newline();
    }

    fn write_contents(&self, markup: &mut Markup) {
        markup.element("nav", &[("aria-label", &"Contents")], |markup| {
            markup.element("ol", &[], |markup| {
                for (i, section) in self.sections.iter().enumerate() {
                    markup.element("li", &[], |markup| {
                        let target = format!("#section-{}", i + 1);
                        markup.leaf("a", &[("href", &target)], &section.heading);
                    });
                }
            });
        });
        markup.newline();
    }
}

impl Section {
    fn write(&self, markup: &mut Markup, number: usize, chart_id: &mut usize) {
        let id = format!("section-{number}");
        let heading_id = format!("{id}-heading");
        markup.newline();
        markup.element("section", &[("id", &id), ("aria-labelledby", &heading_id)], |markup| {
            markup.leaf("h2", &[("id", &heading_id)], &self.heading);
            if !self.lead.is_empty() {
                markup.leaf("p", &[("class", &"lead")], &self.lead);
            }
            markup.newline();
            for block in &self.blocks {
                *chart_id += 1;
                block.write(markup, *chart_id);
            }
        });
    }
}
