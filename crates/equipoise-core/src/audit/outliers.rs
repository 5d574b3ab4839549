//! Rows with values far outside the usual range, which can move a model more than thousands of others.
//!
//! The typical size of a column is the median over the clients of its root mean square, but at least 1, because encoded
//! values are about 1. A majority of clients cannot be made to look unusual by a minority. A row is an outlier if one of
//! its features is larger than [`LIMIT`] times the typical size: in standardised columns, ten standard deviations.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::packed_rows::ColumnSummary;
use crate::statistics::ClientStatistics;

/// How many times its typical size a value may be.
const LIMIT: f64 = 10.0;

/// The outliers of a proxy: rows with a feature more than ten times as large as is typical of its column.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outliers {
    /// Number of such rows.
    pub rows: usize,
    /// The largest feature of all rows, as a multiple of its column's typical size.
    pub largest: f64,
    /// Index of its column.
    pub column: usize,
}

/// The outliers of each client, in one pass over the rows of those that have any.
pub(super) fn find(
    proxies: &dyn ClientStatistics,
    n_x: usize,
) -> Result<Vec<Option<Outliers>>, Error> {
    let clients = 0..proxies.n_clients();
    let summaries: Option<Vec<&ColumnSummary>> =
        clients.clone().map(|client| proxies.columns(client)).collect();
    let Some(summaries) = summaries else { return Ok(vec![None; clients.len()]) };
    let typical: Vec<f64> = (0..n_x).map(|column| typical_size(&summaries, column)).collect();
    let mut limits: Vec<f64> = typical.iter().map(|size| LIMIT * size).collect();
    limits.resize(proxies.n(), f64::INFINITY);

    let largest_of = |summary: &&ColumnSummary| {
        let sizes = summary.max_abs.iter().zip(&typical).map(|(max, size)| max / size);
        sizes.enumerate().reduce(|a, b| if b.1 > a.1 { b } else { a })
    };
    let largest: Vec<Option<(usize, f64)>> = summaries.iter().map(largest_of).collect();
    let has_any = |client: &usize| largest[*client].is_some_and(|(_, size)| size > LIMIT);
    let with_any: Vec<usize> = clients.filter(has_any).collect();
    let Some(counts) = proxies.count_beyond(&with_any, &limits)? else {
        return Ok(vec![None; largest.len()]);
    };
    let mut rows = vec![0; largest.len()];
    with_any.into_iter().zip(counts).for_each(|(client, count)| rows[client] = count);
    let outliers = largest
        .into_iter()
        .zip(rows)
        .map(|(largest, rows)| largest.map(|(column, largest)| Outliers { rows, largest, column }));
    Ok(outliers.collect())
}

/// The median over the clients of a column's root mean square, at least 1.
fn typical_size(summaries: &[&ColumnSummary], column: usize) -> f64 {
    let mut sizes: Vec<f64> = summaries.iter().map(|s| s.root_mean_square(column)).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    // The lower of the two in the middle, so that one of two clients cannot hide behind its own outliers.
    sizes[(sizes.len() - 1) / 2].max(1.0)
}
