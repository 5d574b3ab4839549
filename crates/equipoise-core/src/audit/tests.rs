#![allow(clippy::unwrap_used)]

mod influence;

use super::*;
use crate::defense::Defense;
use crate::fairness::Fairness;
use crate::inner_fit::{FitPoint, InnerProblem, InnerSettings};
use crate::metrics::Metrics;
use crate::observer::NoopObserver;
use crate::packed_rows::PackedRows;
use crate::round::{Client, Round};
use crate::rows::{Layout, Rows};
use crate::solve::solve;
use crate::statistics::ClientStatistics;
use crate::test_rows::{layout, random_round, random_round_of, random_rows};

fn solved(round: &Round, defense: Defense, fairness: Fairness) -> Outcome {
    let settings = Settings { defense, fall_back: false, ..Settings::new(fairness) };
    solve(round, &settings.validate().unwrap(), &mut NoopObserver).unwrap()
}

/// The model of given weights, fitted without the audit's code.
fn refitted(round: &Round, weights: &[f64], lambda: f64) -> Vec<f64> {
    let rows = round.proxies();
    let problem = InnerProblem { rows, weights, ridge: ridge(lambda, rows.n()) };
    let tight = InnerSettings { tolerance: 1e-12, ..InnerSettings::default() };
    problem.fit(FitPoint::origin(rows).unwrap(), &tight).unwrap().point.theta
}

/// Loss and gap on the root, from the public metrics and the packed statistics.
fn figures(round: &Round, theta: &[f64], fairness: Fairness) -> (f64, f64) {
    let rows = round.root().all_rows().unwrap();
    let gap = Metrics::of(theta, &rows).unwrap().gap(fairness).unwrap().size();
    let packed = PackedRows::of(std::slice::from_ref(&rows)).unwrap();
    let loss = packed.evaluate(theta, Order::Loss).unwrap().weighted_loss(&[1.0]);
    (loss / rows.len() as f64, gap)
}

/// Weights that are nowhere 0 or 1, and the model they give.
fn weighted(round: &Round, fairness: Fairness) -> Outcome {
    let mut outcome = solved(round, Defense::Bilevel, fairness);
    let n = outcome.clients.len();
    let sum = (1..=n).sum::<usize>() as f64;
    outcome.clients.iter_mut().zip(1..).for_each(|(c, k)| c.weight = f64::from(k) / sum);
    outcome.theta = refitted(round, &outcome.weights(), outcome.settings.lambda);
    outcome
}

#[test]
fn a_mean_loss_has_students_interval() {
    // t with one degree of freedom is 12.706, and the standard error of 0 and 1 is ½.
    let found = own_model::mean_with_interval(&[0.0, 1.0]);
    assert!((found.value - 0.5).abs() < 1e-15 && (found.high - 6.853).abs() < 1e-3, "{found:?}");
}

#[test]
fn weights_of_nothing_and_of_everything() {
    let round = random_round(9, 3, 120, 2, true);
    let mut outcome = solved(&round, Defense::Bilevel, Fairness::SP);
    for (client, weight) in outcome.clients.iter_mut().zip([0.0, 1.0, 0.0]) {
        client.weight = weight;
    }
    outcome.theta = refitted(&round, &outcome.weights(), outcome.settings.lambda);
    let audits = audit(&round, &outcome.settings, &outcome).unwrap();
    let left_out = |c: usize| audits[c].influence.as_ref().unwrap().left_out;
    assert_eq!(left_out(1), None);
    let nothing = LeftOut { loss: 0.0, gap: Some(0.0), soft_gap: Some(0.0), estimated: false };
    assert_eq!(left_out(0), Some(nothing));
    assert!(audits[1].reason.contains("only client"), "{}", audits[1].reason);

    let root_only = solved(&round, Defense::RootOnly, Fairness::SP);
    let audits = audit(&round, &root_only.settings, &root_only).unwrap();
    assert!(audits.iter().all(|audit| audit.influence.is_none() && audit.own_model.is_some()));
}

#[test]
fn gaps_of_several_groups_are_those_of_the_metrics() {
    let layout = layout(4, 2, false, true);
    let round = random_round_of(&layout, 2, 3, 240);
    let fairness: Fairness = "sp:0.5,eo:0.5".parse().unwrap();
    let rows = round.root().all_rows().unwrap();
    for seed in 0..5 {
        let theta: Vec<f64> = (0..3).map(|k| (f64::from(seed * 3 + k) * 1.3).sin()).collect();
        let probed = RootProbe::new(&rows, fairness).measure(&theta);
        let (loss, gap) = figures(&round, &theta, fairness);
        assert!((probed.loss - loss).abs() < 1e-13 && (probed.gap.unwrap() - gap).abs() < 1e-13);
    }
}

/// One client with `outliers` rows of value `size`, among ordinary ones.
fn with_outliers(id: &str, outliers: usize, size: f64) -> Client {
    let layout = Layout::two_groups(1, true);
    let x: Vec<f64> =
        (0..60).map(|i| if i < outliers { size } else { (i as f64 * 0.9).sin() * 1.2 }).collect();
    let s: Vec<bool> = (0..60).map(|i| i % 2 == 0).collect();
    let y: Vec<bool> = (0..60).map(|i| (i as f64 * 2.1).cos() > 0.0).collect();
    let proxy = Rows::new(layout, &x, &s, &y).unwrap();
    let ordinary = (40..60).collect::<Vec<_>>();
    Client { id: id.to_owned(), root: proxy.select(&ordinary), proxy }
}

#[test]
fn rows_far_outside_are_counted_and_cannot_hide_themselves() {
    let clients = vec![
        with_outliers("a", 0, 0.0),
        with_outliers("b", 3, 1e6),
        with_outliers("c", 2, -15.0),
        with_outliers("d", 4, 9.0),
        with_outliers("e", 0, 0.0),
        with_outliers("f", 0, 0.0),
    ];
    let round = Round::new(clients).unwrap();
    let outcome = solved(&round, Defense::Pooled, Fairness::SP);
    let audits = audit(&round, &outcome.settings, &outcome).unwrap();
    let found: Vec<usize> = audits.iter().map(|a| a.outliers.unwrap().rows).collect();
    assert_eq!(found, [0, 3, 2, 0, 0, 0]);
    // Half of the clients have a root mean square below 1, so 1 is the typical size.
    let largest: Vec<f64> = audits[1..4].iter().map(|a| a.outliers.unwrap().largest).collect();
    assert_eq!(largest, [1e6, 15.0, 9.0]);
}

#[test]
fn equal_rows_count_as_often_as_they_occur() {
    let layout = Layout::two_groups(1, true);
    let x: Vec<f64> = (0..40).map(|i| if i % 4 == 0 { 100.0 } else { 0.5 }).collect();
    let s = vec![true; 40];
    let y: Vec<bool> = (0..40).map(|i| i % 8 == 0).collect();
    let rows = Rows::new(layout, &x, &s, &y).unwrap();
    let packed = PackedRows::of(std::slice::from_ref(&rows)).unwrap();
    let limits = [10.0, f64::INFINITY, f64::INFINITY];
    assert_eq!(packed.count_beyond(&[0], &limits).unwrap(), Some(vec![10]));
    assert_eq!(packed.columns(0).unwrap().mean(0), 25.375);
    assert_eq!(packed.columns(0).unwrap().max_abs, [100.0, 1.0, 1.0]);
}

#[test]
fn drift_agrees_with_a_hand_computed_case() {
    let layout = Layout::two_groups(2, true);
    let table = |x: &[f64]| {
        let n = x.len() / 2;
        Rows::new(layout.clone(), x, &vec![true; n], &vec![true; n]).unwrap()
    };
    // Root: means 1 and 0, deviations 1 and 0. Client: means 3 and ½.
    let root = ColumnSummary::of(&table(&[0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0, 0.0]));
    let client = ColumnSummary::of(&table(&[3.0, 1.0, 3.0, 0.0]));
    let deviations = drift::typical_deviations(&[&client, &root, &root], &root, 2);
    assert_eq!(deviations, [1.0, 0.5]);
    let drift = drift::measure(&client, &root, &deviations, 3).unwrap();
    // The second deviation is taken as ½, one row of 1 in four, so that column has drifted by 1.
    assert_eq!((drift.largest, drift.column), (2.0, 0));
    assert!((drift.overall - (2.5f64).sqrt()).abs() < 1e-15);
    // Two features of three clients, 5 %: ln(6/0.05) = ln 120.
    let limit = (1.25f64).sqrt() * (2.0 * (120.0f64).ln()).sqrt();
    assert!((drift.by_chance - limit).abs() < 1e-15);
}

/// All clients of a round are compared with the same 40 root rows, whose error they share. One column is a rare level.
#[test]
fn a_client_exceeds_the_drift_expected_by_chance_in_few_honest_rounds() {
    let table = |seed: u64, n: usize| {
        // The direction of the labels differs by seed, the features do not.
        let mut rows = random_rows(seed, n, 6, false);
        for i in 0..n {
            let x = rows.x_mut(i);
            x[0] = f64::from(u8::from(x[0] > 1.3));
        }
        rows
    };
    let exceed = |clients: &[Rows], root: &Rows| -> Vec<bool> {
        let clients: Vec<ColumnSummary> = clients.iter().map(ColumnSummary::of).collect();
        let root = ColumnSummary::of(root);
        let deviations = drift::typical_deviations(&clients.iter().collect::<Vec<_>>(), &root, 6);
        let measure = |client| drift::measure(client, &root, &deviations, clients.len()).unwrap();
        let drifts = clients.iter().map(measure);
        drifts.map(|drift| drift.largest.abs() > drift.by_chance).collect()
    };
    let mut rounds = 0;
    let mut clients = Vec::new();
    for round in 0..400 {
        clients = (0..5).map(|c| table(1000 + 10 * round + c, 300)).collect();
        let found = exceed(&clients, &table(1009 + 10 * round, 40));
        rounds += usize::from(found.contains(&true));
    }
    // 5 % of 400 and three standard errors.
    assert!(rounds <= 33, "{rounds} of 400");
    // A feature of one client shifted by one standard deviation is found.
    (0..300).for_each(|i| clients[3].x_mut(i)[2] += 1.0);
    assert_eq!(exceed(&clients, &table(2, 40)), [false, false, false, true, false]);
}

#[test]
fn the_audit_is_the_same_for_any_number_of_threads() {
    let round = random_round(11, 6, 2000, 5, true);
    let outcome = solved(&round, Defense::Bilevel, Fairness::SP);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| audit(&round, &outcome.settings, &outcome).unwrap())
    };
    assert_eq!(on(1), on(3));
}
