//! What someone's label or group is: guesses by someone who knows the other values of a person.

use serde::Serialize;

use super::densities::Densities;
use crate::error::Error;
use crate::inner_fit::{InnerSettings, fit_logistic};
use crate::interval::{Count, Estimate, rate_difference};
use crate::logistic::dot;
use crate::rows::Rows;

/// How often a guess is right.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttributeInference {
    /// What is guessed: `label` or `group`.
    pub attribute: &'static str,
    /// The share of right guesses about people in the data.
    pub members: Estimate,
    /// The same about others. It is not disclosure: the proxy says this about anyone.
    pub others: Estimate,
    /// The difference: what the proxy discloses about the people in the data.
    pub advantage: Estimate,
}

pub(super) fn infer(
    proxy: &Rows,
    members: &Rows,
    others: &Rows,
) -> Result<Vec<AttributeInference>, Error> {
    let theta = fit_logistic(proxy, 1e-4, &InnerSettings::default())?;
    let densities = Densities::of(proxy)?;
    let label = |rows: &Rows| {
        Count::of((0..rows.len()).map(|i| (dot(rows.a(i), &theta) > 0.0) == rows.is_positive(i)))
    };
    let group = |rows: &Rows| {
        Count::of(
            (0..rows.len()).map(|i| densities.likeliest_group(rows.x(i)) == Some(rows.group(i))),
        )
    };
    let compare = |attribute, counts: [Count; 2]| {
        Some(AttributeInference {
            attribute,
            members: counts[0].rate()?,
            others: counts[1].rate()?,
            advantage: rate_difference(counts[0], counts[1])?,
        })
    };
    let found = [
        compare("label", [label(members), label(others)]),
        compare("group", [group(members), group(others)]),
    ];
    Ok(found.into_iter().flatten().collect())
}
