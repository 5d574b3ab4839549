//! Writes a large round to disk: `large_round FOLDER ROWS FEATURES CLIENTS SEED`.
//!
//! Writes the inputs of `equipoise defend` to FOLDER: `proxies` and `roots` as Parquet files with several row groups, and
//! `schema.toml`. Rows are generated as in `scaling`: two groups have different features, and clients differ in how strongly
//! labels follow the group. Every fourth client has few distinct rows, which a round merges. Memory holds only one batch
//! of rows at a time.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int8Array, RecordBatch};
use parquet::arrow::arrow_writer::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const ROOT_ROWS: usize = 200;
/// Rows per batch and per row group.
const BATCH_ROWS: usize = 1 << 14;
const ROW_GROUP: usize = 1 << 18;
/// How strongly the labels of each client follow the group.
const BIASES: [f64; 5] = [2.0, -0.4, 1.0, 0.2, 3.0];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, rows, features, clients, seed] = arguments.as_slice() else {
        return Err("usage: large_round FOLDER ROWS FEATURES CLIENTS SEED".into());
    };
    let (rows, features, clients): (usize, usize, usize) =
        (rows.parse()?, features.parse()?, clients.parse()?);
    let (folder, seed): (&Path, u64) = (folder.as_ref(), seed.parse()?);
    std::fs::create_dir_all(folder.join("proxies"))?;
    std::fs::create_dir_all(folder.join("roots"))?;
    std::fs::write(folder.join("schema.toml"), schema(features))?;
    for client in 0..clients {
        let n_rows = rows * (client + 1) / clients - rows * client / clients;
        let bias = BIASES[client % BIASES.len()];
        let seed = seed.wrapping_add(2 * client as u64);
        let name = format!("c{client:06}.parquet");
        let levels = if client % 4 == 3 { Some(2) } else { None };
        let mut proxy = Source::new(features, bias, levels, seed);
        proxy.write(&folder.join("proxies").join(&name), n_rows)?;
        let mut root = Source::new(features, 2.0, levels, seed + 1);
        root.write(&folder.join("roots").join(&name), ROOT_ROWS)?;
    }
    println!("Wrote {rows} rows of {clients} clients to {}", folder.display());
    Ok(())
}

fn schema(features: usize) -> String {
    let mut text =
        "version = 1\nintercept = true\n\n[label]\ncolumn = \"label\"\npositive = \"1\"\n\n\
                    [sensitive]\ncolumn = \"group\"\nprivileged = \"1\"\n"
            .to_owned();
    for k in 0..features {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n[[feature]]\ncolumn = \"x{k}\"\nkind = \"numeric\"\ncenter = 0.0\nscale = 1.0\n"
        );
    }
    text
}

/// Generates random rows.
struct Source {
    features: usize,
    bias: f64,
    /// The number of distinct values of a feature, `None` if unlimited.
    levels: Option<usize>,
    rng: ChaCha8Rng,
}

impl Source {
    fn new(features: usize, bias: f64, levels: Option<usize>, seed: u64) -> Self {
        Self { features, bias, levels, rng: ChaCha8Rng::seed_from_u64(seed) }
    }

    fn write(&mut self, path: &Path, n_rows: usize) -> Result<(), Box<dyn Error>> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_dictionary_enabled(false)
            .set_max_row_group_row_count(Some(ROW_GROUP))
            .build();
        let mut properties = Some(properties);
        let mut out = File::create(path).map(Some)?;
        let mut writer = None;
        for start in (0..n_rows).step_by(BATCH_ROWS) {
            let batch = self.batch(BATCH_ROWS.min(n_rows - start))?;
            if let Some(out) = out.take() {
                writer = Some(ArrowWriter::try_new(out, batch.schema(), properties.take())?);
            }
            if let Some(writer) = &mut writer {
                writer.write(&batch)?;
            }
        }
        writer.map(ArrowWriter::close).transpose()?;
        Ok(())
    }

    fn batch(&mut self, n_rows: usize) -> Result<RecordBatch, Box<dyn Error>> {
        let mut x: Vec<Vec<f64>> = vec![Vec::with_capacity(n_rows); self.features];
        let (mut group, mut label) = (Vec::new(), Vec::new());
        for _ in 0..n_rows {
            let s = self.rng.random_bool(0.6);
            let ahead = if s { 0.4 } else { -0.6 };
            let mut log_odds = self.bias * ahead;
            for (k, column) in x.iter_mut().enumerate() {
                let mut own: f64 = self.rng.random_range(-1.7..1.7);
                if let Some(levels) = self.levels {
                    // Only the first eight features vary: 2⁸ distinct rows per group and label.
                    own = if k < 8 { (own * levels as f64 / 3.4).floor() + 0.5 } else { 0.5 };
                }
                log_odds += own * [1.0, -0.6, 0.4, 0.2][k % 4] / (1.0 + 0.25 * k as f64);
                column.push(if k % 2 == 0 { own + ahead } else { own });
            }
            group.push(i8::from(s));
            let positive = self.rng.random::<f64>() < 1.0 / (1.0 + (-log_odds).exp());
            label.push(if positive { 1 } else { -1 });
        }
        let mut columns: Vec<(String, ArrayRef)> = Vec::new();
        for (k, column) in x.into_iter().enumerate() {
            columns.push((format!("x{k}"), Arc::new(Float64Array::from(column))));
        }
        columns.push(("group".to_owned(), Arc::new(Int8Array::from(group))));
        columns.push(("label".to_owned(), Arc::new(Int8Array::from(label))));
        let columns = columns.into_iter().map(|(name, array)| (name, array, false));
        Ok(RecordBatch::try_from_iter_with_nullable(columns)?)
    }
}
