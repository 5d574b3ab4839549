//! Concentrated differential privacy (zCDP) and what it means as (ε, δ).
//!
//! The discrete Gaussian with variance σ² on a sum with L2 sensitivity Δ is ρ-zCDP with `ρ = Δ²/2σ²`, and ρ adds up over
//! releases (Bun and Steinke 2016; Canonne, Kamath and Steinke 2020).

/// The smallest ε for which ρ-zCDP implies (ε, δ)-differential privacy by the bound of Canonne, Kamath and Steinke:
/// `ε = min_α αρ + ln(1 − 1/α) − (ln δ + ln α)/(α − 1)`.
pub fn epsilon_of(rho: f64, delta: f64) -> f64 {
    if rho <= 0.0 {
        return 0.0;
    }
    // Over ln(α − 1) the bound falls and then rises.
    let at = |log: f64| {
        let excess = log.exp();
        let alpha = 1.0 + excess;
        alpha * rho + log - alpha.ln() - (delta.ln() + alpha.ln()) / excess
    };
    let (mut low, mut high) = (-20.0f64, 40.0f64);
    for _ in 0..200 {
        let third = (high - low) / 3.0;
        if at(low + third) < at(high - third) {
            high -= third;
        } else {
            low += third;
        }
    }
    at(0.5 * (low + high)).max(0.0)
}

/// The largest ρ that implies (ε, δ)-differential privacy by the same bound.
pub fn rho_of(epsilon: f64, delta: f64) -> f64 {
    // ρ = ε already has a larger ε for every δ below 1.
    let (mut low, mut high) = (0.0, epsilon.max(0.0));
    while epsilon_of(high, delta) < epsilon {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if epsilon_of(middle, delta) <= epsilon {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests;
