//! Reads proxies chunk by chunk.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use equipoise_core::{Layout, MAX_ABS_VALUE, Rows};

use super::columns;
use super::origin::{Declaration, ProxyOrigin};
use crate::error::{Error, Purpose, TableProblem};
use crate::read_limits::ReadLimits;
use crate::schema::Schema;
use crate::table::{Batch, Cell, Part, Table, open_encoded_table, read_encoded_header};

/// Rows decoded at a time.
const CHUNK_ROWS: usize = 4096;

/// Reads a proxy. The columns may come in any order, but none may be missing or added.
pub fn read_proxy(file: impl AsRef<Path>, schema: &Schema) -> Result<Rows, Error> {
    read_proxy_of(open_encoded_table(file.as_ref(), ReadLimits::NONE)?, schema)
}

/// Like [`read_proxy`], for an open table.
pub fn read_proxy_of(table: Table, schema: &Schema) -> Result<Rows, Error> {
    let mut chunks = Vec::new();
    visit_chunks(table, schema, CHUNK_ROWS, |rows| {
        chunks.push(rows.clone());
        Ok(())
    })?;
    Ok(Rows::concat(&chunks)?)
}

/// Reads a proxy as [`read_proxy`] does, calls `visit` with one chunk of rows after another, and returns the
/// number of rows. Only one chunk is in memory, plus what the format must decode at once: a line of CSV, or a
/// page of each Parquet column. A file that exceeds the limits is an error.
pub fn visit_proxy(
    file: impl AsRef<Path>,
    schema: &Schema,
    limits: ReadLimits,
    visit: impl FnMut(&Rows) -> Result<(), Error>,
) -> Result<u64, Error> {
    visit_chunks(open_encoded_table(file.as_ref(), limits)?, schema, CHUNK_ROWS, visit)
}

/// Like [`visit_proxy`], for some rows of a proxy, counted from 0.
pub(crate) fn visit_proxy_rows(
    table: Table,
    rows: Range<u64>,
    schema: &Schema,
    visit: impl FnMut(&Rows) -> Result<(), Error>,
) -> Result<u64, Error> {
    visit_chunks(table.only(rows)?, schema, CHUNK_ROWS, visit)
}

/// A proxy of which only the header was read.
#[derive(Debug)]
pub struct OpenProxy(Table);

impl OpenProxy {
    /// A proxy in a file that is already open. The path gives the format and appears in errors.
    pub fn new(file: File, path: &Path, limits: ReadLimits) -> Result<Self, Error> {
        Ok(Self(read_encoded_header(path, file, limits)?))
    }

    /// What it says about how good its model can be: its privacy, and how many rows it stands for. The rest of its origin is not read.
    pub fn declared(&self) -> Result<ProxyOrigin, Error> {
        Declaration::of(&self.0).read(self.0.file())
    }

    /// Reads the rows as [`visit_proxy`] does.
    pub fn visit(
        self,
        schema: &Schema,
        visit: impl FnMut(&Rows) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        visit_chunks(self.0, schema, CHUNK_ROWS, visit)
    }
}

pub(super) fn visit_chunks(
    table: Table,
    schema: &Schema,
    chunk_rows: usize,
    mut visit: impl FnMut(&Rows) -> Result<(), Error>,
) -> Result<u64, Error> {
    let path = table.file().to_path_buf();
    let columns = columns(schema);
    let chosen = positions(&table, &columns, schema)?;
    let mut chunk = Chunk::new(&path, columns, schema.layout());
    let n_rows = table.visit_parts(&chosen, chunk_rows, |part| {
        match part {
            Part::Row(row, cells) => chunk.push(row, cells)?,
            Part::Batch(batch) => chunk.push_batch(batch)?,
        }
        let full = matches!(part, Part::Batch(_)) || chunk.positive.len() == chunk_rows;
        if full { visit(&chunk.take()?) } else { Ok(()) }
    })?;
    if n_rows == 0 {
        return Err(TableProblem::no_rows(Purpose::Proxy).in_file(&path));
    }
    if !chunk.positive.is_empty() {
        visit(&chunk.take()?)?;
    }
    Ok(n_rows)
}

/// Rows that have been decoded and checked.
struct Chunk {
    file: PathBuf,
    columns: Vec<String>,
    layout: Layout,
    x: Vec<f64>,
    groups: Vec<u8>,
    positive: Vec<bool>,
}

impl Chunk {
    fn new(path: &Path, columns: Vec<String>, layout: Layout) -> Self {
        let file = path.to_path_buf();
        let (x, groups, positive) = Default::default();
        Self { file, columns, layout, x, groups, positive }
    }

    fn take(&mut self) -> Result<Rows, Error> {
        let rows = Rows::new(self.layout.clone(), &self.x, &self.groups, &self.positive)?;
        self.clear();
        Ok(rows)
    }

    fn clear(&mut self) {
        self.x.clear();
        self.groups.clear();
        self.positive.clear();
    }

    fn push(&mut self, row: u64, cells: &[Cell<'_>]) -> Result<(), Error> {
        let n_x = self.layout.n_x;
        let in_cell = |i: usize| {
            let (file, column) = (&self.file, &self.columns[i]);
            move |problem: TableProblem| problem.in_cell(file, row, column)
        };
        for (i, cell) in cells[..n_x].iter().enumerate() {
            self.x.push(number(*cell).map_err(in_cell(i))?);
        }
        let n_groups = self.layout.groups.len();
        self.groups.push(group(cells[n_x], n_groups).map_err(in_cell(n_x))?);
        self.positive.push(label(cells[n_x + 1]).map_err(in_cell(n_x + 1))?);
        Ok(())
    }

    /// Column by column if all values are valid numbers; otherwise row by row, to find the first that is not.
    fn push_batch(&mut self, batch: &Batch<'_>) -> Result<(), Error> {
        if self.push_columns(batch) {
            return Ok(());
        }
        self.clear();
        let mut cells = Vec::with_capacity(self.columns.len());
        for i in 0..batch.n_rows {
            batch.cells(i, &mut cells);
            self.push(batch.first_row + i as u64, &cells)?;
        }
        Ok(())
    }

    /// Fills the empty chunk with a batch. `false` if some cell must be checked individually.
    fn push_columns(&mut self, batch: &Batch<'_>) -> bool {
        let n_x = self.layout.n_x;
        self.x.resize(batch.n_rows * n_x, 0.0);
        let mut valid = true;
        for column in 0..n_x {
            let put = |i: usize, v: f64| {
                // NaN fails this comparison.
                valid &= v.abs() <= MAX_ABS_VALUE;
                self.x[i * n_x + column] = v;
            };
            if !batch.numbers(column, put) {
                return false;
            }
        }
        let n_groups = self.layout.groups.len() as f64;
        let coded = batch.numbers(n_x, |_, v| {
            // A number that is no group becomes another one here, but the batch is then invalid.
            valid &= v >= 0.0 && v < n_groups && v.fract() == 0.0;
            self.groups.push(v as u8);
        }) && batch.numbers(n_x + 1, |_, v| {
            valid &= v == 1.0 || v == -1.0;
            self.positive.push(v == 1.0);
        });
        coded && valid
    }
}

fn positions(table: &Table, columns: &[String], schema: &Schema) -> Result<Vec<usize>, Error> {
    if let Some(extra) = table.columns().iter().find(|c| !columns.contains(c)) {
        let question = match table.other_delimiter() {
            Some(other) => {
                format!("Is the delimiter a {}? A proxy needs commas.", other.name())
            }
            None => "Is this a table of raw rows?".to_owned(),
        };
        let problem = TableProblem::new(format!(
            "not a column of a proxy under this schema. A proxy has the encoded features, then `{}` and `{}`, and nothing else. {question}",
            schema.sensitive.column_name(),
            schema.label.column
        ));
        return Err(problem.in_column(table.file(), extra));
    }
    columns.iter().map(|column| table.position(column)).collect()
}

fn number(cell: Cell<'_>) -> Result<f64, TableProblem> {
    match cell.number() {
        Some(number) if number.abs() <= MAX_ABS_VALUE => Ok(number),
        Some(number) if number.is_finite() => Err(TableProblem::new(format!(
            "`{cell}` is beyond ±1e12, while encoded values are about 1. Encode the rows with the schema."
        ))),
        Some(_) => Err(TableProblem::not_finite(cell)),
        None if cell == Cell::Missing => Err(TableProblem::new(
            "the value is missing. Every cell of a proxy must be a finite number.",
        )),
        None => Err(TableProblem::new(format!(
            "`{cell}` is not a number. Was this table encoded with the schema, as a proxy must be?"
        ))),
    }
}

/// The group whose index is in the cell.
fn group(cell: Cell<'_>, n_groups: usize) -> Result<u8, TableProblem> {
    let number = number(cell)?;
    if number.fract() == 0.0 && (0.0..n_groups as f64).contains(&number) {
        return Ok(number as u8);
    }
    Err(TableProblem::new(match n_groups {
        2 => format!("`{cell}` is neither 0 nor 1, the two values of this column in a proxy."),
        _ => format!(
            "`{cell}` is not a group. This column of a proxy has the number of each row's group, from 0 to {}.",
            n_groups - 1
        ),
    }))
}

/// Whether the cell is the positive label.
fn label(cell: Cell<'_>) -> Result<bool, TableProblem> {
    let number = number(cell)?;
    if number == 1.0 || number == -1.0 {
        return Ok(number == 1.0);
    }
    Err(TableProblem::new(format!(
        "`{cell}` is neither -1 nor 1, the two values of this column in a proxy."
    )))
}
