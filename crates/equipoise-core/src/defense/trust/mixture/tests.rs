use super::*;

fn figure(value: f64, error: f64) -> Figure {
    Figure { value, error }
}

/// Three fair clients and two biased by 0.2, a root that hardly tells, rows that do.
fn evidence() -> Evidence {
    let gaps = [0.01, -0.01, 0.0, 0.2, 0.21];
    let mean = gaps.iter().sum::<f64>() / 5.0;
    Evidence {
        offsets: gaps.iter().map(|gap| figure(gap - mean, 0.01)).collect(),
        prior: vec![1.0; 5],
        root: figure(0.1, 0.08),
        rows: figure(0.09, 0.02),
        favours: 0.9,
    }
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() <= tolerance, "found {found:?}, expected {expected:?}");
    }
}

/// The formula of the module, term by term, with any step of `m`.
fn brute_force(evidence: &Evidence, constants: &TrustConstants, step: f64) -> (Vec<f64>, Vec<f64>) {
    let n = evidence.offsets.len();
    let density = |d: f64, variance: f64| {
        (-0.5 * d * d / variance).exp() / (2.0 * std::f64::consts::PI * variance).sqrt()
    };
    let biases: Vec<f64> = (2..=50).map(|k| 0.02 * f64::from(k)).collect();
    let share = (1.0 - constants.none_biased) / biases.len() as f64;
    let mut hypotheses = vec![(0.0, constants.none_biased)];
    for bias in &biases {
        hypotheses.push((*bias, share * evidence.favours));
        hypotheses.push((-bias, share * (1.0 - evidence.favours)));
    }
    let (mut weights, mut fair, mut mass) = (vec![0.0; n], vec![0.0; n], 0.0);
    let steps = (1.0 / step).round() as i32;
    for (bias, prior) in hypotheses {
        for m in -steps..=steps {
            let m = f64::from(m) * step;
            let mut p = prior * density(m - evidence.root.value, evidence.root.error.powi(2));
            p *= constants.rows_honest
                * density(m - evidence.rows.value, evidence.rows.error.powi(2))
                + (1.0 - constants.rows_honest) / 2.0;
            let (mut kinds, mut precisions) = (Vec::new(), Vec::new());
            for offset in &evidence.offsets {
                let variance = offset.error.powi(2) + constants.tolerance.powi(2);
                let gap = offset.value + m;
                let (fair, biased) = (density(gap, variance), density(gap - bias, variance));
                let inlier = 1.0 - constants.outliers;
                let fair = inlier * if bias == 0.0 { fair } else { 0.5 * fair };
                let biased = inlier * if bias == 0.0 { 0.0 } else { 0.5 * biased };
                let total = fair + biased + constants.outliers / 2.0;
                p *= total;
                kinds.push(fair / total);
                precisions.push(1.0 / variance);
            }
            let sum: f64 = kinds.iter().zip(&precisions).map(|(k, q)| k * q).sum();
            mass += p;
            // Far from all clients, everything underflows.
            for c in (0..n).filter(|_| sum > 0.0) {
                weights[c] += p * kinds[c] * precisions[c] / sum;
                fair[c] += p * kinds[c];
            }
        }
    }
    let total: f64 = weights.iter().sum();
    (weights.iter().map(|w| w / total).collect(), fair.iter().map(|f| f / mass).collect())
}

#[test]
fn the_grid_agrees_with_the_formula_and_with_a_fine_integral() {
    let constants = TrustConstants::default();
    for (root, favours, error) in [(0.1, 0.9, 0.01), (-0.1, 0.5, 0.03), (0.0, 0.2, 0.002)] {
        let mut evidence = evidence();
        evidence.root.value = root;
        evidence.favours = favours;
        evidence.offsets.iter_mut().for_each(|offset| offset.error = error);
        let found = evidence.posterior(&constants);
        let (weights, fair) = brute_force(&evidence, &constants, 0.01);
        assert_close(&found.weights, &weights, 1e-9);
        assert_close(&found.fair, &fair, 1e-9);
        // The step is half of the smallest error, so the sum is nearly the integral.
        let (weights, fair) = brute_force(&evidence, &constants, 0.0005);
        assert_close(&found.weights, &weights, 2e-3);
        assert_close(&found.fair, &fair, 2e-3);
    }
}

#[test]
fn clear_evidence_gives_fair_clients_equal_weights() {
    let found = evidence().posterior(&TrustConstants::default());
    assert_close(&found.weights, &[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 0.0, 0.0], 0.01);
    assert!(found.fair[..3].iter().all(|p| *p > 0.9), "{:?}", found.fair);
    assert!(found.fair[3..].iter().all(|p| *p < 0.01), "{:?}", found.fair);
    assert!(found.any_biased > 0.99 && (found.bias - 0.2).abs() < 0.02);
    assert!((found.mean_gap.value - 0.082).abs() < 0.01, "{:?}", found.mean_gap);
}

/// If nobody can be biased or an outlier and the rows are silent, `m` is normal: a product of normal densities.
#[test]
fn without_bias_the_level_has_a_closed_form() {
    let constants = TrustConstants {
        none_biased: 1.0,
        outliers: 0.0,
        rows_honest: 0.0,
        ..TrustConstants::default()
    };
    let evidence = Evidence { rows: figure(0.7, 0.02), ..evidence() };
    let found = evidence.posterior(&constants);
    let mut precision = 1.0 / evidence.root.error.powi(2);
    let mut sum = precision * evidence.root.value;
    for offset in &evidence.offsets {
        let own = 1.0 / (offset.error.powi(2) + constants.tolerance.powi(2));
        precision += own;
        sum -= own * offset.value;
    }
    assert!((found.mean_gap.value - sum / precision).abs() < 1e-6);
    let error = (1.0 / precision + constants.tolerance.powi(2)).sqrt();
    assert!((found.mean_gap.error - error).abs() < 1e-6);
    assert_close(&found.fair, &[1.0; 5], 1e-12);
    assert_close(&found.weights, &[0.2; 5], 1e-12);
}

/// Two clusters and nothing that tells them apart: the prior on the direction decides, and says so.
#[test]
fn without_a_level_the_prior_decides() {
    let constants = TrustConstants { rows_honest: 0.0, ..TrustConstants::default() };
    let offsets = [-0.1, -0.1, 0.1, 0.1].map(|value| figure(value, 0.001)).to_vec();
    let unknown = Evidence {
        offsets,
        prior: vec![1.0; 4],
        root: figure(0.0, 1e6),
        rows: figure(0.0, 0.02),
        favours: 0.5,
    };
    let found = unknown.posterior(&constants);
    assert_close(&found.weights, &[0.25; 4], 1e-9);
    assert!(found.fair.iter().all(|p| (0.3..0.6).contains(p)), "{:?}", found.fair);
    // Bias towards the upper gaps is nine times as likely: the lower clients are probably the fair ones.
    let leaning = Evidence { favours: 0.9, ..unknown }.posterior(&constants);
    let ratio = leaning.fair[0] / leaning.fair[2];
    assert!((4.0..9.01).contains(&ratio), "{ratio}");
}

#[test]
fn order_and_copies_do_not_fool_it() {
    let constants = TrustConstants::default();
    let straight = evidence().posterior(&constants);
    let mut reversed = evidence();
    reversed.offsets.reverse();
    let mut found = reversed.posterior(&constants);
    found.weights.reverse();
    assert_close(&found.weights, &straight.weights, 1e-12);
    // Ten copies of a biased client. Offsets and level refer to the new mean model.
    let gaps: Vec<f64> = [0.01, -0.01, 0.0].into_iter().chain([0.2; 10]).collect();
    let mean = gaps.iter().sum::<f64>() / 13.0;
    let copies = Evidence {
        offsets: gaps.iter().map(|gap| figure(gap - mean, 0.01)).collect(),
        prior: vec![1.0; 13],
        root: figure(mean + 0.05, 0.08),
        rows: figure(mean, 0.02),
        favours: 0.9,
    };
    let found = copies.posterior(&constants);
    assert!(found.weights[3..].iter().sum::<f64>() < 0.02, "{:?}", found.weights);
}

#[test]
fn a_client_without_prior_is_left_out_as_if_absent() {
    let constants = TrustConstants::default();
    let mut with = evidence();
    with.offsets.push(figure(0.5, 0.01));
    with.prior.push(0.0);
    let (with, without) = (with.posterior(&constants), evidence().posterior(&constants));
    assert_eq!(with.weights[..5], without.weights[..]);
    assert_eq!((with.weights[5], with.fair[5]), (0.0, 0.0));
}

#[test]
fn a_client_with_few_rows_counts_less() {
    let mut evidence = evidence();
    evidence.offsets[0].error = 0.06;
    let found = evidence.posterior(&TrustConstants::default());
    // Precisions 1/(0.06² + 0.015²) and 1/(0.01² + 0.015²): one to twelve.
    let ratio = found.weights[1] / found.weights[0];
    assert!((10.0..14.0).contains(&ratio), "{ratio}");
}
