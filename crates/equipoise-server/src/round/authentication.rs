//! Who may act on a round: clients by signature, the coordinator by token.

use std::sync::LazyLock;

use subtle::ConstantTimeEq as _;

use super::rounds::Rounds;
use crate::protocol::{ClientId, Digest, PrivateKey, PublicKey, Refusal, RoundId, SignedManifest};
use crate::store::StoreError;

/// Verifies signatures of unknown clients, so that they take as long as those of known ones.
static DUMMY_KEY: LazyLock<PublicKey> = LazyLock::new(|| {
    // Expect safety: a valid name.
    PrivateKey::from_seed("unknown".parse().expect("a valid name"), [7; 32]).public()
});

impl Rounds {
    /// Whether a client of the round signed this manifest, for this round and this server. Names and manifest are what
    /// the request contains; all reasons to say no look the same to outsiders.
    pub(crate) fn is_authentic(
        &self,
        round: &str,
        client: &str,
        signed: Option<&SignedManifest>,
    ) -> Result<bool, StoreError> {
        let (Ok(round), Ok(client)) = (round.parse::<RoundId>(), client.parse::<ClientId>()) else {
            return Ok(false);
        };
        let found = self.store.client_key(&round, &client)?;
        let Some(SignedManifest { manifest, signature }) = signed else { return Ok(false) };
        let key = found.as_ref().map_or_else(|| &*DUMMY_KEY, |(key, _)| key);
        let is_signed = manifest.is_signed_by(key, signature);
        let Some((_, revoked_at)) = found else { return Ok(false) };
        if !is_signed
            || manifest.round != round
            || manifest.client != client
            || manifest.audience != self.store.spec(&round)?.audience
        {
            return Ok(false);
        }
        if revoked_at.is_some() {
            let refusal = Refusal::KeyRevoked(client.to_string());
            self.record_refusal(manifest, &refusal);
            return Err(refusal.into());
        }
        Ok(true)
    }

    /// The round, if this is its coordinator's token.
    pub(crate) fn coordinated_round(
        &self,
        round: &str,
        token: Option<&str>,
    ) -> Result<Option<RoundId>, StoreError> {
        let token = token.map(|token| Digest::of(token.trim().as_bytes()));
        let Ok(round) = round.parse::<RoundId>() else { return Ok(None) };
        let stored = match self.store.token_digest(&round) {
            Err(StoreError::Refused(_)) => return Ok(None),
            other => other?,
        };
        // Comparing digests of equal length in constant time reveals nothing about the token.
        let given = token.unwrap_or(Digest::ZERO).to_string();
        let equal: bool = given.as_bytes().ct_eq(stored.to_string().as_bytes()).into();
        Ok((equal && token.is_some()).then_some(round))
    }
}
