//! One client poses as ten: nine more clients join, all of which it controls.
//!
//! It wants to be the majority. All unreliable clients send the same poison, the rows of the first with the labels of
//! the least favoured group flipped, but each with noise of its own, so that no two proxies share a row. They know
//! nothing about the other clients.
//!
//! The server trusts the root, so posing must not change it: the ten share out the root rows of the one. The nine have
//! no test rows, so a round is judged by the same people as without them.

use equipoise_core::Rows;

use super::Attackers;
use super::flipped_group::flip_least_favoured;
use super::noise::{add_noise, column_moments};
use super::table::Table;
use crate::error::Error;
use crate::scenario::{Scenario, ScenarioClient};

/// Names that the client uses, its own included.
const NAMES: usize = 10;
/// Deviation of the noise, as a share of each column's deviation.
const NOISE: f64 = 0.1;

/// Lets nine clients join the first unreliable one.
pub(super) fn join(scenario: &mut Scenario) {
    let Some(first) = scenario.clients.iter().position(|client| !client.reliable) else { return };
    let original = scenario.clients.remove(first);
    scenario.clients.extend((0..NAMES).map(|name| share_of(&original, name)));
    scenario.clients.sort_by(|a, b| a.id.cmp(&b.id));
}

/// The proxies of all unreliable clients, those that joined included.
pub(super) fn forge(attackers: &Attackers<'_>) -> Result<Vec<Rows>, Error> {
    let Some(mut first) = attackers.members().next() else { return Ok(Vec::new()) };
    let poison = flip_least_favoured(&first.client.train)?;
    let moments = column_moments(&poison);
    let n_senders = attackers.honest.len() + NAMES - 1;
    let send = |_| {
        let mut table = Table::of(&poison);
        add_noise(&mut table, &moments, NOISE, &mut first.rng);
        table.into_rows()
    };
    (0..n_senders).map(send).collect()
}

/// The client under one of its names, with its share of the root.
fn share_of(original: &ScenarioClient, name: usize) -> ScenarioClient {
    let mut client = original.clone();
    let own: Vec<usize> = (name..original.root.len()).step_by(NAMES).collect();
    client.root = original.root.select(&own);
    client.members.root = original.members.root.iter().copied().skip(name).step_by(NAMES).collect();
    if name > 0 {
        client.id = format!("{}-{:02}", original.id, name + 1);
        client.members.test.clear();
        client.test = original.test.select(&[]);
    }
    client
}

#[cfg(test)]
mod tests {
    use super::super::Attack;
    use super::super::test_rounds::{Hand, rows};
    use super::*;

    #[test]
    fn nine_clients_join_and_share_the_root() {
        let train: Vec<(f64, u8, bool)> =
            (0..40).map(|i| (f64::from(i % 3) - 1.0, (i % 2) as u8, i % 4 == 1)).collect();
        let mut hand = Hand::new(&[rows(&train), rows(&train)]);
        // The root of the first attacker: 12 rows with features 0 to 11.
        let root: Vec<(f64, u8, bool)> = (0..12).map(|i| (f64::from(i), 0, true)).collect();
        hand.scenario.clients[1].root = rows(&root);
        let attacked = Attack::PosingAsTen.apply(&hand.attackers()).expect("a scenario");
        let ids: Vec<&str> = attacked.clients.iter().map(|client| client.id.as_str()).collect();
        let nine = (2..=10).map(|name| format!("c2-{name:02}"));
        let expected: Vec<String> =
            ["c1", "c2"].map(str::to_owned).into_iter().chain(nine).collect();
        assert_eq!(ids[..11], expected);
        assert_eq!(ids[11..], ["c3"]);
        let posing = &attacked.clients[1..11];
        let sizes: Vec<usize> = posing.iter().map(|client| client.root.len()).collect();
        assert_eq!(sizes, [2, 2, 1, 1, 1, 1, 1, 1, 1, 1]);
        let mut values: Vec<f64> =
            posing.iter().flat_map(|c| (0..c.root.len()).map(|i| c.root.x(i)[0])).collect();
        values.sort_unstable_by(f64::total_cmp);
        assert_eq!(values, (0..12).map(f64::from).collect::<Vec<_>>());
        assert_eq!(
            attacked.test_rows().expect("test rows"),
            hand.scenario.test_rows().expect("test rows")
        );
    }

    #[test]
    fn all_send_the_poison_with_noise_of_their_own() {
        let train: Vec<(f64, u8, bool)> = (0..400)
            .map(|i| (f64::from(i % 2) * 2.0 - 1.0, (i % 4 / 2) as u8, i % 4 == 3))
            .collect();
        let hand = Hand::new(&[rows(&train)]);
        let attacked = Attack::PosingAsTen.apply(&hand.attackers()).expect("a scenario");
        let poison = flip_least_favoured(&rows(&train)).expect("rows");
        let proxies: Vec<&Rows> =
            attacked.clients[1..].iter().map(|client| &client.proxy).collect();
        assert_eq!(proxies.len(), NAMES);
        for (k, proxy) in proxies.iter().enumerate() {
            assert_eq!((proxy.groups(), proxy.labels()), (poison.groups(), poison.labels()));
            assert!(proxies[..k].iter().all(|other| other.values() != proxy.values()));
            // The column is ±1, so its deviation is 1 and the noise has deviation 0.1 (± .0035).
            let squares: f64 = (0..400).map(|i| (proxy.x(i)[0] - poison.x(i)[0]).powi(2)).sum();
            assert!(((squares / 400.0).sqrt() - 0.1).abs() < 0.02);
        }
    }
}
