//! What holds for every attack.
#![allow(clippy::unwrap_used)]

use equipoise_core::{Choice, Defense, Fairness, MAX_ABS_VALUE, NoopObserver, Settings, solve};

use super::test_rounds::Drawn;
use super::*;

/// Two groups, three groups, and two groups that the model does not see.
const VIEWS: [(usize, bool); 3] = [(2, true), (3, true), (2, false)];

#[test]
fn names_are_those_in_files_and_none_is_repeated() {
    let mut names = Vec::new();
    for attack in Attack::ALL {
        assert_eq!(serde_json::to_value(attack).unwrap(), attack.name());
        assert!(!attack.description().is_empty());
        names.push(attack.name());
    }
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn reliable_clients_are_unchanged_and_the_server_can_solve_every_attacked_round() {
    for (n_groups, as_feature) in VIEWS {
        for fairness in [Fairness::SP, Fairness::EO] {
            for rate in [0.0, 0.4, 1.0] {
                let drawn = Drawn::new(n_groups, as_feature, fairness, rate);
                for &attack in Attack::ALL {
                    check_round(attack, &drawn.attackers());
                }
            }
        }
    }
}

fn check_round(attack: Attack, attackers: &Attackers<'_>) {
    let original = &attackers.scenario.clients;
    let attacked = attack.apply(attackers).unwrap();
    let reliable = |clients: &[ScenarioClient]| -> Vec<(String, Rows)> {
        let reliable = clients.iter().filter(|client| client.reliable);
        reliable.map(|client| (client.id.clone(), client.proxy.clone())).collect()
    };
    assert_eq!(reliable(&attacked.clients), reliable(original), "{attack:?}");
    let joined = if attack == Attack::PosingAsTen && !attackers.honest.is_empty() { 9 } else { 0 };
    assert_eq!(attacked.clients.len(), original.len() + joined, "{attack:?}");
    for client in &attacked.clients {
        let proxy = &client.proxy;
        assert_eq!(proxy.layout(), original[0].proxy.layout());
        assert!(!proxy.is_empty(), "{attack:?}");
        assert!(proxy.values().iter().all(|v| v.abs() <= MAX_ABS_VALUE), "{attack:?}");
    }
    let round = attacked.round().unwrap();
    for defense in [Defense::default(), Defense::Pooled] {
        let settings = Settings { defense, ..Settings::new(attackers.fairness) };
        let outcome = solve(&round, &settings.validate().unwrap(), &mut NoopObserver).unwrap();
        assert!(outcome.theta.iter().all(|t| t.is_finite()), "{attack:?}");
    }
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
fn honest_proxies_must_match_the_unreliable_clients() {
    let drawn = Drawn::new(2, true, Fairness::SP, 0.4);
    let attackers = Attackers { honest: &[], ..drawn.attackers() };
    let error = Attack::Noise.apply(&attackers).unwrap_err().to_string();
    assert!(error.contains('2') && error.contains('0'), "{error}");
}
