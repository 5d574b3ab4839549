//! The clients on one axis: where they stand, and what the root and the rows say about the level of all.

use super::constants::TrustConstants;
use super::direction::Direction;
use super::mixture::{Evidence, Figure};
use super::rates::{ModelRates, OnSample, RateIndex};
use super::root_rates::{RootRates, is_used};
use crate::defense::local_models::median;

/// A median absolute deviation times this is a standard deviation, if values are normal.
const MAD_TO_DEVIATION: f64 = 1.4826;
/// The error of a median is this many times that of a mean.
const MEDIAN_TO_MEAN_ERROR: f64 = 1.2533;
/// Variance of a rate about which nothing is known.
const UNKNOWN_VARIANCE: f64 = 0.25;

/// All that an axis is judged by.
pub(super) struct AxisInput<'a> {
    pub(super) index: &'a RateIndex,
    pub(super) root: &'a RootRates,
    pub(super) on_samples: &'a [OnSample],
    /// Rows of each client behind each rate.
    pub(super) counts: &'a [Vec<usize>],
    pub(super) constants: &'a TrustConstants,
}

/// The gaps of all models on one sample, along an axis.
struct Gaps {
    soft: Vec<f64>,
    steep: Vec<f64>,
    mean_steep: f64,
}

impl AxisInput<'_> {
    /// `None` if no sample has the groups that the axis compares.
    pub(super) fn evidence(&self, axis: &Direction, prior: &[f64]) -> Option<Evidence> {
        let direction = &axis.entries;
        let samples: Vec<Gaps> =
            self.on_samples.iter().filter_map(|models| self.gaps(models, direction)).collect();
        if samples.is_empty() {
            return None;
        }
        let n_clients = prior.len();
        let over_samples =
            |value: &dyn Fn(&Gaps) -> f64| median(&samples.iter().map(value).collect::<Vec<_>>());
        // From soft gaps, which few root rows measure well, to steep ones, which are close to hard gaps.
        let shifts: Vec<f64> =
            (0..n_clients).map(|c| over_samples(&|s| s.steep[c] - s.soft[c])).collect();
        let mean_shift = shifts.iter().sum::<f64>() / n_clients as f64;
        let relative: Vec<f64> =
            (0..n_clients).map(|c| over_samples(&|s| s.steep[c] - s.mean_steep)).collect();
        let mean_relative = relative.iter().sum::<f64>() / n_clients as f64;

        let offsets = (0..n_clients).map(|c| {
            let root = self.root.offset(c, direction);
            let (on_root, margin) =
                (root.value + shifts[c] - mean_shift, self.constants.clip * root.error);
            let value = (relative[c] - mean_relative).clamp(on_root - margin, on_root + margin);
            Figure { value, error: self.own_error(c, direction) }
        });
        let doubt = self.label_doubt(direction);
        let level = self.root.level(direction, Figure { value: mean_shift, error: doubt });
        Some(Evidence {
            offsets: offsets.collect(),
            prior: prior.to_vec(),
            // Steep decisions are hard ones only up to the tolerance, however many rows the root has.
            root: Figure { value: level.value, error: level.error.hypot(self.constants.tolerance) },
            rows: self.level_on_rows(&samples, doubt),
            favours: self.favours(direction),
        })
    }

    /// `None` if the sample lacks groups that make up half of the direction.
    fn gaps(&self, models: &OnSample, direction: &[f64]) -> Option<Gaps> {
        let known = |(rate, v): (&Option<f64>, &f64)| rate.map_or(0.0, |_| v.abs());
        let share: f64 = models[0].steep.iter().zip(direction).map(known).sum();
        if share <= 1.0 + 1e-9 {
            return None;
        }
        let gap = |rates: &[Option<f64>]| -> f64 {
            self.index.contrasts(rates).iter().zip(direction).map(|(c, v)| c * v).sum()
        };
        let gaps = |of: fn(&ModelRates) -> &[Option<f64>]| -> Vec<f64> {
            models.iter().map(|model| gap(of(model))).collect()
        };
        let (soft, steep) = (gaps(|m| &m.soft), gaps(|m| &m.steep));
        let mean_steep = steep.iter().sum::<f64>() / steep.len() as f64;
        Some(Gaps { soft, steep, mean_steep })
    }

    /// The gap of the mean model on the samples: the median, never more precise than the tolerance, and less so if the
    /// rates depend on labels.
    fn level_on_rows(&self, samples: &[Gaps], doubt: f64) -> Figure {
        let levels: Vec<f64> = samples.iter().map(|sample| sample.mean_steep).collect();
        let value = median(&levels);
        let deviations: Vec<f64> = levels.iter().map(|level| (level - value).abs()).collect();
        let deviation = MAD_TO_DEVIATION * median(&deviations);
        let error = MEDIAN_TO_MEAN_ERROR * deviation / (levels.len() as f64).sqrt();
        Figure { value, error: error.max(self.constants.tolerance).hypot(doubt) }
    }

    /// By how much the gap of clients' rows may be off because their labels are not the root's.
    fn label_doubt(&self, direction: &[f64]) -> f64 {
        let excluded = self.root.excluded_share(direction);
        self.constants.label_doubt * excluded * excluded
    }

    /// The sampling error of a client's own gap: how well its rows determine the rates that its model gives.
    fn own_error(&self, client: usize, direction: &[f64]) -> f64 {
        let used = direction.iter().enumerate().filter(|(_, v)| is_used(**v));
        let variance = used.map(|(j, v)| {
            let known = self.on_samples.iter().filter_map(|models| models[client].steep[j]);
            let known: Vec<f64> = known.collect();
            let n = self.counts[client][j];
            let variance = if known.is_empty() || n == 0 {
                UNKNOWN_VARIANCE
            } else {
                let rate = median(&known);
                rate * (1.0 - rate) / n as f64
            };
            v * v * variance
        });
        variance.sum::<f64>().sqrt()
    }

    /// The prior probability that bias leans the way of the axis, from the gap of the root's labels.
    fn favours(&self, direction: &[f64]) -> f64 {
        let gap = self.root.label_gap(direction);
        let certainty = self.constants.direction_certainty;
        normal_cdf(gap.value / gap.error).clamp(1.0 - certainty, certainty)
    }
}

/// The standard normal distribution function, to 1.5e-7: Abramowitz and Stegun 7.1.26.
fn normal_cdf(z: f64) -> f64 {
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let coefficients =
        [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let series = coefficients.iter().fold(0.0, |sum, c| (sum + c) * t);
    let tail = 0.5 * series * (-x * x).exp();
    if z > 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_function_matches_tables() {
        for (z, p) in [(0.0, 0.5), (1.0, 0.841_344_7), (-1.96, 0.024_997_9), (3.0, 0.998_650_1)] {
            assert!((normal_cdf(z) - p).abs() < 2e-7, "{z}: {}", normal_cdf(z));
        }
        assert_eq!(normal_cdf(60.0), 1.0);
        assert_eq!(normal_cdf(f64::NEG_INFINITY), 0.0);
    }
}
