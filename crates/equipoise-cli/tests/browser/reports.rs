//! The reports that commands write.

use std::fmt::Write as _;
use std::path::Path;

use crate::page_check::{Expectations, check_page};
use crate::{equipoise, launch};

const OUTCOME: Expectations =
    Expectations { title: "Outcome of a round", charts: 4, figures: 5, requests: &[] };

/// Writes a table of people in six groups: sex and ethnicity, with a feature and a label that depend on both.
fn write_people(path: &Path) {
    let mut state = 7_u32;
    let mut draw = |n: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % n
    };
    let mut text = "sex,ethnicity,score,region,treated\n".to_owned();
    for _ in 0..6000 {
        let (sex, ethnicity, region) = (draw(2), draw(3), draw(4));
        let score = draw(100) + 8 * sex + 5 * ethnicity;
        let treated = if score + draw(40) > 75 { "yes" } else { "no" };
        let (sex, ethnicity) =
            (["F", "M"][sex as usize], ["Asian", "Black", "White"][ethnicity as usize]);
        writeln!(text, "{sex},{ethnicity},{score},Region {region},{treated}").unwrap();
    }
    std::fs::write(path, text).unwrap();
}

#[test]
fn the_report_of_a_blind_round_with_six_groups_passes_all_checks() {
    let Some(mut browser) = launch() else { return };
    let folder = tempfile::tempdir().unwrap();
    write_people(&folder.path().join("people.csv"));
    let roles = "--label treated=yes --sensitive sex=M --sensitive ethnicity=White";
    equipoise(folder.path(), &format!("schema infer people.csv {roles} --blind -o schema.toml"));
    let table = "people.csv --schema schema.toml --clients 3 --trusted 0.1 --fairness eo";
    equipoise(folder.path(), &format!("split {table} -o rehearsal"));
    for client in ["c1", "c2", "c3"] {
        let output = format!("-o rehearsal/proxies/{client}.parquet");
        let options = format!("--schema schema.toml --fairness eo {output}");
        equipoise(folder.path(), &format!("proxy rehearsal/train/{client}.csv {options}"));
    }
    let inputs = "--proxies rehearsal/proxies --trusted rehearsal/trusted.csv --schema schema.toml";
    let options = "--fairness eo --require gap=0.1,accuracy=0.4 --sweep";
    crate::run(folder.path(), &format!("defend {inputs} {options} -o outcome"));

    // Weights, gaps, each group against all others, rates, the trade-off and coefficients.
    let expected = Expectations { charts: 6, figures: 7, ..OUTCOME };
    let report = folder.path().join("outcome/report.html");
    let faults = check_page(&mut browser, &report, expected);
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_reports_of_every_command_pass_all_checks_on_screen_and_on_paper() {
    let Some(mut browser) = launch() else { return };
    let folder = tempfile::tempdir().unwrap();
    equipoise(folder.path(), "demo --out demo");
    let inputs = "--proxies demo/proxies --trusted demo/trusted.csv --schema demo/schema.toml";
    equipoise(folder.path(), &format!("defend {inputs} --fairness sp -o outcome"));
    let grid = "--dataset synthetic --people 2000 --root-share 0.05 --unreliable 0.4,0.6 --seeds 2";
    let profile = "--profile default --generator smoothed";
    equipoise(folder.path(), &format!("experiment {grid} {profile} -o experiment"));
    // Enough attacks for wide matrices, and at least one lost matchup.
    let attacks = "raw-rows,flipped-labels,noise,one-poison,posing-as-ten,swapped-groups";
    let arena = format!("--dataset synthetic --people 2000 --seeds 2 --attacks {attacks}");
    equipoise(folder.path(), &format!("arena {arena} -o arena"));

    let outcome = |charts| Expectations { charts, ..OUTCOME };
    let pages = [
        ("demo/tilt", outcome(4)),
        ("demo/bilevel", outcome(4)),
        ("demo/pooled", outcome(4)),
        ("demo/fedasl", outcome(4)),
        ("demo/fednolowe", outcome(4)),
        ("demo/root-only", outcome(4)),
        ("outcome", outcome(4)),
        // For each criterion: a heatmap and two scatter plots.
        ("experiment", Expectations { title: "results", charts: 6, figures: 3, requests: &[] }),
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
