//! How much the noise of a private proxy changes the rates of its groups, and a warning if that is too much.
//!
//! A group's rate is counted in the histograms of its scores, where every bin has its own noise. With `B` bins in all and a rate of `p`, of which `b` bins are above the
//! threshold, the variance of the rate is `σ² [b (1 − p)² + (B − b) p²] / n²`. For the 64 bins of the two labels, it is about `16 σ² / n²`, both for
//! `p = ½` and, because bins are narrow in the tails, for rates near 0 or 1.

use super::{PrivacyStatement, Release};
use crate::groups::Groups;
use crate::warning::{Warning, WarningCode};

/// The variance of a rate in units of `σ² / n²`.
const VARIANCES: f64 = 16.0;

/// The largest error of a rate at which fair models can be told from others, whose gaps are of this size.
const MAX_ERROR: f64 = 0.1;

impl PrivacyStatement {
    /// The standard error, about, that noise causes in the rate of a group with so many rows. `None` without a release of scores.
    pub fn rate_error(&self, n_rows: usize) -> Option<f64> {
        let scores = self.releases.iter().find(|release| release.release == Release::Scores)?;
        // In units of rows: one row changes the release by its sensitivity.
        let variance = scores.sigma_squared as f64 / scores.sensitivity_squared as f64;
        Some((VARIANCES * variance).sqrt() / n_rows as f64)
    }

    /// A warning if the noise is so large that nobody can tell whether the model of the proxy is fair. `cell_counts` are the rows of the data by
    /// group and label, or those of the proxy, which has about as many unless its maker chose another number.
    pub fn warn_of_large_noise(
        &self,
        groups: &Groups,
        cell_counts: &[[usize; 2]],
    ) -> Option<Warning> {
        let sizes = cell_counts.iter().map(|cell| cell[0] + cell[1]).enumerate();
        let (group, n_rows) = sizes.filter(|(_, n)| *n > 0).min_by_key(|(_, n)| *n)?;
        let error = self.rate_error(n_rows).filter(|error| *error > MAX_ERROR)?;
        let needed = (n_rows as f64 * error / MAX_ERROR).ceil();
        let message = format!(
            "the proxy declares ε = {:.3}, whose noise changes the rate of the group `{}` by about ± {error:.2}: nobody can \
             tell whether its model is fair. It needs a larger ε, or about {needed} rows in that group instead of {n_rows}",
            self.epsilon,
            groups.name(group)
        );
        Some(Warning::new(WarningCode::LargeNoise, message))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{Budget, Privacy, ScoreTable};
    use super::*;
    use crate::rows::{Layout, Rows};

    /// A table without features: 800 rows of group 0 and 3,200 of group 1, whose scores are spread evenly on the scale of log-odds around a mean.
    fn table(mean: f64) -> (Rows, Vec<f64>) {
        let groups: Vec<bool> = (0..4000).map(|i| i % 5 != 0).collect();
        let positive: Vec<bool> = (0..4000).map(|i| i % 3 != 0).collect();
        let score = |i: usize| {
            let share = ((i * 2_654_435_761) % 4001) as f64 / 4001.0 + 1e-4;
            mean + (share / (1.0 - share).max(1e-4)).ln()
        };
        let rows = Rows::new(Layout::two_groups(0, true), &[], &groups, &positive).unwrap();
        (rows, (0..4000).map(score).collect())
    }

    #[test]
    fn the_error_is_that_of_many_releases() {
        for mean in [0.0, 2.2, -3.0] {
            let (rows, scores) = table(mean);
            let mut statement = None;
            let rates: Vec<f64> = (0..200)
                .map(|seed| {
                    let privacy = Privacy { epsilon: 1.0, delta: 1e-6, test_seed: Some(seed) };
                    let mut budget = Budget::new(privacy).unwrap();
                    let both = (&rows, &scores[..]);
                    let table = ScoreTable::release(both, both, &mut budget).unwrap();
                    statement = Some(budget.statement());
                    let own: Vec<usize> =
                        (0..table.rows.len()).filter(|&i| table.rows.group(i) == 0).collect();
                    own.iter().filter(|&&i| table.scores[i] > 0.0).count() as f64 / own.len() as f64
                })
                .collect();
            let centre = rates.iter().sum::<f64>() / 200.0;
            let found =
                (rates.iter().map(|rate| (rate - centre).powi(2)).sum::<f64>() / 199.0).sqrt();
            let expected = statement.unwrap().rate_error(800).unwrap();
            assert!(
                found < 1.5 * expected && found > 0.4 * expected,
                "{mean}: {found}, {expected}"
            );
        }
    }

    #[test]
    fn only_noise_that_hides_a_gap_is_worth_a_warning() {
        let groups = Layout::two_groups(0, true).groups;
        let statement = |epsilon: f64| {
            let mut budget =
                Budget::new(Privacy { epsilon, delta: 1e-6, test_seed: Some(1) }).unwrap();
            let (rows, scores) = table(0.0);
            ScoreTable::release((&rows, &scores), (&rows, &scores), &mut budget).unwrap();
            budget.statement()
        };
        let counts = [[130, 400], [300, 2500]];
        assert_eq!(statement(3.0).warn_of_large_noise(&groups, &counts), None);
        let warning = statement(0.5).warn_of_large_noise(&groups, &counts).unwrap();
        assert_eq!(warning.code, WarningCode::LargeNoise);
        assert!(warning.message.contains("instead of 530"), "{}", warning.message);
        // Groups without rows do not count, nor do proxies without rows.
        let warn = |counts| statement(0.5).warn_of_large_noise(&groups, counts);
        assert_eq!(warn(&[[0, 0], [9000, 9000]]), None);
        assert_eq!(warn(&[[0, 0], [0, 0]]), None);
    }
}
