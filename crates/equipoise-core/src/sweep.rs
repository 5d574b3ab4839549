//! The trade-off between accuracy and fairness: the same round solved with several strengths of the fairness penalty.

use serde::{Deserialize, Serialize};

use crate::defense::Defense;
use crate::error::Error;
use crate::metrics::Metrics;
use crate::observer::NoopObserver;
use crate::round::Round;
use crate::settings::{CheckedSettings, RhoSchedule, Settings};
use crate::solve::solve;

/// One point of the trade-off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepPoint {
    /// The last ρ: 0 asks for accuracy alone.
    pub rho: f64,
    /// The weight of each client.
    pub weights: Vec<f64>,
    /// The model.
    pub theta: Vec<f64>,
    /// Its metrics on all root rows.
    pub root_metrics: Metrics,
}

/// The last ρ of each point, as shares of the last ρ of the settings.
const SHARES: [f64; 7] = [0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1.0];

/// Solves the round at several strengths of the penalty, from accuracy alone to that of the settings. Only the bilevel
/// method has a penalty.
pub fn sweep(
    round: &Round,
    settings: &CheckedSettings,
    mut done: impl FnMut(usize, usize),
) -> Result<Vec<SweepPoint>, Error> {
    if settings.defense != Defense::Bilevel {
        return Err(Error::Input(format!(
            "a sweep needs the defense bilevel, which has a penalty to vary; found {}",
            settings.defense
        )));
    }
    let point = |(index, share): (usize, f64)| {
        let outcome = solve(round, &at_share(settings, share)?, &mut NoopObserver)?;
        done(index + 1, SHARES.len());
        Ok(SweepPoint {
            rho: outcome.rho,
            weights: outcome.weights(),
            root_metrics: outcome.root_metrics,
            theta: outcome.theta,
        })
    };
    SHARES.into_iter().enumerate().map(point).collect()
}

fn at_share(settings: &CheckedSettings, share: f64) -> Result<CheckedSettings, Error> {
    let mut changed: Settings = **settings;
    let rho = &mut changed.outer.rho;
    rho.max *= share;
    rho.start = rho.start.min(rho.max);
    if share == 0.0 {
        *rho = RhoSchedule::off();
    }
    changed.validate()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::fairness::Fairness;
    use crate::test_rows::random_round;

    #[test]
    fn a_stronger_penalty_never_has_a_lower_loss_and_ends_at_the_settings() {
        let round = random_round(3, 4, 200, 3, true);
        let settings = Settings::new(Fairness::SP).validate().unwrap();
        let points = sweep(&round, &settings, |_, _| {}).unwrap();
        assert_eq!(points.len(), SHARES.len());
        assert_eq!((points[0].rho, points[6].rho), (0.0, 1e4));
        let last = solve(&round, &settings, &mut NoopObserver).unwrap();
        assert_eq!(points[6].theta, last.theta);
        // Of two minimisers of loss + (ρ/2) violation², the one with the larger ρ has the smaller violation.
        let violation = |point: &SweepPoint| {
            let root = round.root().all_rows().unwrap();
            crate::fairness::Covariance::of(&root).violation(&point.theta).sp.abs()
        };
        for pair in points.windows(2) {
            assert!(violation(&pair[1]) <= violation(&pair[0]) + 1e-6);
        }
    }

    #[test]
    fn a_defense_without_a_penalty_is_refused() {
        let round = random_round(3, 2, 60, 2, true);
        let settings = Settings { defense: Defense::Pooled, ..Settings::new(Fairness::SP) };
        let error = sweep(&round, &settings.validate().unwrap(), |_, _| {}).unwrap_err();
        assert!(error.to_string().contains("pooled"));
    }
}
