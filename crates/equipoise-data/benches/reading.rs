//! Reading proxies on one thread, in rows per second: `cargo bench -p equipoise-data --bench reading`.
#![allow(clippy::unwrap_used, missing_docs)]

use std::path::Path;

use divan::{Bencher, counter::ItemsCount};
use equipoise_core::Rows;
use equipoise_data::{ReadLimits, Schema, visit_proxy, write_proxy};

const N_ROWS: usize = 200_000;
const N_FEATURES: usize = 16;

fn main() {
    divan::main();
}

#[divan::bench(args = ["csv", "csv.gz", "parquet"], sample_count = 10)]
fn proxy(bencher: Bencher<'_, '_>, kind: &str) {
    let dir = tempfile::tempdir().unwrap();
    let (schema, path) = (schema(), dir.path().join(format!("proxy.{kind}")));
    write_proxy(&path, &rows(&schema), &schema, false).unwrap();
    bencher.counter(ItemsCount::new(N_ROWS)).bench_local(|| {
        let mut n_rows = 0;
        let visit = |rows: &Rows| {
            n_rows += rows.len();
            Ok(())
        };
        visit_proxy(&path, &schema, ReadLimits::NONE, visit).unwrap();
        assert_eq!(n_rows, N_ROWS);
    });
}

fn schema() -> Schema {
    let features = (0..N_FEATURES).map(|k| {
        format!("[[feature]]\ncolumn = \"x{k}\"\nkind = \"numeric\"\ncenter = 0\nscale = 1\n")
    });
    let head = "version = 1\nintercept = true\nlabel = { column = \"y\", positive = \"1\" }\n\
                sensitive = { column = \"s\", privileged = \"1\" }\n";
    let text = head.to_owned() + &features.collect::<String>();
    Schema::from_toml(&text, Path::new("schema.toml")).unwrap()
}

/// Numbers with all their digits, as in measured data.
fn rows(schema: &Schema) -> Rows {
    let number = |i: usize| (i as f64 * 0.618).sin() * 1.7;
    let x: Vec<f64> = (0..N_ROWS * N_FEATURES).map(number).collect();
    let group: Vec<bool> = (0..N_ROWS).map(|i| number(3 * i) > -0.3).collect();
    let labels: Vec<bool> = (0..N_ROWS).map(|i| number(7 * i) > 0.2).collect();
    Rows::new(schema.layout(), &x, &group, &labels).unwrap()
}
