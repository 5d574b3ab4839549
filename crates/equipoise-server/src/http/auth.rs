//! Who asks: a client by its signature, the coordinator by a token.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use subtle::ConstantTimeEq as _;

use super::app::App;
use super::listener::Peer;
use super::reply::{Answer, Refused};
use crate::protocol::{
    Digest, MANIFEST_HEADER, Manifest, Name, PrivateKey, Refusal, SIGNATURE_HEADER, Signature,
};

/// A manifest whose signature is that of a client of the round.
#[derive(Debug, Clone)]
pub(super) struct Signed {
    pub(super) manifest: Manifest,
    pub(super) signature: Signature,
}

/// A round and a client in an address, as typed: what is no name is no client either.
pub(super) type Address = (String, String);

impl App {
    /// Checks the signed headers of a request against roster, round and audience. Nothing of the body has
    /// been read by then. Whatever is wrong, an outsider is told the same.
    pub(super) async fn authenticate(
        self: &Arc<Self>,
        parts: &Parts,
        (round, client): Address,
    ) -> Answer<Signed> {
        let signed = signed_headers(&parts.headers);
        let found = self
            .blocking(move |app| {
                let (Ok(round), Ok(client)) = (round.parse::<Name>(), client.parse::<Name>())
                else {
                    return Ok(None);
                };
                let key = app.store.client_key(&round, &client)?;
                // As much work for a client that does not exist.
                let stranger = || PrivateKey::from_seed(client.clone(), [7; 32]).public();
                let (known, revoked) =
                    (key.is_some(), key.as_ref().is_some_and(|(_, at)| at.is_some()));
                let key = key.map_or_else(stranger, |(key, _)| key);
                let Some(signed) = signed else { return Ok(None) };
                let verified = signed.manifest.is_signed_by(&key, &signed.signature);
                if !known || !verified {
                    return Ok(None);
                }
                let manifest = &signed.manifest;
                let audience = app.store.spec(&round)?.audience.clone();
                if manifest.round != round
                    || manifest.client != client
                    || manifest.audience != audience
                {
                    return Ok(None);
                }
                if revoked {
                    return Err(Refusal::KeyRevoked { client: client.to_string() }.into());
                }
                Ok(Some(signed))
            })
            .await?;
        match found {
            Some(signed) => Ok(signed),
            None => Err(self.failed(parts, Refusal::NotAuthenticated)),
        }
    }

    /// Checks the coordinator's token.
    pub(super) async fn coordinator(
        self: &Arc<Self>,
        parts: &Parts,
        round: String,
    ) -> Answer<Name> {
        let header = parts.headers.get(header::AUTHORIZATION);
        let token = header.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        self.check_token(parts, round, token).await
    }

    /// The round, if this is the token of its coordinator. A failure is counted.
    pub(super) async fn check_token(
        self: &Arc<Self>,
        parts: &Parts,
        round: String,
        token: Option<&str>,
    ) -> Answer<Name> {
        let token = token.map(|token| Digest::of(token.trim().as_bytes()));
        let found = self
            .blocking(move |app| {
                let Ok(round) = round.parse::<Name>() else { return Ok(None) };
                let stored = match app.store.token_digest(&round) {
                    Err(crate::store::StoreError::Refused(_)) => return Ok(None),
                    other => other?,
                };
                // Digests of equal length: the time tells nothing about the token.
                let given = token.unwrap_or(Digest::ZERO).to_string();
                let equal: bool = given.as_bytes().ct_eq(stored.to_string().as_bytes()).into();
                Ok((equal && token.is_some()).then_some(round))
            })
            .await?;
        found.ok_or_else(|| self.failed(parts, Refusal::NotCoordinator))
    }

    /// Notes a failed authentication.
    fn failed(&self, parts: &Parts, refusal: Refusal) -> Refused {
        self.metrics.failed_authentications.fetch_add(1, Ordering::Relaxed);
        let most = self.limits.failed_authentications_per_minute;
        Refused(self.failures.note(peer(parts), most).err().unwrap_or(refusal))
    }
}

/// The address that a request came from.
pub(super) fn peer(parts: &Parts) -> IpAddr {
    parts.extensions.get::<Peer>().map_or(Ipv4Addr::LOCALHOST.into(), |peer| peer.0)
}

fn signed_headers(headers: &HeaderMap) -> Option<Signed> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let manifest = Manifest::from_header(text(MANIFEST_HEADER)?).ok()?;
    let signature = text(SIGNATURE_HEADER)?.parse().ok()?;
    Some(Signed { manifest, signature })
}
