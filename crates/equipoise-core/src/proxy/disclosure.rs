//! What a proxy discloses about the people in a client's data, by attacks that the client can run on itself.
//!
//! Every attack compares people in the data with others of the same population. What it achieves on the former only is
//! disclosed by the proxy; what it achieves on both is knowledge about the population, which a proxy is meant to convey.

mod attributes;
mod densities;
mod membership;
mod rare_values;

pub use attributes::AttributeInference;
pub use membership::MembershipAttack;
pub use rare_values::{Outliers as OutlierColumn, RareLevel, RareValues};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::ClientData;
use super::closeness::{Closeness, MAX_MEASURED_ROWS, measure_some};
use crate::error::Error;
use crate::rows::Rows;

/// People of each kind that are attacked at most.
const MAX_CANDIDATES: usize = 2000;

/// What attacks find.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Disclosure {
    /// Whether someone is in the data.
    pub membership: Vec<MembershipAttack>,
    /// What someone's label or group is.
    pub attributes: Vec<AttributeInference>,
}

/// Attacks `proxy`, which was made of `members`, to tell them from `others`.
pub fn attack_proxy(proxy: &Rows, members: &Rows, others: &Rows) -> Result<Disclosure, Error> {
    // Half of the others are what an attacker knows about the population.
    let (known, others) = halves(others);
    let members = members.select(&spread(members.len(), MAX_CANDIDATES));
    let others = others.select(&spread(others.len(), MAX_CANDIDATES));
    Ok(Disclosure {
        membership: membership::attack(proxy, &known, &members, &others)?,
        attributes: attributes::infer(proxy, &members, &others)?,
    })
}

/// What can be seen in the rows of a proxy without any attack.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Visible {
    /// How close its rows come to those of the data.
    pub closeness: Closeness,
    /// Rare levels and extreme numbers.
    pub rare: RareValues,
}

/// Looks for copies, near copies and rare values of `data` in `proxy`.
pub fn find_visible(proxy: &Rows, data: &ClientData<'_>, seed: u64) -> Visible {
    Visible {
        closeness: measure_some(proxy, data.rows, seed, MAX_MEASURED_ROWS),
        rare: RareValues::of(proxy, data),
    }
}

/// A random half of the rows, and the other half.
pub fn random_halves(rows: &Rows, seed: u64) -> (Rows, Rows) {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    halves(&rows.select(&order))
}

/// Every other row, and the rest.
fn halves(rows: &Rows) -> (Rows, Rows) {
    let every_other = |first: usize| (first..rows.len()).step_by(2).collect::<Vec<_>>();
    (rows.select(&every_other(0)), rows.select(&every_other(1)))
}

/// At most `wanted` of `n` indices, evenly spread.
fn spread(n: usize, wanted: usize) -> Vec<usize> {
    let wanted = wanted.min(n);
    (0..wanted).map(|i| i * n / wanted).collect()
}

#[cfg(test)]
mod tests;
