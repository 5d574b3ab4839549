//! Bad usage and bad input: exit code 2, a message that says where the error is, and no output.

use crate::world::{HEADER, World};

/// How to break a valid world, the command to run, and what its message must contain.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) spoil: fn(&World),
    pub(crate) command: &'static str,
    pub(crate) says: &'static [&'static str],
}

pub(crate) const PROXY: &str = "proxy bad.csv --schema schema.toml --fairness sp -o OUT.parquet";
pub(crate) const DEFEND: &str =
    "defend --proxies proxies --trusted roots --schema schema.toml --fairness sp -o OUT";

/// Runs every case in its own world.
pub(crate) fn check_rejected(cases: &[Case]) {
    for case in cases {
        let world = World::with_proxies();
        (case.spoil)(&world);
        let before = world.names();
        let run = world.run(case.command);
        let shown = format!("{}:\n{}{}", case.name, run.stdout, run.stderr);
        assert_eq!(run.code, 2, "{shown}");
        assert!(run.stderr.contains("error: "), "{shown}");
        assert!(!run.stderr.contains("panicked"), "{shown}");
        assert_eq!(run.stdout, "", "{shown}");
        for part in case.says {
            assert!(run.stderr.contains(part), "no {part:?} in {shown}");
        }
        assert_eq!(world.names(), before, "{}: something was written", case.name);
    }
}

/// Writes `bad.csv`: a valid row, then the given one.
pub(crate) fn with_row(world: &World, row: &str) {
    world.write("bad.csv", &format!("{HEADER}\n1,50,1,coast,A,1\n{row}\n"));
}

#[test]
fn errors_in_tables_name_the_file_row_and_column() {
    check_rejected(&[
        Case {
            name: "missing column",
            spoil: |w| w.write("bad.csv", "id,scores,work,region,group,passed\n1,5,1,coast,A,1\n"),
            command: PROXY,
            says: &[
                "bad.csv",
                "column `score`: the table has no such column",
                "Did you mean `scores`",
            ],
        },
        Case {
            name: "extra column",
            spoil: |w| w.write("bad.csv", &format!("{HEADER},age\n1,50,1,coast,A,1,30\n")),
            command: PROXY,
            says: &["bad.csv", "`age`", "ignore"],
        },
        Case {
            name: "unknown category",
            spoil: |w| with_row(w, "2,50,1,moon,A,1"),
            command: PROXY,
            says: &["bad.csv, row 2, column `region`", "`moon`", "`coast`"],
        },
        Case {
            name: "NaN",
            spoil: |w| with_row(w, "2,NaN,1,coast,A,1"),
            command: PROXY,
            says: &["bad.csv, row 2, column `score`"],
        },
        Case {
            name: "Inf",
            spoil: |w| with_row(w, "2,Inf,1,coast,A,1"),
            command: PROXY,
            says: &["bad.csv, row 2, column `score`", "finite"],
        },
        Case {
            name: "1e400",
            spoil: |w| with_row(w, "2,1e400,1,coast,A,1"),
            command: PROXY,
            says: &["bad.csv, row 2, column `score`", "1e400", "finite"],
        },
        Case {
            name: "empty file",
            spoil: |w| w.write("bad.csv", ""),
            command: PROXY,
            says: &["bad.csv", "is empty"],
        },
        Case {
            name: "header only",
            spoil: |w| w.write("bad.csv", &format!("{HEADER}\n")),
            command: PROXY,
            says: &["bad.csv", "no rows"],
        },
        Case {
            name: "ragged row",
            spoil: |w| with_row(w, "2,50,1,coast"),
            command: PROXY,
            says: &["bad.csv, row 2: line 3", "4 cells", "6 columns"],
        },
        Case {
            name: "unknown extension to read",
            spoil: |w| w.write("bad.xlsx", "x"),
            command: "proxy bad.xlsx --schema schema.toml --fairness sp -o OUT.parquet",
            says: &["bad.xlsx", ".csv.gz"],
        },
        Case {
            name: "unknown extension to write",
            spoil: |_| {},
            command: "proxy east.csv --schema schema.toml --fairness sp -o OUT.xlsx",
            says: &["OUT.xlsx", ".parquet"],
        },
        Case {
            name: "missing table",
            spoil: |_| {},
            command: "schema infer none.csv --label passed=1 --sensitive group=A -o OUT.toml",
            says: &["none.csv", "cannot be read"],
        },
        Case {
            name: "folder that does not exist",
            spoil: |_| {},
            command: "proxy east.csv --schema schema.toml --fairness sp -o none/OUT.csv",
            says: &["none", "does not exist"],
        },
    ]);
}

#[test]
fn errors_in_rounds_name_the_client_or_folder() {
    check_rejected(&[
        Case {
            name: "trusted rows without a proxy",
            spoil: |w| std::fs::rename(w.path("roots/east.csv"), w.path("roots/west.csv")).unwrap(),
            command: DEFEND,
            says: &["roots: ", "without a proxy: `west`", "--allow-missing"],
        },
        Case {
            name: "trusted rows of an unknown client in a table",
            spoil: |w| {
                w.write(
                    "trusted.csv",
                    &format!("client,{HEADER}\neast,1,50,1,coast,B,1\nwest,2,40,0,hills,A,0\n"),
                )
            },
            command: "defend --proxies proxies --trusted trusted.csv --schema schema.toml --fairness sp -o OUT",
            says: &["trusted.csv, row 2, column `client`: ", "without a proxy: `west`"],
        },
        Case {
            name: "trusted rows of nobody, weighted by client",
            spoil: |w| {
                w.write("trusted.csv", &format!("{HEADER}\n1,50,1,coast,B,1\n2,40,0,hills,A,0\n"))
            },
            command: "defend --proxies proxies --trusted trusted.csv --schema schema.toml --fairness sp -o OUT \
                      --defense bilevel --root-weighting client",
            says: &[
                "trusted.csv: 2 of 2 trusted rows do not say whose they are",
                "column `client`",
            ],
        },
        Case {
            name: "root without both groups",
            spoil: |w| {
                for client in ["east", "north", "south"] {
                    let root = format!("{HEADER}\n1,50,1,coast,B,1\n2,40,0,hills,B,0\n");
                    w.write(&format!("roots/{client}.csv"), &root);
                }
            },
            command: DEFEND,
            says: &["roots", "`group`", "at least two groups", "hint: "],
        },
        Case {
            name: "root without positives of one group, for equal opportunity",
            spoil: |w| {
                for client in ["east", "north", "south"] {
                    let root = format!("{HEADER}\n1,50,1,coast,B,0\n2,40,0,hills,A,1\n");
                    w.write(&format!("roots/{client}.csv"), &root);
                }
            },
            command: "defend --proxies proxies --trusted roots --schema schema.toml --fairness eo -o OUT",
            says: &["roots", "positive root rows in at least two groups", "hint: "],
        },
        Case {
            name: "corrupt Parquet",
            spoil: |w| w.write("proxies/east.parquet", "PAR1 and then nothing sound PAR1"),
            command: DEFEND,
            says: &["proxies/east.parquet", "not a valid Parquet file"],
        },
        Case {
            name: "proxy with no rows",
            spoil: |w| {
                let header = w.read("proxies/south.csv").lines().next().unwrap().to_string();
                w.write("proxies/south.csv", &(header + "\n"));
            },
            command: DEFEND,
            says: &["proxies/south.csv", "no rows"],
        },
        Case {
            name: "raw rows among the proxies",
            spoil: |w| {
                std::fs::copy(w.path("south.csv"), w.path("proxies/south.csv")).unwrap();
            },
            command: DEFEND,
            says: &["proxies/south.csv", "raw rows"],
        },
        Case {
            name: "empty folder",
            spoil: |w| std::fs::create_dir(w.path("none")).unwrap(),
            command: "defend --proxies none --trusted roots --schema schema.toml --fairness sp -o OUT",
            says: &["none", "no client"],
        },
        Case {
            name: "output folder that exists",
            spoil: |w| std::fs::create_dir(w.path("OUT")).unwrap(),
            command: DEFEND,
            says: &["OUT", "already exists", "--force"],
        },
        Case {
            name: "output file that exists",
            spoil: |w| w.write("OUT.parquet", "mine"),
            command: "proxy east.csv --schema schema.toml --fairness sp -o OUT.parquet",
            says: &["OUT.parquet", "already exists", "--force"],
        },
    ]);
}

#[test]
fn rejects_invalid_schemas_and_models() {
    check_rejected(&[
        Case {
            name: "schema with an unknown key",
            spoil: |w| {
                let schema = w.read("schema.toml").replace("[label]", "colour = 1\n[label]");
                w.write("schema.toml", &schema);
            },
            command: DEFEND,
            says: &["schema.toml", "colour"],
        },
        Case {
            name: "missing schema",
            spoil: |w| std::fs::remove_file(w.path("schema.toml")).unwrap(),
            command: DEFEND,
            says: &["schema.toml", "cannot be read"],
        },
        Case {
            name: "a label value that never occurs",
            spoil: |_| {},
            command: "schema infer data.csv --label passed=yes --sensitive group=A -o OUT.toml",
            says: &["data.csv", "`passed`", "`yes`", "`0`, `1`"],
        },
        Case {
            name: "a label without a value",
            spoil: |_| {},
            command: "schema infer data.csv --label passed --sensitive group=A -o OUT.toml",
            says: &["--label", "passed=1"],
        },
        Case {
            name: "a schema as a model",
            spoil: |_| {},
            command: "predict schema.toml test.csv -o OUT.csv",
            says: &["schema.toml", "not a valid model"],
        },
    ]);
}

#[test]
fn errors_in_options_name_the_option() {
    let sp = "defend --proxies proxies --trusted roots --schema schema.toml -o OUT --fairness";
    let cases: [(&str, &[&str]); 10] = [
        ("both", &["`both` is not a fairness criterion", "sp:0.5,eo:0.5"]),
        ("sp:half", &["`sp:half` is not a fairness criterion"]),
        ("sp:0.5,eo:-0.5", &["the weight of `eo` is -0.5"]),
        ("sp:NaN", &["the weight of `sp` is NaN"]),
        ("sp --lambda 0", &["--lambda", "above 0"]),
        ("sp --defense bilevel --rho-start 10 --rho-max 1", &["--rho-max", "at least --rho-start"]),
        ("sp --defense bilevel --iterations 0", &["--iterations", "at least 1"]),
        ("sp --iterations 9", &["--iterations applies only", "not to tilt", "--defense bilevel"]),
        ("sp --threads 0", &["--threads", "from 1 to"]),
        ("dp", &["dp", "sp"]),
    ];
    let world = World::with_proxies();
    let before = world.names();
    for (options, says) in cases {
        let run = world.run(&format!("{sp} {options}")).expect(2);
        assert_eq!(run.stdout, "", "{options}");
        run.says(&["error: "]).says(says);
    }
    let proxy = "proxy east.csv --schema schema.toml --fairness sp -o OUT.csv";
    world.run(&format!("{proxy} --rows 0")).expect(2).says(&["error: --rows", "at least 1"]);
    world.run(&format!("{proxy} --epsilon -1")).expect(2).says(&["error: --epsilon"]);
    assert_eq!(world.names(), before);
    // A ν that agrees with the criterion is accepted.
    world.run(&format!("{sp} sp:1 --defense pooled")).expect(0);
}
