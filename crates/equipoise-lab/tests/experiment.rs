//! An experiment gives the same bytes for any number of threads, resumes after an interruption, and ends with a
//! page.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use equipoise_core::{Criterion, Defense, Profile};
use equipoise_lab::{
    Distribution, Error, Experiment, ExperimentSettings, Results, SYNTHETIC, ScenarioKind, Sources,
    Variant, run_experiment, summarise,
};
use std::path::{Path, PathBuf};

fn data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    folder.exists().then_some(folder)
}

fn sources(data: &Path) -> Sources {
    Sources { data: vec![data.to_owned()], schema: None, n_people: 3000 }
}

fn on(dataset: &str) -> ExperimentSettings {
    ExperimentSettings {
        datasets: vec![dataset.to_owned()],
        fairness: vec![Criterion::Sp],
        scenarios: vec![ScenarioKind::Ideal, ScenarioKind::Realistic],
        unreliable: vec![0.6],
        seeds: 2,
        profile: Profile::Default,
        root_share: 0.02,
        ..ExperimentSettings::default()
    }
}

/// Runs the synthetic experiment in a folder and writes its files.
fn run_synthetic(folder: &Path, threads: usize) -> Experiment {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let experiment = pool
        .install(|| run_experiment(&on(SYNTHETIC), &sources(folder), folder, &|_, _| {}).unwrap());
    Results { experiment: &experiment, command: "equipoise experiment" }.write(folder).unwrap();
    experiment
}

fn files(folder: &Path) -> Vec<Vec<u8>> {
    ["results.csv", "report.html"].map(|name| std::fs::read(folder.join(name)).unwrap()).to_vec()
}

#[test]
fn threads_and_interruptions_do_not_change_the_results() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let experiment = run_synthetic(&path("one"), 1);
    assert_eq!(experiment.grid.len(), 4);
    let one = files(&path("one"));
    run_synthetic(&path("two"), 2);
    assert!(one == files(&path("two")), "two threads give different bytes");

    // Killed in the middle: settings, one whole cell, half of the next.
    let journal = std::fs::read_to_string(path("one").join("results.jsonl")).unwrap();
    let lines: Vec<&str> = journal.lines().collect();
    assert_eq!(lines.len(), 5);
    let half = &lines[2][..lines[2].len() / 2];
    let killed = path("killed");
    std::fs::create_dir(&killed).unwrap();
    std::fs::write(killed.join("results.jsonl"), format!("{}\n{}\n{half}", lines[0], lines[1]))
        .unwrap();
    run_synthetic(&killed, 2);
    assert!(one == files(&killed), "a resumed run gives different bytes");
    let continued = std::fs::read_to_string(killed.join("results.jsonl")).unwrap();
    assert!(
        continued.starts_with(&format!("{}\n{}\n", lines[0], lines[1])),
        "a cell was run again"
    );

    // A repeated line counts once.
    let twice = path("twice");
    std::fs::create_dir(&twice).unwrap();
    std::fs::write(twice.join("results.jsonl"), format!("{journal}{}\n", lines[3])).unwrap();
    run_synthetic(&twice, 2);
    assert!(one == files(&twice), "a repeated line changes the results");
}

#[test]
fn the_page_has_every_table_and_figure() {
    let folder = tempfile::tempdir().unwrap();
    run_synthetic(folder.path(), 2);
    let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    for heading in [
        "The default defense",
        "Client weights",
        "Bilevel against pooling",
        "Tilt, bilevel and robust averaging",
        "Unfairness of each proxy",
        "Accuracy against fairness",
    ] {
        assert!(page.contains(heading), "{heading} is not on the page");
    }
    // Heatmap and scatter, each with its table.
    assert_eq!(page.matches("<figure").count(), 2);
    // The paper does not have this population, so there is nothing to compare.
    for paper in ["Table I", ">Paper", "Diff."] {
        assert!(!page.contains(paper), "{paper} is on the page");
    }
}

#[test]
fn on_law_school_robust_averaging_follows_the_majority_and_the_method_does_not() {
    let Some(data) = data() else {
        println!("SKIPPED: ../shared/data does not exist");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let settings = ExperimentSettings { root_share: 0.005, ..on("law-school") };
    let experiment = run_experiment(&settings, &sources(&data), folder.path(), &|_, _| {}).unwrap();
    let summaries = summarise(&experiment.grid, &settings.variants);
    let fairness = |defense: &str| {
        let of = |s: &&equipoise_lab::CellSummary| {
            s.defense == defense && s.scenario == ScenarioKind::Realistic
        };
        summaries.iter().find(of).unwrap().figures.gap.mean
    };
    assert!(fairness("fedasl") > 0.4 && fairness("pooled") > 0.2 && fairness("bilevel") < 0.1);
    // The paper's figures are shown beside ours.
    let results = Results { experiment: &experiment, command: "" };
    let text = results.page().render();
    assert!(text.contains("0.4948") && text.contains("84.72"), "the paper's figures are missing");
    for heading in ["Ours beside the paper", "Table I: ", "Table II: ", "Table III: ", "Figure 2: "]
    {
        assert!(text.contains(&format!(">{heading}")), "{heading} is missing");
    }
    assert!(
        text.contains(">Paper<") && text.contains(">Diff.<"),
        "the paper's columns are missing"
    );
    for defense in ["bilevel", "fedasl", "fednolowe", "pooled"] {
        let figure = format!("{:.4}", fairness(defense));
        assert!(text.contains(&figure), "{defense}: {figure} is not on the page");
    }
}

#[test]
fn your_own_table_is_encoded_by_its_schema() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("own.csv");
    let schema = folder.path().join("schema.toml");
    let mut text = "score,group,passed\n".to_owned();
    for i in 0..600 {
        let (score, group) = (f64::from(i * 37 % 101) / 50.0 - 1.0, i % 3);
        let passed = u8::from(score + f64::from(group) * 0.3 + f64::from(i % 7) * 0.1 > 0.4);
        text += &format!("{score},{},{passed}\n", if group == 0 { "b" } else { "a" });
    }
    std::fs::write(&table, text).unwrap();
    let written = "version = 1\nintercept = true\n[label]\ncolumn = \"passed\"\npositive = \"1\"\n\
                   [sensitive]\ncolumn = \"group\"\nprivileged = \"a\"\n[[feature]]\ncolumn = \"score\"\n\
                   kind = \"numeric\"\ncenter = 0.0\nscale = 1.0\n";
    std::fs::write(&schema, written).unwrap();
    let own = Sources { data: vec![table], schema: Some(schema), n_people: 0 };
    let settings = ExperimentSettings {
        n_clients: 3,
        unreliable: vec![0.4],
        root_share: 0.1,
        variants: vec![Variant::Defense(Defense::Bilevel), Variant::Defense(Defense::Pooled)],
        ..on("csv")
    };
    let path = folder.path().join("o");
    let run = |sources: &Sources| run_experiment(&settings, sources, &path, &|_, _| {});
    let experiment = run(&own).unwrap();
    assert_eq!(experiment.grid.len(), 4);
    let page = Results { experiment: &experiment, command: "" }.page();
    assert_eq!(page.subtitle, "own.csv (|SPD|), 3 clients");
    assert!(!page.render().contains(">Paper"), "columns of the paper");

    // A folder cannot be reused for other rows, and table and schema are both required.
    std::fs::write(&own.data[0], "score,group,passed\n1,a,1\n2,b,0\n").unwrap();
    let refused = run(&own).unwrap_err();
    assert!(refused.to_string().contains("other settings or rows"), "{refused}");
    assert!(matches!(run(&Sources { schema: None, ..own.clone() }), Err(Error::NoSchema)));
    assert!(matches!(run(&Sources { data: vec![], ..own }), Err(Error::NoOwnTable)));
}

#[test]
fn a_cell_that_cannot_be_run_does_not_end_the_run() {
    let folder = tempfile::tempdir().unwrap();
    // One root row per client. For some seeds, all five are of the same group.
    let settings = ExperimentSettings { root_share: 0.002, seeds: 12, ..on(SYNTHETIC) };
    let run = || {
        let here = sources(folder.path());
        run_experiment(&settings, &here, folder.path(), &|_, _| {}).unwrap()
    };
    let experiment = run();
    let failed = experiment.failed_cells();
    assert!((1..12).contains(&failed.len()), "{failed:?}");
    for split in &failed {
        assert_eq!(split.cells.len(), 2, "both scenarios have the same root");
        assert!(
            split.problem.contains("root") && split.problem.contains("--root-share"),
            "{split:?}"
        );
    }
    let results = Results { experiment: &experiment, command: "" };
    let text = results.page().render();
    assert!(text.contains(&format!("{} of 24 cells could not be run", 2 * failed.len())), "{text}");
    assert!(text.contains(&failed[0].problem.replace('`', "")), "the reason is not on the page");
    // Figures are means over the seeds that could be run.
    let summaries = summarise(&experiment.grid, &settings.variants);
    for summary in &summaries {
        assert_eq!(summary.seeds, 12 - failed.len());
        assert_eq!(summary.weights.len(), summary.unreliable_clients.len());
        assert!(summary.figures.accuracy.mean.is_finite());
    }
    // A resumed run knows them.
    assert_eq!(run().failed_cells(), failed);
}

#[test]
fn it_is_an_error_if_no_cell_can_be_run() {
    let folder = tempfile::tempdir().unwrap();
    let settings = ExperimentSettings { n_clients: 2000, unreliable: vec![0.4], ..on(SYNTHETIC) };
    let here = sources(folder.path());
    let refused = run_experiment(&settings, &here, folder.path(), &|_, _| {});
    let text = refused.unwrap_err().to_string();
    assert!(text.starts_with("none of the 4 cells could be run. synthetic, sp, "), "{text}");
}

#[test]
fn a_changed_setting_is_named_with_both_values() {
    let folder = tempfile::tempdir().unwrap();
    let here = sources(folder.path());
    let one =
        ExperimentSettings { seeds: 1, scenarios: vec![ScenarioKind::Realistic], ..on(SYNTHETIC) };
    let run = |settings: &ExperimentSettings, sources: &Sources| {
        run_experiment(settings, sources, folder.path(), &|_, _| {})
    };
    run(&one, &here).unwrap();
    let refused = |settings: &ExperimentSettings, sources: &Sources| {
        run(settings, sources).unwrap_err().to_string()
    };
    let more = ExperimentSettings { seeds: 3, root_share: 0.03, ..one.clone() };
    let text = refused(&more, &here);
    assert!(text.contains("other settings") && text.contains("another folder"), "{text}");
    let fewer = Sources { n_people: 2900, ..here.clone() };
    assert!(refused(&one, &fewer).contains("other settings or rows"));
    run(&one, &here).unwrap();
}

#[test]
fn people_are_drawn_from_a_dataset_and_clients_can_differ() {
    let folder = tempfile::tempdir().unwrap();
    let here = sources(folder.path());
    let realistic = ExperimentSettings {
        scenarios: vec![ScenarioKind::Realistic],
        variants: vec![Variant::Defense(Defense::Tilt), Variant::Defense(Defense::Pooled)],
        ..on(SYNTHETIC)
    };
    let run = |name: &str, settings: &ExperimentSettings| {
        run_experiment(settings, &here, &folder.path().join(name), &|_, _| {})
    };
    let accuracies = |experiment: &Experiment| -> Vec<f64> {
        experiment.grid.iter().map(|cell| cell.results[0].accuracy.unwrap()).collect()
    };
    let all = accuracies(&run("all", &realistic).unwrap());
    let sizes = ExperimentSettings { distribution: Distribution::Sizes, ..realistic.clone() };
    let experiment = run("sizes", &sizes).unwrap();
    assert!(experiment.failed_cells().is_empty());
    assert_ne!(accuracies(&experiment), all);
    let some = ExperimentSettings { n_people: Some(2000), ..realistic.clone() };
    assert_ne!(accuracies(&run("some", &some).unwrap()), all);
    let many = ExperimentSettings { n_people: Some(3001), ..realistic };
    let refused = run("many", &many).unwrap_err().to_string();
    assert!(refused.contains("--people must be at most 3000"), "{refused}");
}

#[test]
fn does_not_touch_a_folder_that_is_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let run = || run_experiment(&on(SYNTHETIC), &sources(folder.path()), folder.path(), &|_, _| {});
    let journal = folder.path().join("results.jsonl");
    let held = std::fs::File::create(&journal).unwrap();
    held.lock().unwrap();
    assert!(matches!(run(), Err(Error::Busy { .. })));
    drop(held);
    std::fs::remove_file(&journal).unwrap();
    std::fs::write(folder.path().join("report.html"), "mine").unwrap();
    assert!(matches!(run(), Err(Error::Foreign { name: "report.html", .. })));
    // A file with the journal's name that is not a journal, with and without a final line break.
    std::fs::remove_file(folder.path().join("report.html")).unwrap();
    for text in ["hello", "hello\n", "{\"version\":\"0\"}\nhello\n"] {
        std::fs::write(&journal, text).unwrap();
        assert!(matches!(run(), Err(Error::OtherJournal(_))), "{text}");
        assert_eq!(std::fs::read_to_string(&journal).unwrap(), text);
    }
}

#[test]
fn settings_can_be_corrected_before_the_first_cell_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let here = sources(folder.path());
    let bad = ExperimentSettings { n_clients: 2000, seeds: 1, ..on(SYNTHETIC) };
    assert!(run_experiment(&bad, &here, folder.path(), &|_, _| {}).is_err());
    let good = ExperimentSettings { seeds: 1, ..on(SYNTHETIC) };
    assert!(run_experiment(&good, &here, folder.path(), &|_, _| {}).is_ok());
}

#[test]
fn rejects_invalid_settings_before_starting() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("o");
    let base = on(SYNTHETIC);
    for bad in [
        ExperimentSettings { seeds: 0, ..base.clone() },
        ExperimentSettings { seeds: u64::MAX, ..base.clone() },
        ExperimentSettings { lambda: -1.0, ..base.clone() },
        ExperimentSettings { lambda: f64::NAN, ..base.clone() },
        ExperimentSettings { unreliable: vec![0.99], ..base.clone() },
        ExperimentSettings { unreliable: vec![0.2, 0.21], ..base.clone() },
        ExperimentSettings { n_clients: 1, ..base.clone() },
    ] {
        let refused = run_experiment(&bad, &sources(&path), &path, &|_, _| {});
        assert!(
            matches!(refused, Err(Error::Setting { .. } | Error::Twice { .. })),
            "{bad:?}: {refused:?}"
        );
        assert!(!path.exists());
    }
}

#[test]
fn rejects_a_folder_with_another_experiment() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("results.jsonl"), "{\"other\":1}\n").unwrap();
    let here = sources(folder.path());
    let refused = run_experiment(&on(SYNTHETIC), &here, folder.path(), &|_, _| {});
    assert!(matches!(refused, Err(Error::OtherJournal(_))));
}

#[test]
fn rejects_a_file_that_is_not_the_dataset() {
    let folder = tempfile::tempdir().unwrap();
    let run = |data: &Path| {
        run_experiment(&on("law-school"), &sources(data), &folder.path().join("o"), &|_, _| {})
    };
    assert!(matches!(run(folder.path()), Err(Error::DatasetFile { .. })));
    let file = folder.path().join("law_school.csv");
    std::fs::write(&file, "a,b\n1,2\n").unwrap();
    assert!(matches!(run(folder.path()), Err(Error::DatasetDigest { .. })));
    assert!(matches!(run(&file), Err(Error::DatasetDigest { .. })));
    assert!(!folder.path().join("o").exists(), "the folder was created before the rows were found");
    let unknown = run_experiment(&on("lawschool"), &sources(&file), folder.path(), &|_, _| {});
    assert!(matches!(unknown, Err(Error::UnknownDataset { .. })));
}
