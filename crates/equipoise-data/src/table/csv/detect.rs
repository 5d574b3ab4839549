//! Detects the delimiter of a CSV file from its beginning.
//!
//! A delimiter that the header does not contain is none. If the header contains several, the one that gives the columns
//! that the table should have is right, otherwise the one that splits the rows into as many cells as the header. If
//! that leaves several, the file is ambiguous: guessing could mix up columns.

use crate::error::TableProblem;
use crate::table::Delimiter;

/// Records that are looked at.
const MAX_RECORDS: usize = 1000;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The delimiter of a table that begins with `sample`, which may end in the middle of a row unless it `is_whole`.
pub(super) fn detect(
    sample: &[u8],
    is_whole: bool,
    columns: &[&str],
) -> Result<Delimiter, TableProblem> {
    let sample = sample.strip_prefix(BYTE_ORDER_MARK).unwrap_or(sample);
    let records = count(sample, is_whole);
    let Some((header, rows)) = records.split_first() else { return Ok(Delimiter::Comma) };
    let mut left: Vec<Delimiter> =
        Delimiter::ALL.into_iter().filter(|&d| header.of(d) > 0).collect();
    let has_columns = |d: &Delimiter| !columns.is_empty() && has_columns(sample, *d, columns);
    if let [_, _, ..] = left[..] {
        if let Some(found) = left.iter().copied().find(has_columns) {
            return Ok(found);
        }
        let n_matching = |d: Delimiter| rows.iter().filter(|row| row.of(d) == header.of(d)).count();
        let most = left.iter().map(|&d| n_matching(d)).max();
        left.retain(|&d| Some(n_matching(d)) == most);
    }
    match left[..] {
        // A table with one column.
        [] => Ok(Delimiter::Comma),
        [found] => Ok(found),
        _ => Err(ambiguous(&left, header)),
    }
}

fn ambiguous(left: &[Delimiter], header: &Counts) -> TableProblem {
    let splits: Vec<String> = left
        .iter()
        .map(|&d| format!("{} columns if a {} separates them", header.of(d) + 1, d.name()))
        .collect();
    TableProblem::new(format!(
        "the delimiter is unclear: the header has {}. Name it, for example with --delimiter {}.",
        splits.join(", or "),
        left[0].name()
    ))
}

/// How often each delimiter occurs in a record, outside quotes.
#[derive(Default, Clone, Copy)]
struct Counts([usize; Delimiter::ALL.len()]);

impl Counts {
    fn of(&self, delimiter: Delimiter) -> usize {
        self.0[delimiter as usize]
    }
}

/// The counts of all complete records. As in the reader, a quote opens only at the start of a cell, and blank lines are
/// skipped.
fn count(sample: &[u8], is_whole: bool) -> Vec<Counts> {
    let mut records: Vec<Counts> = Vec::new();
    let mut record = Counts::default();
    let (mut in_quotes, mut cell_starts, mut is_blank) = (false, true, true);
    for &byte in sample {
        if byte == b'"' && (in_quotes || cell_starts) {
            // A doubled quote closes and opens again.
            (in_quotes, cell_starts, is_blank) = (!in_quotes, in_quotes, false);
        } else if in_quotes {
            continue;
        } else if byte == b'\n' || byte == b'\r' {
            if !is_blank {
                records.push(record);
            }
            if records.len() == MAX_RECORDS {
                return records;
            }
            (record, cell_starts, is_blank) = (Counts::default(), true, true);
        } else {
            let delimiter = Delimiter::ALL.iter().position(|d| d.byte() == byte);
            delimiter.iter().for_each(|&d| record.0[d] += 1);
            (cell_starts, is_blank) = (delimiter.is_some(), false);
        }
    }
    // A header that is cut off, or has an open quote, is better than none.
    if !is_blank && (records.is_empty() || (is_whole && !in_quotes)) {
        records.push(record);
    }
    records
}

fn has_columns(sample: &[u8], delimiter: Delimiter, columns: &[&str]) -> bool {
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter.byte()).from_reader(sample);
    let Ok(header) = reader.byte_headers() else { return false };
    let names: Vec<&[u8]> = header.iter().map(<[u8]>::trim_ascii).collect();
    columns.iter().all(|column| names.contains(&column.as_bytes()))
}

#[cfg(test)]
mod tests;
