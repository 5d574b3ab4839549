//! Figures of whole tables, means and AUC.

use super::*;

struct Table {
    n_groups: usize,
    group: Vec<usize>,
    positive: Vec<bool>,
    score: Vec<f64>,
    selected: Vec<bool>,
    figures: Value,
}

fn tables() -> Vec<Table> {
    let whole = |v: &Value| list(v).iter().map(|v| v.as_u64().unwrap() as usize).collect();
    let flags = |v: &Value| list(v).iter().map(|v| v.as_u64() == Some(1)).collect();
    let read = |table: &Value| Table {
        n_groups: table["n_groups"].as_u64().unwrap() as usize,
        group: whole(&table["group"]),
        positive: flags(&table["label"]),
        score: floats(&table["score"]),
        selected: flags(&table["selected"]),
        figures: table["figures"].clone(),
    };
    list(&reference()["tables"]).iter().map(read).collect()
}

impl Table {
    /// Selected rows of a group, of one label or of both.
    fn selected(&self, group: usize, label: Option<bool>) -> Count {
        Count::of((0..self.group.len()).filter_map(|i| {
            let counts = self.group[i] == group && label.is_none_or(|l| l == self.positive[i]);
            counts.then_some(self.selected[i])
        }))
    }

    fn cells(&self, label: Option<bool>) -> Vec<Count> {
        (0..self.n_groups).map(|group| self.selected(group, label)).collect()
    }
}

#[test]
fn rates_and_worst_gaps_agree_with_fairlearn() {
    let tables = tables();
    assert_eq!(tables.iter().map(|t| t.n_groups).collect::<Vec<_>>(), [2, 3]);
    for table in tables {
        for group in 0..table.n_groups {
            let expected = &table.figures["by_group"][group];
            for (name, label) in [
                ("selection_rate", None),
                ("true_positive_rate", Some(true)),
                ("false_positive_rate", Some(false)),
            ] {
                let rate = table.selected(group, label).rate().unwrap().value;
                assert_close(rate, expected[name].as_f64().unwrap(), 1e-12);
            }
            let positives = table.selected(group, Some(true));
            let wrong = table.selected(group, Some(false));
            let negatives = Count { successes: wrong.n - wrong.successes, n: wrong.n };
            let balanced = balanced_accuracy(positives, negatives).unwrap().value;
            assert_close(balanced, expected["balanced_accuracy"].as_f64().unwrap(), 1e-12);
        }
        let both = vec![table.cells(Some(true)), table.cells(Some(false))];
        for (name, conditions) in [
            ("demographic_parity_difference", vec![table.cells(None)]),
            ("equal_opportunity_difference", vec![table.cells(Some(true))]),
            ("false_positive_rate_difference", vec![table.cells(Some(false))]),
            ("equalized_odds_difference", both),
        ] {
            let worst = WorstGap::of(&conditions, 0).unwrap();
            let expected = table.figures[name].as_f64().unwrap();
            assert_close(worst.gap.value.abs(), expected, 1e-12);
            assert!(worst.gap.contains(worst.gap.value));
        }
        let mut cells = table.cells(None);
        cells.sort_by(|a, b| a.share().total_cmp(&b.share()));
        let ratio = rate_ratio(cells[0], cells[table.n_groups - 1]).unwrap().value;
        let expected = table.figures["demographic_parity_ratio"].as_f64().unwrap();
        assert_close(ratio, expected, 1e-12);
    }
}

#[test]
fn auc_agrees_with_scikit_learn_and_delongs_definition() {
    for table in tables() {
        let auc = Auc::of(&table.score, &table.positive).unwrap();
        let expected = table.figures["overall"]["auc"].as_f64().unwrap();
        assert_close(auc.value, expected, 1e-12);
        let variance = table.figures["auc_variance"].as_f64().unwrap();
        assert_close(auc.standard_error(), variance.sqrt(), 1e-12);
        // The interval is symmetric on the logit scale.
        let logit = |p: f64| (p / (1.0 - p)).ln();
        let (estimate, slope) = (auc.estimate(), auc.value * (1.0 - auc.value));
        let half = Z * variance.sqrt() / slope;
        assert_close(logit(estimate.high) - logit(auc.value), half, 1e-10);
        assert_close(logit(auc.value) - logit(estimate.low), half, 1e-10);
        for group in 0..table.n_groups {
            let select = |i: &usize| table.group[*i] == group;
            let rows: Vec<usize> = (0..table.group.len()).filter(select).collect();
            let score: Vec<f64> = rows.iter().map(|&i| table.score[i]).collect();
            let positive: Vec<bool> = rows.iter().map(|&i| table.positive[i]).collect();
            let expected = table.figures["by_group"][group]["auc"].as_f64().unwrap();
            assert_close(Auc::of(&score, &positive).unwrap().value, expected, 1e-12);
        }
    }
}

#[test]
fn separated_scores_leave_the_auc_uncertain() {
    let auc = Auc::of(&[0.1, 0.2, 0.8, 0.9], &[false, false, true, true]).unwrap();
    let estimate = auc.estimate();
    assert_eq!((estimate.value, estimate.high), (1.0, 1.0));
    // (1 − θ)² = z² θ(1 − θ)(1 + (1 − θ)/(2 − θ) + θ/(1 + θ)) / 4 at the lower limit.
    let t = estimate.low;
    let variance = t * (1.0 - t) * (1.0 + (1.0 - t) / (2.0 - t) + t / (1.0 + t)) / 4.0;
    assert_close((1.0 - t).powi(2), Z * Z * variance, 1e-12);
    assert!(t < 0.5, "{t}");
}

#[test]
fn calibration_is_the_mean_score_minus_the_base_rate() {
    for table in tables() {
        let overall = &table.figures["overall"];
        let expected =
            overall["mean_score"].as_f64().unwrap() - overall["base_rate"].as_f64().unwrap();
        let found = calibration(&table.score, &table.positive).unwrap();
        assert_close(found.value, expected, 1e-12);
        let residuals: Vec<f64> = table
            .score
            .iter()
            .zip(&table.positive)
            .map(|(s, &p)| s - f64::from(u8::from(p)))
            .collect();
        let student = paired_mean(&residuals).unwrap();
        assert_close(found.half_width() / student.half_width(), 1.0, 0.02);
    }
}

#[test]
fn calibration_of_a_few_rows_by_hand() {
    // −1, 0.4, 0.4, 1: mean 0.2, variance (2.32 − 4 · 0.2²) / 3 = 0.72.
    let two = calibration(&[0.4; 2], &[false; 2]).unwrap();
    assert_close(two.value, 0.4, 1e-15);
    assert_close(two.low, 0.4 - Z * 0.36f64.sqrt(), 1e-12);
    assert_eq!(two.high, 1.0);
}
