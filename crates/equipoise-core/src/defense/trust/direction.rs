//! The axis on which the clients' gaps are compared.
//!
//! With two groups and one condition there is one axis: the rate of group 1 minus that of group 0. Otherwise it is the
//! direction in which the clients' rates differ most, the first principal direction of their contrasts between groups.
//! Its entries add up to 0 in each condition, and their sizes to 2: so the gap along it compares a weighted mean of
//! the favoured groups' rates with one of the others' rates, as the gap of two groups does.

use super::rates::{OnSample, RateIndex};
use super::root_rates::is_used;
use crate::defense::local_models::median;
use crate::logistic::dot;

/// Steps of the power iteration. Where they do not suffice, two directions are nearly as good, and either will do.
const POWER_STEPS: usize = 200;

/// A direction in the space of rates, one entry for each.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Direction {
    pub(super) entries: Vec<f64>,
    /// Standard deviation of the clients' gaps along it.
    pub(super) spread: f64,
    /// The same direction where conditions are scaled by their weights, of length 1.
    unit: Vec<f64>,
}

/// Every client's contrasts relative to the mean of all clients: the median over all samples.
pub(super) fn relative_contrasts(on_samples: &[OnSample], index: &RateIndex) -> Vec<Vec<f64>> {
    let n_clients = on_samples.first().map_or(0, Vec::len);
    let mut by_client = vec![vec![Vec::new(); index.len()]; n_clients];
    for models in on_samples {
        let contrasts: Vec<Vec<f64>> =
            models.iter().map(|model| index.contrasts(&model.steep)).collect();
        // Whether a rate is known depends on the sample's rows, not on the model.
        let known = models[0].steep.iter().map(Option::is_some);
        for (j, _) in known.enumerate().filter(|(_, known)| *known) {
            let mean = contrasts.iter().map(|c| c[j]).sum::<f64>() / n_clients as f64;
            for (client, contrasts) in by_client.iter_mut().zip(&contrasts) {
                client[j].push(contrasts[j] - mean);
            }
        }
    }
    let middle = |values: &Vec<f64>| if values.is_empty() { 0.0 } else { median(values) };
    by_client.iter().map(|client| client.iter().map(middle).collect()).collect()
}

impl Direction {
    /// The direction in which clients with these weights differ most, orthogonal to earlier ones. `None` if they do not.
    pub(super) fn principal(
        contrasts: &[Vec<f64>],
        weights: &[f64],
        earlier: &[Self],
        index: &RateIndex,
    ) -> Option<Self> {
        let scales = condition_scales(index);
        let total: f64 = weights.iter().sum();
        let mut mean = vec![0.0; index.len()];
        for (contrasts, w) in contrasts.iter().zip(weights) {
            mean.iter_mut().zip(contrasts).for_each(|(m, v)| *m += w / total * v);
        }
        let centred: Vec<Vec<f64>> = contrasts
            .iter()
            .map(|client| client.iter().zip(&mean).map(|(v, m)| v - m).collect())
            .collect();
        let scaled = centred.iter().map(|client| {
            let mut client: Vec<f64> = client.iter().zip(&scales).map(|(v, s)| v * s).collect();
            earlier.iter().for_each(|axis| remove(&mut client, &axis.unit));
            client
        });
        let unit = principal_direction(&scaled.collect::<Vec<_>>(), weights, index)?;
        let mut entries: Vec<f64> = unit.iter().zip(&scales).map(|(v, s)| v * s).collect();
        normalise(&mut entries, index.n_groups)?;
        let squares = centred.iter().zip(weights).map(|(c, w)| w * dot(c, &entries).powi(2));
        let spread = (squares.sum::<f64>() / total).sqrt();
        Some(Self { entries, spread, unit })
    }

    /// The same axis, pointing the other way.
    pub(super) fn reversed(self) -> Self {
        let entries = self.entries.iter().map(|v| -v).collect();
        Self { entries, ..self }
    }
}

/// Conditions of smaller weight count less.
fn condition_scales(index: &RateIndex) -> Vec<f64> {
    let largest = index.conditions.iter().map(|(_, weight)| *weight).fold(0.0, f64::max);
    let scale = |(_, weight): &(_, f64)| vec![(weight / largest).sqrt(); index.n_groups];
    index.conditions.iter().flat_map(scale).collect()
}

/// The first principal direction of these rows around 0, by power iteration. With two rates there is only one.
fn principal_direction(rows: &[Vec<f64>], weights: &[f64], index: &RateIndex) -> Option<Vec<f64>> {
    if index.len() == 2 {
        return Some(vec![-std::f64::consts::FRAC_1_SQRT_2, std::f64::consts::FRAC_1_SQRT_2]);
    }
    // From the client that is farthest away.
    let size = |row: &Vec<f64>, w: f64| w * dot(row, row);
    let farthest =
        rows.iter().zip(weights).max_by(|a, b| size(a.0, *a.1).total_cmp(&size(b.0, *b.1)))?;
    let mut unit = unit_vector(farthest.0)?;
    for _ in 0..POWER_STEPS {
        let mut next = vec![0.0; unit.len()];
        for (row, w) in rows.iter().zip(weights) {
            let along = w * dot(row, &unit);
            next.iter_mut().zip(row).for_each(|(n, v)| *n += along * v);
        }
        unit = unit_vector(&next)?;
    }
    Some(unit)
}

fn unit_vector(v: &[f64]) -> Option<Vec<f64>> {
    let length = dot(v, v).sqrt();
    is_used(length).then(|| v.iter().map(|x| x / length).collect())
}

/// Removes the part along a unit vector.
fn remove(v: &mut [f64], unit: &[f64]) {
    let along = dot(v, unit);
    v.iter_mut().zip(unit).for_each(|(v, u)| *v -= along * u);
}

/// Entries that add up to 0 in each condition, their sizes to 2. `None` if they are all equal.
fn normalise(entries: &mut [f64], n_groups: usize) -> Option<()> {
    for condition in entries.chunks_exact_mut(n_groups) {
        let mean = condition.iter().sum::<f64>() / n_groups as f64;
        condition.iter_mut().for_each(|v| *v -= mean);
    }
    let size: f64 = entries.iter().map(|v| v.abs()).sum();
    entries.iter_mut().for_each(|v| *v *= 2.0 / size);
    is_used(size).then_some(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::fairness::Fairness;

    #[test]
    fn two_groups_have_one_axis_whatever_the_clients() {
        let index = RateIndex::new(Fairness::EO, 2);
        let contrasts = [vec![0.1, -0.1], vec![0.0, 0.0], vec![-0.2, 0.2]];
        let axis = Direction::principal(&contrasts, &[1.0; 3], &[], &index).unwrap();
        assert!((axis.entries[0] + 1.0).abs() < 1e-15 && (axis.entries[1] - 1.0).abs() < 1e-15);
        // The gaps are −0.2, 0 and 0.4, with mean 1/15.
        let mean = 0.2 / 3.0_f64;
        let variance = ((-0.2 - mean).powi(2) + mean.powi(2) + (0.4 - mean).powi(2)) / 3.0;
        assert!((axis.spread - variance.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn three_groups_find_the_planted_direction_and_then_the_next() {
        let index = RateIndex::new(Fairness::SP, 3);
        // Group 0 against the others, then group 1 against 2, less strongly; both add up to 0.
        let (first, second) = ([2.0, -1.0, -1.0], [0.0, 1.0, -1.0]);
        let coordinates = [(0.1, 0.0), (-0.1, 0.0), (0.0, 0.04), (0.0, -0.04)];
        let contrasts: Vec<Vec<f64>> = coordinates
            .iter()
            .map(|(a, b)| (0..3).map(|j| a * first[j] + b * second[j]).collect())
            .collect();
        let axis = Direction::principal(&contrasts, &[1.0; 4], &[], &index).unwrap();
        let sign = axis.entries[0].signum();
        for (found, expected) in axis.entries.iter().zip([1.0, -0.5, -0.5]) {
            assert!((sign * found - expected).abs() < 1e-12, "{:?}", axis.entries);
        }
        let next = Direction::principal(&contrasts, &[1.0; 4], &[axis], &index).unwrap();
        let sign = next.entries[1].signum();
        for (found, expected) in next.entries.iter().zip([0.0, 1.0, -1.0]) {
            assert!((sign * found - expected).abs() < 1e-12, "{:?}", next.entries);
        }
    }

    #[test]
    fn equal_clients_have_no_direction() {
        let index = RateIndex::new(Fairness::SP, 3);
        let contrasts = vec![vec![0.2, -0.1, -0.1]; 4];
        assert_eq!(Direction::principal(&contrasts, &[1.0; 4], &[], &index), None);
    }

    #[test]
    fn clients_without_weight_do_not_decide_the_direction() {
        let index = RateIndex::new(Fairness::SP, 3);
        let contrasts =
            [vec![0.1, -0.1, 0.0], vec![-0.1, 0.1, 0.0], vec![0.0, 0.9, -0.9], vec![0.0; 3]];
        let axis = Direction::principal(&contrasts, &[1.0, 1.0, 0.0, 1.0], &[], &index).unwrap();
        assert!(axis.entries[2].abs() < 1e-12, "{:?}", axis.entries);
    }
}
