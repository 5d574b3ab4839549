//! The solvers' measure of unfairness: the decision boundary covariance of a model on given rows.
//!
//! For rows with mean sensitive value `s̄`, statistical parity (SP) requires `d_SP = (1/N) Σ_i (s_i − s̄) a_i·θ` to be 0.
//! Equal opportunity (EO) requires the same of `d_EO = (1/N) Σ_i (s_i − s̄) [y_i = +1] a_i·θ`, with `N` and `s̄` over all
//! rows, as in the paper. Both are linear in `θ`, so one pass over the rows gives the two vectors that are needed.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::linalg::add_outer_product;
use crate::logistic::dot;
use crate::rows::Rows;
use crate::settings::in_range;

/// A fairness criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// Statistical parity: equal selection rates.
    Sp,
    /// Equal opportunity: equal true positive rates.
    Eo,
    /// Both, balanced by ν.
    Both,
}

/// A criterion with its balance: the penalty is `(ρ/2) [(1−ν) d_SP² + ν d_EO²]`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fairness {
    criterion: Criterion,
    nu: f64,
}

impl Fairness {
    /// Statistical parity alone, ν = 0.
    pub const SP: Self = Self { criterion: Criterion::Sp, nu: 0.0 };
    /// Equal opportunity alone, ν = 1.
    pub const EO: Self = Self { criterion: Criterion::Eo, nu: 1.0 };

    /// Both criteria, with share `nu` in [0, 1] for equal opportunity.
    pub fn both(nu: f64) -> Result<Self, Error> {
        in_range("nu", nu, (0.0..=1.0).contains(&nu), "between 0 and 1")?;
        Ok(Self { criterion: Criterion::Both, nu })
    }

    /// The criterion.
    pub fn criterion(&self) -> Criterion {
        self.criterion
    }

    /// ν, the share of equal opportunity.
    pub fn nu(&self) -> f64 {
        self.nu
    }

    /// Whether equal opportunity has a share.
    pub fn includes_eo(&self) -> bool {
        self.nu > 0.0
    }
}

impl std::fmt::Display for Fairness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.criterion {
            Criterion::Sp => f.write_str("statistical parity"),
            Criterion::Eo => f.write_str("equal opportunity"),
            Criterion::Both => {
                write!(f, "statistical parity and equal opportunity, ν = {}", self.nu)
            }
        }
    }
}

/// Both covariances of a model on given rows, signed.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Violation {
    /// `d_SP`.
    pub sp: f64,
    /// `d_EO`.
    pub eo: f64,
}

impl Violation {
    /// `√((1−ν) d_SP² + ν d_EO²)`: `|d_SP|` for SP alone, `|d_EO|` for EO alone.
    pub fn size(&self, fairness: Fairness) -> f64 {
        self.squared(fairness).sqrt()
    }

    /// `(1−ν) d_SP² + ν d_EO²`, which the penalty multiplies by ρ/2.
    pub(crate) fn squared(&self, fairness: Fairness) -> f64 {
        (1.0 - fairness.nu) * self.sp * self.sp + fairness.nu * self.eo * self.eo
    }
}

/// The vectors whose products with `θ` are the covariances: `d_SP = sp·θ`, `d_EO = eo·θ`.
#[derive(Debug, Clone, PartialEq)]
pub struct Covariance {
    /// `(1/N) Σ_i (s_i − s̄) a_i`.
    pub sp: Vec<f64>,
    /// `(1/N) Σ_i (s_i − s̄) [y_i = +1] a_i`.
    pub eo: Vec<f64>,
}

impl Covariance {
    /// The vectors of one table.
    pub fn of(rows: &Rows) -> Self {
        let n_rows = rows.len() as f64;
        let mean = privileged_rows(rows) / n_rows;
        Self::part(rows, mean, n_rows)
    }

    /// The contribution of each table to the vectors of all tables together: `s̄` and `N` are over all of them.
    pub fn parts(tables: &[Rows]) -> Vec<Self> {
        let n_rows = tables.iter().map(Rows::len).sum::<usize>() as f64;
        let mean = tables.iter().map(privileged_rows).sum::<f64>() / n_rows;
        tables.iter().map(|rows| Self::part(rows, mean, n_rows)).collect()
    }

    /// The sum of the parts' vectors, weighted by `w_c`.
    pub fn weighted_sum(parts: &[Self], weights: &[f64]) -> Self {
        let n = parts.first().map_or(0, |part| part.sp.len());
        let mut sum = Self { sp: vec![0.0; n], eo: vec![0.0; n] };
        for (part, &w) in parts.iter().zip(weights) {
            sum.sp.iter_mut().zip(&part.sp).for_each(|(s, v)| *s += w * v);
            sum.eo.iter_mut().zip(&part.eo).for_each(|(s, v)| *s += w * v);
        }
        sum
    }

    /// The sum of all parts.
    pub(crate) fn sum(parts: &[Self]) -> Self {
        Self::weighted_sum(parts, &vec![1.0; parts.len()])
    }

    /// Both covariances of the model `θ`.
    pub fn violation(&self, theta: &[f64]) -> Violation {
        Violation { sp: dot(&self.sp, theta), eo: dot(&self.eo, theta) }
    }

    /// Adds the gradient in `θ` of `(ρ/2) [(1−ν) d_SP² + ν d_EO²]`.
    pub(crate) fn add_penalty_gradient(
        &self,
        violation: Violation,
        fairness: Fairness,
        rho: f64,
        gradient: &mut [f64],
    ) {
        let by_sp = rho * (1.0 - fairness.nu) * violation.sp;
        let by_eo = rho * fairness.nu * violation.eo;
        for ((g, sp), eo) in gradient.iter_mut().zip(&self.sp).zip(&self.eo) {
            *g += by_sp * sp + by_eo * eo;
        }
    }

    /// Adds the Hessian of the same penalty to a lower triangle.
    pub(crate) fn add_penalty_hessian(&self, fairness: Fairness, rho: f64, lower: &mut [f64]) {
        add_outer_product(lower, rho * (1.0 - fairness.nu), &self.sp);
        add_outer_product(lower, rho * fairness.nu, &self.eo);
    }

    fn part(rows: &Rows, mean: f64, n_rows: f64) -> Self {
        let n = rows.layout().n();
        let mut part = Self { sp: vec![0.0; n], eo: vec![0.0; n] };
        for i in 0..rows.len() {
            let centred = (f64::from(rows.is_privileged(i)) - mean) / n_rows;
            let a = rows.a(i);
            part.sp.iter_mut().zip(a).for_each(|(sum, v)| *sum += centred * v);
            if rows.is_positive(i) {
                part.eo.iter_mut().zip(a).for_each(|(sum, v)| *sum += centred * v);
            }
        }
        part
    }
}

fn privileged_rows(rows: &Rows) -> f64 {
    (0..rows.len()).filter(|&i| rows.is_privileged(i)).count() as f64
}
