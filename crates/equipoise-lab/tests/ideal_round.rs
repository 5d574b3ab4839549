//! The paper's Table I on Law School: in an ideal round, replicas of one fair proxy get equal weights and
//! unreliable clients none.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use equipoise_core::{Fairness, NoopObserver, Rows, Settings, solve};
use equipoise_data::{InferOptions, Purpose, infer, open_table, read_rows};
use equipoise_lab::{Scenario, ScenarioKind, ScenarioSettings};
use std::path::Path;

/// The paper's preprocessing: standardised columns, codes as numbers, no intercept.
fn law_school() -> Option<Rows> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/law_school.csv");
    if !file.exists() {
        return None;
    }
    let options = InferOptions {
        label: ("pass_bar".to_owned(), "1".to_owned()),
        sensitive: vec![("race".to_owned(), Some("White".to_owned()))],
        two_groups: true,
        intercept: false,
        ..InferOptions::default()
    };
    let schema = infer(open_table(&file).unwrap(), &options).unwrap().schema;
    Some(read_rows(&file, &schema, Purpose::Data).unwrap().rows)
}

#[test]
fn replicas_get_equal_weights_and_unreliable_clients_none_in_most_seeds() {
    let Some(rows) = law_school() else {
        println!("SKIPPED: ../shared/data/law_school.csv does not exist");
        return;
    };
    for share in [0.2, 0.4, 0.6] {
        let mut held = 0;
        for seed in 1..=5 {
            let settings = ScenarioSettings::new(ScenarioKind::Ideal, Fairness::SP, share, seed);
            let scenario = Scenario::build(&rows, &settings, &mut |_, _| {}).unwrap();
            let paper = Settings::paper(Fairness::SP).validate().unwrap();
            let outcome = solve(&scenario.round().unwrap(), &paper, &mut NoopObserver).unwrap();
            let reliable: Vec<f64> = scenario
                .clients
                .iter()
                .zip(&outcome.weights())
                .filter(|(client, _)| client.reliable)
                .map(|(_, &w)| w)
                .collect();
            let spread = reliable.iter().copied().fold(f64::NEG_INFINITY, f64::max)
                - reliable.iter().copied().fold(f64::INFINITY, f64::min);
            let unreliable = scenario.unreliable_weight(&outcome.weights());
            println!("{share} unreliable, seed {seed}: weights {:.3?}", outcome.weights());
            held += usize::from(spread <= 0.02 && unreliable <= 0.06);
        }
        assert!(held >= 3, "{held} of 5 seeds at {share}");
    }
}
