//! The constants of the defense, each with its reason.

/// All constants, in one place so that tests can vary them. Gaps are differences of rates, between −1 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Constants {
    /// Gaps this close are alike: fair clients' own gaps vary by about this much, and no report would object to it.
    /// It is also the best precision that clients' rows are granted on the level of all gaps.
    pub(crate) tolerance: f64,
    /// Share of clients that fit neither kind. Only above 0 matters: so one client cannot rule out the truth.
    pub(crate) outliers: f64,
    /// Prior probability that no client is biased.
    pub(crate) none_biased: f64,
    /// Prior probability that the clients' rows are right about the level of all gaps. They are not if a majority
    /// moved its rows, or if labels were kept and features moved instead.
    pub(crate) rows_honest: f64,
    /// Error of the level on clients' rows, times the squared share of rows that a condition excludes. Labels of proxies
    /// are drawn from a fair model, so their positives are not the root's. The more rows have the other label, the more
    /// rows are misplaced, and the more these differ: the true positive rates of fair models are off by 0.12 where half of
    /// the rows are negative.
    pub(crate) label_doubt: f64,
    /// The largest prior probability that bias favours the groups with more positive root labels. Labels suggest which
    /// way ordinary bias leans, but never prove which way an attacker leans.
    pub(crate) direction_certainty: f64,
    /// Slope of the soft decisions that stand for hard ones: close to them, but still smooth in few rows.
    pub(crate) slope: f64,
    /// How many standard errors the clients' rows may correct the root.
    pub(crate) clip: f64,
    /// How many standard errors prove that a model is useless.
    pub(crate) proof: f64,
    /// A deficit in within-group AUC below this is never held against a client.
    pub(crate) small_deficit: f64,
    /// A deficit above this counts if the rows show it and the root allows it.
    pub(crate) large_deficit: f64,
    /// A model's scores may be at most this many times as large as the median client's: a client of small weight
    /// must not rule the average by the size of its coefficients.
    pub(crate) scale_limit: f64,
    /// The trust is undecided if the weighted mean of the clients' reliabilities is below this.
    pub(crate) decided: f64,
}

impl Default for Constants {
    fn default() -> Self {
        Self {
            tolerance: 0.02,
            outliers: 0.05,
            none_biased: 0.2,
            rows_honest: 0.8,
            label_doubt: 0.5,
            direction_certainty: 0.9,
            slope: 3.0,
            clip: 2.0,
            proof: 2.5,
            small_deficit: 0.03,
            large_deficit: 0.1,
            scale_limit: 2.0,
            decided: 0.8,
        }
    }
}
