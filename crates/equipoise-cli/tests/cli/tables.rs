//! Raw tables: every delimiter is read, and what cannot be read is explained.

use crate::bad_input::{Case, DEFEND, PROXY, check_rejected, with_row};
use crate::world::{HEADER, World};

const INFER: &str = "schema infer bad.csv --label passed=1 --sensitive group=A -o OUT.toml";

fn write_bytes(world: &World, name: &str, bytes: &[u8]) {
    std::fs::write(world.path(name), bytes).unwrap();
}

/// `bad.csv` with semicolons: two rows with these scores.
fn with_scores(world: &World, scores: [&str; 2]) {
    let header = HEADER.replace(',', ";");
    let [first, second] = scores;
    let rows = format!("1;{first};1;coast;A;1\n2;{second};0;hills;B;0\n");
    world.write("bad.csv", &format!("{header}\n{rows}"));
}

/// `name` with 30 bad cells: a region that no schema has.
fn with_moons(world: &World, name: &str) {
    let rows: String = (1..=30).map(|i| format!("{i},50,1,moon,A,1\n")).collect();
    world.write(name, &format!("{HEADER}\n{rows}"));
}

#[test]
fn malformed_tables_are_explained() {
    check_rejected(&[
        Case {
            name: "unclosed quote",
            spoil: |w| with_row(w, "2,50,1,\"coast,A,1"),
            command: PROXY,
            says: &["bad.csv: line 3 opens a quote that is never closed. Close it"],
        },
        Case {
            name: "ragged row",
            spoil: |w| with_row(w, "2,50,1,coast,A"),
            command: INFER,
            says: &["bad.csv, row 2: line 3 has 5 cells, but the header has 6 columns", "comma"],
        },
        Case {
            name: "NUL byte",
            spoil: |w| with_row(w, "2,50,1,co\0ast,A,1"),
            command: PROXY,
            says: &["bad.csv: line 3 contains a NUL byte", "UTF-8"],
        },
        Case {
            name: "not UTF-8",
            spoil: |w| {
                let table = format!("{HEADER}\n1,50,1,c\u{e9}te,A,1\n");
                let latin: Vec<u8> = table.chars().map(|c| c as u8).collect();
                write_bytes(w, "bad.csv", &latin);
            },
            command: INFER,
            says: &["bad.csv: line 2 is not UTF-8 text. Save the table as UTF-8."],
        },
        Case {
            name: "UTF-16",
            spoil: |w| {
                let utf16 = format!("\u{feff}{HEADER}\n").encode_utf16().collect::<Vec<_>>();
                let bytes: Vec<u8> = utf16.iter().flat_map(|unit| unit.to_le_bytes()).collect();
                write_bytes(w, "bad.csv", &bytes);
            },
            command: INFER,
            says: &["bad.csv: line 1 contains a NUL byte", "Save the table as UTF-8."],
        },
        Case {
            name: "column named twice",
            spoil: |w| w.write("bad.csv", "id,score,score,group,passed\n1,5,5,A,1\n"),
            command: INFER,
            says: &["bad.csv, column `score`: the header has this column twice"],
        },
        Case {
            name: "empty file",
            spoil: |w| w.write("bad.csv", ""),
            command: INFER,
            says: &["bad.csv: the file is empty"],
        },
        Case {
            name: "header only",
            spoil: |w| w.write("bad.csv", &format!("{}\n", HEADER.replace(',', "|"))),
            command: INFER,
            says: &["bad.csv: the table has a header but no rows"],
        },
        Case {
            name: "not gzip",
            spoil: |w| w.write("bad.csv.gz", HEADER),
            command: "proxy bad.csv.gz --schema schema.toml --fairness sp -o OUT.csv",
            says: &["bad.csv.gz: cannot be read", "gzip"],
        },
        Case {
            name: "gzip without its extension",
            spoil: |w| write_bytes(w, "bad.csv", b"\x1f\x8b\x08\0\0\0\0\0"),
            command: PROXY,
            says: &["bad.csv: line 1 contains a NUL byte", "not UTF-8"],
        },
    ]);
}

#[test]
fn wrong_and_unclear_delimiters_are_explained() {
    check_rejected(&[
        Case {
            name: "wrong delimiter given",
            spoil: |w| with_scores(w, ["50", "40"]),
            command: "proxy bad.csv --delimiter , --schema schema.toml --fairness sp -o OUT.csv",
            says: &[
                "column `score`: the table has no such column. It has `id;score;",
                "Is the delimiter a semicolon? Then use --delimiter semicolon.",
            ],
        },
        Case {
            name: "unknown delimiter given",
            spoil: |_| {},
            command: "predict model.json test.csv --delimiter : -o OUT.csv",
            says: &["--delimiter", "must be comma, semicolon, tab or pipe"],
        },
        Case {
            name: "delimiter of a Parquet file",
            spoil: |_| {},
            command: "schema infer proxies/east.parquet --delimiter tab --label passed=1 --sensitive group -o OUT.toml",
            says: &["proxies/east.parquet: a Parquet file has no delimiter"],
        },
        Case {
            name: "unclear delimiter",
            spoil: |w| w.write("bad.csv", "a;b,c;d\n1;2,3;4\n"),
            command: INFER,
            says: &[
                "bad.csv: the delimiter is unclear: the header has 2 columns if a comma separates them, or 3 columns",
                "--delimiter comma",
            ],
        },
        Case {
            name: "a proxy with semicolons",
            spoil: |w| w.write("proxies/south.csv", &w.read("proxies/south.csv").replace(',', ";")),
            command: DEFEND,
            says: &["proxies/south.csv", "Is the delimiter a semicolon? A proxy needs commas."],
        },
    ]);
}

#[test]
fn bad_cells_are_listed() {
    check_rejected(&[
        Case {
            name: "decimal commas, with a schema",
            spoil: |w| with_scores(w, ["50,5", "40,25"]),
            command: PROXY,
            says: &[
                "error: bad.csv: 2 cells cannot be used:\n",
                "\n  row  column  value  problem\n    1  score   50,5   has a decimal comma\n    2  score   40,25  has",
                "\nWrite numbers with a decimal point, such as 50.5.\n",
            ],
        },
        Case {
            name: "decimal commas, without a schema",
            spoil: |w| with_scores(w, ["50,5", "40"]),
            command: INFER,
            says: &[
                "error: bad.csv, row 1, column `score`: `50,5` has a decimal comma. Write numbers with a decimal point, such as 50.5.",
                "--categorical score",
            ],
        },
        Case {
            name: "text in a column that must be numeric",
            spoil: |w| with_row(w, "2,fifty,1,coast,B,0"),
            command: "schema infer bad.csv --label passed=1 --sensitive group=A --numeric score -o OUT.toml",
            says: &["row 2, column `score`: `fifty` is not a number", "leave out --numeric score"],
        },
        Case {
            name: "several kinds of bad cells",
            spoil: |w| with_row(w, "2,x,,moon,?,1\n3,NA,1,coast,A,2"),
            command: PROXY,
            says: &[
                "bad.csv: 6 cells cannot be used:",
                "    2  score   x      is not a number\n    2  work           the value is missing\n    2  region  moon   is not one of",
                "    2  group          the sensitive attribute is missing",
                "    3  passed  2      is not a label: the schema has `1` and `0`",
            ],
        },
        Case {
            name: "more than twenty bad cells",
            spoil: |w| with_moons(w, "bad.csv"),
            command: PROXY,
            says: &[
                "bad.csv: 30 cells cannot be used. The first 20:",
                "\n   20  region  moon ",
                "moon   is not one of the levels `coast`, `hills`, `plain`\nCorrect the value",
            ],
        },
        Case {
            name: "bad cells of a root",
            spoil: |w| with_moons(w, "roots/east.csv"),
            command: DEFEND,
            says: &["error: roots/east.csv: 30 cells cannot be used. The first 20:"],
        },
        Case {
            name: "bad cells to check against",
            spoil: |w| with_moons(w, "bad.csv"),
            command: "check proxies/east.parquet --data bad.csv --schema schema.toml --fairness sp --max-gap 1",
            says: &["error: bad.csv: 30 cells cannot be used. The first 20:"],
        },
        Case {
            name: "unknown label",
            spoil: |w| with_row(w, "2,50,1,coast,B,no"),
            command: PROXY,
            says: &[
                "bad.csv, row 2, column `passed`: `no` is not a label: the schema has `1` and `0`",
                "`negative`",
            ],
        },
    ]);
}

#[test]
fn a_list_of_bad_cells_is_one_json_document() {
    let world = World::new();
    with_moons(&world, "bad.csv");
    let document = world.run(&format!("{PROXY} --json")).expect(2).json();
    let error = document["error"].as_str().unwrap();
    assert!(error.starts_with("bad.csv: 30 cells cannot be used. The first 20:\n"), "{error}");
    assert_eq!(document.as_object().unwrap().len(), 1);
}

/// The same table with another delimiter gives the same bytes everywhere.
#[test]
fn every_delimiter_gives_the_same_results() {
    let world = World::with_proxies();
    world.defend("--fairness sp -o out").expect(0);
    let infer = "--label passed=1 --sensitive group=A --drop id --json";
    let proxy = "--schema schema.toml --fairness sp --rows 60";
    let schema = world.run(&format!("schema infer data.csv {infer}")).expect(0).stdout;
    world.run(&format!("proxy east.csv {proxy} -o comma.csv")).expect(0);
    world.run("predict out/model.json test.csv -o comma-scores.csv").expect(0);
    let evaluated = world.run("evaluate out/model.json test.csv").expect(0).stdout;
    for (name, separator) in [("semicolon", ";"), ("tab", "\t"), ("pipe", "|")] {
        for table in ["data", "east", "test", "roots/east"] {
            let text = world.read(&format!("{table}.csv")).replace(',', separator);
            world.write(&format!("{table}-{name}.csv"), &text.replace('\n', "\r\n"));
        }
        for given in ["", &format!("--delimiter {name}")] {
            let run = |command: &str| world.run(&format!("{command} {given}")).expect(0).stdout;
            assert_eq!(run(&format!("schema infer data-{name}.csv {infer}")), schema);
            run(&format!("proxy east-{name}.csv {proxy} -o other.csv --force"));
            assert_eq!(world.read("other.csv"), world.read("comma.csv"), "{name}");
            run(&format!(
                "check other.csv --data east-{name}.csv --schema schema.toml --fairness sp --max-gap 1"
            ));
            run(&format!("predict out/model.json test-{name}.csv -o other.csv --force"));
            assert_eq!(world.read("other.csv"), world.read("comma-scores.csv"), "{name}");
            assert_eq!(run(&format!("evaluate out/model.json test-{name}.csv")), evaluated);
        }
        std::fs::rename(
            world.path(&format!("roots/east-{name}.csv")),
            world.path("roots/east.csv"),
        )
        .unwrap();
        world.defend(&format!("--fairness sp -o out-{name}")).expect(0);
        let model = |folder: &str| world.read(&format!("{folder}/model.json"));
        assert_eq!(model(&format!("out-{name}")), model("out"));
        world.write("roots/east.csv", &world.read("roots/east.csv").replace(separator, ","));
    }
}
