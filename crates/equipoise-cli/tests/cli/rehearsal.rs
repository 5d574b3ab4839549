//! `split` and `proxy --generator raw`: a round rehearsed with a single table.

use std::collections::BTreeMap;

use equipoise_data::{Purpose, read_proxy, read_rows};

use crate::world::{HEADER, Random, World, table};

fn world() -> World {
    let world = World::new();
    world.write("people.csv", &table(&Random(3).rows(3000, 1.5)));
    world
}

/// The lines of a table after its header.
fn lines(world: &World, name: &str) -> Vec<String> {
    let text = world.read(name);
    assert_eq!(text.lines().next(), Some(HEADER), "{name}");
    text.lines().skip(1).map(str::to_owned).collect()
}

/// The trusted rows of a client, without its name.
fn trusted(world: &World, name: &str, client: usize) -> Vec<String> {
    let text = world.read(name);
    assert_eq!(text.lines().next(), Some(&*format!("client,{HEADER}")), "{name}");
    let start = format!("c{client},");
    text.lines().filter_map(|line| line.strip_prefix(&start)).map(str::to_owned).collect()
}

#[test]
fn every_row_is_written_as_it_is_to_exactly_one_table() {
    let world = world();
    let command =
        "split people.csv --schema schema.toml --clients 4 --test 0.25 --trusted 0.02 --seed 9";
    world.run(&format!("{command} -o out")).expect(0);
    let mut all = Vec::new();
    let mut tests = Vec::new();
    for client in 1..=4 {
        for part in ["train", "test", "trusted"] {
            let rows = match part {
                "trusted" => trusted(&world, "out/trusted.csv", client),
                _ => lines(&world, &format!("out/{part}/c{client}.csv")),
            };
            let expected = match part {
                "train" => 547..=549,
                "test" => 187..=188,
                _ => 15..=15,
            };
            assert!(expected.contains(&rows.len()), "{part}: {}", rows.len());
            if part == "test" {
                tests.extend(rows.clone());
            }
            all.extend(rows);
        }
    }
    let sorted = |mut rows: Vec<String>| {
        rows.sort();
        rows
    };
    assert_eq!(sorted(all), sorted(lines(&world, "people.csv")));
    assert_eq!(sorted(tests), sorted(lines(&world, "out/test.csv")));
    assert_eq!(world.read("out/schema.toml"), world.read("schema.toml"));

    world.run(&format!("{command} -o again --threads 1")).expect(0);
    world.run(&format!("{command}1 -o other")).expect(0);
    for name in ["train/c1.csv", "test/c3.csv", "trusted.csv", "test.csv"] {
        assert_eq!(world.read(&format!("out/{name}")), world.read(&format!("again/{name}")));
        assert_ne!(world.read(&format!("out/{name}")), world.read(&format!("other/{name}")));
    }
}

#[test]
fn every_table_has_the_same_mixture_of_groups_and_labels() {
    let world = world();
    world.run("split people.csv --schema schema.toml -o out --trusted 0.02").expect(0);
    let shares = |rows: Vec<String>| {
        let mut counts: BTreeMap<String, f64> = BTreeMap::new();
        for row in &rows {
            let cells: Vec<&str> = row.split(',').collect();
            *counts.entry(cells[4..].join(",")).or_default() += 1.0 / rows.len() as f64;
        }
        (rows.len() as f64, counts)
    };
    let (_, all) = shares(lines(&world, "people.csv"));
    for client in 1..=5 {
        for part in ["train", "test", "trusted"] {
            let (n, own) = shares(match part {
                "trusted" => trusted(&world, "out/trusted.csv", client),
                _ => lines(&world, &format!("out/{part}/c{client}.csv")),
            });
            for (stratum, share) in &all {
                let own = own.get(stratum).copied().unwrap_or(0.0);
                assert!((own - share).abs() < 1.6 / n, "{part}/c{client} {stratum}: {own} {share}");
            }
        }
    }
}

#[test]
fn a_table_with_a_column_client_keeps_it_and_trusted_rows_are_nobodys() {
    let world = world();
    let text = world.read("people.csv").replacen("group", "client", 1);
    world.write("clients.csv", &text);
    world.run("split clients.csv --label passed=1 --sensitive client=A --drop id -o out").expect(0);
    let header = world.read("out/trusted.csv").lines().next().unwrap().to_owned();
    assert_eq!(header, HEADER.replacen("group", "client", 1));
}

#[test]
fn a_newcomer_rehearses_a_round_by_pasting_the_commands() {
    let world = world();
    let command = "split people.csv --label passed=1 --sensitive group=A --drop id --unreliable 2 --trusted 0.03 \
                   -o my/rehearsal";
    std::fs::create_dir(world.path("my")).unwrap();
    let run = world.run(command).expect(0);
    assert!(run.stdout.contains("Unreliable, because their own models are the most unfair: c"));
    assert!(run.stdout.contains("its rows unchanged") && run.stdout.contains("a fair proxy"));
    let pasted: Vec<&str> =
        run.stdout.lines().filter_map(|line| line.strip_prefix("  equipoise ")).collect();
    assert_eq!(pasted.len(), 3 + 2, "{}", run.stdout);
    for command in pasted {
        world.run(command).expect(0);
    }
    let outcome = world.json("my/rehearsal/outcome/outcome.json");
    assert_eq!(outcome["clients"].as_array().unwrap().len(), 5);
}

#[test]
fn the_unreliable_clients_are_the_most_unfair_and_send_their_rows() {
    let world = world();
    let command =
        "split people.csv --schema schema.toml --unreliable 2 --fairness eo -o out --json";
    let document = world.run(command).expect(0).json();
    let clients = document["clients"].as_array().unwrap();
    let gaps = |reliable: bool| -> Vec<f64> {
        let of = clients.iter().filter(|client| client["reliable"] == reliable);
        of.map(|client| client["own_gap"].as_f64().unwrap()).collect()
    };
    let (fair, unfair) = (gaps(true), gaps(false));
    assert_eq!((fair.len(), unfair.len()), (3, 2));
    assert!(unfair.iter().all(|gap| fair.iter().all(|other| gap >= other)), "{document}");
    assert_eq!(document["commands"].as_array().unwrap().len(), 5);
    assert!(document["commands"][0].as_str().unwrap().contains("--fairness eo"));
    for client in clients {
        let id = client["client"].as_str().unwrap();
        let proxy = world.path(&format!("out/proxies/{id}.parquet"));
        assert_eq!(proxy.exists(), client["reliable"] == false, "{id}");
        if proxy.exists() {
            let train = world.path(&format!("out/train/{id}.csv"));
            let rows = read_rows(&train, &world.schema(), Purpose::Data).unwrap().rows;
            assert_eq!(read_proxy(&proxy, &world.schema()).unwrap(), rows);
        }
    }
}

#[test]
fn a_root_that_is_too_small_names_what_it_lacks() {
    let world = world();
    let run = world.run("split people.csv --schema schema.toml --trusted 0.002 -o out").expect(0);
    for part in ["no trusted rows of `group ≠ A` with `passed ≠ 1` from c", "a larger share"] {
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
    assert!(trusted(&world, "out/trusted.csv", 1).len() == 1);
    let run = world.run("split people.csv --schema schema.toml --trusted 0.02 -o out2").expect(0);
    assert!(!run.stderr.contains("no trusted rows of"), "{}", run.stderr);
}

#[test]
fn raw_rows_are_a_proxy_that_every_command_accepts() {
    let world = World::with_proxies();
    let raw = read_rows(&world.path("east.csv"), &world.schema(), Purpose::Data).unwrap().rows;
    let raw_proxy = "proxy east.csv --schema schema.toml --generator raw";
    for name in ["e.csv", "e.csv.gz", "e.parquet"] {
        let run = world.run(&format!("{raw_proxy} -o {name}")).expect(0);
        assert!(run.stdout.starts_with("134 encoded rows of 7 columns"), "{}", run.stdout);
        let run = run.says(&["the rows themselves", "neither fair nor private"]);
        assert!(run.stderr.contains("warning: "), "{}", run.stderr);
        assert_eq!(read_proxy(world.path(name), &world.schema()).unwrap(), raw, "{name}");
    }
    let quiet = world.run(&format!("{raw_proxy} -o q.csv -q --json")).expect(0);
    assert_eq!(quiet.json()["rows"], 134);
    quiet.says(&["neither fair nor private"]);
    let check = "--data east.csv --schema schema.toml --fairness sp --max-gap 0.05";
    world.run(&format!("check e.parquet {check}")).expect(1);
    std::fs::remove_file(world.path("proxies/east.parquet")).unwrap();
    std::fs::copy(world.path("e.csv.gz"), world.path("proxies/east.csv.gz")).unwrap();
    world.defend("--fairness sp -o out").expect(0);
}

/// No model is fitted, so a few rows of one label will do.
#[test]
fn any_table_can_be_raw_and_lies_beside_its_data() {
    let world = World::new();
    std::fs::create_dir(world.path("mine")).unwrap();
    world.write("mine/few.csv", &format!("{HEADER}\n1,50,1,coast,A,1\n2,40,0,hills,A,1\n"));
    let proxy = "proxy mine/few.csv --schema schema.toml --generator raw";
    world.run(proxy).expect(0).says(&["mine/few.raw.parquet", "neither fair nor private"]);
    let rows = read_proxy(world.path("mine/few.raw.parquet"), &world.schema()).unwrap();
    assert_eq!(rows.len(), 2);
    world.run(proxy).expect(2).says(&["few.raw.parquet", "already exists", "--force"]);
}

#[test]
fn other_formats_are_split_in_their_own_format() {
    let world = world();
    let plain = world.read("people.csv").replace('\n', "\r\n").replace("coast", "\" coast\"");
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gz, plain.as_bytes()).unwrap();
    std::fs::write(world.path("people.csv.gz"), gz.finish().unwrap()).unwrap();
    let options = "--schema schema.toml --trusted 0.02 --seed 3";
    world.run(&format!("split people.csv.gz {options} -o gz")).expect(0);
    world.run(&format!("split people.csv {options} -o csv")).expect(0);
    let bytes = std::fs::read(world.path("gz/trusted.csv.gz")).unwrap();
    let text = std::io::read_to_string(flate2::read::GzDecoder::new(&bytes[..])).unwrap();
    assert_eq!(text, world.read("csv/trusted.csv"));
    world.run("evaluate none.json gz/test.csv.gz").expect(2);
    let rows = |name: &str| read_rows(&world.path(name), &world.schema(), Purpose::Data).unwrap();
    assert_eq!(rows("gz/test.csv.gz").rows, rows("csv/test.csv").rows);
}

/// A command, and what its error must say.
const BAD: [(&str, &[&str]); 29] = [
    ("split people.csv --schema schema.toml -o OUT --clients 0", &["--clients must be at least 2"]),
    ("split people.csv --schema schema.toml -o OUT --clients 1", &["--clients must be at least 2"]),
    ("split people.csv --schema schema.toml -o OUT --clients 2.5", &["--clients", "2.5"]),
    ("split people.csv --schema schema.toml -o OUT --clients 3001", &["3000 rows", "3001 clients"]),
    ("split people.csv --schema schema.toml -o OUT --clients 990", &["people.csv", "--clients"]),
    ("split people.csv --schema schema.toml -o OUT --test 1.5", &["--test must be above 0", "1.5"]),
    ("split people.csv --schema schema.toml -o OUT --test -0.1", &["--test must be above 0"]),
    ("split people.csv --schema schema.toml -o OUT --trusted 0", &["--trusted must be above 0"]),
    (
        "split people.csv --schema schema.toml -o OUT --trusted NaN",
        &["--trusted must be above 0", "NaN"],
    ),
    (
        "split people.csv --schema schema.toml -o OUT --test 0.6 --trusted 0.4",
        &["--trusted", "--test"],
    ),
    ("split people.csv --schema schema.toml -o OUT --unreliable 6", &["--unreliable", "--clients"]),
    ("split people.csv --schema schema.toml -o OUT --unreliable 5", &["--unreliable", "reliable"]),
    ("split people.csv --schema schema.toml -o OUT --fairness dp", &["--fairness", "`dp`"]),
    ("split people.csv --schema schema.toml -o roots", &["roots", "already exists"]),
    ("split people.csv --schema schema.toml -o none/OUT", &["none", "does not exist"]),
    ("split people.csv --schema other.toml -o OUT", &["people.csv", "`height`", "no such column"]),
    ("split people.csv --schema none.toml -o OUT", &["none.toml", "cannot be read"]),
    ("split people.csv -o OUT", &["--label", "--sensitive"]),
    (
        "split people.csv --label passed=7 --sensitive group -o OUT",
        &["`passed`", "`7` never occurs"],
    ),
    ("split people.csv --schema schema.toml --label passed=1 -o OUT", &["--schema", "--label"]),
    ("split none.csv --schema schema.toml -o OUT", &["none.csv", "cannot be read"]),
    ("split roots --schema schema.toml -o OUT", &["roots", ".csv.gz"]),
    (
        "proxy people.csv --schema schema.toml --generator raw -o OUT.xlsx",
        &["OUT.xlsx", ".parquet"],
    ),
    (
        "proxy people.csv --schema schema.toml --generator raw -o people.csv",
        &["people.csv", "already exists"],
    ),
    ("proxy folder.csv --schema schema.toml --generator raw", &["folder.csv", "cannot be read"]),
    ("proxy bad.csv --schema schema.toml --generator raw", &["bad.csv, row 2, column `score`"]),
    (
        "proxy people.csv --schema schema.toml --generator raw --rows 200",
        &["--rows has no effect with --generator raw"],
    ),
    ("proxy people.csv --schema schema.toml --generator paper -o OUT.csv", &["--fairness"]),
    ("proxy people.csv --schema schema.toml --fairness sp", &["--output"]),
];

#[test]
fn bad_input_is_refused_and_nothing_is_written() {
    let world = world();
    world.write("other.toml", &world.read("schema.toml").replace("\"score\"", "\"height\""));
    world.write("bad.csv", &format!("{HEADER}\n1,50,1,coast,A,1\n2,x,1,coast,B,0\n"));
    std::fs::create_dir(world.path("folder.csv")).unwrap();
    let before = world.names();
    for (command, says) in BAD {
        let run = world.run(command).expect(2);
        assert_eq!(run.stdout, "", "{command}");
        assert_eq!(world.names(), before, "{command}: something was written");
        run.says(&["error: "]).says(says);
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_to_is_an_error() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = world();
    let folder = world.path("closed");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(folder.join("probe"), "").is_ok() {
        // Root may write anywhere.
        std::fs::remove_file(folder.join("probe")).unwrap();
        return;
    }
    for command in [
        "split people.csv --schema schema.toml -o closed/OUT",
        "proxy people.csv --schema schema.toml --generator raw -o closed/OUT.csv",
    ] {
        world.run(command).expect(2).says(&["closed/OUT", "cannot be written"]);
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}
