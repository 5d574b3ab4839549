//! Consistency checks of an outcome.

use equipoise_core::{Choice, Outcome, Overlap, Verdict};

/// How far the sum of the weights may be from 1, to allow for rounding.
const SUM_TOLERANCE: f64 = 1e-9;

pub(super) fn check(outcome: &Outcome) -> Result<(), String> {
    check_figures(outcome)?;
    check_clients(outcome)?;
    check_overlaps(outcome)?;
    check_verdict(outcome)?;
    check_weights(outcome)
}

fn check_figures(outcome: &Outcome) -> Result<(), String> {
    let (theta, features) = (outcome.theta.len(), outcome.features.len());
    if theta != features {
        return Err(format!("`theta` has {theta} entries, but `features` has {features}."));
    }
    let figures = [
        ("objective", outcome.objective),
        ("root_loss", outcome.root_loss),
        ("rho", outcome.rho),
        ("violation", outcome.violation),
        ("violations", outcome.violations.sp),
        ("violations", outcome.violations.eo),
        ("gap", outcome.gap.unwrap_or(0.0)),
        ("counts", outcome.counts.final_inner_gradient_norm),
        ("counts", outcome.counts.largest_residual),
    ];
    let theta = outcome.theta.iter().map(|&entry| ("theta", entry));
    match figures.into_iter().chain(theta).find(|(_, figure)| !figure.is_finite()) {
        Some((key, _)) => Err(format!("`{key}` is not a finite number.")),
        None => Ok(()),
    }
}

fn check_clients(outcome: &Outcome) -> Result<(), String> {
    match outcome.clients.windows(2).find(|pair| pair[0].id >= pair[1].id) {
        Some(pair) => Err(format!(
            "`clients` must be sorted by id, without repetition: `{}` is out of order.",
            pair[1].id
        )),
        None => Ok(()),
    }
}

fn check_overlaps(outcome: &Outcome) -> Result<(), String> {
    let is_client =
        |id: &String| outcome.clients.binary_search_by(|client| client.id.cmp(id)).is_ok();
    let is_valid = |overlap: &&Overlap| {
        let [first, second] = &overlap.clients;
        let known = overlap.clients.iter().all(is_client);
        known && first < second && (0.0..=1.0).contains(&overlap.share)
    };
    match outcome.overlaps.iter().find(|overlap| !is_valid(overlap)) {
        Some(Overlap { clients: [first, second], share, .. }) => Err(format!(
            "`overlaps` names clients `{first}` and `{second}` with a share of {share}: they must be two of the \
             clients, sorted, and the share must be from 0 to 1."
        )),
        None => Ok(()),
    }
}

fn check_verdict(outcome: &Outcome) -> Result<(), String> {
    let (found, implied) = (outcome.verdict, Verdict::of(&outcome.judgements));
    if found == implied {
        return Ok(());
    }
    let (found, implied) = (found.name(), implied.name());
    Err(format!("`verdict` is {found}, but the judgements give {implied}."))
}

fn check_weights(outcome: &Outcome) -> Result<(), String> {
    let weights = outcome.weights();
    let smallest = weights.iter().copied().fold(f64::INFINITY, f64::min);
    let sum: f64 = weights.iter().sum();
    // Written so that NaN fails.
    let on_simplex = smallest >= 0.0 && (sum - 1.0).abs() <= SUM_TOLERANCE;
    if !on_simplex && weights.iter().any(|&weight| weight != 0.0) {
        return Err(format!(
            "the weights must be at least 0 and sum to 1, or all be 0; found a minimum of {smallest} and a sum of \
             {sum}."
        ));
    }
    let expected = weights.len();
    match outcome.trace.iter().find(|point| point.weights.len() != expected) {
        Some(point) => Err(format!(
            "iteration {} of `trace` has {} weights for {expected} clients.",
            point.iteration,
            point.weights.len()
        )),
        None => Ok(()),
    }
}
