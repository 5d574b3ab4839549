#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, Date32Array, DictionaryArray, Float64Array, RecordBatch, RecordBatchIterator,
    StringViewArray,
};

use crate::table::{Cell, Table};

fn table(batches: Vec<RecordBatch>) -> Table {
    let schema = batches[0].schema();
    let batches = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    Table::of_batches("the table", Box::new(batches)).unwrap()
}

fn numbers(values: std::ops::Range<i32>) -> RecordBatch {
    let values: ArrayRef = Arc::new(Float64Array::from_iter_values(values.map(f64::from)));
    RecordBatch::try_from_iter([("unused", values.clone()), (" n ", values)]).unwrap()
}

#[test]
fn rows_are_numbered_across_batches_of_any_size() {
    let batches = vec![numbers(0..3), numbers(3..3), numbers(3..9000)];
    let table = table(batches);
    assert_eq!(table.columns(), ["unused", "n"]);
    assert_eq!(table.claimed_rows(), None);
    let mut seen = 0;
    let n_rows = table.visit(&[1], |row, cells| {
        assert_eq!(cells, [Cell::Number((row - 1) as f64)]);
        seen += 1;
        Ok(())
    });
    assert_eq!((n_rows.unwrap(), seen), (9000, 9000));
}

#[test]
fn categories_are_their_values_and_nulls_are_missing() {
    let tier: DictionaryArray<Int32Type> =
        [Some("top"), None, Some("mid"), Some("top")].into_iter().collect();
    let view = StringViewArray::from(vec![Some("a"), Some(" b "), None, Some("?")]);
    let columns: [(&str, ArrayRef); 2] = [("tier", Arc::new(tier)), ("view", Arc::new(view))];
    let mut found = Vec::new();
    let visit = |_: u64, cells: &[Cell<'_>]| {
        found.extend(cells.iter().map(|cell| format!("{cell:?}")));
        Ok(())
    };
    table(vec![RecordBatch::try_from_iter(columns).unwrap()]).visit(&[0, 1], visit).unwrap();
    let text = |text: &str| format!("Text({text:?})");
    let missing = || "Missing".to_owned();
    let expected = [text("top"), text("a"), missing(), text("b"), text("mid"), missing()];
    assert_eq!(found[..6], expected);
    assert_eq!(found[6..], [text("top"), missing()]);
}

#[test]
fn an_unsupported_type_is_named_only_if_the_column_is_used() {
    let dates: ArrayRef = Arc::new(Date32Array::from(vec![1, 2]));
    let batch = || {
        let other: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0]));
        RecordBatch::try_from_iter([("when", dates.clone()), ("x", other)]).unwrap()
    };
    assert_eq!(table(vec![batch()]).visit(&[1], |_, _| Ok(())).unwrap(), 2);
    let text = table(vec![batch()]).visit(&[0], |_, _| Ok(())).unwrap_err().to_string();
    assert!(text.starts_with("the table, column `when`: type Date32"), "{text}");
}
