//! The reports that commands write.

use crate::page_check::{Expectations, check_page};
use crate::{equipoise, launch};

#[test]
fn the_reports_of_every_command_pass_all_checks_on_screen_and_on_paper() {
    let Some(mut browser) = launch() else { return };
    let folder = tempfile::tempdir().unwrap();
    equipoise(folder.path(), "demo --out demo");
    let inputs = "--proxies demo/proxies --root demo/root --schema demo/schema.toml";
    equipoise(folder.path(), &format!("defend {inputs} --fairness sp -o outcome"));
    let grid = "--dataset synthetic --people 2000 --root-share 0.05 --unreliable 0.4,0.6 --seeds 2";
    let ablations = "--profile default --generator smoothed --ablations root-weighting,root-share";
    equipoise(folder.path(), &format!("experiment {grid} {ablations} -o experiment"));
    // Enough attacks for wide matrices, and at least one lost matchup.
    let attacks = "raw-rows,flipped-labels,noise,one-poison,posing-as-ten,swapped-groups";
    let arena = format!("--dataset synthetic --people 2000 --seeds 2 --attacks {attacks}");
    equipoise(folder.path(), &format!("arena {arena} -o arena"));

    let outcome =
        |charts| Expectations { title: "Outcome of a round", charts, figures: 5, requests: &[] };
    let pages = [
        ("demo/trust", outcome(4)),
        ("demo/bilevel", outcome(7)),
        ("demo/pooled", outcome(4)),
        ("demo/fedasl", outcome(4)),
        ("demo/fednolowe", outcome(4)),
        ("demo/root-only", outcome(4)),
        ("outcome", outcome(4)),
        // For each criterion: a heatmap, two scatter plots, three charts of the solver's trajectory.
        ("experiment", Expectations { title: "results", charts: 12, figures: 3, requests: &[] }),
        ("arena", Expectations { title: "Arena", charts: 0, figures: 5, requests: &[] }),
    ];
    println!("{}", browser.version());
    let mut faults = Vec::new();
    for (name, expected) in pages {
        let file = if name == "arena" { "arena.html" } else { "report.html" };
        let found = check_page(&mut browser, &folder.path().join(name).join(file), expected);
        faults.extend(found.into_iter().map(|fault| format!("{name}/{file}, {fault}")));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
