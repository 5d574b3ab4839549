//! Tables as people have them: missing values, rare levels, and a column that one client keeps as numbers.

use crate::world::{CLIENTS, World};

/// Changes the cells of a column, given the number of the row.
fn change(world: &World, file: &str, column: usize, cell: impl Fn(usize, &str) -> String) {
    let text: String = world
        .read(file)
        .lines()
        .enumerate()
        .map(|(row, line)| {
            let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
            if row > 0 {
                cells[column] = cell(row, &cells[column]);
            }
            cells.join(",") + "\n"
        })
        .collect();
    world.write(file, &text);
}

const SCORE: usize = 1;
const REGION: usize = 3;

/// Every client lacks a region, has a rare one and misses values; `north` keeps regions as numbers.
fn messy() -> World {
    let world = World::new();
    for (client, own) in CLIENTS.into_iter().zip(["coast", "hills", "plain"]) {
        let file = format!("{client}.csv");
        change(&world, &file, REGION, |row, region| match row {
            7 => format!("{own}-village"),
            8 | 9 => ["", "N/A"][row % 2].to_owned(),
            _ if region == own => "lakes".to_owned(),
            _ => region.to_owned(),
        });
        change(&world, &file, SCORE, |row, score| match row % 20 {
            3 => ["NA", "?", "null"][row % 3].to_owned(),
            _ => score.to_owned(),
        });
    }
    change(&world, "north.csv", REGION, |_, region| match region {
        "coast" => "1".to_owned(),
        "plain" => "2".to_owned(),
        "lakes" => "3".to_owned(),
        "" | "N/A" => String::new(),
        _ => "4".to_owned(),
    });
    world
}

fn describe(world: &World, client: &str) {
    world
        .run(&format!(
            "schema describe {client}.csv --label passed --sensitive group --drop id -o {client}.json --force"
        ))
        .expect(0);
}

#[test]
fn messy_tables_become_a_round_once_the_clients_agree() {
    let world = messy();
    CLIENTS.iter().for_each(|client| describe(&world, client));
    let merge = "schema merge east.json north.json south.json --label passed=1 \
                 --sensitive group=A --fill mean,mode -o merged.toml";
    // The message names the clients, the column and the remedy.
    let before = world.names();
    world.run(merge).expect(2).says(&[
        "column `region`: `east`, `south` have text, such as `hills`, `north` have only numbers",
        "Correct the tables",
        "--categorical region",
    ]);
    assert_eq!(world.names(), before);

    change(&world, "north.csv", REGION, |_, code| match code {
        "1" => "coast".to_owned(),
        "2" => "plain".to_owned(),
        "3" => "lakes".to_owned(),
        "" => String::new(),
        _ => "hills-village".to_owned(),
    });
    describe(&world, "north");
    let run = world.run(merge).expect(0).says(&[
        "column `region`: descriptions withhold rare levels (3 rows). Those that are not among its levels count as other",
    ]);
    for part in ["4 levels, missing → ", "unknown → other", "missing → "] {
        assert!(run.stdout.contains(part), "{}", run.stdout);
    }
    assert!(!world.read("merged.toml").contains("village"));

    for client in CLIENTS {
        let proxy = format!(
            "proxy {client}.csv --schema merged.toml --fairness sp -o proxies/{client}.parquet --json"
        );
        let run = world.run(&proxy).expect(0).says(&["count as other", "`region` (1)"]);
        assert!(run.json()["warnings"].to_string().contains("unknown-levels"), "{}", run.stdout);
    }
    world
        .run("defend --proxies proxies --trusted roots --schema merged.toml --fairness sp -o out")
        .expect(0);
    change(&world, "test.csv", REGION, |row, region| match row {
        1..=4 => "moon".to_owned(),
        5 => "?".to_owned(),
        _ => region.to_owned(),
    });
    world.run("predict out/model.json test.csv -o scores.csv").expect(0).says(&["`region` (4)"]);
    assert_eq!(world.read("scores.csv").lines().count(), 301);
}
