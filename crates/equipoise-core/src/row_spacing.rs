//! Samples of the clients' rows on which a defense measures decisions: every `s`-th row of a proxy, so no
//! random numbers.
//!
//! Packed rows keep a byte per row, its mark, with group and label. That and the packed features give the
//! row as it came.

use crate::error::Error;
use crate::rows::{Layout, Rows};
use crate::statistics::ClientStatistics;

/// Rows of one client, between these limits, so that all clients together have about [`MAX_TOTAL`].
const MIN_ROWS: usize = 50;
const MAX_ROWS: usize = 700;
const MAX_TOTAL: usize = 100_000;

/// Every `s`-th row of some consecutive rows of a client.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpacedRows {
    /// Of each row: twice the group, plus 1 if the label is positive.
    pub marks: Vec<u8>,
    /// The features of all rows, one row after the other.
    pub x: Vec<f64>,
}

/// Group and label of a row as a byte.
pub(crate) fn mark(group: usize, is_positive: bool) -> u8 {
    2 * group as u8 + u8::from(is_positive)
}

/// Whether a row with this mark has the positive label.
pub(crate) fn is_positive(mark: u8) -> bool {
    mark % 2 == 1
}

impl SpacedRows {
    /// Adds rows that come later.
    pub fn append(&mut self, mut later: Self) {
        self.marks.append(&mut later.marks);
        self.x.append(&mut later.x);
    }

    /// The rows as a table.
    pub fn into_rows(self, layout: &Layout) -> Result<Rows, Error> {
        let groups: Vec<u8> = self.marks.iter().map(|mark| mark / 2).collect();
        let positive: Vec<bool> = self.marks.iter().map(|mark| is_positive(*mark)).collect();
        Rows::new(layout.clone(), &self.x, &groups, &positive)
    }
}

/// The first row at or after `start` whose index is a multiple of `step`, counted from `start`.
pub fn first_spaced(start: usize, step: usize) -> usize {
    start.next_multiple_of(step) - start
}

/// Rows `0, s, 2s, …` of each client, `s = ⌈N_c / m⌉` with `m` of 50 to 700, 100,000 divided by the clients.
pub(crate) fn spaced_samples(
    proxies: &dyn ClientStatistics,
    layout: &Layout,
) -> Result<Vec<Rows>, Error> {
    let n_clients = proxies.n_clients();
    let most = (MAX_TOTAL / n_clients.max(1)).clamp(MIN_ROWS, MAX_ROWS);
    let steps: Vec<usize> =
        (0..n_clients).map(|client| proxies.n_rows(client).div_ceil(most).max(1)).collect();
    let sampled = proxies.spaced_rows(layout.n_x, &steps)?.ok_or_else(|| {
        Error::Input(
            "this defense needs samples of the proxies' rows, but they cannot be read".to_owned(),
        )
    })?;
    if sampled.len() != n_clients {
        return Err(Error::Clients { expected: n_clients, found: sampled.len() });
    }
    sampled.into_iter().map(|rows| rows.into_rows(layout)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::packed_rows::{PackedPartition, PackedRows, SEGMENT_ROWS};
    use crate::test_rows::{layout, random_rows_of};

    #[test]
    fn every_row_comes_back_as_it_was() {
        for (as_feature, intercept) in [(true, true), (false, false), (true, false)] {
            let layout = layout(40, 3, as_feature, intercept);
            let tables = [2500, 1, 699].map(|n| random_rows_of(&layout, n as u64, n));
            let packed = PackedRows::of(&tables).unwrap();
            let samples = spaced_samples(&packed, &layout).unwrap();
            for (sample, table) in samples.iter().zip(&tables) {
                let step = table.len().div_ceil(700);
                let expected: Vec<usize> = (0..table.len()).step_by(step).collect();
                assert_eq!(*sample, table.select(&expected));
            }
        }
    }

    #[test]
    fn many_clients_keep_fewer_rows_each() {
        let layout = layout(2, 1, true, true);
        let tables: Vec<Rows> = (0..1000).map(|c| random_rows_of(&layout, c, 101)).collect();
        let samples = spaced_samples(&PackedRows::of(&tables).unwrap(), &layout).unwrap();
        assert!(samples.iter().all(|sample| sample.len() == 51));
    }

    /// Parts of a client that start at a segment give what the whole client gives.
    #[test]
    fn parts_give_the_rows_of_the_whole() {
        let (start, n) = (SEGMENT_ROWS, SEGMENT_ROWS + 5000);
        for step in [7, 1499, 4096] {
            let whole: Vec<usize> = (0..n).step_by(step).collect();
            let of_first = (0..start).step_by(step);
            let of_last = (first_spaced(start, step)..n - start).step_by(step).map(|i| start + i);
            assert_eq!(of_first.chain(of_last).collect::<Vec<_>>(), whole);
        }
        let layout = layout(3, 2, true, true);
        let table = random_rows_of(&layout, 5, 3000);
        let mut packed =
            [crate::packed_rows::ClientPacker::new(layout.clone())].map(|mut packer| {
                packer.push(&table).unwrap();
                packer.finish()
            });
        let partition = PackedPartition::new(&mut packed).unwrap();
        let copy = PackedPartition::from_bytes(&partition.to_bytes()).unwrap();
        let mut some = copy.spaced_rows(0, layout.n_x, 5, 1000);
        assert_eq!(some, partition.spaced_rows(0, layout.n_x, 5, 1000));
        some.append(SpacedRows::default());
        assert_eq!(some.into_rows(&layout).unwrap(), table.select(&[5, 1005, 2005]));
    }
}
