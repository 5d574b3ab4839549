//! The paper's datasets, split among five clients of whom each lacks some levels.

use std::path::{Path, PathBuf};

use crate::world::World;

const CLIENTS: [&str; 5] = ["a", "b", "c", "d", "e"];

struct Dataset {
    file: &'static str,
    roles: &'static str,
    /// The column of which each client lacks a level.
    column: &'static str,
    levels: [&'static str; 5],
}

const LAW_SCHOOL: Dataset = Dataset {
    file: "law_school.csv",
    roles: "--label pass_bar=1 --sensitive race=White",
    column: "tier",
    levels: ["1.0", "2.0", "3.0", "4.0", "5.0"],
};

const DUTCH: Dataset = Dataset {
    file: "dutch.csv",
    roles: "--label occupation=1 --sensitive sex=male",
    column: "edu_level",
    levels: ["0", "1", "2", "3", "4"],
};

fn path_of(file: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(file);
    path.exists().then_some(path)
}

/// Writes one table per client, and a root of every hundredth row. Client `i` lacks level `i`.
fn split(world: &World, dataset: &Dataset, text: &str) {
    let (header, rows) = text.split_once('\n').unwrap();
    let at = header.split(',').position(|name| name == dataset.column).unwrap();
    let mut tables = vec![format!("{header}\n"); CLIENTS.len()];
    let mut roots = tables.clone();
    for (i, row) in rows.lines().enumerate() {
        let level = row.split(',').nth(at).unwrap();
        let lacks = |client: usize| dataset.levels[client] == level;
        let client = (0..).map(|step| (i + step) % CLIENTS.len()).find(|&c| !lacks(c)).unwrap();
        let table = if i / 5 % 100 == 0 { &mut roots } else { &mut tables };
        table[client] += &format!("{row}\n");
    }
    for (client, (table, root)) in CLIENTS.iter().zip(tables.iter().zip(&roots)) {
        world.write(&format!("{client}.csv"), table);
        world.write(&format!("five/trusted/{client}.csv"), root);
    }
}

fn take_through_a_round(dataset: &Dataset) {
    let Some(path) = path_of(dataset.file) else {
        println!("SKIPPED: ../shared/data/{} does not exist", dataset.file);
        return;
    };
    let world = World::new();
    std::fs::create_dir_all(world.path("five/trusted")).unwrap();
    std::fs::create_dir_all(world.path("five/proxies")).unwrap();
    split(&world, dataset, &std::fs::read_to_string(path).unwrap());
    let roles = dataset.roles;

    // One client's schema refuses the rows of all others: they have a level that it lacks.
    world.run(&format!("schema infer a.csv {roles} -o one.toml")).expect(0);
    world.run("proxy b.csv --schema one.toml --fairness sp -o none.parquet").expect(2).says(&[
        "b.csv",
        dataset.column,
        "is not one of the levels",
    ]);

    for client in CLIENTS {
        world
            .run(&format!("schema describe {client}.csv {roles} -o {client}.description.json"))
            .expect(0);
    }
    let descriptions = CLIENTS.map(|client| format!("{client}.description.json")).join(" ");
    world.run(&format!("schema merge {descriptions} -o merged.toml")).expect(0);
    let tables = CLIENTS.map(|client| format!("{client}.csv")).join(" ");
    world.run(&format!("schema infer {tables} {roles} -o union.toml")).expect(0);
    let shown = |file: &str| world.run(&format!("schema show {file} --json")).expect(0).json();
    super::assert_close(&shown("merged.toml")["schema"], &shown("union.toml")["schema"], "");

    for client in CLIENTS {
        let proxy = format!(
            "proxy {client}.csv --schema merged.toml --fairness sp --rows 2000 -o five/proxies/{client}.parquet"
        );
        world.run(&proxy).expect(0);
    }
    world
        .run("defend --proxies five/proxies --trusted five/trusted --schema merged.toml --fairness sp -o out")
        .expect(0);
    let measured = world.run("evaluate out/model.json five/trusted/a.csv --json").expect(0).json();
    assert!(measured["accuracy"].as_f64().unwrap() > 0.7, "{measured}");
}

#[test]
fn law_school_without_shared_rows() {
    take_through_a_round(&LAW_SCHOOL);
}

#[test]
fn dutch_without_shared_rows() {
    take_through_a_round(&DUTCH);
}
