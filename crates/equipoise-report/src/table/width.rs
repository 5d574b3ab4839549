//! Which screens a table fits, estimated from its texts, since the font is not known here.

use super::{Column, Table};
use crate::chart::{FONT_SIZE, text_width};

/// The narrowest screen that has room for a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// Fits a phone.
    Narrow,
    /// Fits a desktop; its rows are stacked on a phone.
    Wide,
    /// Fits a desktop in smaller print; its rows are stacked on a phone.
    Dense,
}

/// Room for a table on a phone of 400 px, and in the column of a desktop.
const NARROW: f64 = 330.0;
const WIDE: f64 = 820.0;
/// As in the style sheet.
const TABLE_FONT_SIZE: f64 = 14.7;
const PADDING: f64 = 14.0;
/// Text is not squeezed into less than this, although it could be broken.
const MIN_TEXT: f64 = 130.0;
/// Row names have at least this, as in the style sheet.
const MIN_NAME: f64 = 108.0;

impl Fit {
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Narrow => "scroll",
            Self::Wide => "scroll stacked",
            Self::Dense => "scroll stacked dense",
        }
    }
}

impl Table {
    pub(super) fn fit(&self) -> Fit {
        match self.min_width() {
            width if width <= NARROW => Fit::Narrow,
            width if width <= WIDE => Fit::Wide,
            _ => Fit::Dense,
        }
    }

    fn min_width(&self) -> f64 {
        let column = |(i, column): (usize, &Column)| {
            let texts = self.rows.iter().filter_map(|row| row.get(i)).map(|cell| &*cell.text);
            let (mut word, mut whole) = (longest_word(&column.name), 0.0_f64);
            for text in texts {
                word = word.max(longest_word(text));
                whole = whole.max(scaled(text));
            }
            let wanted = match column.numeric {
                _ if i == 0 => word.max(MIN_NAME),
                true => word,
                false => word.max(whole.min(MIN_TEXT)),
            };
            wanted + PADDING
        };
        self.columns.iter().enumerate().map(column).sum()
    }
}

/// Lines break only at ordinary spaces; an interval has none inside its brackets.
fn longest_word(text: &str) -> f64 {
    text.split(' ').map(scaled).fold(0.0, f64::max)
}

fn scaled(text: &str) -> f64 {
    text_width(text) * TABLE_FONT_SIZE / FONT_SIZE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;
    use crate::table::Cell;

    fn table(n_columns: usize, text: &str) -> Table {
        let names: Vec<Column> = (0..n_columns).map(|i| Column::number(format!("n{i}"))).collect();
        Table {
            caption: String::new(),
            columns: [Column::text("Client")].into_iter().chain(names).collect(),
            rows: vec![
                [Cell::text("north")]
                    .into_iter()
                    .chain((0..n_columns).map(|_| Cell::text(text)))
                    .collect(),
            ],
        }
    }

    #[test]
    fn a_table_is_stacked_or_printed_smaller_only_if_it_is_too_wide() {
        let interval = Format::Percent(1).write_interval(Some(0.7), Some([0.6, 0.8]));
        assert_eq!(table(1, &interval).fit(), Fit::Narrow);
        assert_eq!(table(4, &interval).fit(), Fit::Wide);
        assert_eq!(table(8, &interval).fit(), Fit::Dense);
        assert_eq!(table(4, "1").fit(), Fit::Narrow);
    }

    #[test]
    fn text_can_be_broken_between_words_but_not_within() {
        assert_eq!(table(2, "a few short words in a long sentence").fit(), Fit::Narrow);
        assert_eq!(table(2, "averylongwordthatcannotbebroken").fit(), Fit::Wide);
    }
}
