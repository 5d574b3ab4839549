use super::rounds::{Stored, input_of, stored};
use super::*;
use crate::observer::NoopObserver;
use crate::outcome::{Outcome, Termination};
use crate::round::Client;
use crate::rows::{Layout, Rows};
use crate::solve::solve;
use crate::test_rows::{layout, random_round_of, random_rows, random_rows_of};
use crate::warning::{Warning, WarningCode};

fn judged(round: &Stored) -> (Tilt, Vec<Warning>) {
    let (input, models) = round.make();
    judge(&input, &models)
}

fn judge(input: &Input, models: &[Vec<f64>]) -> (Tilt, Vec<Warning>) {
    let ids: Vec<String> = (0..models.len()).map(|c| format!("c{c}")).collect();
    let groups = &input.trusted.rows.layout().groups;
    let scaled = Scaled::new(models, &input.trusted.rows).unwrap();
    let decision = input.decide(&scaled);
    let tilt = verdict::explain(&ids, groups, &scaled, &decision);
    let warnings = verdict::warnings(&decision, &tilt);
    (tilt, warnings)
}

fn has(warnings: &[Warning], code: WarningCode) -> bool {
    warnings.iter().any(|warning| warning.code == code)
}

fn of_seed(seed: usize) -> Stored {
    stored().swap_remove(seed - 1)
}

fn run(clients: Vec<Client>, criterion: &str) -> Result<Outcome, Error> {
    run_round(&Round::new(clients)?, criterion)
}

fn run_round(round: &Round, criterion: &str) -> Result<Outcome, Error> {
    let settings =
        Settings { defense: crate::Defense::Tilt, ..Settings::new(criterion.parse().unwrap()) };
    let outcome = solve(round, &settings.validate().unwrap(), &mut NoopObserver)?;
    assert!(outcome.weights().iter().chain(&outcome.theta).all(|v| v.is_finite()));
    let sum: f64 = outcome.weights().iter().sum();
    let fell_back = outcome.termination == Termination::FellBack;
    assert!((sum - if fell_back { 0.0 } else { 1.0 }).abs() < 1e-9);
    let json = serde_json::to_string(&outcome).unwrap();
    assert_eq!(serde_json::from_str::<Outcome>(&json).unwrap(), outcome);
    Ok(outcome)
}

fn client(id: usize, proxy: Rows, root: Rows) -> Client {
    Client { id: format!("c{id:04}"), proxy, root }
}

fn alike(layout: &Layout, n_clients: usize, root_rows: usize) -> Vec<Client> {
    (0..n_clients)
        .map(|c| {
            let rows = random_rows_of(layout, 7 + c as u64, 600 + root_rows);
            // One table, so that root and proxy have the same labels' rule.
            let (root, proxy): (Vec<_>, Vec<_>) = (0..rows.len()).partition(|i| *i < root_rows);
            client(c, rows.select(&proxy), rows.select(&root))
        })
        .collect()
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let round = random_round_of(&layout(3, 4, true, true), 2, 9, 2500);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let outcome = pool.install(|| run_round(&round, "eo")).unwrap();
        outcome.weights().into_iter().chain(outcome.theta).map(f64::to_bits).collect::<Vec<_>>()
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(7));
}

#[test]
fn every_criterion_and_kind_of_schema_works() {
    for (groups, as_feature, intercept) in
        [(2, true, true), (2, false, true), (3, true, false), (4, false, false)]
    {
        let round = random_round_of(&layout(groups, 3, as_feature, intercept), 4, 4, 900);
        for criterion in ["sp", "eo", "fpr", "equalized-odds", "sp:0.7,eo:0.3"] {
            let outcome = run_round(&round, criterion).unwrap();
            let summary = outcome.tilt.unwrap();
            let n_conditions = outcome.settings.fairness.conditions().count();
            let per_condition = if groups == 2 { 1 } else { groups };
            assert_eq!(summary.contrasts.len(), n_conditions * per_condition);
            let shifts = outcome.clients.iter().map(|c| c.tilt.as_ref().unwrap().shift);
            assert!(intercept || shifts.into_iter().all(|shift| shift == 0.0));
        }
    }
}

#[test]
fn forty_groups_and_one_client_are_fine() {
    run_round(&random_round_of(&layout(40, 2, true, true), 6, 3, 3000), "sp").unwrap();
    let one = run(alike(&Layout::two_groups(2, true), 1, 60), "sp").unwrap();
    assert_eq!(one.weights(), [1.0]);
}

/// Two clients with the same proxy get the same weight, also if one of them is the best.
#[test]
fn identical_proxies_get_identical_weights() {
    let mut clients = alike(&Layout::two_groups(2, true), 3, 60);
    clients[1].proxy = clients[0].proxy.clone();
    let weights = run(clients, "sp").unwrap().weights();
    assert!((weights[0] - weights[1]).abs() < 1e-6, "{weights:?}");
}

#[test]
fn roots_that_cannot_measure_fairness_are_errors_or_warnings() {
    let layout = Layout::two_groups(2, true);
    let proxy = |seed| random_rows(seed, 400, 2, true);
    let with_root = |root: &dyn Fn(usize) -> Rows, criterion: &str| {
        run((0..3).map(|c| client(c, proxy(c as u64), root(c))).collect(), criterion)
    };
    let some = |labels: &[bool], groups: &[u8]| {
        let x: Vec<f64> = (0..2 * labels.len()).map(|i| (i as f64).sin()).collect();
        Rows::new(layout.clone(), &x, groups, labels).unwrap()
    };
    let none = || some(&[], &[]);
    // One trusted row, or no row of a group: a clear error.
    let one = with_root(&|c| if c == 0 { some(&[true], &[1]) } else { none() }, "sp");
    assert!(one.unwrap_err().to_string().contains("group"));
    let one_group = with_root(&|_| some(&[true, false, true], &[1, 1, 1]), "sp");
    assert!(one_group.unwrap_err().to_string().contains("group"));
    // One positive of a group: the contrast cannot be measured.
    let labels = [true, true, false, true, true, false, false, false];
    let groups = [1, 1, 1, 1, 1, 0, 0, 0];
    let few =
        |c: usize| if c == 0 { some(&[true, false], &[0, 0]) } else { some(&labels, &groups) };
    let outcome = with_root(&few, "eo").unwrap();
    if outcome.termination != Termination::FellBack {
        assert!(outcome.tilt.as_ref().unwrap().contrasts.is_empty());
        assert!(has(&outcome.warnings, WarningCode::CannotTell));
    }
    // Constant columns, and clients without trusted rows.
    let constant = |c: usize| {
        let x = [1.0; 16];
        if c == 1 { none() } else { Rows::new(layout.clone(), &x, &groups, &labels).unwrap() }
    };
    with_root(&constant, "sp").unwrap();
}

#[test]
fn constant_proxies_leave_the_root_alone() {
    let layout = Layout::two_groups(2, true);
    let n = 300;
    let labels: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
    let groups: Vec<u8> = (0..n).map(|i| (i % 2) as u8).collect();
    let constant = Rows::new(layout, &vec![0.0; 2 * n], &groups, &labels).unwrap();
    let clients = (0..3).map(|c| client(c, constant.clone(), random_rows(9, 80, 2, true)));
    let outcome = run(clients.collect(), "sp").unwrap();
    assert!(has(&outcome.warnings, WarningCode::FellBack));
    assert_eq!(outcome.weights(), [0.0; 3]);
}

#[test]
fn an_infinite_model_is_not_read() {
    let round = of_seed(2);
    let (input, mut models) = round.make();
    models[4][0] = f64::INFINITY;
    models[5][1] = f64::NAN;
    let (tilt, _) = judge(&input, &models);
    for client in &tilt.clients[4..] {
        assert_eq!((client.reason.clone(), client.counted), (TiltReason::NotRead, Counted::Not));
    }
}

#[test]
fn unlike_and_few_clients_are_warned_about() {
    let (tilt, warnings) = judged(&of_seed(9));
    assert!(has(&warnings, WarningCode::ClientsDiffer), "{warnings:?}");
    assert!(!has(&warnings, WarningCode::FairButWeak));
    assert_eq!(tilt.summary.headline(), "5 of 12 clients are counted in full, 0 less, 7 not");
    let sentence = tilt.clients[0].reason.to_string();
    assert!(sentence.starts_with("hardly counted: its model favours `g1` by"), "{sentence}");
    assert!(has(&judged(&of_seed(28)).1, WarningCode::FewClientsUsed));
    assert!(!has(&judged(&of_seed(30)).1, WarningCode::FewClientsUsed));
}

#[test]
fn useless_clients_come_back_if_the_others_are_unfair() {
    let round = of_seed(33);
    let (tilt, warnings) = judged(&round);
    assert!(has(&warnings, WarningCode::FairButWeak), "{warnings:?}");
    assert!(tilt.summary.came_back);
    let sentence = tilt.clients[5].reason.to_string();
    assert!(sentence.starts_with("counted although it knows little"), "{sentence}");
    // Whispers stay out, and the reason has the losses.
    let (tilt, _) = judged(&of_seed(5));
    let sentence = tilt.clients[0].reason.to_string();
    assert!(sentence.starts_with("not counted: its decisions say less"), "{sentence}");
}

#[test]
fn limited_coefficients_are_named() {
    let (tilt, _) = judged(&of_seed(7));
    assert_eq!(tilt.clients[0].limited, [4]);
    let described = tilt.clients[0].describe(|column| format!("x{column}"));
    assert!(described.ends_with("limited, since the root cannot check it: x4"), "{described}");
}

/// The clients' people differ by group where those of the root do not.
#[test]
fn rows_that_disagree_with_the_root_are_warned_about() {
    let (mut elsewhere, mut here) = (of_seed(2), of_seed(1));
    elsewhere.set(3.0, 0, 100);
    here.set(0.0, 0, 100);
    let ((there, models), (root, _)) = (elsewhere.make(), here.make());
    let roots: Vec<Rows> = (0..6).map(|c| root.trusted.rows.select(&rows_of(c, 100))).collect();
    let proxies: Vec<Rows> = there
        .rows
        .clients
        .iter()
        .map(|range| there.rows.rows.select(&range.clone().collect::<Vec<_>>()))
        .collect();
    let (_, warnings) = judge(&input_of(Fairness::SP, &roots, &proxies), &models);
    assert!(has(&warnings, WarningCode::RowsDisagree), "{warnings:?}");
    let (_, warnings) = judged(&of_seed(1));
    assert!(!has(&warnings, WarningCode::RowsDisagree), "{warnings:?}");
}

fn rows_of(client: usize, each: usize) -> Vec<usize> {
    (client * each..(client + 1) * each).collect()
}
