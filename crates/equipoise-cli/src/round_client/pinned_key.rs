//! A server key that the client knows beforehand.

use anyhow::ensure;
use equipoise_server::protocol::{PublicKey, RoundInfo};

use super::connection::Connection;

/// Checks, before anything is sent, that the server uses this key for the round and can sign with it.
pub(crate) fn check_pinned_key(
    connection: &Connection,
    info: &RoundInfo,
    pinned: &PublicKey,
) -> anyhow::Result<()> {
    let server = connection.server();
    ensure!(
        info.server_key.same_key(pinned),
        "{server}: the round is signed with the key {}, but --server-key is {}. Nothing was sent.",
        info.server_key.to_base64(),
        pinned.to_base64()
    );
    // Anyone can copy a public key. A signed head that lists the round takes the private one.
    let head = connection.server_head()?;
    let lists_round = head.head.rounds.iter().any(|listed| listed.round == info.round);
    ensure!(
        head.server_key.same_key(pinned) && head.has_valid_signature() && lists_round,
        "{server}: the server claims to have the key in --server-key, but its signed list of rounds is not signed with \
         it, or does not contain round `{}`. Nothing was sent.",
        info.round
    );
    Ok(())
}
