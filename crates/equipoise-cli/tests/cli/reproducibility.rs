//! Repeated runs write the same bytes, with any number of threads.

use crate::world::World;

#[test]
fn outcomes_do_not_depend_on_threads_except_for_the_timing() {
    let world = World::with_proxies();
    for (folder, how) in [("one", "--threads 1"), ("two", "--threads 2"), ("again", "--threads 2")]
    {
        world.defend(&format!("--fairness sp {how} -o {folder}")).expect(0);
    }
    let outcome = |folder: &str| {
        let text = world.read(&format!("{folder}/outcome.json"));
        let (before, seconds) = text.split_once("\n  \"seconds\": ").unwrap();
        assert!(seconds.trim_end_matches("\n}\n").parse::<f64>().unwrap() >= 0.0);
        before.to_string()
    };
    for folder in ["two", "again"] {
        assert_eq!(outcome("one"), outcome(folder));
        for file in ["model.json", "weights.csv"] {
            assert_eq!(world.read(&format!("one/{file}")), world.read(&format!("{folder}/{file}")));
        }
    }
}

#[test]
fn proxies_depend_only_on_the_seed() {
    let world = World::new();
    let make = |name: &str, more: &str| {
        let options =
            format!("--schema schema.toml --fairness sp --rows 60 --client east {more} -o {name}");
        world.run(&format!("proxy east.csv {options}")).expect(0);
        std::fs::read(world.path(name)).unwrap()
    };
    let first = make("a.parquet", "--threads 1");
    assert_eq!(first, make("b.parquet", "--threads 2"));
    assert_ne!(first, make("c.parquet", "--seed 2"));
}
