//! Models fitted to the rows of one client alone.
//!
//! Such a fit reads no other rows. So a process that holds all rows of a client makes it without a pass for every step, which
//! matters if the rows are on another machine.

use crate::error::Error;
use crate::inner_fit::{FitEnd, FitPoint, InnerProblem, InnerSettings};
use crate::statistics::{ClientStatistics, OneClient, Statistics};

/// What to fit to each client's rows: the minimiser of `(w_c/N) L_c(θ) + (ridge/2)‖θ‖²`.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalFits {
    /// Where each fit starts.
    pub start: Vec<f64>,
    /// `w_c` of each client.
    pub weights: Vec<f64>,
    /// `N`, the rows of all clients of the round.
    pub n_rows_total: usize,
    /// `λ/n²`.
    pub ridge: f64,
    /// How to fit.
    pub inner: InnerSettings,
}

/// The model of one client.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalFit {
    /// The model.
    pub theta: Vec<f64>,
    /// `L_c` at the model.
    pub loss: f64,
    /// How the fit ended.
    pub end: FitEnd,
}

impl LocalFits {
    /// Fits of the mean loss: the weight `N/n_c` makes the inner problem divide by the client's own rows.
    pub(crate) fn of_mean_losses(
        rows: &dyn ClientStatistics,
        start: Vec<f64>,
        ridge: f64,
        inner: InnerSettings,
    ) -> Self {
        let n_rows_total = rows.n_rows_total();
        let weight = |client: usize| n_rows_total as f64 / rows.n_rows(client) as f64;
        let weights = (0..rows.n_clients()).map(weight).collect();
        Self { start, weights, n_rows_total, ridge, inner }
    }

    /// The fit of one client, unless it is made already. `at_start` has the client's statistics at the start, if known.
    pub(crate) fn fit(
        &self,
        rows: &dyn ClientStatistics,
        client: usize,
        made: Option<LocalFit>,
        at_start: Option<Statistics>,
    ) -> Result<LocalFit, Error> {
        match made {
            Some(fit) => Ok(fit),
            None => self.fit_weighted(rows, client, self.weights[client], at_start),
        }
    }

    /// The fit of one client with this weight, by passes over its rows.
    pub(crate) fn fit_weighted(
        &self,
        rows: &dyn ClientStatistics,
        client: usize,
        weight: f64,
        at_start: Option<Statistics>,
    ) -> Result<LocalFit, Error> {
        let alone = OneClient { rows, client, n_rows_total: self.n_rows_total };
        let weights = [weight];
        let problem = InnerProblem { rows: &alone, weights: &weights, ridge: self.ridge };
        let theta = self.start.clone();
        let start = match at_start {
            Some(statistics) => FitPoint { theta, statistics },
            None => FitPoint::at(&alone, theta)?,
        };
        let fit = problem.fit(start, &self.inner)?;
        let loss = fit.point.statistics.losses().sum();
        Ok(LocalFit { theta: fit.point.theta, loss, end: fit.end })
    }
}
