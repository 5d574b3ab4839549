#![allow(clippy::unwrap_used)]
use super::*;
use crate::fairness::Fairness;
use crate::rows::Layout;
use crate::test_rows::layout;

/// Group 0 with scores 0 and ln 3, group 1 with scores −ln 3, ln 3 and ln 3: decisions ½, ¾ and ¼, ¾, ¾.
fn root() -> Root {
    let l = 3.0_f64.ln();
    let group = [false, false, true, true, true];
    let positive = [false, true, false, true, true];
    let rows = Rows::new(Layout::two_groups(1, false), &[0.0, l, -l, l, l], &group, &positive);
    Root::new(vec![rows.unwrap()]).unwrap()
}

#[test]
fn level_offset_and_errors_match_a_calculation_by_hand() {
    let index = RateIndex::new(Fairness::SP, 2);
    // The second model decides ½ everywhere, so the mean model decides ½, ⅝ and ⅜, ⅝, ⅝.
    let models = [vec![1.0, 0.0], vec![0.0, 0.0]];
    let rates = RootRates::new(&root(), &models, &index, 3.0).unwrap();
    let gap = [-1.0, 1.0];
    let level = rates.soft_level(&gap);
    // 13/24 − 9/16. Squares: 2 (1/16)² = 1/128, and (1/6)² + 2 (1/12)² = 1/24.
    assert!((level.value - (13.0 / 24.0 - 9.0 / 16.0)).abs() < 1e-15);
    let (zero, one) = (1.0 / 128.0, 1.0 / 24.0);
    let pooled = (zero + one) / 3.0_f64;
    let variance = zero.max(pooled) / 2.0 + (one / 2.0).max(pooled) / 3.0;
    assert!((level.error - variance.sqrt()).abs() < 1e-15);
    // The first model's decisions minus the mean model's: 0, ⅛ and −⅛, ⅛, ⅛, which has the same squares.
    let offset = rates.offset(0, &gap);
    assert!((offset.value - (1.0 / 24.0 - 1.0 / 16.0)).abs() < 1e-15);
    assert!((offset.error - variance.sqrt()).abs() < 1e-15);
    // Labels: ⅔ and ½ are positive.
    let labels = rates.label_gap(&gap);
    assert!((labels.value - 1.0 / 6.0).abs() < 1e-15);
    assert!((rates.models[0].scale - (4.0 / 5.0_f64).sqrt() * 3.0_f64.ln()).abs() < 1e-15);
    assert_eq!(rates.fewest_rows(&gap), 2);
    // All rows count for statistical parity; two of five are negative, and do not count for equal opportunity.
    assert_eq!(rates.excluded_share(&gap), 0.0);
    let index = RateIndex::new(Fairness::EO, 2);
    let rates = RootRates::new(&root(), &models, &index, 3.0).unwrap();
    assert!((rates.excluded_share(&gap) - 0.4).abs() < 1e-15);
}

#[test]
fn a_constant_model_of_the_right_rate_has_no_excess_loss() {
    let rows = root().all_rows().unwrap();
    // Three of five rows are positive: the score ln(3/2) is the best constant.
    let excess = excess_loss(&rows, &[1.5_f64.ln(); 5]);
    assert!(excess.value.abs() < 1e-15 && excess.error.abs() < 1e-15);
    assert!(excess_loss(&rows, &[-2.0; 5]).value > 0.5);
}

#[test]
fn a_missing_or_single_row_makes_the_gap_uncertain_instead_of_certain() {
    let layout = layout(3, 1, false, false);
    let rows = Rows::new(layout, &[1.0, 1.0], &[0u8, 2], &[true, false]).unwrap();
    let root = Root::new(vec![rows]).unwrap();
    let index = RateIndex::new(Fairness::SP, 3);
    let rates = RootRates::new(&root, &[vec![0.0]], &index, 3.0).unwrap();
    let level = rates.soft_level(&[1.0, -0.5, -0.5]);
    assert_eq!(level.value, 0.0);
    let expected = (0.25_f64 * (1.0 + 0.25 + 0.25)).sqrt();
    assert!((level.error - expected).abs() < 1e-15, "{}", level.error);
}

/// Two estimates of the shift, from root and rows, are weighted by their precision.
#[test]
fn the_level_takes_the_shift_from_whoever_knows_it_better() {
    let index = RateIndex::new(Fairness::SP, 2);
    let rates = RootRates::new(&root(), &[vec![1.0, 0.0]], &index, 2.0).unwrap();
    let gap = [-1.0, 1.0];
    // Decisions ½, ¾ and ¼, ¾, ¾; steep ones, with odds squared, ½, 9/10 and 1/10, 9/10, 9/10.
    let soft = 7.0 / 12.0 - 5.0 / 8.0;
    let steep = 19.0 / 30.0 - 7.0 / 10.0;
    let certain = rates.level(&gap, Figure { value: 0.3, error: 0.0 });
    assert!((certain.value - (soft + 0.3)).abs() < 1e-12);
    assert!((certain.error - rates.soft_level(&gap).error).abs() < 1e-15);
    let worthless = rates.level(&gap, Figure { value: 0.3, error: 1e6 });
    assert!((worthless.value - steep).abs() < 1e-9);
    // Differences of both: 0, 0.15 and −0.15, 0.15, 0.15. Squares 0.01125 and 0.06; pooled 0.07125/3.
    let pooled = 0.07125 / 3.0;
    let variance = pooled / 2.0 + 0.03_f64.max(pooled) / 3.0;
    // As certain as the root: half of each.
    let equal = rates.level(&gap, Figure { value: 0.3, error: variance.sqrt() });
    assert!((equal.value - (soft + 0.5 * (steep - soft) + 0.5 * 0.3)).abs() < 1e-12);
}
