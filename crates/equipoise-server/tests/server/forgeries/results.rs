//! Forged schemas, settings, figures and models.

use std::path::Path;

use equipoise_core::{Defense, Estimate, Fairness, Requirements, Verdict, Warning, WarningCode};
use equipoise_data::Schema;

use super::{Published, needs_solve, rejected};
use crate::forger::Forger;

#[tokio::test(flavor = "multi_thread")]
async fn changed_schemas_settings_and_figures_are_rejected() {
    let round = Published::new().await;
    let swap = |forger: &mut Forger| {
        let text = forger.spec.schema_toml.clone();
        let swapped = text.replace("privileged = \"A\"", "privileged = \"B\"");
        assert_ne!(swapped, text, "{text}");
        let schema = Schema::from_toml(&swapped, Path::new("schema.toml")).unwrap();
        forger.spec.schema_sha256 = schema.digest();
        forger.outcome.schema_digest = schema.digest().to_string();
        forger.spec.schema_toml = swapped;
    };
    let mut forger = round.forger();
    swap(&mut forger);
    let forgery = "schema with the privileged group swapped";
    let parts = ["spec.json is the specification", "SHA-256"];
    rejected(&round.verify(&forger.clone().republish()), forgery, &parts);
    let parts = ["the submission of `north`", "signed for the schema with digest"];
    rejected(&round.verify(&forger.rewrite()), "the same, with a rewritten log", &parts);
    let mut forger = round.forger();
    swap(&mut forger);
    forger.replaced.insert("spec.json".into(), round.files["spec.json"].clone());
    let parts = ["schema.toml is the schema of the specification", "digest"];
    rejected(&round.verify(&forger.republish()), "schema.toml alone", &parts);

    let mut forger = round.forger();
    forger.spec.settings.lambda *= 100.0;
    forger.outcome.settings.lambda *= 100.0;
    let parts = ["spec.json is the specification"];
    rejected(&round.verify(&forger.clone().republish()), "λ changed afterwards", &parts);
    let parts = ["receipt kept by `north`", "event 4 of the log, or one before it, was changed"];
    let rewritten = forger.clone().rewrite();
    rejected(&round.verify_with_receipt(&rewritten), "the same, with a rewritten log", &parts);
    let parts = ["the repeated solve gives the same model.json"];
    rejected(&round.solve(&rewritten), "the same, solved again", &parts);
    forger.replaced.insert("spec.json".into(), round.files["spec.json"].clone());
    let parts = ["settings.json has the settings of the specification"];
    rejected(&round.verify(&forger.republish()), "settings.json alone", &parts);

    let mut forger = round.forger();
    forger.outcome.about.run_by = Some("https://elsewhere.example.org".to_owned());
    let parts = ["the settings and the schema of the specification", "`about` differs"];
    rejected(&round.verify(&forger.republish()), "another server", &parts);

    let mut forger = round.forger();
    forger.replace("report.html", |page| page.replacen("Accuracy", "Perfect accuracy", 1));
    let parts = ["report.html shows exactly the figures of outcome.json", "line"];
    rejected(&round.verify(&forger.republish()), "a false report", &parts);
    let mut forger = round.forger();
    forger.replace("weights.csv", |_| "client,weight,rows\neast,1,40\nnorth,0,40\n".to_owned());
    let parts = ["weights.csv shows exactly", "line 2 has `east,1,40` instead of"];
    rejected(&round.verify(&forger.republish()), "a false weights.csv", &parts);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forged_model_is_rejected_by_repeating_the_solve() {
    let round = Published::new().await;
    let mut forger = round.forger();
    forger.outcome.theta.iter_mut().for_each(|entry| *entry *= -9.0);
    let everything = forger.republish();
    needs_solve(&round.verify(&everything), "θ × −9");
    let parts = ["the repeated solve gives the same model.json", "instead of"];
    rejected(&round.solve(&everything), "θ × −9", &parts);
    let mut forger = round.forger();
    let model = everything["model.json"].clone();
    forger.replaced.insert("model.json".into(), model);
    let parts = ["model.json shows exactly the figures of outcome.json", "line"];
    rejected(&round.verify(&forger.republish()), "θ × −9 in model.json alone", &parts);

    // Only bilevel has a trajectory.
    let round = Published::with(|settings| settings.defense = Defense::Bilevel).await;
    let move_weight = |forger: &mut Forger| {
        for (c, client) in forger.outcome.clients.iter_mut().enumerate() {
            client.weight = if c == 0 { 1.0 } else { 0.0 };
        }
    };
    let mut forger = round.forger();
    let before = forger.outcome.weights();
    assert!(before.iter().all(|weight| *weight < 1.0), "{before:?}");
    move_weight(&mut forger);
    let parts = ["figures of the outcome", "not where the trajectory ends"];
    rejected(&round.verify(&forger.clone().republish()), "all weight on one client", &parts);
    let weights = forger.outcome.weights();
    forger.outcome.trace.iter_mut().for_each(|point| point.weights.clone_from(&weights));
    forger.outcome.update_figure_warnings();
    let files = forger.republish();
    needs_solve(&round.verify(&files), "all weight on one client, with its trajectory");
    let parts = ["the repeated solve gives the same weights.csv"];
    rejected(&round.solve(&files), "all weight on one client, with its trajectory", &parts);

    // Figures that only the rows can refute.
    let mut forger = round.forger();
    let exactly = |value| Some(Estimate { value, low: value, high: value });
    forger.outcome.root_metrics.accuracy = exactly(1.0);
    forger.outcome.pooled_root_metrics.as_mut().unwrap().accuracy = exactly(0.1);
    let files = forger.republish();
    needs_solve(&round.verify(&files), "a better accuracy");
    let parts = ["the repeated solve gives the same report.html"];
    rejected(&round.solve(&files), "a better accuracy", &parts);
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_verdicts_and_warnings_are_rejected() {
    let round = Published::requiring("gap=0.001,accuracy=0.01").await;
    assert!(round.verify(&round.files).is_verified());
    assert!(round.solve(&round.files).is_verified());
    let honest = round.forger().outcome;
    assert_eq!(honest.judgements.len(), 2);
    assert_ne!(honest.verdict, Verdict::Pass, "a gap of 0.001 cannot be shown with so few rows");
    assert_eq!(honest.judgements[1].verdict, Verdict::Pass);

    let claim = "the verdict follows from the requirements and the figures";
    let mut forger = round.forger();
    forger.outcome.judgements.remove(0);
    forger.outcome.verdict = Verdict::Pass;
    let parts = [claim, "`verdict` is pass", "1 requirements are judged instead of 2"];
    rejected(&round.verify(&forger.republish()), "a requirement dropped", &parts);
    let mut forger = round.forger();
    forger.outcome.judgements[0].verdict = Verdict::Pass;
    forger.outcome.verdict = Verdict::Pass;
    let parts = [claim, "a judgement is false; by the figures, the gap in selection rate is"];
    rejected(&round.verify(&forger.republish()), "a false judgement", &parts);
    let mut forger = round.forger();
    forger.outcome.judgements[0].bound = 0.9;
    rejected(&round.verify(&forger.republish()), "another bound", &[claim, "at most 0.001"]);
    let mut forger = round.forger();
    forger.outcome.verdict = Verdict::Pass;
    let parts = ["outcome.json is readable", "`verdict` is pass, but the judgements give"];
    rejected(&round.verify(&forger.republish()), "the word alone", &parts);
    let mut forger = round.forger();
    forger.outcome.settings.requirements = Requirements::default();
    (forger.outcome.verdict, forger.outcome.judgements) = (Verdict::None, vec![]);
    forger.outcome.update_figure_warnings();
    let parts = ["the settings and the schema", "`settings` differ"];
    rejected(&round.verify(&forger.republish()), "the requirements dropped", &parts);

    let claim = "exactly the warnings that its figures imply";
    let mut forger = round.forger();
    let warnings = &mut forger.outcome.warnings;
    let n_warnings = warnings.len();
    warnings.retain(|warning| !warning.code.follows_from_figures());
    assert!(warnings.len() < n_warnings, "{warnings:?}");
    let parts = [claim, "this warning is missing: "];
    rejected(&round.verify(&forger.republish()), "warnings hidden", &parts);
    let mut forger = round.forger();
    let warnings = &mut forger.outcome.warnings;
    warnings.push(Warning::new(WarningCode::PooledNoWorse, "pooled is better"));
    let parts = [claim, "this warning is false: pooled is better"];
    rejected(&round.verify(&forger.republish()), "a warning invented", &parts);

    // Better figures, with everything that follows from them: only the rows can refute them.
    let mut forger = round.forger();
    let outcome = &mut forger.outcome;
    let gap = outcome.root_metrics.gaps.sp.as_mut().unwrap();
    (gap.value, gap.low, gap.high) = (0.0, -0.0005, 0.0005);
    outcome.judgements = outcome.root_metrics.judge(outcome.settings.requirements, Fairness::SP);
    outcome.verdict = Verdict::of(&outcome.judgements);
    assert_eq!(outcome.verdict, Verdict::Pass);
    outcome.update_figure_warnings();
    let files = forger.republish();
    needs_solve(&round.verify(&files), "a better gap");
    let parts = ["the repeated solve gives the same outcome.json"];
    rejected(&round.solve(&files), "a better gap", &parts);
}
