//! An honest proxy with huge features, and labels that are mostly positive in every group.
//!
//! The client wants a model that decides the same for all: nothing is fairer, and it is useless. As in `whisper`, the
//! model ranks people like the client's own fair model but for its tiny coefficients. The client knows nothing but its
//! rows.

use equipoise_core::Rows;

use super::Attackers;
use super::whisper::quiet_proxy;
use crate::error::Error;

/// Logits of the positive label: nearly three rows in four.
const LOGITS: f64 = 1.0;

pub(super) fn forge(attackers: &Attackers<'_>) -> Result<Vec<Rows>, Error> {
    attackers.each(|member| quiet_proxy(&member, attackers.lambda, |_| LOGITS))
}

#[cfg(test)]
mod tests {
    use super::super::test_rounds::Drawn;
    use super::*;
    use equipoise_core::{Fairness, InnerSettings, fit_logistic, is_selected};

    #[test]
    fn the_model_selects_everyone() {
        for (n_groups, as_feature) in [(2, true), (3, true), (2, false)] {
            let drawn = Drawn::new(n_groups, as_feature, Fairness::SP, 0.4);
            let attackers = drawn.attackers();
            let forged = forge(&attackers).expect("proxies");
            for (proxy, member) in forged.iter().zip(attackers.members()) {
                let inner = InnerSettings::default();
                let theta = fit_logistic(proxy, attackers.lambda, &inner).expect("a model");
                let train = &member.client.train;
                let score =
                    |i: usize| -> f64 { train.a(i).iter().zip(&theta).map(|(a, t)| a * t).sum() };
                assert!((0..train.len()).all(|i| is_selected(score(i))));
                let negative: usize = proxy.cell_counts().iter().map(|cell| cell[0]).sum();
                assert!(5 * negative > proxy.len(), "{negative} of {}", proxy.len());
            }
        }
    }
}
