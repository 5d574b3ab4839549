use super::*;
use crate::rows::{Layout, Rows};

const TOLERANCE: f64 = 1e-12;

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() < TOLERANCE * (1.0 + expected.abs()), "{found}, {expected}");
}

fn rows(x: &[f64], groups: &[u8], labels: &[bool]) -> Rows {
    Rows::new(Layout::two_groups(1, true), x, groups, labels).unwrap()
}

/// Six rows: group 1 has labels + + −, group 0 has + − −.
fn six() -> Rows {
    let labels = [true, true, false, true, false, false];
    rows(&[3.0, 1.0, -1.0, 2.0, 0.0, -2.0], &[1, 1, 1, 0, 0, 0], &labels)
}

#[test]
fn a_gap_is_a_difference_of_means_with_the_error_of_both() {
    let h = [0.9, 0.7, 0.2, 0.8, 0.4, 0.0];
    let sp = &Contrast::all(Fairness::SP, &six())[0];
    assert_eq!((sp.group, sp.left_out, sp.fewest_rows()), (1, 0.0, 3));
    assert_close(sp.trusted_gap(&h), 0.6 - 0.4);
    // Squares around the means: .09 + .01 + .16 and .16 + 0 + .16, pooled over four degrees of freedom.
    let pooled: f64 = (0.26 + 0.32) / 4.0;
    assert_close(sp.trusted_error(&h), (pooled / 3.0 + 0.16 / 3.0).sqrt());
    let eo = &Contrast::all(Fairness::EO, &six())[0];
    assert_eq!((eo.left_out, eo.fewest_rows(), eo.is_measurable()), (0.5, 1, false));
    assert_close(eo.trusted_gap(&h), 0.8 - 0.8);
}

#[test]
fn contrasts_follow_the_criterion_and_its_weights() {
    let of = |text: &str, rows: &Rows| {
        let contrasts = Contrast::all(text.parse().unwrap(), rows);
        contrasts.iter().map(|c| (c.condition, c.group, c.importance)).collect::<Vec<_>>()
    };
    use Condition::{All, Negatives, Positives};
    assert_eq!(of("fpr", &six()), [(Negatives, 1, 1.0)]);
    assert_eq!(of("equalized-odds", &six()), [(Positives, 1, 1.0), (Negatives, 1, 1.0)]);
    assert_eq!(of("sp:0.8,eo:0.2", &six()), [(All, 1, 1.0), (Positives, 1, 0.25)]);
    let four = crate::test_rows::random_rows_of(&crate::test_rows::layout(4, 2, true, true), 1, 90);
    assert_eq!(of("sp", &four), [0, 1, 2, 3].map(|group| (All, group, 1.0)));
}

/// Two clients whose rows stand for two and four trusted rows each.
fn two_clients() -> (Trusted, ProxyRows) {
    let trusted = Trusted::new(six(), Some(vec![0, 0, 1, 0, 1, 1]), 2).unwrap();
    let labels = [true; 4];
    let first = rows(&[1.0, -1.0, 0.5, 2.0], &[1, 1, 0, 0], &labels);
    let second = rows(&[0.0, 1.5, -0.5, 1.0], &[1, 1, 0, 0], &labels);
    let rows = ProxyRows::new(&[first, second], &trusted).unwrap();
    (trusted, rows)
}

#[test]
fn rows_have_the_composition_of_the_root_and_no_labels() {
    let (_, proxies) = two_clients();
    assert_eq!(proxies.trusted_counts, [[1.0, 2.0], [2.0, 1.0]]);
    let all = WeightedRows::proxies(&proxies, &[0.5; 8], &[Condition::All]);
    assert_eq!(all.weights[0], [1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 1.0, 1.0]);
    assert_eq!(all.totals[0], [3.0, 3.0]);
    let chances = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
    let negatives = WeightedRows::proxies(&proxies, &chances, &[Condition::Negatives]);
    assert_close(negatives.weights[0][1], 0.8);
    assert_close(negatives.weights[0][7], 0.2);
    // A sample that does not say whose rows it has: three rows of each group, half for each client.
    let unknown = Trusted::new(six(), None, 2).unwrap();
    assert_eq!(unknown.counts(), [[1.5, 1.5], [1.5, 1.5]]);
    assert!(Trusted::new(six(), Some(vec![0, 0, 1, 0, 1, 2]), 2).is_err());
    assert!(Trusted::new(six(), Some(vec![0]), 2).is_err());
}

#[test]
fn all_models_are_measured_as_one_by_one() {
    let (_, proxies) = two_clients();
    let weighted = WeightedRows::proxies(&proxies, &[0.5; 8], &[Condition::All]);
    let models: [&[f64]; 2] = [&[1.0, 0.5, -0.2], &[-0.3, 0.0, 0.1]];
    let slopes = [2.0, 5.0];
    let measured = OnRows::measure(&weighted, &models, &slopes);
    let of = &Contrast::all(Fairness::SP, &six())[0];
    let decisions = [0, 1].map(|m| {
        measure::decisions(&crate::comparison::scores(models[m], &proxies.rows), slopes[m])
    });
    let gap = |h: &[f64]| {
        let sum = |group: usize| -> f64 {
            (0..8)
                .filter(|&i| proxies.rows.group(i) == group)
                .map(|i| weighted.weights[0][i] * h[i])
                .sum()
        };
        (sum(1) - sum(0)) / 3.0
    };
    let gaps = measured.gaps(&weighted, of);
    for m in 0..2 {
        assert_close(gaps[m], gap(&decisions[m]));
        let plain: f64 =
            (0..8).filter(|&i| proxies.rows.group(i) == 1).map(|i| decisions[m][i]).sum();
        assert_close(measured.plain[1][m], plain);
    }
    let means = decisions[0].iter().zip(&decisions[1]).map(|(a, b)| 0.5 * (a + b));
    measured.mean.iter().zip(means).for_each(|(found, expected)| assert_close(*found, expected));
    // Jackknife over two clients: the gaps without one and without the other.
    let h = &decisions[0];
    let alone = [4..8, 0..4].map(|kept: std::ops::Range<usize>| {
        let side = |group: usize| {
            let own = kept.clone().filter(|&i| proxies.rows.group(i) == group);
            let (mut sum, mut total) = (0.0, 0.0);
            own.for_each(|i| {
                sum += weighted.weights[0][i] * h[i];
                total += weighted.weights[0][i];
            });
            sum / total
        };
        side(1) - side(0)
    });
    let half = 0.5 * (alone[0] - alone[1]).abs();
    assert_close(measure::jackknife(&proxies, &weighted, of, h), (0.5 * 2.0 * half * half).sqrt());
}

/// At the fit, the gradient of the penalised loss is 0.
#[test]
fn chances_of_a_positive_label_are_a_penalised_fit() {
    let trusted = crate::test_rows::random_rows(3, 300, 2, true);
    let average = [0.7, 0.4, 0.2, -0.1];
    let found = measure::positive_chances(&average, &trusted, &trusted);
    let scores = crate::comparison::scores(&average, &trusted);
    let logit = |i: usize| (found[i] / (1.0 - found[i])).ln();
    // Slope and shifts from two rows of a group.
    let of_group = |g: usize| (0..300).filter(|&i| trusted.group(i) == g).collect::<Vec<usize>>();
    let (zero, one) = (of_group(0), of_group(1));
    let slope = (logit(zero[0]) - logit(zero[1])) / (scores[zero[0]] - scores[zero[1]]);
    let shift = |g: usize| logit(g) - slope * scores[g];
    let residual = |i: usize| found[i] - f64::from(u8::from(trusted.is_positive(i)));
    let gradient: f64 = (0..300).map(|i| residual(i) * scores[i]).sum();
    assert!((gradient + 0.1 * (slope - 1.0)).abs() < 1e-6);
    for (rows, at) in [(&zero, zero[0]), (&one, one[0])] {
        let gradient: f64 = rows.iter().map(|&i| residual(i)).sum();
        assert!((gradient + 0.05 * shift(at)).abs() < 1e-6);
    }
}

#[test]
fn models_have_one_scale_and_thresholds_move_only_when_proven() {
    let trusted = crate::test_rows::random_rows(5, 400, 2, true);
    let good = vec![1.0, 0.8, 0.3, 0.0];
    let moved: Vec<f64> = vec![1.0, 0.8, 0.3, 4.0];
    let models = [good.clone(), good.iter().map(|t| 1e-6 * t).collect(), moved, vec![0.0; 4]];
    let scaled = Scaled::new(&models, &trusted).unwrap();
    assert_eq!(scaled.read, [true, true, true, false]);
    assert!(scaled.models[0].iter().zip(&scaled.models[1]).all(|(a, b)| (a - b).abs() < 1e-9));
    assert!(scaled.shifts[2] < -0.2 && scaled.shifts[0].abs() < scaled.shifts[2].abs());
    assert_eq!((scaled.useful[scaled.best], scaled.useful[3]), (1.0, 0.0));
    // By definition, from the losses of the rows.
    let loss =
        |c: usize, i: usize| crate::logistic::loss(trusted.labels()[i] * scaled.scores[c][i]);
    let rate = trusted.labels().iter().filter(|y| **y > 0.0).count() as f64 / 400.0;
    let constant = |i: usize| -(if trusted.is_positive(i) { rate } else { 1.0 - rate }).ln();
    let d: Vec<f64> =
        (0..400).map(|i| loss(2, i) - 0.5 * (loss(scaled.best, i) + constant(i))).collect();
    let error = (measure::variance(&d) / 400.0).sqrt();
    assert_close(scaled.useful[2], crate::interval::normal_cdf(-measure::mean(&d) / error));
    // Without an intercept the published model cannot have a threshold.
    let without = crate::test_rows::random_rows(5, 400, 2, false);
    let scaled = Scaled::new(&[vec![1.0, 0.8, 2.0]], &without).unwrap();
    assert_eq!(scaled.shifts, [0.0]);
    let infinite = vec![f64::INFINITY, 0.0, 0.0];
    assert!(Scaled::new(&[infinite, vec![f64::NAN; 3], vec![1e300; 3]], &without).is_none());
}

#[test]
fn coefficients_that_the_root_cannot_check_stay_near_the_median() {
    // The only row with x = 1: fewer than ten differ from the median 0.
    let x: Vec<f64> = (0..20).map(|i| f64::from(u8::from(i == 3))).collect();
    let (groups, labels): (Vec<u8>, Vec<bool>) = (0..20).map(|i| (i % 2, i % 3 == 0)).unzip();
    let trusted = rows(&x, &groups, &labels);
    let mut models = [1.0, 1.1, 0.9, -40.0, 1.3].map(|t| vec![t, 0.0, 0.0]).to_vec();
    let limited = scale::limit_unchecked(&mut models, &trusted, &[0.2; 5]);
    // Median 1, deviations 0 .1 .1 .3 41: 3 · 1.4826 · .1 is less than half a logit.
    assert_eq!(limited, [(0, 3)]);
    assert_close(models[3][0], 0.5);
    let mut two = models[..2].to_vec();
    assert!(scale::limit_unchecked(&mut two, &trusted, &[0.5; 2]).is_empty());
}

/// The sums of the grid, written out.
#[test]
fn the_posterior_is_the_average_over_the_grid() {
    let figure = |value: f64, error: f64| Figure { value, error };
    let offsets = vec![figure(-0.1, 0.02), figure(-0.08, 0.03), figure(0.18, 0.02)];
    let (root, rows) = (figure(0.1, 0.05), figure(0.12, 0.03));
    let found = Evidence { offsets: offsets.clone(), root, rows }.posterior();
    let normal =
        |d: f64, e: f64| (-0.5 * (d / e).powi(2)).exp() / (e * (2.0 * std::f64::consts::PI).sqrt());
    let (mut weights, mut fair, mut total, mut level, mut none) =
        ([0.0; 3], [0.0; 3], 0.0, 0.0, 0.0);
    for tau in SPREADS {
        for bias in -100i32..=100 {
            let mu = f64::from(bias) * 0.01;
            let is_on_grid =
                bias == 0 || (bias.abs() >= 4 && bias % 2 == 0 && mu.abs() >= 2.5 * tau);
            for a in (-100..=100).map(|m| f64::from(m) * 0.01).filter(|_| is_on_grid) {
                let prior = if bias == 0 { 0.2 } else { 0.8 / 98.0 };
                let share = if bias == 0 { 1.0 } else { 0.5 };
                let mut p = prior * normal(a - root.value, root.error);
                p *= 0.8 * normal(a - rows.value, rows.error) + 0.2 * 0.5;
                let mut r = [0.0; 3];
                for (c, u) in offsets.iter().enumerate() {
                    let sd = (u.error * u.error + tau * tau).sqrt();
                    let own = share * normal(u.value + a, sd);
                    let all = own + (1.0 - share) * normal(u.value + a - mu, sd);
                    p *= 0.95 * all + 0.05 * 0.5;
                    r[c] = 0.95 * own / (0.95 * all + 0.05 * 0.5);
                }
                let q: Vec<f64> =
                    (0..3).map(|c| r[c] / (offsets[c].error.powi(2) + tau * tau)).collect();
                let sum: f64 = q.iter().sum();
                (0..3).for_each(|c| {
                    weights[c] += p * q[c] / sum;
                    fair[c] += p * r[c];
                });
                total += p;
                level += p * a;
                none += if bias == 0 { p } else { 0.0 };
            }
        }
    }
    for c in 0..3 {
        assert!((found.weights[c] - weights[c] / total).abs() < 1e-10, "{found:?}");
        assert!((found.fair[c] - fair[c] / total).abs() < 1e-10);
    }
    assert!((found.level.value - level / total).abs() < 1e-10);
    assert!((found.biased - (1.0 - none / total)).abs() < 1e-10);
    assert!((found.spreads.iter().sum::<f64>() - 1.0).abs() < 1e-10);
}

#[test]
fn a_share_of_rows_without_a_group_says_nothing_about_it() {
    let trusted = Trusted::new(six(), None, 1).unwrap();
    let only_one = rows(&[1.0, 2.0, 0.5], &[1, 1, 1], &[true, false, true]);
    let input = Input {
        fairness: Fairness::SP,
        rows: ProxyRows::new(&[only_one], &trusted).unwrap(),
        trusted,
        n_rows: vec![3.0],
        noise: vec![0.0],
    };
    let scaled = Scaled::new(&[vec![1.0, 0.0, 0.0]], &input.trusted.rows).unwrap();
    let decision = input.decide(&scaled);
    assert_eq!(decision.judged[0].evidence.offsets[0].error, UNKNOWN);
    assert_eq!(decision.weights, [1.0]);
}

/// Noise of 40 rows in a group of 150 adds .27 to the error of its rate.
#[test]
fn declared_noise_adds_to_a_clients_own_error() {
    let trusted = Trusted::new(crate::test_rows::random_rows(1, 60, 2, true), None, 1).unwrap();
    let proxy = crate::test_rows::random_rows(2, 300, 2, true);
    let of = |noise: f64| {
        let samples = std::slice::from_ref(&proxy);
        let rows = ProxyRows::new(samples, &trusted).unwrap();
        let (n_rows, trusted) = (vec![300.0], trusted.clone());
        let input = Input { fairness: Fairness::SP, rows, trusted, n_rows, noise: vec![noise] };
        let scaled = Scaled::new(&[vec![1.0, 0.5, 0.0, 0.0]], &input.trusted.rows).unwrap();
        input.decide(&scaled).judged[0].evidence.offsets[0].error
    };
    let cells = proxy.cell_counts().into_iter().map(|[no, yes]| (no + yes) as f64);
    let added: f64 = cells.map(|n| (10.0 / n).powi(2)).sum();
    assert_close(of(10.0), (of(0.0).powi(2) + added).sqrt());
}
