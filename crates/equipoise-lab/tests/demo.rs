//! The claims about the demo, for ten seeds.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use equipoise_core::{Defense, Metrics, NoopObserver, Outcome, Settings, solve};
use equipoise_lab::{Demo, DemoSettings};

/// In at least 9 of 10 seeds the default defense leaves out the unreliable majority, and its model is at least three times
/// fairer than the pooled model and fairer than both robust averages.
#[test]
fn the_default_defends_the_demo_round_in_nine_of_ten_seeds() {
    let folder = tempfile::tempdir().unwrap();
    let mut held = 0;
    for seed in 1..=10 {
        let path = folder.path().join(seed.to_string());
        std::fs::create_dir(&path).unwrap();
        let settings = DemoSettings { seed, ..DemoSettings::default() };
        let demo = Demo::build(settings, &path, &mut |_, _| {}).unwrap();
        let run = |defense| -> Outcome {
            let settings = Settings { defense, ..Settings::new(demo.settings.fairness) };
            solve(&demo.loaded.round, &settings.validate().unwrap(), &mut NoopObserver).unwrap()
        };
        let spd = |outcome: &Outcome| {
            Metrics::of(&outcome.theta, &demo.test).unwrap().gaps.sp.unwrap().size()
        };
        let tilt = run(Defense::Tilt);
        let unreliable = demo.scenario.unreliable_weight(&tilt.weights());
        let (pooled, fedasl, fednolowe) =
            (spd(&run(Defense::Pooled)), spd(&run(Defense::Fedasl)), spd(&run(Defense::Fednolowe)));
        let own = spd(&tilt);
        let bilevel = spd(&run(Defense::Bilevel));
        println!(
            "seed {seed}: unreliable weight {unreliable:.3}, |SPD| tilt {own:.3}, bilevel {bilevel:.3}, pooled \
             {pooled:.3}, fedasl {fedasl:.3}, fednolowe {fednolowe:.3}"
        );
        let holds = unreliable <= 0.05 && own <= pooled / 3.0 && own < fedasl && own < fednolowe;
        held += usize::from(holds);
    }
    assert!(held >= 9, "{held} of 10 seeds");
}
