//! A round divided into parts is the round as a whole.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use equipoise_core::{ClientStatistics, Order, Rows};

use super::*;
use crate::proxy::write_proxy;
use crate::read_limits::ReadLimits;
use crate::round::{Absent, load_summarised, load_tables};
use crate::table::open_encoded_table;
use crate::trusted::Trusted;

fn schema() -> Schema {
    let text = r#"
        version = 1
        intercept = true
        label = { column = "y", positive = "1" }
        sensitive = { column = "s", privileged = "1" }
        feature = [{ column = "u", kind = "numeric", center = 0, scale = 1 }]"#;
    Schema::from_toml(text, Path::new("schema.toml")).unwrap()
}

fn rows(n_rows: usize, seed: f64) -> Rows {
    let at = |i: usize| (i as f64).sqrt() + seed;
    let x: Vec<f64> = (0..n_rows).map(|i| at(i).sin()).collect();
    let groups: Vec<bool> = (0..n_rows).map(|i| (at(i) * 1.7).sin() > -0.3).collect();
    let labels: Vec<bool> = (0..n_rows).map(|i| x[i] + (at(i) * 2.3).sin() > 0.1).collect();
    Rows::new(schema().layout(), &x, &groups, &labels).unwrap()
}

/// Rows that are elsewhere. The tests of the core add their sums.
struct Elsewhere(Vec<ClientSummary>);

impl ClientStatistics for Elsewhere {
    fn n_clients(&self) -> usize {
        self.0.len()
    }

    fn n(&self) -> usize {
        schema().layout().n()
    }

    fn n_rows(&self, client: usize) -> usize {
        self.0[client].n_rows()
    }

    fn cell_counts(&self, client: usize) -> Option<&[[usize; 2]]> {
        Some(&self.0[client].cell_counts)
    }

    fn evaluate_each(
        &self,
        _: &[f64],
        _: &[Option<Order>],
    ) -> Result<equipoise_core::Statistics, equipoise_core::Error> {
        Err(equipoise_core::Error::Cancelled)
    }
}

#[test]
fn parts_give_the_same_round_as_whole_proxies() {
    let (schema, dir) = (schema(), tempfile::tempdir().unwrap());
    let sizes = [SEGMENT_ROWS + 3000, 500];
    let paths: Vec<PathBuf> = (0..2).map(|c| dir.path().join(format!("c{c}.parquet"))).collect();
    for (c, path) in paths.iter().enumerate() {
        write_proxy(path, &rows(sizes[c], c as f64), &schema, false).unwrap();
    }
    let root = dir.path().join("root.csv");
    std::fs::write(&root, "u,s,y\n0.5,1,1\n-0.5,0,0\n0.1,0,1\n-1,1,0\n").unwrap();
    let open = |path: &PathBuf| open_encoded_table(path, ReadLimits::NONE).unwrap();
    let tables = |paths: &[PathBuf]| -> Vec<(String, Table)> {
        paths.iter().enumerate().map(|(c, path)| (format!("c{c}"), open(path))).collect()
    };
    let roots = || Trusted::Tables(tables(&[root.clone(), root.clone()]));
    let whole = load_tables(tables(&paths), roots(), &schema, Absent::Refuse).unwrap();

    let second = SEGMENT_ROWS as u64;
    let part = |client: usize, rows: Range<u64>| ProxyPart { table: open(&paths[client]), rows };
    let pack = |parts: Vec<ProxyPart>| pack_parts(parts, &schema);
    let (_, mut of_first) = pack(vec![part(0, 0..second)]).unwrap();
    let (_, of_last) = pack(vec![part(0, second..u64::MAX), part(1, 0..u64::MAX)]).unwrap();
    assert!(pack(vec![part(0, 7..u64::MAX)]).is_err());

    let mut message = WireWriter::default();
    of_first.iter().chain(&of_last).for_each(|summary| summary.write(&mut message));
    let bytes = message.finish();
    let mut reader = WireReader::new(&bytes);
    let read: Vec<PartSummary> = (0..3).map(|_| PartSummary::read(&mut reader).unwrap()).collect();
    reader.end().unwrap();
    assert_eq!(read, [&of_first[..], &of_last[..]].concat());

    let mut of_last = of_last.into_iter();
    of_first.extend(of_last.next());
    let summaries = [of_first, of_last.collect()];
    let summaries = summaries.map(|parts| ClientSummary::of_parts(&schema, parts).unwrap());
    for (c, summary) in summaries.iter().enumerate() {
        let proxies = whole.round.proxies();
        assert_eq!(Some(&summary.cell_counts[..]), proxies.cell_counts(c));
    }
    let names = (0..2).map(|c| (format!("c{c}"), paths[c].clone())).collect();
    let divided = load_summarised(names, roots(), &schema, summaries.into(), |summaries| {
        Box::new(Elsewhere(summaries))
    });
    let divided = divided.unwrap();
    assert_eq!(divided.distinct_rows, whole.distinct_rows);
    assert_eq!(divided.overlaps, whole.overlaps);
    assert_eq!(divided.warnings, whole.warnings);
}
