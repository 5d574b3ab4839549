//! The trusted rows: one table, or a table of each client.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use equipoise_core::{Root, Rows, TableRole, Warning};

use crate::error::{Error, Purpose, TableProblem, list};
use crate::folder::read_folder;
use crate::output_table::OutputColumn;
use crate::raw_rows::{EncodedTable, chosen_columns, read_rows_and_names, read_rows_of};
use crate::schema::Schema;
use crate::table::{Table, TableFile, open_table};
use crate::table_columns::read_columns;

/// The column of a table of trusted rows that says which client a row belongs to.
pub const CLIENT_COLUMN: &str = "client";

/// Where trusted rows are.
#[derive(Debug)]
pub enum Trusted {
    /// A table, or a folder with a table per client.
    Path(PathBuf),
    /// One table of raw rows. The column `client`, if there is one and the schema does not name it, says whose they are.
    Table(Table),
    /// The raw rows of each client.
    Tables(Vec<(String, Table)>),
}

/// Trusted rows, encoded.
#[derive(Debug, Clone, PartialEq)]
pub struct TrustedRows {
    /// What messages call them.
    name: PathBuf,
    clients: BTreeMap<String, OfClient>,
    unassigned: Option<Rows>,
    /// Warnings about all rows; those about a client's table name it.
    warnings: Vec<Warning>,
}

#[derive(Debug, Clone, PartialEq)]
struct OfClient {
    rows: Rows,
    /// Its first row in a table of several clients.
    first_row: Option<u64>,
}

impl Trusted {
    /// Reads and encodes the rows.
    pub fn read(self, schema: &Schema) -> Result<TrustedRows, Error> {
        match self {
            Self::Path(path) => read_path(&path, schema),
            Self::Table(table) => read_table(table, schema),
            Self::Tables(tables) => {
                let mut tables = tables;
                tables.sort_by(|(a, _), (b, _)| a.cmp(b));
                read_tables("the trusted rows".as_ref(), tables.into_iter().map(Ok), schema)
            }
        }
    }
}

fn read_path(path: &Path, schema: &Schema) -> Result<TrustedRows, Error> {
    let open = |file: &Path| {
        let columns = chosen_columns(schema, true, true);
        open_table(TableFile { columns, ..file.into() })
    };
    let read = |source| Error::Read { file: path.to_path_buf(), source };
    if !std::fs::metadata(path).map_err(read)?.is_dir() {
        return read_table(open(path)?, schema);
    }
    // Files are opened when it is their turn: there may be more of them than a process may have open.
    let tables = read_folder(path)?.into_iter().map(|(id, file)| Ok((id, open(&file)?)));
    read_tables(path, tables, schema)
}

fn read_table(table: Table, schema: &Schema) -> Result<TrustedRows, Error> {
    let name = table.file().to_path_buf();
    let mut found = TrustedRows::new(&name);
    let is_named = names_clients(schema) && table.columns().iter().any(|c| c == CLIENT_COLUMN);
    let names = is_named.then_some(CLIENT_COLUMN);
    let (EncodedTable { rows, mut warnings }, names) = read_rows_and_names(table, schema, names)?;
    warnings.iter_mut().for_each(|warning| warning.table = Some(TableRole::Root));
    found.warnings = warnings;
    if !is_named {
        found.unassigned = Some(rows);
        return Ok(found);
    }
    let mut members: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut unassigned = Vec::new();
    for (row, name) in names.into_iter().enumerate() {
        match name {
            Some(name) => members.entry(name).or_default().push(row),
            None => unassigned.push(row),
        }
    }
    found.unassigned = Some(rows.select(&unassigned));
    let of_client = |(id, members): (String, Vec<usize>)| {
        let first_row = members.first().map(|&row| row as u64 + 1);
        (id, OfClient { rows: rows.select(&members), first_row })
    };
    found.clients = members.into_iter().map(of_client).collect();
    Ok(found)
}

/// Whether the column `client` is not one of the schema, where it may mean anything.
pub fn names_clients(schema: &Schema) -> bool {
    !chosen_columns(schema, true, true).contains(&CLIENT_COLUMN)
        && !schema.ignore.iter().any(|column| column == CLIENT_COLUMN)
}

/// The raw rows of each client of a table of trusted rows, to be written to tables of their own.
pub fn trusted_rows_by_client(
    file: &Path,
    schema: &Schema,
) -> Result<BTreeMap<String, Vec<OutputColumn>>, Error> {
    let (names, columns): (Vec<_>, Vec<_>) = read_columns(file, schema)?
        .into_iter()
        .partition(|column| names_clients(schema) && column.name == CLIENT_COLUMN);
    let mut members: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (row, name) in names.iter().flat_map(|names| names.values.texts()).enumerate() {
        members.entry(name).or_default().push(row);
    }
    members.remove("");
    let rows = |members: Vec<usize>| columns.iter().map(|column| column.select(&members)).collect();
    Ok(members.into_iter().map(|(id, members)| (id, rows(members))).collect())
}

/// `tables` are sorted by client.
fn read_tables(
    name: &Path,
    tables: impl Iterator<Item = Result<(String, Table), Error>>,
    schema: &Schema,
) -> Result<TrustedRows, Error> {
    let mut found = TrustedRows::new(name);
    for table in tables {
        let (id, table) = table?;
        let EncodedTable { rows, warnings } = read_rows_of(table, schema, Purpose::Root)?;
        let of_client =
            |warning| Warning { client: Some(id.clone()), table: Some(TableRole::Root), ..warning };
        found.warnings.extend(warnings.into_iter().map(of_client));
        if found.clients.insert(id.clone(), OfClient { rows, first_row: None }).is_some() {
            return Err(Error::Invalid(format!("client `{id}` has two tables. Keep one.")));
        }
    }
    Ok(found)
}

impl TrustedRows {
    fn new(name: &Path) -> Self {
        let (name, clients) = (name.to_path_buf(), BTreeMap::new());
        Self { name, clients, unassigned: None, warnings: Vec::new() }
    }

    /// The clients that have rows, sorted.
    pub fn clients(&self) -> impl Iterator<Item = &str> {
        self.clients.keys().map(String::as_str)
    }

    /// All rows: those of each client in their order, then those of nobody in particular.
    pub fn all_rows(&self) -> Result<Rows, Error> {
        let of_clients = self.clients.values().map(|client| &client.rows);
        Ok(Rows::concat(&of_clients.chain(&self.unassigned).collect::<Vec<_>>())?)
    }

    /// Leaves out the rows of clients that are not among `present`, which is sorted, and returns these clients.
    pub(crate) fn leave_out_absent(&mut self, present: &[String]) -> Vec<String> {
        let is_absent = |id: &String| present.binary_search(id).is_err();
        let absent = self.clients.keys().filter(|id| is_absent(id)).cloned().collect();
        self.clients.retain(|id, _| !is_absent(id));
        self.warnings.retain(|warning| !warning.client.as_ref().is_some_and(is_absent));
        absent
    }

    /// Refuses rows of clients that are not among `present`, which is sorted.
    pub(crate) fn refuse_absent(&self, present: &[String]) -> Result<(), Error> {
        let is_absent = |(id, _): &(&String, &OfClient)| present.binary_search(id).is_err();
        let absent: Vec<(&String, &OfClient)> = self.clients.iter().filter(is_absent).collect();
        let names: Vec<String> = absent.iter().map(|(id, _)| (*id).clone()).collect();
        let Some(first_row) = absent.iter().map(|(_, client)| client.first_row).min() else {
            return Ok(());
        };
        let column = first_row.map(|_| CLIENT_COLUMN);
        let problem = format!(
            "there are trusted rows of clients without a proxy: {}. Correct the names, or use --allow-missing to go on \
             without these rows.",
            list(&names)
        );
        Err(TableProblem::new(problem).at(&self.name, first_row, column))
    }

    /// The rows as a round of these clients needs them, and the warnings about them.
    pub(crate) fn into_root(
        mut self,
        clients: &[String],
        schema: &Schema,
    ) -> Result<(Root, Vec<Warning>), Error> {
        let rows = |id| match self.clients.remove(id) {
            Some(client) => Ok(client.rows),
            None => Rows::new(schema.layout(), &[], &[] as &[u8], &[]),
        };
        let tables = clients.iter().map(rows).collect::<Result<Vec<_>, _>>()?;
        match Root::with_unassigned(tables, self.unassigned) {
            Ok(root) => Ok((root, self.warnings)),
            Err(source @ equipoise_core::Error::RootGroup { .. }) => {
                Err(Error::Root { file: self.name, column: schema.sensitive.column_name(), source })
            }
            Err(other) => Err(Error::Rows(other)),
        }
    }
}

#[cfg(test)]
mod tests;
