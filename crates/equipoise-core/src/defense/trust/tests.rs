#![allow(clippy::unwrap_used)]
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal, Uniform};

use super::*;
use crate::fairness::Fairness;
use crate::outcome::Outcome;
use crate::packed_rows::PackedRows;
use crate::root::Root;
use crate::round::Client;
use crate::rows::{Layout, Rows};
use crate::test_rows::layout;
use crate::warning::WarningCode;
use crate::{Defense, Metrics, NoopObserver, solve};

/// Rows whose features have the same distribution in all groups. Labels follow them, and the group by `bias`.
fn rows(layout: &Layout, seed: u64, n_rows: usize, bias: f64) -> Rows {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let uniform = Uniform::new(0.0, 1.0).unwrap();
    let n_groups = layout.groups.len();
    let (mut x, mut groups, mut positive) = (vec![], vec![], vec![]);
    for i in 0..n_rows {
        let group = i % n_groups;
        let row: Vec<f64> = (0..layout.n_x).map(|_| StandardNormal.sample(&mut rng)).collect();
        let lean = 2.0 * group as f64 / (n_groups - 1) as f64 - 1.0;
        let score = 2.0 * row[0] - row[1] + bias * lean;
        positive.push(uniform.sample(&mut rng) < 1.0 / (1.0 + (-score).exp()));
        x.extend(row);
        groups.push(group as u8);
    }
    Rows::new(layout.clone(), &x, &groups, &positive).unwrap()
}

/// Clients whose proxies have these biases. The root's labels are biased like the worst of them.
fn clients(layout: &Layout, seed: u64, biases: &[f64], root_rows: usize) -> Vec<Client> {
    clients_with_root(layout, seed, biases, root_rows, 1.0)
}

fn clients_with_root(
    layout: &Layout,
    seed: u64,
    biases: &[f64],
    root_rows: usize,
    root_bias: f64,
) -> Vec<Client> {
    let client = |(c, &bias): (usize, &f64)| Client {
        id: format!("c{c:02}"),
        proxy: rows(layout, seed * 1000 + c as u64, 1500, bias),
        root: rows(layout, seed * 1000 + 500 + c as u64, root_rows, root_bias),
    };
    biases.iter().enumerate().map(client).collect()
}

fn run(clients: Vec<Client>, fairness: &str) -> Outcome {
    let mut settings = Settings::new(fairness.parse().unwrap());
    settings.defense = Defense::Trust;
    let round = Round::new(clients).unwrap();
    solve(&round, &settings.validate().unwrap(), &mut NoopObserver).unwrap()
}

fn reason(outcome: &Outcome, client: usize) -> &TrustReason {
    &outcome.clients[client].trust.as_ref().unwrap().reasons[0]
}

fn worst_gap(theta: &[f64], rows: &Rows) -> f64 {
    let cells: Vec<(f64, f64)> = (0..rows.layout().groups.len())
        .map(|group| {
            let of_group = (0..rows.len()).filter(|&i| rows.group(i) == group);
            let selected =
                of_group.clone().filter(|&i| crate::logistic::dot(rows.a(i), theta) > 0.0);
            (selected.count() as f64, of_group.count() as f64)
        })
        .collect();
    let rates = || cells.iter().map(|(selected, all)| selected / all);
    rates().fold(0.0, f64::max) - rates().fold(1.0, f64::min)
}

const BIASES: [f64; 5] = [0.0, 1.0, 0.0, 1.0, 0.0];

#[test]
fn biased_clients_get_no_weight_and_fair_ones_share_it() {
    let layout = Layout::two_groups(2, true);
    for seed in 1..=3 {
        let outcome = run(clients(&layout, seed, &BIASES, 20), "sp");
        let weights = outcome.weights();
        assert!(weights[1] + weights[3] < 0.02, "seed {seed}: {weights:?}");
        assert!([0, 2, 4].iter().all(|&c| (weights[c] - 1.0 / 3.0).abs() < 0.05), "{weights:?}");
        assert!(matches!(reason(&outcome, 0), TrustReason::Fair { .. }));
        let TrustReason::Unfair { gap, favours, against, .. } = reason(&outcome, 1) else {
            panic!("{:?}", reason(&outcome, 1));
        };
        assert!(*gap > 0.15, "{gap}");
        assert_eq!(
            (&favours[..], &against[..]),
            (&["privileged".to_owned()][..], &["others".to_owned()][..])
        );
        let summary = outcome.trust.as_ref().unwrap();
        assert!(summary.decided && summary.axes.len() == 1 && outcome.warnings.is_empty());
        assert!(worst_gap(&outcome.theta, &rows(&layout, 9, 20_000, 0.0)) < 0.03);
    }
}

#[test]
fn equal_clients_get_equal_weights() {
    let outcome = run(clients(&Layout::two_groups(2, true), 4, &[0.0; 5], 20), "sp");
    assert!(outcome.weights().iter().all(|w| (w - 0.2).abs() < 0.02), "{:?}", outcome.weights());
}

#[test]
fn any_groups_and_criteria() {
    for (fairness, n_groups) in
        [("sp", 3), ("sp", 5), ("eo", 3), ("equalized-odds", 2), ("sp:0.5,fpr:0.5", 4)]
    {
        let layout = layout(n_groups, 2, true, true);
        // Unbiased labels: otherwise a model with equal true positive rates would not be the unbiased one.
        let outcome = run(clients_with_root(&layout, 5, &BIASES, 60, 0.0), fairness);
        let weights = outcome.weights();
        assert!(weights[1] + weights[3] < 0.05, "{fairness}, {n_groups} groups: {weights:?}");
        let axis = &outcome.trust.as_ref().unwrap().axes[0];
        let size: f64 = axis.terms.iter().map(|term| term.weight.abs()).sum();
        assert!((size - 2.0).abs() < 1e-9);
        // The last group is favoured, the first is not.
        let TrustReason::Unfair { favours, against, .. } = reason(&outcome, 3) else {
            panic!("{:?}", reason(&outcome, 3));
        };
        assert!(favours.contains(&format!("g{}", n_groups - 1)), "{favours:?}");
        assert!(against.contains(&"g0".to_owned()), "{against:?}");
    }
}

/// Blind models: the bias enters through a feature that follows the group.
#[test]
fn blind_models() {
    let blind = layout(2, 3, false, true);
    let with_trace = |seed: u64, n_rows: usize, bias: f64| {
        let source = rows(&layout(2, 2, false, true), seed, n_rows, bias);
        let x: Vec<f64> = (0..n_rows)
            .flat_map(|i| {
                let group = source.group(i) as f64;
                [source.x(i)[0], source.x(i)[1], group + 0.2 * source.x(i)[1]]
            })
            .collect();
        let positive: Vec<bool> = (0..n_rows).map(|i| source.is_positive(i)).collect();
        Rows::new(blind.clone(), &x, source.groups(), &positive).unwrap()
    };
    let clients = BIASES.iter().enumerate().map(|(c, &bias)| Client {
        id: format!("c{c}"),
        proxy: with_trace(70 + c as u64, 1500, bias),
        root: with_trace(80 + c as u64, 20, 1.0),
    });
    let weights = run(clients.collect(), "sp").weights();
    assert!(weights[1] + weights[3] < 0.02, "{weights:?}");
}

#[test]
fn a_useless_client_is_left_out_with_the_reason() {
    let layout = Layout::two_groups(2, true);
    let mut round = clients(&layout, 6, &[0.0; 5], 40);
    // Shuffled labels: perfectly fair, and useless.
    let proxy = &round[2].proxy;
    let mut positive: Vec<bool> = (0..proxy.len()).map(|i| proxy.is_positive(i)).collect();
    positive.shuffle(&mut ChaCha8Rng::seed_from_u64(1));
    let x: Vec<f64> = (0..proxy.len()).flat_map(|i| proxy.x(i).to_vec()).collect();
    round[2].proxy = Rows::new(layout, &x, proxy.groups(), &positive).unwrap();
    let outcome = run(round, "sp");
    assert_eq!(outcome.clients[2].weight, 0.0);
    assert_eq!(outcome.clients[2].trust.as_ref().unwrap().reliability, 0.0);
    let reason = reason(&outcome, 2);
    let is_useless =
        matches!(reason, TrustReason::RanksPoorly { .. } | TrustReason::WorseThanConstant { .. });
    assert!(is_useless, "{reason}");
}

#[test]
fn one_client_posing_as_ten_gains_nothing() {
    let layout = Layout::two_groups(2, true);
    let mut round = clients(&layout, 7, &[0.0, 0.0, 0.0, 0.0, 1.0], 20);
    for copy in 0..9 {
        round.push(Client { id: format!("d{copy}"), ..round[4].clone() });
    }
    let weights = run(round, "sp").weights();
    assert!(weights[4..].iter().sum::<f64>() < 0.05, "{weights:?}");
}

#[test]
fn a_client_does_not_rule_the_average_by_the_size_of_its_coefficients() {
    let layout = Layout::two_groups(2, true);
    let round = Round::new(clients(&layout, 8, &[0.0; 3], 30)).unwrap();
    let models: [&[f64]; 3] =
        [&[2.0, -1.0, 0.0, 0.0], &[2.0, -1.0, 0.0, 0.0], &[0.0, 1e6, 0.0, 0.0]];
    let theta = model_average(models.to_vec(), round.root()).unwrap().at(&[0.49, 0.49, 0.02]);
    assert!((theta[0] - 1.96).abs() < 1e-12);
    // √E[(2x₀ − x₁)²] = √5, so the third model counts as if its coefficient were about √5.
    assert!((theta[1] + 0.98).abs() < 0.02 * 5.0_f64.sqrt() * 1.3, "{theta:?}");
}

#[test]
fn neither_threads_nor_the_order_of_clients_change_the_outcome() {
    let layout = layout(3, 2, true, true);
    let round = clients(&layout, 9, &BIASES, 20);
    let with_threads = |n: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        pool.install(|| run(round.clone(), "eo"))
    };
    let one = with_threads(1);
    assert_eq!(one, with_threads(4));
    let mut renamed = round.clone();
    renamed.reverse();
    for (c, client) in renamed.iter_mut().enumerate() {
        client.id = format!("c{c:02}");
    }
    let mut weights = run(renamed, "eo").weights();
    weights.reverse();
    for (found, expected) in weights.iter().zip(one.weights()) {
        assert!((found - expected).abs() < 1e-9, "{weights:?}, expected {:?}", one.weights());
    }
}

/// Opposite biases, a root of four rows, and rows moved so that they contradict each other.
#[test]
fn it_says_when_the_root_cannot_tell() {
    let layout = Layout::two_groups(2, true);
    let mut round = clients(&layout, 10, &[-1.0, 1.0], 2);
    for (client, towards) in round.iter_mut().zip([-1.0, 1.0]) {
        let proxy = &client.proxy;
        let x: Vec<f64> = (0..proxy.len())
            .flat_map(|i| {
                let shift = towards * (proxy.group(i) as f64 - 0.5);
                [proxy.x(i)[0] + shift, proxy.x(i)[1] - shift]
            })
            .collect();
        let positive: Vec<bool> = (0..proxy.len()).map(|i| proxy.is_positive(i)).collect();
        client.proxy = Rows::new(layout.clone(), &x, proxy.groups(), &positive).unwrap();
    }
    let outcome = run(round, "sp");
    let summary = outcome.trust.as_ref().unwrap();
    assert!(!summary.decided, "{summary:?}");
    let warning = outcome.warnings.iter().find(|w| w.code == WarningCode::CannotTell).unwrap();
    assert!(warning.message.contains("cannot tell which clients are fair"), "{warning}");
    assert!(summary.rows_needed.is_some_and(|rows| warning.message.contains(&rows.to_string())));
}

/// With equal opportunity, the clients' rows say little about the level, so few root rows leave it open who is fair.
#[test]
fn it_warns_with_few_root_rows_and_the_rows_it_asks_for_are_enough() {
    let layout = Layout::two_groups(2, true);
    let cannot_tell = |outcome: &Outcome| {
        outcome.warnings.iter().any(|warning| warning.code == WarningCode::CannotTell)
    };
    let (mut warned, mut still_warned) = (0, 0);
    for seed in 20..36 {
        let small = run(clients_with_root(&layout, seed, &[0.0, 0.6, 0.0, 0.6], 4, 0.0), "eo");
        let summary = small.trust.as_ref().unwrap();
        assert_eq!(cannot_tell(&small), !summary.decided, "seed {seed}");
        let Some(needed) = summary.rows_needed else { continue };
        warned += 1;
        // A quarter of the rows are positive rows of one group, and there are four clients.
        let large = clients_with_root(&layout, seed, &[0.0, 0.6, 0.0, 0.6], needed, 0.0);
        still_warned += usize::from(cannot_tell(&run(large, "eo")));
    }
    assert!(warned >= 4, "{warned} of 16 rounds");
    // The advice is an estimate from few rows, so it is enough in most rounds, not in 97 of 100.
    assert!(6 * still_warned <= warned, "{still_warned} of {warned}");
}

/// Clients that are alike leave nothing to tell apart, however few root rows there are.
#[test]
fn it_does_not_warn_if_clients_are_alike() {
    let layout = Layout::two_groups(2, true);
    for (seed, root_rows) in [(40, 2), (41, 4), (42, 20), (43, 100)] {
        let outcome = run(clients_with_root(&layout, seed, &[0.0; 5], root_rows, 0.0), "sp");
        let codes: Vec<WarningCode> = outcome.warnings.iter().map(|w| w.code).collect();
        assert!(!codes.contains(&WarningCode::CannotTell), "{root_rows} rows: {codes:?}");
    }
}

#[test]
fn proxies_without_samples_are_refused() {
    let layout = Layout::two_groups(2, true);
    let clients = clients(&layout, 11, &[0.0, 1.0], 20);
    let (proxies, roots): (Vec<Rows>, Vec<Rows>) =
        clients.into_iter().map(|client| (client.proxy, client.root)).unzip();
    let ids = vec!["a".to_owned(), "b".to_owned()];
    let proxies = Box::new(PackedRows::of(&proxies).unwrap());
    let round = Round::from_parts(ids, proxies, Root::new(roots).unwrap()).unwrap();
    let mut settings = Settings::new(Fairness::SP);
    settings.defense = Defense::Trust;
    let error = solve(&round, &settings.validate().unwrap(), &mut NoopObserver).unwrap_err();
    assert!(error.to_string().contains("needs samples"), "{error}");
}

#[test]
fn trust_is_in_the_outcome_of_this_defense_only() {
    let layout = Layout::two_groups(2, true);
    let round = Round::new(clients(&layout, 12, &BIASES, 20)).unwrap();
    for &defense in <Defense as crate::Choice>::ALL {
        let settings = Settings { defense, ..Settings::new(Fairness::SP) };
        let outcome = solve(&round, &settings.validate().unwrap(), &mut NoopObserver).unwrap();
        let is_trust = defense == Defense::Trust;
        assert_eq!(outcome.trust.is_some(), is_trust);
        assert!(outcome.clients.iter().all(|client| client.trust.is_some() == is_trust));
        let json = serde_json::to_string(&outcome).unwrap();
        assert_eq!(serde_json::from_str::<Outcome>(&json).unwrap(), outcome);
        assert!(Metrics::of(&outcome.theta, &round.root().all_rows().unwrap()).is_ok());
    }
}

/// Rows of a blind model. The first feature differs between the groups, and labels follow it by `trace`; the second does not.
fn blind_rows(seed: u64, n_rows: usize, trace: f64) -> Rows {
    let layout = Layout { as_feature: false, ..Layout::two_groups(2, true) };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let uniform = Uniform::new(0.0, 1.0).unwrap();
    let (mut x, mut groups, mut positive) = (vec![], vec![], vec![]);
    for i in 0..n_rows {
        let group = (i % 2) as u8;
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        let row = [f64::from(group) - 0.5 + normal(), normal()];
        let score = trace * row[0] + row[1];
        positive.push(uniform.sample(&mut rng) < 1.0 / (1.0 + (-score).exp()));
        x.extend(row);
        groups.push(group);
    }
    Rows::new(layout, &x, &groups, &positive).unwrap()
}

#[test]
fn fair_blind_clients_are_useful_although_they_rank_people_worse() {
    // Fair clients must do without the first feature, which is the better one.
    let traces = [0.0, 1.5, 0.0, 1.5, 0.0];
    let client = |(c, &trace): (usize, &f64)| Client {
        id: format!("c{c}"),
        proxy: blind_rows(900 + c as u64, 3000, trace),
        root: blind_rows(950 + c as u64, 200, 1.5),
    };
    let outcome = run(traces.iter().enumerate().map(client).collect(), "sp");
    let weights = outcome.weights();
    assert!(weights[1] + weights[3] < 0.05, "{weights:?}");
    // Noise is still useless.
    let mut noisy: Vec<Client> = traces.iter().enumerate().map(client).collect();
    let layout = noisy[0].proxy.layout().clone();
    let proxy = &noisy[4].proxy;
    let mut positive: Vec<bool> = (0..proxy.len()).map(|i| proxy.is_positive(i)).collect();
    positive.shuffle(&mut ChaCha8Rng::seed_from_u64(2));
    let x: Vec<f64> = (0..proxy.len()).flat_map(|i| proxy.x(i).to_vec()).collect();
    noisy[4].proxy = Rows::new(layout, &x, proxy.groups(), &positive).unwrap();
    assert_eq!(run(noisy, "sp").clients[4].weight, 0.0);
}
