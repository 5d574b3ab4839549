//! An arena gives the same bytes for any number of threads, resumes after an interruption, and records failures
//! instead of stopping.
#![allow(clippy::unwrap_used)]

use equipoise_core::{Choice, Criterion, Defense};
use equipoise_lab::{
    Arena, ArenaPage, ArenaSettings, Attack, Contender, Context, Error, Place, SYNTHETIC, Sources,
    run_arena,
};
use std::path::Path;

fn small() -> ArenaSettings {
    let context = |fairness| Context { dataset: SYNTHETIC.to_owned(), fairness };
    ArenaSettings {
        contexts: vec![context(Criterion::Sp), context(Criterion::Eo)],
        attacks: vec![Attack::RawRows],
        contenders: [Defense::Tilt, Defense::Pooled, Defense::RootOnly]
            .map(Contender::Defense)
            .into_iter()
            .chain([Contender::ALL[Defense::ALL.len()]])
            .collect(),
        rates: vec![0.0, 0.4],
        seeds: 2,
        root_share: 0.02,
        ..ArenaSettings::default()
    }
}

fn sources() -> Sources {
    Sources { data: Vec::new(), schema: None, n_people: 3000 }
}

fn run(settings: &ArenaSettings, folder: &Path, threads: usize) -> Arena {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let arena = pool.install(|| run_arena(settings, &sources(), folder, &|_, _| {}).unwrap());
    ArenaPage { arena: &arena, command: "equipoise arena" }.write(folder).unwrap();
    arena
}

fn files(folder: &Path) -> Vec<Vec<u8>> {
    ["results.csv", "arena.html"].map(|name| std::fs::read(folder.join(name)).unwrap()).to_vec()
}

#[test]
fn threads_and_interruptions_do_not_change_the_results() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let arena = run(&small(), &path("one"), 1);
    // Two criteria, two seeds, no attack and one attack at one rate.
    assert_eq!(arena.cells.len(), 8);
    let one = files(&path("one"));
    run(&small(), &path("two"), 2);
    assert!(one == files(&path("two")), "two threads give different bytes");

    // Killed in the middle: settings, one whole cell, half of the next.
    let journal = std::fs::read_to_string(path("one").join("results.jsonl")).unwrap();
    let lines: Vec<&str> = journal.lines().collect();
    assert_eq!(lines.len(), 9);
    let killed = path("killed");
    std::fs::create_dir(&killed).unwrap();
    let kept = format!("{}\n{}\n", lines[0], lines[1]);
    let half = &lines[2][..lines[2].len() / 2];
    std::fs::write(killed.join("results.jsonl"), format!("{kept}{half}")).unwrap();
    run(&small(), &killed, 2);
    assert!(one == files(&killed), "a resumed run gives different bytes");
    let continued = std::fs::read_to_string(killed.join("results.jsonl")).unwrap();
    assert!(continued.starts_with(&kept), "a cell was run again");

    // One seed first, the other later, in the same folder.
    let later = path("later");
    run(&ArenaSettings { seeds: 1, ..small() }, &later, 2);
    run(&small(), &later, 2);
    assert!(one == files(&later), "seeds added later give different bytes");

    // Another root needs another folder.
    let other = ArenaSettings { root_share: 0.03, ..small() };
    let refused = run_arena(&other, &sources(), &later, &|_, _| {});
    assert!(matches!(refused, Err(Error::OtherExperiment(_))));
}

#[test]
fn every_contender_is_measured_and_placed() {
    let folder = tempfile::tempdir().unwrap();
    let settings = small();
    let arena = run(&settings, folder.path(), 2);
    for cell in &arena.cells {
        assert_eq!(cell.results.len(), settings.contenders.len() + Contender::REFERENCES.len());
        let unreliable = cell.clients.iter().filter(|client| !client.reliable).count();
        assert_eq!(unreliable, if cell.key.attack.is_some() { 2 } else { 0 });
        let pooled = cell.result(Contender::POOLED).unwrap();
        // Pooling counts rows, so 2 of 5 equal clients have 40 % of the weight.
        assert_eq!(
            cell.unreliable_weight(pooled).map(|w| (10.0 * w).round()),
            Some(2.0 * unreliable as f64)
        );
        assert!((cell.effective_share(pooled).unwrap() - 1.0).abs() < 1e-6);
        assert!(cell.results.iter().all(|result| result.gap_error > Some(0.0)));
    }
    let summary = arena.summary();
    // Two criteria, no attack and one attack, for four contenders and two references.
    assert_eq!(summary.matchups.len(), 2 * 2 * 6);
    let firsts = summary.matchups.iter().filter(|m| m.place == Some(Place::First)).count();
    assert_eq!(firsts, 4, "one contender comes first in each matchup");
    assert!(summary.ranking.windows(2).all(|pair| pair[0].wins >= pair[1].wins));
    for standing in &summary.ranking {
        assert_eq!(standing.matchups, 4);
        assert!(standing.gap_low < standing.gap && standing.gap < standing.gap_high);
    }
    // The mean gap of a standing is the mean over all of its cells.
    let gaps: Vec<f64> = arena
        .cells
        .iter()
        .map(|cell| cell.result(Contender::POOLED).unwrap().gap.unwrap().abs())
        .collect();
    let pooled = summary.ranking.iter().find(|s| s.contender == Contender::POOLED).unwrap();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    assert!((pooled.gap.unwrap() - mean).abs() < 1e-12);
    assert_eq!(pooled.worse_than_pooled, 0);
}

#[test]
fn a_contender_that_fails_is_recorded_and_loses() {
    let folder = tempfile::tempdir().unwrap();
    let settings = ArenaSettings { seeds: 1, contexts: small().contexts[..1].to_vec(), ..small() };
    let mut arena = run(&settings, folder.path(), 2);
    let cell = &mut arena.cells[0];
    let failed = cell.results.iter_mut().find(|r| r.contender == Contender::DEFAULT).unwrap();
    (failed.gap, failed.accuracy) = (None, None);
    failed.problem = Some("the model is not finite".to_owned());
    let losses = arena.losses();
    assert_eq!(losses[0].place, Place::Failed);
    let standings = arena.ranking(1.0);
    let own = standings.iter().find(|s| s.contender == Contender::DEFAULT).unwrap();
    assert_eq!(own.failed, 1);
    let page = ArenaPage { arena: &arena, command: "" }.page().render();
    assert!(page.contains("✕") && page.contains("the model is not finite"));

    // A round that could not be run counts for nobody.
    arena.cells[0].problem = Some("the attack needs two clients".to_owned());
    arena.cells[0].results.clear();
    assert_eq!(arena.ranking(1.0)[0].matchups, 1);
    let page = ArenaPage { arena: &arena, command: "" }.page().render();
    assert!(page.contains("the attack needs two clients"));
}

#[test]
fn rejects_invalid_settings_before_starting() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("o");
    let twice = [small().contexts, small().contexts].concat();
    let unknown = vec![Context { dataset: "lawschool".to_owned(), fairness: Criterion::Sp }];
    for (bad, says) in [
        (ArenaSettings { seeds: 0, ..small() }, "--seeds must be"),
        (ArenaSettings { first_seed: u64::MAX, ..small() }, "--first-seed must be"),
        (
            ArenaSettings { rates: vec![1.2], ..small() },
            "--rates must be between 0 and 1, found 1.2",
        ),
        (ArenaSettings { rates: vec![f64::NAN], ..small() }, "--rates must be"),
        (ArenaSettings { rates: vec![0.05], ..small() }, "one unreliable client, found 0.05"),
        (ArenaSettings { rates: vec![0.4, 0.41], ..small() }, "2 unreliable clients"),
        (ArenaSettings { n_clients: 1, ..small() }, "--clients must be"),
        (ArenaSettings { root_share: 0.0, ..small() }, "--root-share must be"),
        (ArenaSettings { contexts: twice, ..small() }, "synthetic with sp is listed twice"),
        (ArenaSettings { contexts: unknown, ..small() }, "no dataset `lawschool`"),
    ] {
        let refused = run_arena(&bad, &sources(), &path, &|_, _| {}).unwrap_err().to_string();
        assert!(refused.contains(says), "{refused}");
        assert!(!path.exists());
    }
}
