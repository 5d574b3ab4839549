//! Counts the warnings of demo rounds: `honest_rounds DEFENSE UNRELIABLE FIRST_SEED LAST_SEED [CRITERION] [ROOT_SHARE]`.
//!
//! A warning that most honest rounds have is soon ignored, so each code should be rare there. Prints every warning, then
//! a JSON document with the number of rounds that have each code. Where the pooled model is said to be no worse, its
//! figures minus those of the published model on the test rows tell whether that is true.
#![allow(clippy::print_stdout)]

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

use equipoise_core::{
    Choice, Defense, Fairness, Metrics, NoopObserver, Rows, Settings, WarningCode, solve,
};
use equipoise_lab::{Demo, DemoSettings};
use equipoise_report::defend::defend;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [defense, unreliable, first, last, more @ ..] = arguments.as_slice() else {
        return Err(
            "usage: honest_rounds DEFENSE UNRELIABLE FIRST_SEED LAST_SEED [CRITERION] [ROOT_SHARE]"
                .into(),
        );
    };
    let defense = *Defense::ALL.iter().find(|d| d.name() == defense).ok_or("unknown defense")?;
    let fairness: Fairness = more.first().map_or("sp", String::as_str).parse()?;
    let standard = DemoSettings::default();
    let root_share = more.get(1).map_or(Ok(standard.root_share), |text| text.parse())?;
    let (unreliable_share, first, last) = (unreliable.parse()?, first.parse()?, last.parse()?);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for seed in first..=last {
        let folder = tempfile::tempdir()?;
        let settings = DemoSettings { seed, unreliable_share, root_share, fairness, ..standard };
        let demo = Demo::build(settings, folder.path(), &mut |_, _| {})?;
        let settings = Settings { defense, ..Settings::new(fairness) }.validate()?;
        let outcome = defend(&demo.schema, &demo.loaded, &settings, &mut NoopObserver)?;
        let mut codes = BTreeSet::new();
        for warning in &outcome.warnings {
            println!("seed {seed}: {warning}");
            codes.insert(serde_json::to_string(&warning.code)?);
            if warning.code == WarningCode::PooledNoWorse {
                let pooled = Settings { defense: Defense::Pooled, ..*settings }.validate()?;
                let pooled = solve(&demo.loaded.round, &pooled, &mut NoopObserver)?.theta;
                let [own, pooled] = [&outcome.theta, &pooled]
                    .map(|theta| loss_and_gap(theta, &demo.test, fairness));
                let ((own_loss, own_gap), (pooled_loss, pooled_gap)) = (own?, pooled?);
                println!(
                    "seed {seed}: on the test rows, the pooled model's loss differs by {:+.4}, its gap by {:+.4}",
                    pooled_loss - own_loss,
                    pooled_gap - own_gap
                );
            }
        }
        codes.into_iter().for_each(|code| *counts.entry(code).or_default() += 1);
    }
    let codes: BTreeMap<&str, usize> =
        counts.iter().map(|(code, &count)| (code.trim_matches('"'), count)).collect();
    let answer = serde_json::json!({
        "defense": defense.name(),
        "fairness": fairness.name(),
        "unreliable": unreliable_share,
        "root_share": root_share,
        "rounds": last - first + 1,
        "rounds_with_code": codes,
    });
    println!("{answer}");
    Ok(())
}

/// The mean loss of a model and the size of its worst gap.
fn loss_and_gap(
    theta: &[f64],
    rows: &Rows,
    fairness: Fairness,
) -> Result<(f64, f64), Box<dyn Error>> {
    let gap = Metrics::of(theta, rows)?.gap(fairness).ok_or("the gap cannot be measured")?;
    let loss = |i: usize| {
        let score: f64 = rows.a(i).iter().zip(theta).map(|(a, t)| a * t).sum();
        (-rows.labels()[i] * score).exp().ln_1p()
    };
    let sum: f64 = (0..rows.len()).map(loss).sum();
    Ok((sum / rows.len() as f64, gap.size()))
}
