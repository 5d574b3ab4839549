//! Where the records of a CSV text begin and end.

use std::ops::Range;
use std::path::Path;

use csv::ByteRecord;

use super::translate;
use crate::error::Error;

/// The bytes of every record, the header first, without line breaks around it.
pub(super) fn records(text: &[u8], delimiter: u8, file: &Path) -> Result<Vec<Range<usize>>, Error> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(text);
    let is_break = |at: &usize| matches!(text[*at], b'\r' | b'\n');
    let mut records = Vec::new();
    let mut record = ByteRecord::new();
    let mut start = 0;
    while reader.read_byte_record(&mut record).map_err(|error| translate(file, error))? {
        let end = reader.position().byte() as usize;
        // A line break inside a cell is inside quotes, so none of these belongs to a cell.
        let first = (start..end).find(|at| !is_break(at)).unwrap_or(end);
        let last = (first..end).rfind(|at| !is_break(at)).map_or(first, |at| at + 1);
        records.push(first..last);
        start = end;
    }
    Ok(records)
}
