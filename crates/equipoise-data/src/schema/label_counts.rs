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
    /// Whether there are further values.
    is_more: bool,
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
    pub(super) fn new(columns: &[String], label: &str) -> Self {
        let position = columns.iter().position(|column| column == label);
        Self { position, counts: HashMap::new(), is_more: false }
    }

    pub(super) fn add(&mut self, cells: &[Cell<'_>]) {
        let Some(value) = self.position.and_then(|at| Value::of_cell(cells[at])) else { return };
        self.add_count(value.to_string(), 1);
    }

    /// Adds a value that occurs `n` times.
    pub(super) fn add_count(&mut self, value: String, n: u64) {
        if let Some(count) = self.counts.get_mut(&value) {
            *count += n;
        } else if self.counts.len() < MAX_VALUES {
            self.counts.insert(value, n);
        } else {
            self.is_more = true;
        }
    }

    pub(super) fn values(&self) -> (Vec<(Value, u64)>, bool) {
        let counts = self.counts.iter().map(|(text, &n)| (Value::of_text(text), n));
        (counts.collect(), self.is_more)
    }
}

/// The label of a schema, from the values of its column and how often each occurs: with the negative value, or with every
/// other value as negative if that is confirmed.
pub(super) fn propose(
    (mut counts, is_more): (Vec<(Value, u64)>, bool),
    file: &Path,
    options: &InferOptions,
) -> Result<Label, Error> {
    let (column, positive) = (options.label.0.clone(), options.label.1.trim().to_owned());
    if options.label_rest_negative {
        return Ok(Label { column, positive, negative: Vec::new() });
    }
    let positive_value = Value::of_text(&positive);
    let others = counts.iter().map(|(value, _)| value).filter(|value| **value != positive_value);
    let negative: Vec<String> = others.map(Value::to_string).collect();
    if negative.len() <= 1 && !is_more {
        return Ok(Label { column, positive, negative });
    }
    counts.sort_by(|(a, n), (b, m)| m.cmp(n).then_with(|| a.order(b)));
    let counts = counts.iter().map(|(value, n)| (value.to_string(), *n)).collect();
    let values = LabelValues { positive: positive_value.to_string(), counts, is_more };
    Err(Error::ManyLabels { file: file.to_path_buf(), column, values })
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
