//! A proxy made like an honest one, but for a model with another gap: −1 times the raw gap (over-correction ×2), or a
//! quarter of it.
//!
//! The client wants to look honest: rows, labels and moves are those of the default generator, and only the target
//! differs. It knows nothing but its rows.

use equipoise_core::{NoopObserver, ProxySettings, Rows, generate_proxy};
use rand::RngExt;

use super::Attackers;
use crate::error::Error;

pub(super) fn forge(attackers: &Attackers<'_>, remaining_gap: f64) -> Result<Vec<Rows>, Error> {
    attackers.each(|mut member| {
        let settings = ProxySettings {
            remaining_gap,
            rows: Some(member.honest.len()),
            lambda: attackers.lambda,
            seed: member.rng.random(),
            ..ProxySettings::new(attackers.fairness)
        };
        Ok(generate_proxy(&member.client.train, &settings, &mut NoopObserver)?.rows)
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_rounds::Drawn;
    use super::*;
    use equipoise_core::{Fairness, InnerSettings, Metrics, fit_logistic};

    #[test]
    fn the_gap_is_the_requested_share_of_the_raw_one() {
        // The true positive rates here allow no complete reversal: one of them would have to exceed 1.
        for (fairness, reversed) in [(Fairness::SP, -1.0), (Fairness::EO, -0.5)] {
            let drawn = Drawn::new(2, true, fairness, 0.4);
            let attackers = drawn.attackers();
            let gap = |rows: &Rows, train: &Rows| {
                let inner = InnerSettings::default();
                let theta = fit_logistic(rows, attackers.lambda, &inner).expect("a model");
                let metrics = Metrics::of(&theta, train).expect("figures");
                metrics.gap(fairness).expect("two groups").value
            };
            // With the whole gap, the generator keeps the raw model, regularised as it chooses.
            let whole = forge(&attackers, 1.0).expect("proxies");
            for share in [reversed, 0.25] {
                let forged = forge(&attackers, share).expect("proxies");
                for ((proxy, whole), member) in forged.iter().zip(&whole).zip(attackers.members()) {
                    let train = &member.client.train;
                    let raw = gap(whole, train);
                    assert!(raw.abs() > 0.1, "{raw}");
                    // 400 rows: thresholds are exact to a row in each group, or about .01.
                    let found = gap(proxy, train);
                    assert!((found - share * raw).abs() < 0.02, "{fairness:?}: {found} and {raw}");
                }
            }
        }
    }
}
