//! Repeated runs write the same bytes, with any number of threads.

use equipoise_report::defend::FILES;

use crate::world::World;

#[test]
fn every_file_of_an_outcome_is_the_same_with_any_number_of_threads() {
    let world = World::with_proxies();
    for options in ["--fairness sp --sweep", "--fairness eo --defense bilevel"] {
        let files = |folder: &str, threads: usize| {
            let how = format!("{options} --threads {threads} --force -o {folder}");
            world.defend(&how).expect(0);
            FILES.map(|name| std::fs::read(world.path(&format!("{folder}/{name}"))).unwrap())
        };
        let date = || jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
        // The date is in the outcome, so all runs must be on the same day.
        let (started, runs) = (date(), [("one", 1), ("two", 2), ("again", 2)]);
        let runs = runs.map(|(folder, threads)| files(folder, threads));
        if started == date() {
            for (name, i) in FILES.iter().zip(0..) {
                assert!(runs.iter().all(|run| run[i] == runs[0][i]), "{options}: {name}");
            }
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
