//! Authentication: clients by signature, the coordinator by token.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use subtle::ConstantTimeEq as _;

use super::app::App;
use super::connection::Connection;
use super::listener::Peer;
use super::reply::{Answer, Refused};
use super::segments::TwoSegments;
use crate::protocol::{
    Digest, MANIFEST_HEADER, Manifest, Name, PrivateKey, Refusal, SIGNATURE_HEADER, Signature,
};

/// A manifest with a valid signature of a client of the round.
#[derive(Debug, Clone)]
pub(super) struct Signed {
    pub(super) manifest: Manifest,
    pub(super) signature: Signature,
}

impl App {
    /// Checks the signed headers of a request against roster, round and audience, before the body is read. Every
    /// failure gets the same answer, so outsiders learn nothing.
    pub(super) async fn authenticate(
        self: &Arc<Self>,
        parts: &Parts,
        (round, client): TwoSegments,
    ) -> Answer<Signed> {
        let signed = signed_headers(&parts.headers);
        let found = self
            .blocking(move |app| {
                let (Ok(round), Ok(client)) = (round.parse::<Name>(), client.parse::<Name>())
                else {
                    return Ok(None);
                };
                let key = app.store.client_key(&round, &client)?;
                // An unknown client costs as much time as a known one.
                let dummy_key = || PrivateKey::from_seed(client.clone(), [7; 32]).public();
                let known = key.is_some();
                let (key, revoked_at) = key.unwrap_or_else(|| (dummy_key(), None));
                let Some(signed) = signed else { return Ok(None) };
                let manifest = &signed.manifest;
                if !manifest.is_signed_by(&key, &signed.signature)
                    || !known
                    || manifest.round != round
                    || manifest.client != client
                    || manifest.audience != app.store.spec(&round)?.audience
                {
                    return Ok(None);
                }
                if revoked_at.is_some() {
                    return Err(Refusal::KeyRevoked(client.to_string()).into());
                }
                Ok(Some(signed))
            })
            .await?;
        match found {
            Some(signed) => {
                mark_authenticated(parts);
                Ok(signed)
            }
            None => Err(self.record_failure(parts, Refusal::NotAuthenticated)),
        }
    }

    /// Checks the coordinator's token in the `Authorization` header.
    pub(super) async fn authenticate_coordinator(
        self: &Arc<Self>,
        parts: &Parts,
        round: String,
    ) -> Answer<Name> {
        let header = parts.headers.get(header::AUTHORIZATION);
        let token = header.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        self.check_token(parts, round, token).await
    }

    /// Returns the round if this is its coordinator's token.
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
                // Comparing digests of equal length in constant time reveals nothing about the token.
                let given = token.unwrap_or(Digest::ZERO).to_string();
                let equal: bool = given.as_bytes().ct_eq(stored.to_string().as_bytes()).into();
                Ok((equal && token.is_some()).then_some(round))
            })
            .await?;
        let round = found.ok_or_else(|| self.record_failure(parts, Refusal::NotCoordinator))?;
        mark_authenticated(parts);
        Ok(round)
    }

    /// Counts a failed authentication, and returns the refusal for it.
    fn record_failure(&self, parts: &Parts, refusal: Refusal) -> Refused {
        self.metrics.failed_authentications.fetch_add(1, Ordering::Relaxed);
        let max = self.limits.failed_authentications_per_minute;
        Refused(self.failures.record(peer(parts), max).err().unwrap_or(refusal))
    }
}

/// Keeps the connection of an authenticated request from being evicted.
fn mark_authenticated(parts: &Parts) {
    if let Some(connection) = parts.extensions.get::<Arc<Connection>>() {
        connection.mark_authenticated();
    }
}

fn peer(parts: &Parts) -> IpAddr {
    parts.extensions.get::<Peer>().map_or(Ipv4Addr::LOCALHOST.into(), |peer| peer.0)
}

fn signed_headers(headers: &HeaderMap) -> Option<Signed> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let manifest = Manifest::from_header(text(MANIFEST_HEADER)?).ok()?;
    let signature = text(SIGNATURE_HEADER)?.parse().ok()?;
    Some(Signed { manifest, signature })
}
