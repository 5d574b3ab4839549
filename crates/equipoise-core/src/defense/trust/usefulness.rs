//! Which models are useless.
//!
//! A model that decides at random is perfectly fair, so fairness alone would trust noise. A client is useless if its
//! model is provably worse than a constant on the root, or provably ranks people worse than the best client's model.

use super::constants::TrustConstants;
use super::rates::OnSample;
use super::report::TrustReason;
use super::root_rates::RootRates;

/// The share of its advantage over chance that a blind or a noisy model may lose.
const MOST: f64 = 0.6;

/// Why each client is useless; `None` if it is not.
pub(super) fn find_useless(
    root: &RootRates,
    on_samples: &[OnSample],
    models: &[Vec<f64>],
    is_noisy: impl Fn(usize) -> bool,
    constants: &TrustConstants,
) -> Vec<Option<TrustReason>> {
    let n_clients = models.len();
    let mut useless: Vec<Option<TrustReason>> = vec![None; n_clients];
    for (model, reason) in root.models.iter().zip(&mut useless) {
        let excess = model.excess_loss;
        if excess.value > constants.proof * excess.error {
            let (excess_loss, error) = (excess.value, excess.error);
            *reason = Some(TrustReason::WorseThanConstant { excess_loss, error });
        }
    }
    let auc = |client: usize| root.models[client].auc;
    // The first of the best: clients are sorted by id.
    let best = (0..n_clients)
        .filter(|&client| useless[client].is_none())
        .filter_map(|client| auc(client).map(|auc| (client, auc)))
        .reduce(|best, next| if next.1 > best.1 { next } else { best });
    if let Some((best, best_auc)) = best {
        let errors = root.auc_errors(models, best);
        for client in (0..n_clients).filter(|&c| c != best) {
            let (Some(auc), None) = (auc(client), &useless[client]) else { continue };
            let (deficit, error) = (best_auc - auc, errors[client]);
            let may_rank_worse = root.is_blind() || is_noisy(client);
            let allowed = allowed_deficit(best_auc, may_rank_worse, constants);
            let margin = constants.clip * error;
            let on_rows = deficit_on_samples(on_samples, client, best)
                .clamp(deficit - margin, deficit + margin);
            let is_proved = deficit > (constants.proof * error).max(allowed);
            if is_proved {
                useless[client] = Some(TrustReason::RanksPoorly { deficit, error });
            } else if on_rows > allowed {
                useless[client] = Some(TrustReason::RanksPoorlyOnProxies { deficit: on_rows });
            }
        }
    }
    useless
}

/// How much worse than the best a useful model may rank people. A model that sees the group can be fair by its thresholds
/// alone, and ranks as well as an unfair one. A blind model must rank people differently to be fair, and the noise of
/// differential privacy costs some of a model's ranking. Such a model is useless only if it has lost most of what sets the best
/// model apart from chance. A client that declares noise it did not add gains nothing but that.
fn allowed_deficit(best_auc: f64, may_rank_worse: bool, constants: &TrustConstants) -> f64 {
    let most = if may_rank_worse { MOST * (best_auc - 0.5) } else { 0.0 };
    constants.deficit.max(most)
}

/// The median over all samples of the difference in AUC between `best` and a client. A sample counts by how well any
/// model ranks its rows: rows with random labels say nothing.
fn deficit_on_samples(on_samples: &[OnSample], client: usize, best: usize) -> f64 {
    let mut deficits: Vec<(f64, f64)> = Vec::with_capacity(on_samples.len());
    for models in on_samples {
        if let (Some(a), Some(b)) = (models[best].auc, models[client].auc) {
            let top = models.iter().filter_map(|model| model.auc).fold(0.5, f64::max);
            deficits.push((a - b, (top - 0.5) * (top - 0.5)));
        }
    }
    weighted_median(deficits).unwrap_or(0.0)
}

/// The smallest value with at least half of the weight at or below it. `None` without weight.
pub(in crate::defense) fn weighted_median(mut values: Vec<(f64, f64)>) -> Option<f64> {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = values.iter().map(|(_, weight)| weight).sum();
    let mut below = 0.0;
    values.iter().filter(|_| total > 0.0).find_map(|(value, weight)| {
        below += weight;
        (below >= 0.5 * total).then_some(*value)
    })
}
