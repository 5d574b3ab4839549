//! Tables.

mod width;

use crate::format::Format;
use crate::markup::{Attributes, Markup};
use width::Fit;

/// A table. If a phone is too narrow for it, each row is shown as a list of names and values there.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// A one-line description.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, each with a heading in its first cell.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// Whether it holds numbers, which are aligned right.
    pub numeric: bool,
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    /// The text shown.
    pub text: String,
    /// Whether it is emphasised.
    pub strong: bool,
}

impl Column {
    /// A column of text.
    pub fn text(name: impl Into<String>) -> Self {
        Self { name: name.into(), numeric: false }
    }

    /// A column of numbers.
    pub fn number(name: impl Into<String>) -> Self {
        Self { name: name.into(), numeric: true }
    }

    /// Columns of text, then columns of numbers.
    pub fn list<const T: usize, const N: usize>(texts: [&str; T], numbers: [&str; N]) -> Vec<Self> {
        texts.map(Self::text).into_iter().chain(numbers.map(Self::number)).collect()
    }

    fn class(&self) -> &'static str {
        if self.numeric { "right" } else { "left" }
    }
}

impl Cell {
    /// A cell of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), strong: false }
    }

    /// A cell with a formatted number, or a dash if there is no value.
    pub fn number(value: impl Into<Option<f64>>, format: Format) -> Self {
        Self::text(format.write(value.into()))
    }

    /// Emphasises the cell.
    pub fn strong(self) -> Self {
        Self { strong: true, ..self }
    }
}

impl Table {
    pub(crate) fn write(&self, markup: &mut Markup) {
        let head = |markup: &mut Markup| {
            for column in &self.columns {
                let class = column.class();
                markup.leaf("th", &[("scope", &"col"), ("class", &class)], &column.name);
            }
        };
        let fit = self.fit();
        let row = |markup: &mut Markup, row: &Vec<Cell>| self.write_row(markup, row, fit);
        write_scrollable(markup, fit.class(), &self.caption, head, &self.rows, row);
    }

    fn write_row(&self, markup: &mut Markup, row: &[Cell], fit: Fit) {
        for (i, cell) in row.iter().enumerate() {
            let column = self.columns.get(i);
            let align = column.map_or("left", Column::class);
            let class = if cell.strong { format!("{align} strong") } else { align.to_owned() };
            let name = column.map_or("", |column| &column.name);
            // Stacked rows have no header, so each cell names its column.
            let attributes: Attributes<'_> =
                &[("class", &class), ("data-label", &name), ("scope", &"row")];
            let tag = if i == 0 { "th" } else { "td" };
            let attributes: Vec<_> = attributes
                .iter()
                .copied()
                .filter(|(key, _)| *key != "scope" || i == 0)
                .filter(|(key, _)| *key != "data-label" || fit != Fit::Narrow)
                .collect();
            markup.element(tag, &attributes, |markup| markup.text_with_names(&cell.text));
        }
    }
}

/// A table in a box that scrolls if it is wider than the page: its caption, the cells of its head, and those of each row.
pub(crate) fn write_scrollable<R>(
    markup: &mut Markup,
    class: &str,
    caption: &str,
    write_head: impl FnOnce(&mut Markup),
    rows: &[R],
    write_row: impl Fn(&mut Markup, &R),
) {
    // Focusable, so that it can be scrolled with the keyboard.
    let scroll: Attributes<'_> =
        &[("class", &class), ("tabindex", &"0"), ("role", &"region"), ("aria-label", &caption)];
    markup.element("div", scroll, |markup| {
        markup.element("table", &[], |markup| {
            markup.element("caption", &[], |markup| markup.leaf("span", &[], caption));
            markup.element("thead", &[], |markup| markup.element("tr", &[], write_head));
            markup.element("tbody", &[], |markup| {
                for row in rows {
                    markup.element("tr", &[], |markup| write_row(markup, row));
                }
            });
        });
    });
    markup.newline();
}
