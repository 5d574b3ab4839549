//! Whether someone is in the data: two attacks by someone who knows all features and the group of a person.

use rayon::prelude::*;
use serde::Serialize;

use super::super::nearest::Tree;
use super::densities::Densities;
use crate::error::Error;
use crate::interval::{Auc, Estimate};
use crate::rows::Rows;

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

pub(super) fn attack(
    proxy: &Rows,
    known: &Rows,
    members: &Rows,
    others: &Rows,
) -> Result<Vec<MembershipAttack>, Error> {
    let candidates = Rows::concat(&[members, others])?;
    let is_member: Vec<bool> = (0..candidates.len()).map(|i| i < members.len()).collect();
    let all: Vec<usize> = (0..candidates.len()).collect();
    let distances = Tree::new(proxy).distances(&candidates, &all, false);
    let nearest: Vec<f64> = distances.iter().map(|distance| -distance).collect();
    let (of_proxy, of_population) = (Densities::of(proxy)?, Densities::of(known)?);
    let ratio = |i: usize| {
        let (x, group) = (candidates.x(i), candidates.group(i));
        let proxy = of_proxy.log_density(x, group);
        let population = of_population.log_density(x, group);
        proxy.zip(population).map_or(0.0, |(proxy, population)| proxy - population)
    };
    let ratios: Vec<f64> = (0..candidates.len()).into_par_iter().map(ratio).collect();
    let attacks = [("nearest-neighbour", nearest), ("likelihood-ratio", ratios)];
    let measured = attacks.into_iter().filter_map(|(attack, scores)| {
        let auc = Auc::of(&scores, &is_member)?.estimate();
        Some(MembershipAttack { attack, auc, people: [members.len(), others.len()] })
    });
    Ok(measured.collect())
}
