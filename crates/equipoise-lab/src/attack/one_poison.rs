//! All attackers send the same rows: those of the first, with the labels of the least favoured group flipped.
//!
//! They want to be taken for a majority that agrees. They know each other, and nothing about the other clients.

use equipoise_core::Rows;

use super::Attackers;
use super::flipped_group::flip_least_favoured;
use crate::error::Error;

pub(super) fn forge(attackers: &Attackers<'_>) -> Result<Vec<Rows>, Error> {
    let mut poison = None;
    attackers.each(|member| {
        if let Some(poison) = &poison {
            return Ok(Rows::clone(poison));
        }
        Ok(poison.insert(flip_least_favoured(&member.client.train)?).clone())
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_rounds::{Hand, rows};

    #[test]
    fn all_send_the_first_attackers_rows_with_one_group_flipped() {
        let first = rows(&[(1.0, 0, false), (2.0, 1, true)]);
        let hand = Hand::new(&[first, rows(&[(9.0, 0, true)]), rows(&[(8.0, 1, true)])]);
        let poison = rows(&[(1.0, 0, true), (2.0, 1, true)]);
        let forged = super::forge(&hand.attackers()).expect("rows");
        assert_eq!(forged, [poison.clone(), poison.clone(), poison]);
    }
}
