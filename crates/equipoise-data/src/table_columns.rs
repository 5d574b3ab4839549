//! All columns of a raw table, as they can be written again.

use crate::error::Error;
use crate::output_table::{ColumnValues, OutputColumn};
use crate::raw_rows::chosen_columns;
use crate::schema::Schema;
use crate::table::{Cell, TableFile, open_table};

/// Reads the columns of a table of raw rows. Columns that the schema ignores are among them if cells can hold their type.
/// Text is trimmed, and missing values are empty cells.
pub fn read_columns<'a>(
    file: impl Into<TableFile<'a>>,
    schema: &'a Schema,
) -> Result<Vec<OutputColumn>, Error> {
    let table =
        open_table(TableFile { columns: chosen_columns(schema, true, true), ..file.into() })?;
    let names = table.columns().iter().enumerate();
    let (chosen, names): (Vec<usize>, Vec<String>) = names
        .filter(|(at, name)| table.can_read(*at) || !schema.ignore.contains(name))
        .map(|(at, name)| (at, name.clone()))
        .unzip();
    let mut columns = vec![ColumnValues::NumbersOrEmpty(Vec::new()); chosen.len()];
    table.visit(&chosen, |_, cells| {
        columns.iter_mut().zip(cells).for_each(|(column, cell)| add(column, *cell));
        Ok(())
    })?;
    Ok(names.into_iter().zip(columns).map(|(name, of)| OutputColumn::new(name, of)).collect())
}

/// Adds a cell to a column of numbers, which becomes text with the first cell that is text: all before it are empty.
fn add(column: &mut ColumnValues, cell: Cell<'_>) {
    match (&mut *column, cell) {
        (ColumnValues::NumbersOrEmpty(numbers), Cell::Text(text)) => {
            let mut texts = vec![String::new(); numbers.len()];
            texts.push(text.to_owned());
            *column = ColumnValues::Texts(texts);
        }
        (ColumnValues::NumbersOrEmpty(numbers), cell) => numbers.push(cell.number()),
        (ColumnValues::Texts(texts), cell) => texts.push(cell.to_string()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::output_table::write_table;

    fn schema() -> Schema {
        let text = r#"
            version = 1
            intercept = true
            label = { column = "y", positive = "1" }
            sensitive = { column = "g", privileged = "a" }
            feature = [{ column = "x", kind = "numeric", center = 0, scale = 1 }]"#;
        Schema::from_toml(text, "schema.toml".as_ref()).unwrap()
    }

    #[test]
    fn rows_written_again_read_back_as_the_same_cells() {
        let dir = tempfile::tempdir().unwrap();
        let first = dir.path().join("t.csv");
        std::fs::write(&first, "x;g;y\nNA; a;1\n1e3;\"b;\n\";0\n3.10;\"c \"\"d\";1\n").unwrap();
        let columns = read_columns(&first, &schema()).unwrap();
        let some: Vec<OutputColumn> = columns.iter().map(|c| c.select(&[2, 0, 1])).collect();
        let path = dir.path().join("u.csv");
        write_table(&path, &some, false).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "x,g,y\n3.10,\"c \"\"d\",1\n,a,1\n1e3,b;,0\n");
        assert_eq!(read_columns(&path, &schema()).unwrap(), some);
    }

    #[test]
    fn numbers_and_missing_values_of_parquet_stay_what_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.parquet");
        let columns = [
            OutputColumn::new("x", ColumnValues::NumbersOrEmpty(vec![Some(0.1), None])),
            OutputColumn::new("g", ColumnValues::Texts(vec![String::new(), "a".into()])),
            OutputColumn::new("y", ColumnValues::NumbersOrEmpty(vec![Some(1.0), Some(0.0)])),
        ];
        write_table(&path, &columns, false).unwrap();
        assert_eq!(read_columns(&path, &schema()).unwrap(), columns);
    }
}
