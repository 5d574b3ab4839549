//! An honest proxy with huge features, and labels that hardly favour one group.
//!
//! The client wants a model that looks fair and useful in its scores, and whose decisions are the group. Its features
//! are a million times too large, so their coefficients are tiny, and on true rows only the group is left to decide.
//! Its labels follow the client's own fair model but for a tenth of a logit between the groups. A model that does not
//! see the group becomes a constant. The client knows nothing but its rows.

use equipoise_core::{InnerSettings, MAX_ABS_VALUE, Rows, fit_logistic};

use super::table::{Table, draw_labels, least_and_most_favoured};
use super::{Attackers, Member};
use crate::error::Error;

const FACTOR: f64 = 1e6;
/// By how much labels favour the most favoured group, and disfavour the others, in logits.
const LEAN: f64 = 0.05;

pub(super) fn forge(attackers: &Attackers<'_>) -> Result<Vec<Rows>, Error> {
    attackers.each(|member| {
        let (_, most) = least_and_most_favoured(&member.client.train);
        let lean = |group| if group == most { LEAN } else { -LEAN };
        quiet_proxy(&member, attackers.lambda, lean)
    })
}

/// A proxy whose model has tiny coefficients for features, and `lean(group)` logits for everyone in a group.
pub(super) fn quiet_proxy(
    member: &Member<'_>,
    lambda: f64,
    lean: impl Fn(usize) -> f64,
) -> Result<Rows, Error> {
    let fair = fit_logistic(member.honest, lambda, &InnerSettings::default())?;
    let mut table = Table::of(member.honest);
    // The groups' features must differ in nothing that the coefficient of the group would have to offset.
    let centers = group_means(member.honest);
    let scores: Vec<f64> = (0..member.honest.len())
        .map(|i| {
            let group = member.honest.group(i);
            let x = table.x_mut(i).iter_mut().zip(&centers[group]);
            let terms = x.zip(&fair).map(|((x, center), t)| {
                *x -= center;
                *x * t
            });
            terms.sum::<f64>() + lean(group)
        })
        .collect();
    table.x.iter_mut().for_each(|x| *x = (*x * FACTOR).clamp(-MAX_ABS_VALUE, MAX_ABS_VALUE));
    table.positive = draw_labels(&table.groups, &scores);
    table.into_rows()
}

/// Mean features of each group.
fn group_means(rows: &Rows) -> Vec<Vec<f64>> {
    let n_x = rows.layout().n_x;
    let mut sums = vec![vec![0.0; n_x]; rows.layout().groups.len()];
    for i in 0..rows.len() {
        sums[rows.group(i)].iter_mut().zip(rows.x(i)).for_each(|(sum, x)| *sum += x);
    }
    let counts = rows.cell_counts();
    for (sums, [negative, positive]) in sums.iter_mut().zip(counts) {
        let n = (negative + positive).max(1) as f64;
        sums.iter_mut().for_each(|sum| *sum /= n);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::test_rounds::Drawn;
    use super::*;
    use equipoise_core::{Fairness, Metrics};

    #[test]
    fn labels_are_fair_and_decisions_are_the_group() {
        for n_groups in [2, 3] {
            let drawn = Drawn::new(n_groups, true, Fairness::SP, 0.4);
            let attackers = drawn.attackers();
            let forged = forge(&attackers).expect("proxies");
            for (proxy, member) in forged.iter().zip(attackers.members()) {
                let train = &member.client.train;
                let (_, most) = least_and_most_favoured(train);
                for [negative, positive] in proxy.cell_counts() {
                    // σ(±.05) is .5 ± .0125, and features add less.
                    let rate = positive as f64 / (negative + positive) as f64;
                    assert!((rate - 0.5).abs() < 0.05, "{rate}");
                }
                let inner = InnerSettings::default();
                let theta = fit_logistic(proxy, attackers.lambda, &inner).expect("a model");
                let score =
                    |i: usize| -> f64 { train.a(i).iter().zip(&theta).map(|(a, t)| a * t).sum() };
                for i in 0..train.len() {
                    assert_eq!(score(i) > 0.0, train.group(i) == most, "{}", score(i));
                    assert!(score(i).abs() < 0.3, "{}", score(i));
                }
                let gap = Metrics::of(&theta, train).expect("figures").gap(Fairness::SP);
                assert_eq!(gap.expect("groups").value.abs(), 1.0);
            }
        }
    }
}
