use super::rounds::stored;
use super::*;

/// Central differences of a function with values near 1 are exact to about 1e-9 with a step of 1e-5.
fn check(evaluate: impl Fn(&[f64]) -> (f64, Vec<f64>), at: &[f64]) {
    let (value, gradient) = evaluate(at);
    for c in 0..at.len() {
        let moved = |by: f64| {
            let mut w = at.to_vec();
            w[c] += by;
            evaluate(&w).0
        };
        let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        let scale = 1.0 + value.abs() + gradient[c].abs();
        assert!(
            (difference - gradient[c]).abs() < 1e-6 * scale,
            "{c}: {difference}, {}",
            gradient[c]
        );
    }
}

#[test]
fn the_objective_has_the_gradient_of_its_differences() {
    for round in stored().into_iter().filter(|round| round.clients > 2).step_by(4) {
        let (input, models) = round.make();
        let (trusted, n) = (&input.trusted.rows, models.len());
        let conditions: Vec<Condition> = input.fairness.conditions().map(|(c, _)| c).collect();
        let scaled = Scaled::new(&models, trusted).unwrap();
        let average = mean_model(&scaled.models);
        let chances = measure::positive_chances(&average, trusted, &input.rows.rows);
        let on_rows = WeightedRows::proxies(&input.rows, &chances, &conditions);
        let on_root = WeightedRows::trusted(trusted, &conditions);
        let target = |(j, contrast): (usize, Contrast)| Target {
            contrast,
            rows_share: 0.3 + 0.1 * j as f64,
            offset: 0.05,
            precision: 40.0,
        };
        let contrasts = Contrast::all(input.fairness, trusted);
        let targets = contrasts.into_iter().enumerate().map(target).collect();
        let prior = vec![1.0 / n as f64; n];
        let models = &scaled.models;
        let objective =
            Objective { models, prior: &prior, root: &on_root, rows: &on_rows, targets };
        let weights: Vec<f64> =
            (0..n).map(|c| (1.0 + c as f64) / (n * (n + 1) / 2) as f64).collect();
        check(|w| objective.evaluate(w), &weights);
        check(|w| objective.evaluate(w), &prior);
    }
}

/// At the minimum the gradient is the same for all clients with weight, and no smaller for the others.
#[test]
fn the_minimiser_is_stationary_on_the_simplex() {
    let target = [0.5, -0.2, 0.1, 0.7];
    let prior = [0.25; 4];
    let evaluate = |w: &[f64]| {
        let residual: f64 = w.iter().zip(target).map(|(w, t)| w * t).sum();
        let logs: Vec<f64> = w.iter().zip(prior).map(|(w, p)| (w / p).ln()).collect();
        let value =
            w.iter().zip(&logs).map(|(w, l)| w * l).sum::<f64>() + 50.0 * residual * residual;
        (value, logs.iter().zip(target).map(|(l, t)| l + 1.0 + 100.0 * residual * t).collect())
    };
    let weights = weights::minimise(evaluate, &prior);
    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    let (_, gradient): (f64, Vec<f64>) = evaluate(&weights);
    let (low, high) =
        gradient.iter().fold((f64::MAX, f64::MIN), |(l, h), g| (l.min(*g), h.max(*g)));
    assert!(high - low < 1e-3, "{gradient:?}");
}
