//! The paper's method, Algorithm 1.
//!
//! The variables are the features of the proxy rows. Groups, labels and the constant are fixed. With `θ(X)`
//! the model fitted to the proxy, the generator minimises
//!
//! `F(θ(X)) = (1/N°) L°(θ) + (ρ/2) Σ_j ω_j d_j²`
//!
//! measured on the client's own data by covariances (see `fairness`), for increasing ρ. The rows start as a sample from a
//! smoothed model of the data (see `start`), and each step moves them as little as the model's next step allows (see
//! `rows_step`).

mod search;

use super::{ClientData, GeneratedProxy, ProxySettings, ProxySummary, measure_some, start};
use crate::error::Error;
use crate::observer::{Observer, Progress, report};
use crate::settings::RhoSchedule;
use search::Search;

/// Largest ρ if a tolerance is set, which may need more than the schedule's last value.
const RHO_LIMIT: f64 = 1e10;

/// Generates a proxy of `data`, whose settings and cells have been checked.
pub(super) fn generate(
    data: &ClientData<'_>,
    settings: &ProxySettings,
    observer: &mut dyn Observer,
) -> Result<GeneratedProxy, Error> {
    let data = data.rows;
    let (n_rows, minimum) = (settings.rows.unwrap_or(data.len()), data.layout().n() + 1);
    if n_rows < minimum {
        return Err(Error::FewProxyRows { found: n_rows, minimum });
    }
    let varying = start::varying_directions(data);
    let start = start::initial_rows(data, settings, &varying)?;
    let mut search = Search::new(data, start, varying, settings)?;
    let (start_loss, start_violation) = (search.loss(), search.size());
    let start_theta = search.theta().to_vec();

    let schedule = RhoSchedule::default();
    let mut rho = schedule.start;
    let mut steps = 0;
    let mut converged;
    loop {
        converged = false;
        for _ in 0..settings.steps_per_rho {
            let moved = search.step(rho)?;
            steps += usize::from(moved);
            let progress = Progress {
                done: steps,
                of: settings.steps_per_rho * 4,
                objective: search.value(rho),
                violation: search.size(),
                rho,
                weights: &[],
            };
            report(observer, progress)?;
            if !moved {
                converged = !search.was_stuck();
                break;
            }
        }
        let met = settings.epsilon.is_some_and(|epsilon| search.size() <= epsilon);
        let limit = if settings.epsilon.is_some() { RHO_LIMIT } else { schedule.max };
        if met || rho * schedule.factor > limit {
            converged |= met;
            break;
        }
        rho *= schedule.factor;
    }

    let violation = search.size();
    let (loss, violations) = (search.loss(), search.violations());
    let (rows, theta) = search.into_proxy();
    Ok(GeneratedProxy {
        summary: ProxySummary {
            loss,
            violation,
            violations,
            start_loss,
            start_violation,
            rho,
            steps,
            converged,
            epsilon_met: settings.epsilon.map(|epsilon| violation <= epsilon),
            closeness: measure_some(&rows, data, settings.seed, settings.closeness_rows),
            theta,
            start_theta,
            strength: None,
            target_error: None,
            promised_gap: None,
        },
        rows,
        privacy: None,
    })
}
