//! The figures: outcome.json against specification and submissions, and everything that the other files show of it.

use equipoise_core::{
    Choice, Outcome, Termination, Verdict, Warning, WarningCode, sort_by_importance,
};
use equipoise_report::{OutcomePage, defend};

use super::check::{Checks, Problems};
use super::documents::Documents;
use crate::round::{about, submission_warnings};

/// How far a figure may be from the value that others imply, relative to its size, to allow for rounding.
const TOLERANCE: f64 = 1e-9;

pub(super) fn check(documents: &Documents<'_>, checks: &mut Checks) {
    checks.add(
        "the outcome used the settings and the schema of the specification",
        inputs_problem(documents),
    );
    checks.add("the outcome covers exactly the listed submissions", clients_problem(documents));
    checks.add(
        "the outcome warns about absent clients and repeated rows",
        warnings_problem(documents),
    );
    add_verdict_checks(documents, checks);
    checks.add("the figures of the outcome agree with each other", outcome_problem(documents));
    match all_files(documents) {
        Ok(files) => {
            for (name, expected) in files {
                let claim = match name {
                    "outcome.json" => "outcome.json is written as the server writes it".to_owned(),
                    _ => format!("{name} shows exactly the figures of outcome.json"),
                };
                documents.compare(claim, name, &expected, checks);
            }
        }
        Err(error) => {
            checks
                .add("model, weights and report follow from outcome.json", Some(error.to_string()));
        }
    }
}

/// The files as this version writes them.
fn all_files(documents: &Documents<'_>) -> Result<[(&'static str, Vec<u8>); 4], defend::Error> {
    defend::files(&OutcomePage::new(&documents.outcome, &documents.schema)?)
}

fn inputs_problem(documents: &Documents<'_>) -> Option<String> {
    let (outcome, spec) = (&documents.outcome, &documents.spec);
    let mut problems = Problems::default();
    problems.require(outcome.settings == spec.settings, || {
        "`settings` differ from the specification's".to_owned()
    });
    problems.require(outcome.about == about(spec), || {
        "`about` differs from the specification's round and server".to_owned()
    });
    let digest = documents.schema.digest().to_string();
    problems.require(outcome.schema_digest == digest, || {
        format!("it was computed with the schema {}, not {digest}", outcome.schema_digest)
    });
    problems.require(outcome.features == documents.schema.theta_names(), || {
        "`features` differ from the schema's".to_owned()
    });
    problems.into_option()
}

fn clients_problem(documents: &Documents<'_>) -> Option<String> {
    let clients = &documents.outcome.clients;
    let listed = &documents.list.submissions;
    let mut problems = Problems::default();
    for submission in listed {
        let found = clients.iter().find(|client| client.id == submission.client.as_str());
        match found {
            None => problems.require(false, || format!("`{}` is missing", submission.client)),
            Some(client) => problems.require(client.proxy_rows as u64 == submission.rows, || {
                format!(
                    "`{}` submitted {} rows, but the outcome has {}",
                    submission.client, submission.rows, client.proxy_rows
                )
            }),
        }
    }
    for client in clients {
        let is_listed = listed.iter().any(|submission| submission.client.as_str() == client.id);
        problems.require(is_listed, || format!("`{}` did not submit", client.id));
    }
    problems.into_option()
}

/// The warnings that follow from the submissions must be there, and no others of their kind.
fn warnings_problem(documents: &Documents<'_>) -> Option<String> {
    let follows_from_list = |warning: &&Warning| {
        matches!(
            warning.code,
            WarningCode::NoSubmission | WarningCode::SameTable | WarningCode::RepeatedRows
        )
    };
    let warnings = &documents.outcome.warnings;
    let found: Vec<&Warning> = warnings.iter().filter(follows_from_list).collect();
    let mut expected = submission_warnings(&documents.list);
    sort_by_importance(&mut expected);
    warnings_differ(found, &expected)
}

/// How some warnings differ from the expected ones. `None` if they do not.
fn warnings_differ(found: Vec<&Warning>, expected: &[Warning]) -> Option<String> {
    if found.iter().copied().eq(expected) {
        return None;
    }
    let missing = expected.iter().find(|warning| !found.contains(warning));
    let extra = found.iter().find(|warning| !expected.contains(warning));
    Some(match (missing, extra) {
        (Some(missing), _) => format!("this warning is missing: {}", missing.message),
        (_, Some(extra)) => format!("this warning is false: {}", extra.message),
        _ => "the warnings are not in order".to_owned(),
    })
}

/// The verdict and the warnings about figures must be those that the figures give. Another version may judge otherwise.
fn add_verdict_checks(documents: &Documents<'_>, checks: &mut Checks) {
    let verdict = "the verdict follows from the requirements and the figures";
    let warnings = "the outcome has exactly the warnings that its figures imply";
    let claims = [(verdict, verdict_problem(documents)), (warnings, figures_warned(documents))];
    for (claim, problem) in claims {
        match problem {
            Some(_) if !documents.is_from_this_version() => {
                checks.add_undecided(claim, documents.use_version());
            }
            problem => checks.add(claim, problem),
        }
    }
}

fn verdict_problem(documents: &Documents<'_>) -> Option<String> {
    let outcome = &documents.outcome;
    let settings = &outcome.settings;
    let expected = outcome.root_metrics.judge(settings.requirements, settings.fairness);
    let mut problems = Problems::default();
    let verdict = Verdict::of(&expected);
    problems.require(outcome.verdict == verdict, || {
        format!("`verdict` is {}, but the figures give {}", outcome.verdict.name(), verdict.name())
    });
    let pairs = outcome.judgements.iter().zip(&expected);
    let wrong = pairs.filter(|(found, expected)| found != expected).map(|(_, expected)| expected);
    for expected in wrong {
        problems.require(false, || format!("a judgement is false; by the figures, {expected}"));
    }
    problems.require(outcome.judgements.len() == expected.len(), || {
        format!(
            "{} requirements are judged instead of {}",
            outcome.judgements.len(),
            expected.len()
        )
    });
    problems.into_option()
}

fn figures_warned(documents: &Documents<'_>) -> Option<String> {
    let outcome = &documents.outcome;
    let found = outcome.warnings.iter().filter(|warning| warning.code.follows_from_figures());
    warnings_differ(found.collect(), &outcome.figure_warnings())
}

/// Figures that other figures imply. Reading the file has checked that all are finite and the weights a distribution.
fn outcome_problem(documents: &Documents<'_>) -> Option<String> {
    let outcome = &documents.outcome;
    let outer = &outcome.settings.outer;
    let mut problems = Problems::default();
    problems.require(outcome.rho == outer.rho.last(outer.iterations), || {
        format!("ρ is {}, which is not where the settings end", outcome.rho)
    });
    let violation = outcome.violations.size(outcome.settings.fairness);
    problems.require(is_close(outcome.violation, violation), || {
        format!("`violation` is {}, but `violations` give {violation}", outcome.violation)
    });
    problems.require(termination_is_justified(outcome), || {
        format!("`termination` is {}, but the gap is {:?}", outcome.termination.name(), outcome.gap)
    });
    problems.require(outcome.weights_end_a_descent() != Some(false), || {
        "the weights are not where the trajectory ends".to_owned()
    });
    let root_rows: usize = outcome.clients.iter().map(|client| client.root_rows).sum();
    let measured = [Some(&outcome.root_metrics), outcome.pooled_root_metrics.as_ref()];
    for metrics in measured.into_iter().flatten() {
        problems.require(metrics.rows >= root_rows, || {
            format!("the clients have {root_rows} root rows, but {} were measured", metrics.rows)
        });
        let in_groups: usize = metrics.groups.iter().map(|group| group.rows).sum();
        problems.require(in_groups == metrics.rows, || {
            "the groups of the metrics do not add up to all rows".to_owned()
        });
    }
    problems.into_option()
}

fn termination_is_justified(outcome: &Outcome) -> bool {
    let has_weight = outcome.uses_proxies();
    match (outcome.termination, outcome.settings.outer.gap_tolerance) {
        (Termination::Converged, Some(tolerance)) => {
            has_weight && outcome.gap.is_some_and(|gap| gap <= tolerance)
        }
        (Termination::IterationLimit, Some(tolerance)) => {
            has_weight && outcome.gap.is_some_and(|gap| gap > tolerance)
        }
        (Termination::ScheduleCompleted, None) => has_weight && outcome.gap.is_some(),
        (Termination::FellBack, _) => {
            let warned =
                outcome.warnings.iter().any(|warning| warning.code == WarningCode::FellBack);
            outcome.settings.fall_back && warned && !has_weight
        }
        (Termination::Direct, _) => outcome.gap.is_none(),
        _ => false,
    }
}

fn is_close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= TOLERANCE * expected.abs().max(f64::MIN_POSITIVE)
}
