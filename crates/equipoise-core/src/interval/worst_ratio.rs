//! The lowest rate of several groups as a share of the highest: what the 80 % rule asks for.
//!
//! Two groups have the interval of their ratio. With more, the lower limit is the lowest of all pairs' lower limits: the
//! pair that is truly the worst is among them. The upper limit is the lowest of all pairs' upper limits at Tukey's critical
//! value, because the smallest of several ratios tends to be too small.

use super::rate::rate_ratio_at;
use super::worst_gap::ordered_pairs;
use super::{Count, Estimate, Z, normal_cdf};

/// The lowest of several rates as a share of the highest, at most 1. `None` if there are fewer than two groups with rows,
/// or all rates are 0.
pub fn worst_ratio(groups: &[Count]) -> Option<Estimate> {
    let counts: Vec<Count> = groups.iter().filter_map(Count::checked).collect();
    let by_rate = |a: &&Count, b: &&Count| a.share().total_cmp(&b.share());
    let (lowest, highest) = (counts.iter().min_by(by_rate)?, counts.iter().max_by(by_rate)?);
    let mut ratio = rate_ratio_at(*lowest, *highest, Z).filter(|_| counts.len() > 1)?;
    if counts.len() > 2 {
        let critical = tukey_critical_value(counts.len());
        let lowest = |critical: f64, limit: fn(Estimate) -> f64| {
            let ratios = ordered_pairs(counts.len())
                .filter_map(|(a, b)| rate_ratio_at(counts[a], counts[b], critical));
            ratios.map(limit).fold(f64::INFINITY, f64::min)
        };
        ratio.low = lowest(Z, |pair| pair.low);
        ratio.high = lowest(critical, |pair| pair.high);
    }
    // Above 1 the other group would have the lowest rate.
    ratio.high = ratio.high.clamp(ratio.value, 1.0);
    Some(ratio)
}

/// The 95 % quantile of the range of `k` standard normal numbers, divided by √2.
pub(super) fn tukey_critical_value(k: usize) -> f64 {
    const STEP: f64 = 0.1;
    // P(range ≤ q) = k ∫ φ(z) (Φ(z) − Φ(z − q))^(k − 1) dz, where z is the largest number.
    let covered = |range: f64| -> f64 {
        let density = |z: f64| {
            let others = (normal_cdf(z) - normal_cdf(z - range)).powi(k as i32 - 1);
            (-z * z / 2.0).exp() * others
        };
        let sum: f64 = (-60..=80).map(|at| density(f64::from(at) * STEP)).sum();
        k as f64 * sum * STEP / (2.0 * std::f64::consts::PI).sqrt()
    };
    let (mut low, mut high) = (0.0, 12.0);
    for _ in 0..30 {
        let middle = (low + high) / 2.0;
        if covered(middle) < 0.95 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high / 2f64.sqrt()
}
