//! The constants of the defense, each with its reason.

/// All constants of the defense `trust`, in one place so that studies can vary them. Gaps are differences of rates, between −1 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrustConstants {
    /// Gaps this close are alike: fair clients' own gaps vary by about this much, and no report would object to it.
    /// It is also the best precision that clients' rows are granted on the level of all gaps.
    pub tolerance: f64,
    /// Share of clients that fit neither kind. Only above 0 matters: so one client cannot rule out the truth.
    pub outliers: f64,
    /// Prior probability that no client is biased.
    pub none_biased: f64,
    /// Prior probability that the clients' rows are right about the level of all gaps. They are not if a majority
    /// moved its rows, or if labels were kept and features moved instead.
    pub rows_honest: f64,
    /// Error of the level on clients' rows, times the squared share of rows that a condition excludes. Labels of proxies
    /// are drawn from a fair model, so their positives are not the root's. The more rows have the other label, the more
    /// rows are misplaced, and the more these differ: the true positive rates of fair models are off by 0.12 where half of
    /// the rows are negative.
    pub label_doubt: f64,
    /// The largest prior probability that bias favours the groups with more positive root labels. Labels suggest which
    /// way ordinary bias leans, but never prove which way an attacker leans.
    pub direction_certainty: f64,
    /// Slope of the soft decisions that stand for hard ones: close to them, but still smooth in few rows.
    pub slope: f64,
    /// How many standard errors the clients' rows may correct the root.
    pub clip: f64,
    /// How many standard errors prove that a model is useless.
    pub proof: f64,
    /// A deficit in within-group AUC below this is never held against a client: fairness may cost a blind model 0.06.
    /// A larger one counts if the root proves it, or if the rows show it and the root allows it.
    pub deficit: f64,
    /// A model's scores may be at most this many times as large as the median client's: a client of small weight
    /// must not rule the average by the size of its coefficients.
    pub scale_limit: f64,
}

impl Default for TrustConstants {
    fn default() -> Self {
        Self {
            tolerance: 0.015,
            outliers: 0.05,
            none_biased: 0.2,
            rows_honest: 0.8,
            label_doubt: 0.5,
            direction_certainty: 0.9,
            slope: 3.0,
            clip: 2.0,
            proof: 2.5,
            deficit: 0.1,
            scale_limit: 1.0,
        }
    }
}

impl TrustConstants {
    /// The names of the constants, in order.
    pub const NAMES: [&'static str; 11] = [
        "tolerance",
        "outliers",
        "none_biased",
        "rows_honest",
        "label_doubt",
        "direction_certainty",
        "slope",
        "clip",
        "proof",
        "deficit",
        "scale_limit",
    ];

    /// The constants with one of them, by its place in [`NAMES`](Self::NAMES), multiplied by a factor. Of a probability,
    /// the odds are multiplied.
    #[must_use]
    pub fn scaled(mut self, place: usize, factor: f64) -> Self {
        let odds = |p: f64| factor * p / (1.0 - p + factor * p);
        match Self::NAMES[place] {
            "tolerance" => self.tolerance *= factor,
            "outliers" => self.outliers = odds(self.outliers),
            "none_biased" => self.none_biased = odds(self.none_biased),
            "rows_honest" => self.rows_honest = odds(self.rows_honest),
            "label_doubt" => self.label_doubt *= factor,
            "direction_certainty" => self.direction_certainty = odds(self.direction_certainty),
            "slope" => self.slope *= factor,
            "clip" => self.clip *= factor,
            "proof" => self.proof *= factor,
            "deficit" => self.deficit *= factor,
            _ => self.scale_limit *= factor,
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::TrustConstants;

    #[test]
    fn every_name_scales_one_constant() {
        let all = TrustConstants::default();
        let changed: Vec<TrustConstants> =
            (0..TrustConstants::NAMES.len()).map(|place| all.scaled(place, 2.0)).collect();
        for (place, one) in changed.iter().enumerate() {
            assert_ne!(*one, all, "{}", TrustConstants::NAMES[place]);
            assert!(!changed[..place].contains(one), "{}", TrustConstants::NAMES[place]);
        }
        assert_eq!(changed[0].tolerance, 0.03);
        // Odds of 0.8 are 4 to 1; twice that is 8 to 1.
        assert!((changed[3].rows_honest - 8.0 / 9.0).abs() < 1e-15);
    }
}
