//! A copy of a reliable client's proxy.
//!
//! The client wants credit without contributing. It knows the proxy of the first reliable client, or, if there is none,
//! that the first attacker would send if it were honest.

use equipoise_core::Rows;

use super::Attackers;
use crate::error::Error;

pub(super) fn forge(attackers: &Attackers<'_>) -> Result<Vec<Rows>, Error> {
    let reliable = attackers.scenario.clients.iter().find(|client| client.reliable);
    let original = reliable.map(|client| &client.proxy).or(attackers.honest.first());
    attackers.each(|member| Ok(original.unwrap_or(member.honest).clone()))
}

#[cfg(test)]
mod tests {
    use super::super::test_rounds::{Hand, rows};

    #[test]
    fn all_send_the_first_reliable_proxy() {
        let own = rows(&[(1.0, 0, true)]);
        let mut hand = Hand::new(&[own.clone(), own]);
        let original = rows(&[(7.0, 1, true), (8.0, 0, false)]);
        hand.scenario.clients[0].proxy = original.clone();
        let forged = super::forge(&hand.attackers()).expect("rows");
        assert_eq!(forged, [original.clone(), original]);
    }

    #[test]
    fn without_reliable_clients_all_send_the_same_honest_proxy() {
        let honest = [rows(&[(1.0, 0, true)]), rows(&[(2.0, 1, true)])];
        let mut hand = Hand::new(&honest);
        hand.scenario.clients.remove(0);
        let forged = super::forge(&hand.attackers()).expect("rows");
        assert_eq!(forged, [honest[0].clone(), honest[0].clone()]);
    }
}
