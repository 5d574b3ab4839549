//! Tables: a caption, named columns, rows of cells.

use crate::format::{Format, MISSING};
use crate::markup::Markup;

/// A table. A wide one scrolls in a box of its own.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// What the table holds, in a line.
    pub caption: String,
    /// Names and alignments.
    pub columns: Vec<Column>,
    /// Rows; the first cell of each names it.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// Where its cells stand.
    pub align: Align,
}

/// Where the text of a cell stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Align {
    /// At the left: text.
    #[default]
    Left,
    /// At the right: numbers.
    Right,
}

/// A cell: text that is ready to be read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    /// The text.
    pub text: String,
    /// The number behind the text, if it is one: what a program reads.
    pub number: Option<f64>,
    /// Whether it stands out.
    pub strong: bool,
}

impl Column {
    /// A column of text.
    pub fn text(name: impl Into<String>) -> Self {
        Self { name: name.into(), align: Align::Left }
    }

    /// A column of numbers.
    pub fn number(name: impl Into<String>) -> Self {
        Self { name: name.into(), align: Align::Right }
    }
}

impl Cell {
    /// Text as it is.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), number: None, strong: false }
    }

    /// A number in a format; none is a dash.
    pub fn number(value: impl Into<Option<f64>>, format: Format) -> Self {
        let value = value.into();
        Self { number: value, ..Self::text(format.write(value)) }
    }

    /// The same, standing out.
    pub fn strong(self) -> Self {
        Self { strong: true, ..self }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl Table {
    /// The table as CSV: numbers in full, as a program reads them; no value is an empty field.
    pub fn to_csv(&self) -> String {
        // A program looks columns up by name: one that comes again gets a number.
        let headings = self.columns.iter().enumerate().map(|(i, column)| {
            let before = self.columns[..i].iter().filter(|other| other.name == column.name).count();
            match before {
                0 => csv_field(&column.name),
                times => csv_field(&format!("{} ({})", column.name, times + 1)),
            }
        });
        let mut text = headings.collect::<Vec<_>>().join(",") + "\n";
        for row in &self.rows {
            let fields = row.iter().map(|cell| match cell.number {
                Some(number) if number.is_finite() => number.to_string(),
                Some(_) => String::new(),
                None if cell.text == MISSING => String::new(),
                None => csv_field(&cell.text),
            });
            text += &(fields.collect::<Vec<_>>().join(",") + "\n");
        }
        text
    }

    pub(crate) fn write(&self, markup: &mut Markup) {
        // Focusable, so that a keyboard can scroll it.
        let scroll: crate::markup::Attributes<'_> = &[
            ("class", &"scroll"),
            ("tabindex", &"0"),
            ("role", &"region"),
            ("aria-label", &self.caption),
        ];
        markup.element("div", scroll, |markup| {
            markup.element("table", &[], |markup| {
                markup.element("caption", &[], |markup| markup.leaf("span", &[], &self.caption));
                markup.element("thead", &[], |markup| {
                    markup.element("tr", &[], |markup| self.write_headings(markup));
                });
                markup.element("tbody", &[], |markup| {
                    for row in &self.rows {
                        markup.element("tr", &[], |markup| self.write_row(markup, row));
                    }
                });
            });
        });
        markup.newline();
    }

    fn write_headings(&self, markup: &mut Markup) {
        for column in &self.columns {
            let class = column.align.class();
            markup.leaf("th", &[("scope", &"col"), ("class", &class)], &column.name);
        }
    }

    fn write_row(&self, markup: &mut Markup, row: &[Cell]) {
        for (i, cell) in row.iter().enumerate() {
            let align = self.columns.get(i).map_or(Align::Left, |column| column.align);
            let class = if cell.strong {
                format!("{} strong", align.class())
            } else {
                align.class().to_owned()
            };
            if i == 0 {
                markup.leaf("th", &[("scope", &"row"), ("class", &class)], &cell.text);
            } else {
                markup.leaf("td", &[("class", &class)], &cell.text);
            }
        }
    }
}

/// A field of a CSV file, in quotes where it needs them.
fn csv_field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

impl Align {
    fn class(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_csv_file_has_numbers_in_full_and_quotes_where_needed() {
        let table = Table {
            caption: String::new(),
            columns: ["a, \"b\"", "x"].map(Column::text).into(),
            rows: vec![
                vec!["one\ntwo".into(), Cell::number(-0.123_456_789, Format::Fixed(2))],
                vec!["three".into(), Cell::number(None, Format::Fixed(2))],
                vec!["four".into(), Cell::number(f64::NAN, Format::Auto)],
            ],
        };
        let expected = "\"a, \"\"b\"\"\",x\n\"one\ntwo\",-0.123456789\nthree,\nfour,\n";
        assert_eq!(table.to_csv(), expected);
    }
}
