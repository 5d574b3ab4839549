//! Whether someone is in the data: two attacks by someone who knows all features and the group of a person.
//!
//! They compare people in the data with others of the same population. What an attack achieves on both is knowledge about
//! the population, which a proxy is meant to convey.

use rayon::prelude::*;
use serde::Serialize;

use super::super::start::Moments;
use super::{MAX_MEASURED_ROWS, choose, choose_compared, nearest, random_halves};
use crate::error::Error;
use crate::interval::{Auc, Estimate};
use crate::linalg::Cholesky;
use crate::logistic::dot;
use crate::rows::Rows;

/// Added to the diagonal of a covariance, in encoded units: indicators of levels depend on each other.
const RIDGE: f64 = 1e-3;
/// Of samples of people and of proxy rows.
const SEED: u64 = 1;

/// An attack on membership.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MembershipAttack {
    /// `nearest-neighbour`: the closer the nearest proxy row, the likelier a member. `likelihood-ratio`: the likelier
    /// the features among proxy rows, compared with other people of the population, the likelier a member.
    pub attack: &'static str,
    /// The probability that a member looks likelier than someone else: 0.5 if the attacker learns nothing.
    pub auc: Estimate,
    /// Members attacked, and others.
    pub people: [usize; 2],
}

/// Attacks `proxy`, which was made of `members`, to tell them from `others`.
pub fn attack_membership(
    proxy: &Rows,
    members: &Rows,
    others: &Rows,
) -> Result<Vec<MembershipAttack>, Error> {
    // Half of the others are what an attacker knows about the population.
    let (known, others) = random_halves(others, SEED);
    let some_of = |rows: &Rows| rows.select(&choose(rows.len(), MAX_MEASURED_ROWS, SEED));
    let (members, others) = (some_of(members), some_of(&others));
    let candidates = Rows::concat(&[&members, &others])?;
    let is_member: Vec<bool> = (0..candidates.len()).map(|i| i < members.len()).collect();
    let all: Vec<usize> = (0..candidates.len()).collect();
    let sent = choose_compared(proxy, SEED);
    let distances = nearest((&candidates, &all), (proxy, &sent), false);
    let closeness: Vec<f64> = distances.iter().map(|distance| -distance).collect();
    let (of_proxy, of_population) = (densities(proxy)?, densities(&known)?);
    let ratio = |i: usize| {
        let (x, group) = (candidates.x(i), candidates.group(i));
        let both = of_proxy[group].as_ref().zip(of_population[group].as_ref());
        both.map_or(0.0, |(proxy, population)| proxy.log_at(x) - population.log_at(x))
    };
    let ratios: Vec<f64> = (0..candidates.len()).into_par_iter().map(ratio).collect();
    let attacks = [("nearest-neighbour", closeness), ("likelihood-ratio", ratios)];
    let measured = attacks.into_iter().filter_map(|(attack, scores)| {
        let auc = Auc::of(&scores, &is_member)?.estimate();
        Some(MembershipAttack { attack, auc, people: [members.len(), others.len()] })
    });
    Ok(measured.collect())
}

/// A Gaussian density of features.
struct Density {
    mean: Vec<f64>,
    factor: Cholesky,
    log_determinant: f64,
}

/// The density of each group with at least one row.
fn densities(rows: &Rows) -> Result<Vec<Option<Density>>, Error> {
    let everyone = Moments::of(rows, |_| true);
    let density = |group: usize| {
        let own = Moments::of(rows, |i| rows.group(i) == group);
        let exists = own.n_rows > 0.0;
        exists.then(|| Density::new(own.shrunk_towards(&everyone))).transpose()
    };
    (0..rows.layout().groups.len()).map(density).collect()
}

impl Density {
    fn new(moments: Moments) -> Result<Self, Error> {
        let n = moments.mean.len();
        let factor = Cholesky::new(&moments.covariance, n, RIDGE)?;
        let diagonal = factor.lower();
        let log_determinant = diagonal.iter().filter_map(|row| row.last()).map(|l| l.ln()).sum();
        Ok(Self { mean: moments.mean, factor, log_determinant })
    }

    fn log_at(&self, x: &[f64]) -> f64 {
        let away: Vec<f64> = x.iter().zip(&self.mean).map(|(v, m)| v - m).collect();
        -0.5 * dot(&away, &self.factor.solve(&away)) - self.log_determinant
    }
}
