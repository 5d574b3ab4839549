//! A table whose canonical form has several row groups.

use std::fmt::Write as _;
use std::path::Path;

use equipoise_core::{Fairness, NoopObserver, Outcome, Settings};
use equipoise_data::{Schema, load_round};
use equipoise_report::defend::defend;
use equipoise_server::protocol::SubmissionLimits;
use equipoise_server::validator::{Job, Verdict, check_file};
use parquet::file::reader::{FileReader as _, SerializedFileReader};

const N_X: usize = 16;
/// Two full row groups of 2^16 rows and a part of a third.
const N_LARGE: usize = 140_000;

fn schema() -> Schema {
    let mut text = String::from(
        "version = 1\nintercept = true\n\
         label = { column = \"y\", positive = \"1\" }\nsensitive = { column = \"s\", privileged = \"1\" }\n",
    );
    for k in 0..N_X {
        let feature = format!("column = \"x{k}\"\nkind = \"numeric\"\ncenter = 0.0\nscale = 1.0\n");
        text += &format!("[[feature]]\n{feature}");
    }
    Schema::from_toml(&text, Path::new("schema.toml")).unwrap()
}

/// Pseudo-random rows. The negative label is -1 in a proxy and 0 in raw rows.
fn table(n_rows: usize, seed: u64, negative: i8) -> String {
    let mut state = seed;
    let mut unit = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f64 / (1_u64 << 24) as f64
    };
    let mut text = (0..N_X).map(|k| format!("x{k},")).collect::<String>() + "s,y\n";
    for _ in 0..n_rows {
        let mut score = 0.0;
        for k in 0..N_X {
            let x = (unit() * 2000.0 - 1000.0).round() / 1000.0;
            score += x / (1 + k) as f64;
            write!(text, "{x},").unwrap();
        }
        let group = u8::from(unit() < 0.5);
        let positive = score + 0.3 * f64::from(group) + unit() > 0.6;
        writeln!(text, "{group},{}", if positive { 1 } else { negative }).unwrap();
    }
    text
}

fn solved(proxies: &Path, roots: &Path) -> Outcome {
    let loaded = load_round(proxies, roots, &schema()).unwrap();
    let settings = Settings::new(Fairness::SP).validate().unwrap();
    defend(&schema(), &loaded, &settings, &mut NoopObserver).unwrap()
}

#[test]
fn a_canonical_table_of_several_row_groups_gives_the_same_model_as_the_original() {
    let dir = tempfile::tempdir().unwrap();
    let [sent, canonical, roots] = ["sent", "canonical", "roots"].map(|name| dir.path().join(name));
    for folder in [&sent, &canonical, &roots] {
        std::fs::create_dir(folder).unwrap();
    }
    for (client, n_rows, seed) in [("large", N_LARGE, 1), ("small", 700, 2)] {
        let file = sent.join(format!("{client}.csv"));
        std::fs::write(&file, table(n_rows, seed, -1)).unwrap();
        std::fs::write(roots.join(format!("{client}.csv")), table(40, seed + 10, 0)).unwrap();
        let table = canonical.join(format!("{client}.parquet"));
        let limits = SubmissionLimits::default();
        let client = ("spring".parse().unwrap(), client.parse().unwrap());
        let canonical = table.clone();
        let verdict = check_file(&Job { client, file, canonical, schema: schema(), limits });
        assert!(
            matches!(&verdict, Verdict::Valid(table) if table.rows == n_rows as u64),
            "{verdict:?}"
        );
        let reader = SerializedFileReader::new(std::fs::File::open(&table).unwrap()).unwrap();
        assert_eq!(reader.num_row_groups(), if n_rows == N_LARGE { 3 } else { 1 });
    }
    let (original, server) = (solved(&sent, &roots), solved(&canonical, &roots));
    assert_eq!(original, server);
}
