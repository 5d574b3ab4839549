//! Recognises files whose content is not what their name says, by their first bytes.

use std::io::{Cursor, Read};
use std::path::Path;

use crate::error::{Error, TableProblem};

const GZIP: &[u8] = b"\x1f\x8b";

/// Why a file called `.csv` cannot be CSV, if its first bytes are those of something else.
pub(super) fn other_format(start: &[u8]) -> Option<TableProblem> {
    let formats: [(&[u8], &str); 5] = [
        (GZIP, "is compressed with gzip. Give it a name that ends in .csv.gz."),
        (b"PAR1", "is a Parquet file. Give it a name that ends in .parquet."),
        (b"PK\x03\x04", "is a zip file, such as an Excel workbook. Export the table as CSV."),
        (b"\xff\xfe", "is UTF-16 text. Save the table as UTF-8."),
        (b"\xfe\xff", "is UTF-16 text. Save the table as UTF-8."),
    ];
    let (_, problem) = formats.into_iter().find(|(bytes, _)| start.starts_with(bytes))?;
    Some(TableProblem::new(format!("the content {problem}")))
}

/// The first bytes of a file called `.csv.gz`, which must be those of gzip.
pub(super) fn gzip_start(path: &Path, file: &mut impl Read) -> Result<Cursor<Vec<u8>>, Error> {
    let mut start = Vec::new();
    file.by_ref()
        .take(GZIP.len() as u64)
        .read_to_end(&mut start)
        .map_err(|source| Error::Read { file: path.to_path_buf(), source })?;
    if start != GZIP {
        let problem = "the content is not compressed with gzip. Compress the file, or give it a name that ends in .csv.";
        return Err(TableProblem::new(problem).in_file(path));
    }
    Ok(Cursor::new(start))
}
