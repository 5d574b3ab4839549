//! Authentication of requests, with a limit on failures.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

use super::app::App;
use super::connection::Connection;
use super::listener::Peer;
use super::reply::{Answer, Refused};
use super::segments::TwoSegments;
use crate::protocol::{
    MANIFEST_HEADER, Manifest, Refusal, RoundId, SIGNATURE_HEADER, SignedManifest,
};

impl App {
    /// Checks the signed headers of a client's request, before the body is read. Every failure gets the same answer,
    /// so outsiders learn nothing.
    pub(super) async fn authenticate(
        self: &Arc<Self>,
        parts: &Parts,
        (round, client): TwoSegments,
    ) -> Answer<SignedManifest> {
        let signed = signed_headers(&parts.headers);
        let found = self.ask(move |rounds| {
            let is_authentic = rounds.is_authentic(&round, &client, signed.as_ref())?;
            Ok(signed.filter(|_| is_authentic))
        });
        let signed =
            found.await?.ok_or_else(|| self.record_failure(parts, Refusal::NotAuthenticated))?;
        mark_authenticated(parts);
        Ok(signed)
    }

    /// Checks the coordinator's token in the `Authorization` header.
    pub(super) async fn authenticate_coordinator(
        self: &Arc<Self>,
        parts: &Parts,
        round: String,
    ) -> Answer<RoundId> {
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
    ) -> Answer<RoundId> {
        let token = token.map(str::to_owned);
        let found = self.ask(move |rounds| rounds.coordinated_round(&round, token.as_deref()));
        let round =
            found.await?.ok_or_else(|| self.record_failure(parts, Refusal::NotCoordinator))?;
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

fn signed_headers(headers: &HeaderMap) -> Option<SignedManifest> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let manifest = Manifest::from_header(text(MANIFEST_HEADER)?).ok()?;
    let signature = text(SIGNATURE_HEADER)?.parse().ok()?;
    Some(SignedManifest { manifest, signature })
}
