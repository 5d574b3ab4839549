//! Any number of readers and threads gives the same outcome bit for bit, and errors name the first bad file.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int8Array, RecordBatch};
use equipoise_core::{Fairness, NoopObserver, Rows, Settings, WarningCode, solve};
use parquet::arrow::arrow_writer::ArrowWriter;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::outcome::to_json;
use crate::proxy::write_proxy;

fn schema() -> Schema {
    let text = r#"
        version = 1
        intercept = true
        label = { column = "y", positive = "1" }
        sensitive = { column = "s", privileged = "1" }
        feature = [
            { column = "u", kind = "numeric", center = 0, scale = 1 },
            { column = "v", kind = "numeric", center = 0, scale = 1 },
        ]"#;
    Schema::from_toml(text, Path::new("schema.toml")).unwrap()
}

/// A proxy to write: its number of rows, the maximum number of distinct rows, and the kind of file.
#[derive(Debug, Clone)]
struct Shape {
    n_rows: usize,
    n_kinds: usize,
    kind: &'static str,
}

fn rows(shape: &Shape, seed: usize) -> Rows {
    let of = |i: usize| ((i % shape.n_kinds) * 7919 + seed * 104_729) as f64;
    let x = (0..shape.n_rows).flat_map(|i| [(of(i) * 0.37).sin(), (of(i) * 0.11).cos()]);
    let x: Vec<f64> = x.collect();
    let at = |i: usize| x[2 * i] - 0.4 * x[2 * i + 1];
    let group: Vec<bool> = (0..shape.n_rows).map(|i| (of(i) * 1.7).sin() > -0.3).collect();
    let label = |i: usize| at(i) + 0.5 * (of(i) * 2.3).sin() + 0.3 * f64::from(group[i]) > 0.1;
    let labels: Vec<bool> = (0..shape.n_rows).map(label).collect();
    Rows::new(schema().layout(), &x, &group, &labels).unwrap()
}

/// Parquet with row groups of 1000 rows, as in a large file.
fn write_row_groups(path: &Path, rows: &Rows) {
    let numbers = |k: usize| -> ArrayRef {
        Arc::new(Float64Array::from_iter_values((0..rows.len()).map(|i| rows.x(i)[k])))
    };
    let codes = |code: &dyn Fn(usize) -> i8| -> ArrayRef {
        Arc::new(Int8Array::from_iter_values((0..rows.len()).map(code)))
    };
    let batch = RecordBatch::try_from_iter([
        ("y", codes(&|i| if rows.is_positive(i) { 1 } else { -1 })),
        ("u", numbers(0)),
        ("v", numbers(1)),
        ("s", codes(&|i| i8::from(rows.group(i) == 1))),
    ])
    .unwrap();
    let groups = WriterProperties::builder().set_max_row_group_row_count(Some(1000)).build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(groups)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// Folders of proxies and roots.
fn write_round(shapes: &[Shape]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let (proxies, roots) = (dir.path().join("proxies"), dir.path().join("roots"));
    std::fs::create_dir(&proxies).unwrap();
    std::fs::create_dir(&roots).unwrap();
    for (seed, shape) in shapes.iter().enumerate() {
        let (rows, name) = (rows(shape, seed), format!("c{seed}.{}", shape.kind));
        match shape.kind {
            "parquet" => write_row_groups(&proxies.join(name), &rows),
            _ => write_proxy(&proxies.join(name), &rows, &schema(), false).unwrap(),
        }
        let root = "u,v,s,y\n0.5,1,1,1\n-0.5,0.2,0,0\n0.1,-0.7,0,1\n-1,0.3,1,0\n";
        std::fs::write(roots.join(format!("c{seed}.csv")), root).unwrap();
    }
    dir
}

fn load(proxies: &Path, roots: &Path, n_readers: usize) -> Result<LoadedRound, Error> {
    let trusted = (Trusted::Path(roots.to_path_buf()), Absent::Refuse);
    load_files(read_folder(proxies)?, trusted, &schema(), n_readers)
}

/// The outcome of a round as text, exact to the last bit, without the folder's name.
fn outcome(dir: &Path, n_readers: usize, n_threads: usize) -> String {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
    pool.install(|| {
        let (proxies, roots) = (dir.join("proxies"), dir.join("roots"));
        let loaded = load(&proxies, &roots, n_readers).unwrap();
        let settings = Settings::bilevel(Fairness::SP).validate().unwrap();
        let mut outcome = solve(&loaded.round, &settings, &mut NoopObserver).unwrap();
        outcome.warnings.extend(loaded.warnings);
        outcome.overlaps = loaded.overlaps.listed;
        to_json(&outcome) + &format!("{:?}", outcome.theta)
    })
}

fn shape() -> impl Strategy<Value = Shape> {
    let kind = prop::sample::select(vec!["csv", "csv.gz", "parquet"]);
    let n_kinds = prop_oneof![1..40usize, 1000..3000usize, Just(usize::MAX)];
    (1..9000usize, n_kinds, kind).prop_map(|(n_rows, n_kinds, kind)| Shape {
        n_rows,
        n_kinds,
        kind,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..Default::default() })]

    #[test]
    fn readers_and_threads_do_not_change_the_outcome(
        shapes in prop::collection::vec(shape(), 1..5),
    ) {
        let dir = write_round(&shapes);
        let expected = outcome(dir.path(), 1, 1);
        for (n_readers, n_threads) in [(1, 2), (3, 2), (2, 1)] {
            let found = outcome(dir.path(), n_readers, n_threads);
            prop_assert_eq!(&found, &expected);
        }
    }
}

#[test]
fn a_proxy_of_one_class_and_one_group_is_warned_about() {
    let dir = write_round(&[
        Shape { n_rows: 9001, n_kinds: usize::MAX, kind: "parquet" },
        Shape { n_rows: 3, n_kinds: 1, kind: "csv" },
    ]);
    let loaded = load(&dir.path().join("proxies"), &dir.path().join("roots"), 1).unwrap();
    let proxies = loaded.warnings.iter().filter(|w| w.table == Some(TableRole::Proxy));
    let codes: Vec<WarningCode> = proxies.map(|w| w.code).collect();
    assert_eq!(codes, [WarningCode::OneClass, WarningCode::OneGroup], "of the second client");
}

#[test]
fn names_the_first_bad_file_whatever_the_number_of_readers() {
    let shape = Shape { n_rows: 200, n_kinds: usize::MAX, kind: "csv" };
    let dir = write_round(&vec![shape; 12]);
    let proxies = dir.path().join("proxies");
    for client in ["c3", "c5"] {
        std::fs::write(proxies.join(format!("{client}.csv")), "u,v,s,y\n1,1,1,2\n").unwrap();
    }
    for n_readers in [1, 2, 5] {
        let error = load(&proxies, &dir.path().join("roots"), n_readers).err().unwrap();
        let text = error.to_string();
        assert!(text.contains("c3.csv, row 1, column `y`"), "{text}");
    }
}

#[test]
fn absent_clients_are_left_out_as_if_they_had_no_trusted_rows() {
    let shape = Shape { n_rows: 200, n_kinds: usize::MAX, kind: "csv" };
    let dir = write_round(&vec![shape; 4]);
    let (proxies, roots) = (dir.path().join("proxies"), dir.path().join("roots"));
    std::fs::remove_file(proxies.join("c1.csv")).unwrap();
    let text = load_round(&proxies, &roots, &schema()).err().unwrap().to_string();
    assert!(text.contains("without a proxy: `c1`."), "{text}");

    let solved = |round: &Round| {
        let settings = Settings::new(Fairness::SP).validate().unwrap();
        solve(round, &settings, &mut NoopObserver).unwrap()
    };
    let present = |trusted: &Path| {
        let trusted = Trusted::Path(trusted.to_path_buf());
        load_round_with(&proxies, trusted, &schema(), Absent::LeaveOut).unwrap()
    };
    let loaded = present(&roots);
    assert_eq!(loaded.absent, ["c1"]);
    let found = solved(&loaded.round);
    std::fs::remove_file(roots.join("c1.csv")).unwrap();
    assert_eq!(found, solved(&load_round(&proxies, &roots, &schema()).unwrap().round));

    // Clients without trusted rows are fine.
    std::fs::remove_file(roots.join("c0.csv")).unwrap();
    let loaded = present(&roots);
    assert!(loaded.absent.is_empty() && loaded.round.root().tables()[0].is_empty());
    assert_eq!(solved(&loaded.round).clients[0].root_rows, 0);
}
