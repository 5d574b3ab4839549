//! What holds for every attack.
#![allow(clippy::unwrap_used)]

use equipoise_core::{Choice, Defense, Fairness, Layout, NoopObserver, Settings, solve};

use super::test_rounds::Drawn;
use super::*;

/// Two groups, three groups, and two groups that the model does not see.
const VIEWS: [(usize, bool); 3] = [(2, true), (3, true), (2, false)];

fn for_each_round(check: impl Fn(&Drawn, Fairness, f64)) {
    for (n_groups, as_feature) in VIEWS {
        for fairness in [Fairness::SP, Fairness::EO] {
            for rate in [0.0, 0.4, 1.0] {
                check(&Drawn::new(n_groups, as_feature, fairness, rate), fairness, rate);
            }
        }
    }
}

#[test]
fn names_are_those_in_files_and_no_title_is_repeated() {
    let mut titles = Vec::new();
    for attack in Attack::ALL {
        assert_eq!(serde_json::to_value(attack).unwrap(), attack.name());
        assert!(!attack.description().is_empty());
        titles.push(attack.title());
    }
    titles.sort_unstable();
    assert!(titles.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn reliable_clients_are_unchanged_and_forged_proxies_are_valid() {
    for_each_round(|drawn, _, rate| {
        let attackers = drawn.attackers();
        for attack in Attack::ALL {
            let attacked = attack.apply(&attackers).unwrap();
            let original = &attackers.scenario.clients;
            if rate == 0.0 {
                assert_eq!(attacked.clients.len(), original.len(), "{attack:?}");
            }
            let reliable = attacked.clients.iter().filter(|client| client.reliable);
            let expected = original.iter().filter(|client| client.reliable);
            assert!(
                reliable.clone().map(|c| (&c.id, &c.proxy)).eq(expected.map(|c| (&c.id, &c.proxy)))
            );
            assert_eq!(reliable.count(), original.len() - attackers.honest.len());
            for client in &attacked.clients {
                let proxy = &client.proxy;
                let Layout { n_x, ref groups, .. } = *proxy.layout();
                assert_eq!(proxy.layout(), original[0].proxy.layout());
                assert!(!proxy.is_empty() && n_x == 3, "{attack:?}");
                assert!(proxy.values().iter().all(|v| v.is_finite()), "{attack:?}");
                assert!((0..proxy.len()).all(|i| proxy.group(i) < groups.len()), "{attack:?}");
                assert!(proxy.labels().iter().all(|y| y.abs() == 1.0), "{attack:?}");
            }
        }
    });
}

#[test]
fn the_seed_decides_and_the_number_of_threads_does_not() {
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for (n_groups, as_feature) in VIEWS {
        let drawn = Drawn::new(n_groups, as_feature, Fairness::SP, 0.4);
        let attackers = drawn.attackers();
        let proxies = |attack: &Attack, attackers: &Attackers<'_>| -> Vec<Rows> {
            attack.apply(attackers).unwrap().clients.into_iter().map(|c| c.proxy).collect()
        };
        for attack in Attack::ALL {
            let found = proxies(attack, &attackers);
            assert_eq!(found, one_thread.install(|| proxies(attack, &attackers)), "{attack:?}");
        }
        let other = Attackers { seed: attackers.seed + 1, ..attackers };
        assert_ne!(proxies(&Attack::Noise, &attackers), proxies(&Attack::Noise, &other));
    }
}

#[test]
fn the_server_can_solve_every_attacked_round() {
    for_each_round(|drawn, fairness, _| {
        for attack in Attack::ALL {
            let round = attack.apply(&drawn.attackers()).unwrap().round().unwrap();
            for defense in [Defense::Trust, Defense::Pooled] {
                let settings = Settings { defense, ..Settings::new(fairness) }.validate().unwrap();
                let outcome = solve(&round, &settings, &mut NoopObserver).unwrap();
                assert!(outcome.theta.iter().all(|t| t.is_finite()), "{attack:?}");
            }
        }
    });
}

#[test]
fn honest_proxies_must_match_the_unreliable_clients() {
    let drawn = Drawn::new(2, true, Fairness::SP, 0.4);
    let attackers = Attackers { honest: &[], ..drawn.attackers() };
    let error = Attack::Noise.apply(&attackers).unwrap_err().to_string();
    assert!(error.contains('2') && error.contains('0'), "{error}");
}
