//! Matrices: many numbers by row and column, shaded by value. Dense enough for some twenty columns on a page.
//!
//! Unlike a [`Heatmap`](crate::Heatmap), a matrix is a table, not a drawing: its numbers can be selected and read aloud, and
//! the names of its rows stay in sight while it scrolls.

use crate::format::{Format, MISSING};
use crate::markup::Markup;
use crate::table::write_scrollable;

/// A grid of values with shades.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix {
    /// A one-line description.
    pub caption: String,
    /// What the rows are.
    pub rows_title: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<MatrixRow>,
    /// The format of the values.
    pub format: Format,
    /// The value without a shade, and the value with the darkest one.
    pub range: (f64, f64),
}

/// A row of a matrix.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MatrixRow {
    /// Its name.
    pub name: String,
    /// Whether it is emphasised.
    pub strong: bool,
    /// Its values, one per column.
    pub cells: Vec<MatrixCell>,
}

/// A value of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum MatrixCell {
    /// A number.
    Value(f64),
    /// There is none.
    #[default]
    Missing,
    /// There should be one.
    Failed,
}

/// Shown in place of a failed value.
const FAILED: &str = "✕";
/// The darkest shade. The style sheet has a class for each, from 0.
const MAX_SHADE: f64 = 9.0;

impl Matrix {
    pub(crate) fn write(&self, markup: &mut Markup) {
        let head = |markup: &mut Markup| self.write_head(markup);
        let row = |markup: &mut Markup, row: &MatrixRow| self.write_row(markup, row);
        write_scrollable(markup, "scroll matrix", &self.caption, head, &self.rows, row);
    }

    fn write_head(&self, markup: &mut Markup) {
        markup.leaf("th", &[("scope", &"col"), ("class", &"left")], &self.rows_title);
        for column in &self.columns {
            markup.element("th", &[("scope", &"col")], |markup| markup.leaf("span", &[], column));
        }
    }

    fn write_row(&self, markup: &mut Markup, row: &MatrixRow) {
        let class = if row.strong { "left strong" } else { "left" };
        markup.leaf("th", &[("scope", &"row"), ("class", &class)], &row.name);
        for cell in &row.cells {
            match self.shade(*cell) {
                Some(shade) => {
                    let class = format!("shade{shade}");
                    markup.leaf("td", &[("class", &class)], &self.text(*cell));
                }
                None => markup.leaf("td", &[], &self.text(*cell)),
            }
        }
    }

    fn text(&self, cell: MatrixCell) -> String {
        match cell {
            MatrixCell::Value(value) => self.format.write(Some(value)),
            MatrixCell::Missing => MISSING.to_owned(),
            MatrixCell::Failed => FAILED.to_owned(),
        }
    }

    fn shade(&self, cell: MatrixCell) -> Option<u8> {
        let MatrixCell::Value(value) = cell else { return None };
        let (from, to) = self.range;
        let share = (value - from) / (to - from);
        // An empty range has no shades.
        share.is_finite().then(|| (MAX_SHADE * share.clamp(0.0, 1.0)).round() as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(range: (f64, f64)) -> Matrix {
        Matrix {
            caption: "Gaps & more".to_owned(),
            rows_title: "Defense".to_owned(),
            columns: vec!["none".to_owned(), "noise".to_owned(), "late".to_owned()],
            rows: vec![MatrixRow {
                name: "a<b".to_owned(),
                strong: true,
                cells: vec![MatrixCell::Value(1.0), MatrixCell::Missing, MatrixCell::Failed],
            }],
            format: Format::Fixed(1),
            range,
        }
    }

    #[test]
    fn writes_shaded_numbers_and_escapes_names() {
        let mut markup = Markup::default();
        matrix((0.0, 2.0)).write(&mut markup);
        let html = markup.into_html();
        let row = "<th scope=\"row\" class=\"left strong\">a&lt;b</th><td class=\"shade5\">1.0</td><td>–</td><td>✕</td>";
        assert!(html.contains(row), "{html}");
        assert!(html.contains("aria-label=\"Gaps &amp; more\""), "{html}");
    }

    #[test]
    fn shades_follow_the_range_in_either_direction() {
        let shade = |range, value| matrix(range).shade(MatrixCell::Value(value));
        assert_eq!(shade((0.0, 9.0), 3.4), Some(3));
        assert_eq!(shade((0.0, 9.0), 30.0), Some(9));
        assert_eq!(shade((90.0, 0.0), 90.0), Some(0));
        assert_eq!(shade((90.0, 0.0), 10.0), Some(8));
        assert_eq!(shade((1.0, 1.0), 1.0), None);
    }
}
