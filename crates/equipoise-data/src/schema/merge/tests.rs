#![allow(clippy::unwrap_used)]

use super::*;
use crate::schema::describe::{DescribeOptions, describe};
use crate::schema::{Encoding, Fill, Schema, Unknown, infer_union};
use crate::table::{Table, open_table};

const HEADER: &str = "id,score,tier,grade,flag,town,always,race,sex,passed";

/// A small seeded linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    /// A row whose columns have `n_tiers` codes, up to 14 grades, towns and missing values.
    fn row(&mut self, n_tiers: u64) -> String {
        let score = match self.below(9) {
            0 => "NA".to_owned(),
            _ => format!("{}", 1e4 + self.below(1_000_000) as f64 / 997.0),
        };
        let (tier, grade) = (1 + self.below(n_tiers), self.below(14));
        let flag = ["0", "1", "1", ""][self.below(4) as usize];
        let town = ["Ulm", "Bonn", "Mainz", "7", "?", "Kiel"][self.below(6) as usize];
        let race = ["White", "White", "Black", "Asian"][self.below(4) as usize];
        let sex = ["f", "m"][self.below(2) as usize];
        let (id, passed) = (self.below(1000), self.below(2));
        format!("{id},{score},{tier},{grade},{flag},{town},x,{race},{sex},{passed}")
    }
}

fn table_of(dir: &tempfile::TempDir, name: &str, rows: &[String]) -> Table {
    let path = dir.path().join(format!("{name}.csv"));
    std::fs::write(&path, format!("{HEADER}\n{}\n", rows.join("\n"))).unwrap();
    open_table(&path).unwrap()
}

fn describe_options(client: &str) -> DescribeOptions {
    DescribeOptions {
        client: client.to_owned(),
        label: ("passed".into(), Some("1".into())),
        sensitive: vec![("race".into(), Some("White".into())), ("sex".into(), None)],
        drop: vec!["id".into()],
        min_rows: 1,
        ..DescribeOptions::default()
    }
}

fn described(client: &str, rows: &[String]) -> Description {
    let dir = tempfile::tempdir().unwrap();
    describe(table_of(&dir, client, rows), &describe_options(client)).unwrap().description
}

fn infer_options() -> InferOptions {
    let options = describe_options("");
    InferOptions {
        label: ("passed".into(), "1".into()),
        sensitive: options.sensitive,
        intercept: true,
        codes: true,
        ..InferOptions::default()
    }
}

/// The relative distance of the numbers of two schemas, which must be equal otherwise.
fn distance(a: &Schema, b: &Schema) -> f64 {
    let mut largest = 0.0_f64;
    let mut same = b.clone();
    for (own, other) in a.features.iter().zip(&mut same.features) {
        if let (
            Encoding::Numeric { center, scale, fill },
            Encoding::Numeric { center: c, scale: s, fill: f },
        ) = (&own.encoding, &mut other.encoding)
        {
            let pairs = [(*center, c), (*scale, s)].into_iter();
            for (own, other) in pairs.chain(fill.zip(f.as_mut())) {
                largest = largest.max((own - *other).abs() / own.abs().max(1.0));
                *other = own;
            }
        }
    }
    assert_eq!(*a, same);
    largest
}

#[test]
fn merging_gives_the_schema_of_the_union() {
    let variants: [fn(&mut InferOptions); 5] = [
        |_| {},
        |o| o.fill = vec![Fill::Mean, Fill::Mode],
        |o| (o.two_groups, o.blind) = (true, true),
        |o| (o.numeric, o.unknown) = (vec!["tier".into()], Some(Unknown::Other)),
        |o| (o.categorical, o.intercept) = (vec!["flag".into()], false),
    ];
    for seed in 0..60 {
        let mut random = Random(seed);
        // 11 and 12 tiers are codes only if all clients together have 220 and 240 rows.
        let (n_rows, n_tiers) = (150 + random.below(200), 2 + random.below(12));
        let rows: Vec<String> = (0..n_rows).map(|_| random.row(n_tiers)).collect();
        let cuts = [0, 1 + random.below(8), 20 + random.below(100), n_rows];
        let parts: Vec<&[String]> =
            cuts.windows(2).map(|cut| &rows[cut[0] as usize..cut[1] as usize]).collect();
        let mut options = infer_options();
        variants[seed as usize % variants.len()](&mut options);

        let clients = ["a", "b", "c"].into_iter().zip(&parts);
        let mut descriptions: Vec<Description> =
            clients.map(|(client, rows)| described(client, rows)).collect();
        let merged = merge(&descriptions, &options).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let tables =
            ["a", "b", "c"].iter().zip(&parts).map(|(name, rows)| table_of(&dir, name, rows));
        let inferred = InferOptions { drop: vec!["id".into()], ..options.clone() };
        let union = infer_union(tables.collect(), &inferred).unwrap();
        let difference = distance(&union.schema, &merged.schema);
        assert!(difference < 1e-12, "seed {seed}: {difference}");

        // The order of the files does not matter, to the last bit.
        descriptions.rotate_left(1);
        assert_eq!(merge(&descriptions, &options).unwrap().schema, merged.schema);
    }
}

/// The rows of two clients. The second has a town and a group of its own, both rare.
fn two_clients() -> [Vec<String>; 2] {
    let row = |i: usize, town: &str, race: &str| {
        let sex = ["f", "m"][i / 2 % 2];
        format!("{i},{}.5,{},{},{},{town},x,{race},{sex},{}", i * i, i % 3, i % 14, i % 2, i % 2)
    };
    let town = |i: usize| ["Ulm", "Bonn"][i % 2];
    let race = |i: usize| ["White", "Black"][i / 4 % 2];
    let first = (0..400).map(|i| row(i, town(i), race(i))).collect();
    let mut second: Vec<String> = (0..400).map(|i| row(i, town(i), race(i))).collect();
    second[5] = row(5, "Hidden", "Black");
    second[6] = row(6, "Ulm", "Rare");
    [first, second]
}

fn with_default_threshold(clients: &[Vec<String>]) -> Vec<Description> {
    let dir = tempfile::tempdir().unwrap();
    let describe_one = |(rows, client): (&Vec<String>, &str)| {
        let options = DescribeOptions { min_rows: 5, ..describe_options(client) };
        describe(table_of(&dir, client, rows), &options).unwrap().description
    };
    clients.iter().zip(["north", "south"]).map(describe_one).collect()
}

#[test]
fn withheld_levels_count_as_other_unless_the_user_refuses_them() {
    let descriptions = with_default_threshold(&two_clients());
    let unknown_of = |merged: &Inferred, column: &str| {
        let feature = merged.schema.features.iter().find(|f| f.column == column).unwrap();
        let Encoding::Categorical { levels, unknown, .. } = &feature.encoding else { panic!() };
        (levels.clone(), *unknown)
    };
    let merged = merge(&descriptions, &infer_options()).unwrap();
    let towns = vec!["Bonn".to_owned(), "Ulm".to_owned()];
    assert_eq!(unknown_of(&merged, "town"), (towns.clone(), Unknown::Other));
    assert_eq!(unknown_of(&merged, "tier").1, Unknown::Error);
    let note = merged.notes.iter().find(|note| note.contains("`town`")).unwrap();
    assert!(note.contains("1 rows") && note.contains("count as other"), "{note}");
    // No group can take the row whose race nobody names.
    let note = merged.notes.iter().find(|note| note.contains("withhold the groups of 1")).unwrap();
    assert!(note.contains("--min-rows") && note.contains("--two-groups"), "{note}");

    let refused = InferOptions { unknown: Some(Unknown::Error), ..infer_options() };
    let merged = merge(&descriptions, &refused).unwrap();
    assert_eq!(unknown_of(&merged, "town"), (towns, Unknown::Error));
    assert!(merged.notes.iter().any(|note| note.contains("--unknown error")), "{:?}", merged.notes);

    let two = InferOptions { two_groups: true, ..infer_options() };
    let notes = merge(&descriptions, &two).unwrap().notes;
    assert!(!notes.iter().any(|note| note.contains("withhold the groups")), "{notes:?}");
}

#[test]
fn columns_of_withheld_values_are_ignored() {
    let [first, mut second] = two_clients();
    second[8] = second[8].replace(",x,", ",y,");
    let merged = merge(&with_default_threshold(&[first, second]), &infer_options()).unwrap();
    assert!(merged.schema.ignore.contains(&"always".to_owned()));
    let note = merged.notes.iter().find(|note| note.contains("`always`")).unwrap();
    assert!(note.contains("always `x` except in 1 rows"), "{note}");
}

/// Describes two clients after changing the second one's table and options, and merges.
fn merge_changed(
    change: impl Fn(&str) -> String,
    describe_second: impl Fn(&mut DescribeOptions),
    options: &InferOptions,
) -> Result<Inferred, String> {
    let [first, second] = two_clients();
    let dir = tempfile::tempdir().unwrap();
    let text = change(&format!("{HEADER}\n{}\n", second.join("\n")));
    let path = dir.path().join("south.csv");
    std::fs::write(&path, text).unwrap();
    let mut second = describe_options("south");
    describe_second(&mut second);
    let second = describe(open_table(&path).unwrap(), &second).unwrap().description;
    let descriptions = [described("north", &first), second];
    let roles = agree_on_roles(&descriptions, None, &[]).map_err(|error| error.to_string())?;
    let options =
        InferOptions { label: roles.label, sensitive: roles.sensitive, ..options.clone() };
    merge(&descriptions, &options).map_err(|error| error.to_string())
}

#[track_caller]
fn fails(result: Result<Inferred, String>, parts: &[&str]) {
    let message = result.unwrap_err();
    for part in parts {
        assert!(message.contains(part), "no {part:?} in {message}");
    }
}

/// Replaces the cells of a column after the header.
fn with_cells(table: &str, column: usize, cell: impl Fn(usize) -> String) -> String {
    let line = |(i, line): (usize, &str)| {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        if i > 0 {
            cells[column] = cell(i);
        }
        cells.join(",") + "\n"
    };
    table.lines().enumerate().map(line).collect()
}

#[test]
fn disagreements_name_the_clients_the_column_and_the_remedy() {
    let as_is: fn(&str) -> String = str::to_owned;
    let same: fn(&mut DescribeOptions) = |_| {};
    let plain = infer_options();
    fails(
        merge_changed(|t| t.replacen("town", "city", 1), same, &plain),
        &["column `town`", "describe it: `north`", "do not have it: `south`", "--drop town"],
    );
    fails(
        merge_changed(as_is, |o| o.drop.push("town".into()), &plain),
        &["column `town`", "leave it out: `south`", "--drop town"],
    );
    fails(
        merge_changed(|t| with_cells(t, 5, |i| (i % 4).to_string()), same, &plain),
        &[
            "column `town`",
            "`north` have text, such as `Bonn`",
            "`south` have only numbers",
            "--categorical town",
        ],
    );
    fails(
        merge_changed(|t| with_cells(t, 1, |_| "n5".into()), same, &plain),
        &["column `score`", "`south` have text, such as `n5`", "`north` have only numbers"],
    );
    fails(
        merge_changed(|t| with_cells(t, 9, |i| ["no", "yes"][i % 2].into()), same, &plain),
        &[
            "label column `passed`",
            "client `north` has `0`, `1`",
            "client `south` has `no`, `yes`",
            "Spell",
        ],
    );
    fails(
        merge_changed(as_is, |o| o.label.1 = Some("0".into()), &plain),
        &[
            "label column `passed`",
            "`north` names the value `1`",
            "`south` names `0`",
            "--label passed=VALUE",
        ],
    );
    fails(
        merge_changed(as_is, |o| o.sensitive[0].1 = Some("Black".into()), &plain),
        &["sensitive column `race`", "`White`", "`Black`", "--sensitive race=VALUE"],
    );
    fails(
        merge_changed(as_is, |o| o.sensitive.truncate(1), &plain),
        &["different sensitive columns", "`north` names `race`, `sex`", "`south` names `race`"],
    );
    fails(
        merge_changed(as_is, |o| o.client = "north".into(), &plain),
        &["two descriptions", "`north`"],
    );

    let numeric = InferOptions { numeric: vec!["town".into()], ..plain.clone() };
    fails(
        merge_changed(as_is, same, &numeric),
        &["column `town`", "text in it, such as `Bonn`", "--numeric town"],
    );
    let categorical = InferOptions { categorical: vec!["score".into()], ..plain.clone() };
    fails(
        merge_changed(as_is, same, &categorical),
        &["column `score`", "client `north`", "did not list them", "--categorical score"],
    );
    let unknown = InferOptions { numeric: vec!["nothing".into()], ..plain.clone() };
    fails(merge_changed(as_is, same, &unknown), &["feature `nothing`", "`town`"]);
    let twice = InferOptions {
        categorical: vec!["tier".into()],
        numeric: vec!["tier".into()],
        ..plain.clone()
    };
    fails(merge_changed(as_is, same, &twice), &["`tier`", "twice"]);
    let dropped = InferOptions { drop: vec!["nothing".into()], ..plain.clone() };
    fails(merge_changed(as_is, same, &dropped), &["`nothing`", "spelling"]);
    let label = InferOptions { drop: vec!["race".into()], ..plain };
    fails(merge_changed(as_is, same, &label), &["`race`", "cannot be dropped"]);
}

#[test]
fn the_remedies_work() {
    let same: fn(&mut DescribeOptions) = |_| {};
    let renamed = |t: &str| t.replacen("town", "city", 1);
    let drop = InferOptions { drop: vec!["town".into(), "city".into()], ..infer_options() };
    let merged = merge_changed(renamed, same, &drop).unwrap();
    assert_eq!(merged.schema.ignore, ["id", "town", "city", "always"]);
    let dropped = InferOptions { drop: vec!["town".into()], ..infer_options() };
    merge_changed(str::to_owned, |o| o.drop.push("town".into()), &dropped).unwrap();

    let numbers = |t: &str| with_cells(t, 5, |i| (i % 4).to_string());
    let categorical = InferOptions { categorical: vec!["town".into()], ..infer_options() };
    let merged = merge_changed(numbers, same, &categorical).unwrap();
    let town = merged.schema.features.iter().find(|f| f.column == "town").unwrap();
    assert_eq!(town.width(), 6);
    // A client may also decide.
    let declare: fn(&mut DescribeOptions) = |o| o.categorical = vec!["town".into()];
    assert_eq!(merge_changed(numbers, declare, &infer_options()).unwrap().schema, merged.schema);

    // Numbers are levels as well if another client has both.
    let mixed = |rows: &[String]| -> Vec<String> {
        rows.iter().map(|row| row.replace(",Bonn,", ",7,")).collect()
    };
    let [first, second] = two_clients();
    let only_numbers: Vec<String> = mixed(&second)
        .iter()
        .map(|row| row.replace(",Ulm,", ",8,").replace(",Hidden,", ",8,"))
        .collect();
    let descriptions = [described("north", &mixed(&first)), described("south", &only_numbers)];
    let schema = merge(&descriptions, &infer_options()).unwrap().schema;
    let town = schema.features.iter().find(|f| f.column == "town").unwrap();
    assert_eq!(town.encoded_names(), ["town=7", "town=8", "town=Ulm"]);

    // The second client has no values at all in a column that is text for the first.
    merge_changed(|t| with_cells(t, 5, |_| String::new()), same, &infer_options()).unwrap();
}

#[test]
fn declared_kinds_that_contradict_each_other_are_refused_until_the_user_decides() {
    let [first, second] = two_clients();
    let dir = tempfile::tempdir().unwrap();
    let describe_as = |client: &str, rows: &[String], kind: fn(&mut DescribeOptions)| {
        let mut options = describe_options(client);
        kind(&mut options);
        describe(table_of(&dir, client, rows), &options).unwrap().description
    };
    let tier = || vec!["tier".to_owned()];
    let descriptions = [
        describe_as("north", &first, |o| o.categorical = vec!["tier".into()]),
        describe_as("south", &second, |o| o.numeric = vec!["tier".into()]),
    ];
    let message = merge(&descriptions, &infer_options()).unwrap_err().to_string();
    for part in ["`tier`", "categorical according to `north`", "numeric according to `south`"] {
        assert!(message.contains(part), "{message}");
    }
    // Neither described what the other kind needs.
    let numeric = InferOptions { numeric: tier(), ..infer_options() };
    let message = merge(&descriptions, &numeric).unwrap_err().to_string();
    assert!(message.contains("`north` describes it as categorical"), "{message}");
    let categorical = InferOptions { categorical: tier(), ..infer_options() };
    let message = merge(&descriptions, &categorical).unwrap_err().to_string();
    assert!(message.contains("client `south` has numbers and did not list them"), "{message}");
}

#[test]
fn the_positive_value_may_be_left_to_the_merge() {
    let [first, second] = two_clients();
    let dir = tempfile::tempdir().unwrap();
    let options = |client: &str| {
        let mut options = describe_options(client);
        (options.label.1, options.sensitive[0].1) = (None, None);
        options
    };
    let descriptions = [("north", first), ("south", second)].map(|(client, rows)| {
        describe(table_of(&dir, client, &rows), &options(client)).unwrap().description
    });
    let message = agree_on_roles(&descriptions, None, &[]).unwrap_err().to_string();
    assert!(message.contains("--label passed=VALUE"), "{message}");
    let label = ("passed".to_owned(), "1".to_owned());
    let roles = agree_on_roles(&descriptions, Some(&label), &[]).unwrap();
    assert_eq!(roles.sensitive, [("race".to_owned(), None), ("sex".to_owned(), None)]);
    let merged_with = |roles: AgreedRoles| {
        let options =
            InferOptions { label: roles.label, sensitive: roles.sensitive, ..infer_options() };
        merge(&descriptions, &options)
    };
    // All combinations but that of the rare row have 200 rows; the first of them is the reference.
    let schema = merged_with(roles).unwrap().schema;
    let reference = &schema.sensitive.groups[schema.sensitive.reference];
    assert_eq!(reference.members[0], ["Black", "f"]);

    let never = ("passed".to_owned(), "2".to_owned());
    let roles = agree_on_roles(&descriptions, Some(&never), &[]).unwrap();
    let message = merged_with(roles).unwrap_err().to_string();
    assert!(message.contains("`2` never occurs") && message.contains("`0`, `1`"), "{message}");
    let other = [("sex".to_owned(), None)];
    let message = agree_on_roles(&descriptions, Some(&label), &other).unwrap_err().to_string();
    assert!(message.contains("--sensitive names `sex`, but"), "{message}");
}
