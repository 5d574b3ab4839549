//! Euclidean projection onto the simplex `{w : w ≥ 0, Σ w = 1}`, by sorting (the paper's Algorithm 3).

/// The closest point of the simplex to `point`.
///
/// With `u` the entries in descending order and `τ_k = (Σ_{i≤k} u_i − 1)/k`, the shift is `τ_k` of the
/// largest `k` with `u_k > τ_k`, and the result `max(point − τ, 0)`. Entries are first shifted so that the
/// largest is 0. This does not change the result and keeps the sums accurate at any scale, because only
/// entries within 1 of the largest can stay positive.
///
/// `point` must hold at least one entry, all finite.
pub fn project_onto_simplex(point: &[f64]) -> Vec<f64> {
    let largest = point.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shifted: Vec<f64> = point.iter().map(|v| v - largest).collect();
    let mut descending: Vec<f64> = shifted.iter().copied().filter(|&v| v > -1.0).collect();
    descending.sort_unstable_by(|a, b| b.total_cmp(a));

    let mut sum = 0.0;
    let mut shift = -1.0;
    for (k, &u) in descending.iter().enumerate() {
        sum += u;
        let candidate = (sum - 1.0) / (k + 1) as f64;
        if u <= candidate {
            break;
        }
        shift = candidate;
    }
    shifted.iter().map(|v| (v - shift).max(0.0)).collect()
}

/// The Frank–Wolfe gap `∇P·w − min_c ∂P/∂w_c`: the largest predicted decrease in a feasible direction, to first order.
/// It is 0 exactly at stationary points. For a convex `P`, no point is lower by more.
pub(crate) fn frank_wolfe_gap(weights: &[f64], gradient: &[f64]) -> f64 {
    let here: f64 = weights.iter().zip(gradient).map(|(w, g)| w * g).sum();
    let lowest = gradient.iter().copied().fold(f64::INFINITY, f64::min);
    let gap = here - lowest;
    // Rounding may make it negative. NaN must stay NaN.
    if gap < 0.0 { 0.0 } else { gap }
}

#[cfg(test)]
mod tests;
