//! The values of the label column, and what a schema makes of them.

use std::collections::HashMap;
use std::fmt::{Display, Formatter};
use std::path::Path;

use super::Label;
use super::infer::InferOptions;
use crate::error::Error;
use crate::table::Cell;
use crate::value::Value;

/// Values are counted up to this many.
const MAX_VALUES: usize = 1000;

/// Values that are listed.
const MAX_LISTED: usize = 10;

/// How often each value of the label column occurs.
pub(super) struct LabelCounts {
    /// Where the label is among the cells.
    position: Option<usize>,
    /// By the value's text, in which equal values are spelled the same.
    counts: HashMap<String, u64>,
    /// Rows with further values.
    n_uncounted: u64,
}

/// The values of a label column that has more than two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelValues {
    positive: String,
    /// The most frequent first.
    counts: Vec<(String, u64)>,
    is_more: bool,
}

impl LabelCounts {
    /// Counts the label column among `columns`, which are the cells to come.
    pub(super) fn new(columns: &[String], options: &InferOptions) -> Self {
        let position = columns.iter().position(|column| *column == options.label.0);
        Self { position, counts: HashMap::new(), n_uncounted: 0 }
    }

    pub(super) fn add(&mut self, cells: &[Cell<'_>]) {
        let Some(value) = self.position.and_then(|at| Value::of_cell(cells[at])) else { return };
        let value = value.to_string();
        if let Some(count) = self.counts.get_mut(&value) {
            *count += 1;
        } else if self.counts.len() < MAX_VALUES {
            self.counts.insert(value, 1);
        } else {
            self.n_uncounted += 1;
        }
    }

    /// The label of a schema: with its negative value, or with every other value as negative if that is confirmed.
    pub(super) fn propose(&self, file: &Path, options: &InferOptions) -> Result<Label, Error> {
        let (column, positive) = (options.label.0.clone(), options.label.1.trim().to_owned());
        if options.label_rest_negative {
            return Ok(Label { column, positive, negative: Vec::new() });
        }
        let is_positive = Value::of_text(&positive).to_string();
        let others = self.counts.keys().filter(|value| **value != is_positive);
        let negative: Vec<String> = others.cloned().collect();
        if negative.len() > 1 {
            let values = LabelValues {
                positive: is_positive,
                counts: self.sorted(),
                is_more: self.n_uncounted > 0,
            };
            return Err(Error::ManyLabels { file: file.to_path_buf(), column, values });
        }
        Ok(Label { column, positive, negative })
    }

    /// The most frequent first.
    fn sorted(&self) -> Vec<(String, u64)> {
        let mut counts: Vec<(String, u64)> = self.counts.clone().into_iter().collect();
        let value = |text: &str| Value::of_text(text);
        counts.sort_by(|(a, n), (b, m)| m.cmp(n).then_with(|| value(a).order(&value(b))));
        counts
    }
}

impl Display for LabelValues {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let more = if self.is_more { "more than " } else { "" };
        let n_values = self.counts.len();
        writeln!(f, "the label has {more}{n_values} values, but a model predicts one of two:")?;
        let listed = &self.counts[..n_values.min(MAX_LISTED)];
        let width = listed.iter().map(|(value, _)| value.chars().count()).max().unwrap_or(0);
        let digits = listed.iter().map(|(_, n)| n.to_string().len()).max().unwrap_or(0);
        for (value, n) in listed {
            let role = if *value == self.positive { "  (positive)" } else { "" };
            let rows = if *n == 1 { "row" } else { "rows" };
            let line = format!("  {value:width$}  {n:>digits$} {rows:4}{role}");
            writeln!(f, "{}", line.trim_end())?;
        }
        if n_values > listed.len() {
            writeln!(f, "  and {more}{} others", n_values - listed.len())?;
        }
        write!(
            f,
            "If every value except `{}` counts as negative, confirm that with --label-rest-negative. Otherwise correct \
             the values, or remove the rows that have no outcome.",
            self.positive
        )
    }
}
