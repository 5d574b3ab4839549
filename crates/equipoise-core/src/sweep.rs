//! The trade-off between accuracy and fairness: models between accuracy alone and what the settings ask for.

use serde::{Deserialize, Serialize};

use crate::defense::{Defense, uniform_average};
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
    /// How much fairness counts, from 0 to 1, which is what the settings ask for. `bilevel`: the last ρ as a share of that
    /// of the settings. `tilt`: the share of its weights, the rest being uniform weights.
    pub strength: f64,
    /// The weight of each client.
    pub weights: Vec<f64>,
    /// The model.
    pub theta: Vec<f64>,
    /// Its metrics on all root rows.
    pub root_metrics: Metrics,
}

impl SweepPoint {
    /// The strength as text. Shares below a tenth are powers of ten.
    pub fn strength_text(&self) -> String {
        match self.strength {
            strength if strength > 0.0 && strength < 0.1 => format!("{strength:e}"),
            strength => strength.to_string(),
        }
    }
}

/// Shares of ρ. The trade-off happens over several orders of magnitude.
const RHO_SHARES: [f64; 7] = [0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1.0];

/// Shares of the weights that `tilt` finds.
const TILT_SHARES: [f64; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];

/// Whether a defense has a strength to vary, as `bilevel` and `tilt` have.
pub fn can_sweep(defense: Defense) -> bool {
    matches!(defense, Defense::Bilevel | Defense::Tilt)
}

/// Models at several strengths, weakest first, if the defense [can be swept](can_sweep).
pub fn sweep(
    round: &Round,
    settings: &CheckedSettings,
    mut done: impl FnMut(usize, usize),
) -> Result<Vec<SweepPoint>, Error> {
    let root = round.root().all_rows()?;
    let point = |strength: f64, weights: Vec<f64>, theta: Vec<f64>| {
        let root_metrics = Metrics::of(&theta, &root)?;
        Ok(SweepPoint { strength, weights, theta, root_metrics })
    };
    let mut points = Vec::new();
    match settings.defense {
        Defense::Bilevel => {
            for share in RHO_SHARES {
                let outcome = solve(round, &at_share(settings, share)?, &mut NoopObserver)?;
                points.push(point(share, outcome.weights(), outcome.theta)?);
                done(points.len(), RHO_SHARES.len());
            }
        }
        Defense::Tilt => {
            let tilted = solve(round, settings, &mut NoopObserver)?;
            let (uniform, average) = uniform_average(round, settings)?;
            for share in TILT_SHARES {
                let mix = |a: &[f64], b: &[f64]| -> Vec<f64> {
                    a.iter().zip(b).map(|(a, b)| share * a + (1.0 - share) * b).collect()
                };
                let weights = mix(&tilted.weights(), &uniform);
                points.push(point(share, weights, mix(&tilted.theta, &average))?);
                done(points.len(), TILT_SHARES.len());
            }
        }
        other => {
            return Err(Error::Input(format!(
                "a sweep needs the defense bilevel or tilt: {other} has no strength to vary"
            )));
        }
    }
    Ok(points)
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
    use crate::choice::Choice;
    use crate::fairness::Fairness;
    use crate::test_rows::random_round;

    #[test]
    fn a_stronger_penalty_never_has_a_lower_loss_and_ends_at_the_settings() {
        let round = random_round(3, 4, 200, 3, true);
        let settings = Settings::bilevel(Fairness::SP).validate().unwrap();
        let points = sweep(&round, &settings, |_, _| {}).unwrap();
        let texts: Vec<String> = points.iter().map(SweepPoint::strength_text).collect();
        assert_eq!(texts, ["0", "1e-6", "1e-5", "1e-4", "1e-3", "1e-2", "1"]);
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
    fn tilt_is_swept_from_the_mean_of_all_models_to_its_own() {
        let round = random_round(5, 4, 200, 3, true);
        let settings = Settings { defense: Defense::Tilt, ..Settings::new(Fairness::SP) };
        let settings = settings.validate().unwrap();
        let points = sweep(&round, &settings, |_, _| {}).unwrap();
        assert_eq!(points[0].weights, [0.25; 4]);
        let texts: Vec<String> = points.iter().map(SweepPoint::strength_text).collect();
        assert_eq!(texts, ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        let own = solve(&round, &settings, &mut NoopObserver).unwrap();
        assert_eq!((&points[5].theta, points[5].weights.clone()), (&own.theta, own.weights()));
    }

    #[test]
    fn a_defense_without_a_strength_is_refused() {
        let round = random_round(3, 2, 60, 2, true);
        for &defense in Defense::ALL {
            let settings = Settings { defense, ..Settings::new(Fairness::SP) };
            let swept = sweep(&round, &settings.validate().unwrap(), |_, _| {});
            assert_eq!(swept.is_ok(), can_sweep(defense), "{defense}");
            if let Err(error) = swept {
                assert!(error.to_string().contains(defense.name()), "{error}");
            }
        }
    }
}
