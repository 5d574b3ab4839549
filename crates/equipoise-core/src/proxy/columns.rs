//! What a client hands to a generator: encoded rows, and what the agreed schema says about their features.

use std::ops::Range;

use crate::rows::Rows;

/// What a raw column became when rows were encoded. It comes from the schema, which is public, and never from the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncodedColumn {
    /// One number: the distance from the schema's center, in units of its scale.
    Number,
    /// One number for each level: 1 for the level of the row, 0 for the others.
    Levels {
        /// The number of levels.
        n: usize,
        /// Whether every row has one of them. Otherwise all numbers may be 0.
        complete: bool,
    },
}

impl EncodedColumn {
    /// Number of encoded features.
    pub fn width(self) -> usize {
        match self {
            Self::Number => 1,
            Self::Levels { n, .. } => n,
        }
    }
}

/// The encoded columns of a schema, in the order of the features.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedColumns(Vec<EncodedColumn>);

impl EncodedColumns {
    /// These columns.
    pub fn new(columns: Vec<EncodedColumn>) -> Self {
        Self(columns)
    }

    /// Columns of numbers only.
    pub fn numbers(n: usize) -> Self {
        Self(vec![EncodedColumn::Number; n])
    }

    /// The number of features.
    pub fn n_x(&self) -> usize {
        self.0.iter().map(|column| column.width()).sum()
    }

    /// The columns.
    pub fn columns(&self) -> &[EncodedColumn] {
        &self.0
    }

    /// Each column and where its features are.
    pub fn iter(&self) -> impl Iterator<Item = (EncodedColumn, Range<usize>)> + Clone + '_ {
        self.0.iter().scan(0, |end, &column| {
            let start = *end;
            *end += column.width();
            Some((column, start..*end))
        })
    }
}

/// A client's rows, and what their features are.
#[derive(Debug, Clone)]
pub struct ClientData<'a> {
    /// The rows.
    pub rows: &'a Rows,
    /// The columns that the features came from.
    pub columns: EncodedColumns,
}

/// Rows whose features are all numbers, or whose generator does not distinguish.
impl<'a> From<&'a Rows> for ClientData<'a> {
    fn from(rows: &'a Rows) -> Self {
        Self { rows, columns: EncodedColumns::numbers(rows.layout().n_x) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_know_where_their_features_are() {
        let levels = EncodedColumn::Levels { n: 3, complete: true };
        let columns =
            EncodedColumns::new(vec![EncodedColumn::Number, levels, EncodedColumn::Number]);
        assert_eq!(columns.n_x(), 5);
        let places: Vec<_> = columns.iter().map(|(_, place)| place).collect();
        assert_eq!(places, [0..1, 1..4, 4..5]);
    }
}
