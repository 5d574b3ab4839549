//! An experiment gives the same bytes for any number of threads, and goes on where it was interrupted.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use equipoise_core::Criterion;
use equipoise_lab::{
    Error, ExperimentSettings, Profile, ScenarioKind, run_experiment, summarise, write_results_csv,
};
use std::path::{Path, PathBuf};

fn data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    folder.exists().then_some(folder)
}

fn small() -> ExperimentSettings {
    ExperimentSettings {
        datasets: vec!["law-school".to_owned()],
        fairness: vec![Criterion::Sp],
        scenarios: vec![ScenarioKind::Ideal, ScenarioKind::Realistic],
        unreliable: vec![0.6],
        seeds: 2,
        profile: Profile::Default,
        ..ExperimentSettings::default()
    }
}

#[test]
fn threads_and_interruptions_change_no_byte_of_the_results() {
    let Some(data) = data() else {
        println!("SKIPPED: ../shared/data is not there");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, threads: usize| {
        let place = folder.path().join(name);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let cells = pool.install(|| run_experiment(&small(), &data, &place, &|_, _| {}).unwrap());
        write_results_csv(&place.join("results.csv"), &cells).unwrap();
        (cells, std::fs::read(place.join("results.csv")).unwrap())
    };
    let (cells, one) = run("one", 1);
    assert_eq!(cells.len(), 4);
    assert_eq!(one, run("two", 2).1);

    // Killed in the middle: settings, one whole cell, half of the next.
    let journal = std::fs::read_to_string(folder.path().join("one/results.jsonl")).unwrap();
    let lines: Vec<&str> = journal.lines().collect();
    let half = &lines[2][..lines[2].len() / 2];
    let killed = folder.path().join("killed");
    std::fs::create_dir(&killed).unwrap();
    std::fs::write(killed.join("results.jsonl"), format!("{}\n{}\n{half}", lines[0], lines[1]))
        .unwrap();
    assert_eq!(one, run("killed", 2).1);

    // The shape of the paper's table: robust averaging follows the majority, the method does not.
    let summaries = summarise(&cells, &small().variants);
    let fairness = |defense: &str| {
        let of = |s: &&equipoise_lab::CellSummary| {
            s.defense == defense && s.scenario == ScenarioKind::Realistic
        };
        summaries.iter().find(of).unwrap().fairness_mean
    };
    assert!(fairness("fedasl") > 0.4 && fairness("pooled") > 0.2 && fairness("bilevel") < 0.1);
}

#[test]
fn a_folder_of_another_experiment_is_refused() {
    let Some(data) = data() else {
        println!("SKIPPED: ../shared/data is not there");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("results.jsonl"), "{\"other\":1}\n").unwrap();
    let refused = run_experiment(&small(), &data, folder.path(), &|_, _| {});
    assert!(matches!(refused, Err(Error::OtherExperiment { .. })));
}

#[test]
fn a_file_that_is_not_the_dataset_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let missing = run_experiment(&small(), folder.path(), &folder.path().join("o"), &|_, _| {});
    assert!(matches!(missing, Err(Error::DatasetFile { .. })));
    std::fs::write(folder.path().join("law_school.csv"), "a,b\n1,2\n").unwrap();
    let other = run_experiment(&small(), folder.path(), &folder.path().join("o"), &|_, _| {});
    assert!(matches!(other, Err(Error::DatasetDigest { .. })));
}
