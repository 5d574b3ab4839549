//! How long `equipoise proxy` takes on large tables: `proxy_speed FOLDER [ROWS] [NAME]`.
//!
//! Writes random tables to FOLDER, of a million rows if ROWS is not given, and does with each what the command does:
//! read the table, make the proxy, test it, measure its models and write it. Prints the seconds of each part, and of all
//! together the seconds of a clock and of the processors. NAME selects the tables that contain it.
#![allow(clippy::print_stdout)]

mod models;

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Instant;

use equipoise_core::{
    Fairness, Observer, Progress, ProxyModels, ProxySettings, generate_proxy, test_fair_proxy,
};
use equipoise_data::{Purpose, Schema, read_rows, write_proxy};
use models::Answer;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Levels of a categorical column, each of which becomes a column of its own.
const LEVELS: [&str; 5] = ["a", "b", "c", "d", "e"];

/// A kind of table.
struct Case {
    name: &'static str,
    numeric: usize,
    categorical: usize,
    blind: bool,
}

const CASES: [Case; 3] = [
    Case { name: "12 numeric columns", numeric: 12, categorical: 0, blind: false },
    Case { name: "40 one-hot columns", numeric: 0, categorical: 8, blind: false },
    Case { name: "40 one-hot columns, blind", numeric: 0, categorical: 8, blind: true },
];

fn main() -> Answer<()> {
    let mut args = std::env::args().skip(1);
    let folder = args.next().ok_or("usage: proxy_speed FOLDER [ROWS] [NAME]")?;
    let folder: &Path = folder.as_ref();
    let n_rows: usize = args.next().map_or(Ok(1_000_000), |text| text.parse())?;
    let name = args.next().unwrap_or_default();
    std::fs::create_dir_all(folder)?;
    println!(
        "{:26} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>7} {:>9}",
        "seconds",
        "read",
        "model",
        "target",
        "rows",
        "refit",
        "close",
        "test",
        "write",
        "all",
        "processor"
    );
    for case in CASES.iter().filter(|case| case.name.contains(&name)) {
        let (table, schema) = (folder.join("table.csv"), folder.join("schema.toml"));
        std::fs::write(&schema, case.schema())?;
        case.write(&table, n_rows)?;
        measure(case, &table, &schema, &folder.join("proxy.parquet"))?;
    }
    Ok(())
}

/// As `equipoise proxy TABLE --schema SCHEMA --fairness sp -o PROXY --force`.
fn measure(case: &Case, table: &Path, schema: &Path, proxy: &Path) -> Answer<()> {
    let (started, processor) = (Instant::now(), processor_seconds());
    let mut times = Times(vec![started]);
    let schema = Schema::read(schema)?;
    let data = read_rows(table, &schema, Purpose::Data)?.rows;
    times.0.push(Instant::now());
    let settings = ProxySettings::new(Fairness::SP);
    let generated = generate_proxy(&data, &settings, &mut times)?;
    times.0.push(Instant::now());
    let test = test_fair_proxy(&generated.rows, &data, settings.fairness, 0.0)?;
    times.0.push(Instant::now());
    let (written, measured) = rayon::join(
        || write_proxy(proxy, &generated.rows, &schema, true),
        || ProxyModels::measure(&generated.rows, &data, &test),
    );
    written?;
    measured?;
    times.0.push(Instant::now());
    let parts = times.0.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64());
    let parts: Vec<String> = parts.map(|seconds| format!("{seconds:6.2}")).collect();
    let used = processor.zip(processor_seconds()).map(|(before, after)| after - before);
    println!(
        "{:26} {} {:7.2} {:>9}",
        case.name,
        parts.join(" "),
        started.elapsed().as_secs_f64(),
        used.map_or("unknown".to_owned(), |seconds| format!("{seconds:.2}"))
    );
    Ok(())
}

/// When each part ended. The generator reports four: the model of the data, the target, the rows, the refitted model.
struct Times(Vec<Instant>);

impl Observer for Times {
    fn on_step(&mut self, _: Progress<'_>) -> std::ops::ControlFlow<()> {
        self.0.push(Instant::now());
        std::ops::ControlFlow::Continue(())
    }
}

/// Seconds that the processors worked for this process, `None` if the system does not report them.
fn processor_seconds() -> Option<f64> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let status = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in brackets, may contain spaces. User and system time are 11 and 12 fields after it.
    let after_name = status.rsplit_once(')')?.1;
    let mut fields = after_name.split_whitespace().skip(11).map(str::parse::<f64>);
    let (user, system) = (fields.next()?.ok()?, fields.next()?.ok()?);
    Some((user + system) / TICKS_PER_SECOND)
}

impl Case {
    fn schema(&self) -> String {
        let mut text = format!(
            "version = 1\nintercept = true\n\n[label]\ncolumn = \"label\"\npositive = \"1\"\n\n\
             [sensitive]\ncolumn = \"group\"\nprivileged = \"m\"\nas_feature = {}\n",
            !self.blind
        );
        // Writing to a string cannot fail.
        for k in 0..self.numeric {
            let _ = write!(
                text,
                "\n[[feature]]\ncolumn = \"x{k}\"\nkind = \"numeric\"\ncenter = 0.0\nscale = 1.0\n"
            );
        }
        for k in 0..self.categorical {
            let _ = write!(
                text,
                "\n[[feature]]\ncolumn = \"c{k}\"\nkind = \"categorical\"\nlevels = {LEVELS:?}\n"
            );
        }
        text
    }

    /// Features differ between the groups, and labels follow both.
    fn write(&self, path: &Path, n_rows: usize) -> Answer<()> {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut out = BufWriter::new(File::create(path)?);
        let numeric = (0..self.numeric).map(|k| format!("x{k},"));
        let categorical = (0..self.categorical).map(|k| format!("c{k},"));
        writeln!(out, "{}group,label", numeric.chain(categorical).collect::<String>())?;
        for _ in 0..n_rows {
            let ahead = rng.random_bool(0.6);
            let mut log_odds = if ahead { 0.4 } else { -0.4 };
            for k in 0..self.numeric {
                let shift = if ahead && k % 2 == 0 { 0.3 } else { 0.0 };
                let x = rng.random_range(-1.7..1.7) + shift;
                log_odds += x * [1.0, -0.6, 0.4][k % 3] / (1.0 + 0.25 * k as f64);
                write!(out, "{x:.3},")?;
            }
            for k in 0..self.categorical {
                let share = rng.random::<f64>().powf(if ahead { 1.3 } else { 0.8 });
                let level = (share * LEVELS.len() as f64) as usize;
                log_odds += [0.6, -0.3, 0.1, -0.8, 0.5][(level + k) % LEVELS.len()];
                write!(out, "{},", LEVELS[level])?;
            }
            let positive = rng.random::<f64>() < 1.0 / (1.0 + f64::exp(-log_odds));
            let group = if ahead { "m" } else { "f" };
            writeln!(out, "{group},{}", u8::from(positive))?;
        }
        Ok(out.flush()?)
    }
}
