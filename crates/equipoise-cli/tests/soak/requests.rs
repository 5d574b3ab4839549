//! The bytes of requests.

use equipoise_server::protocol::{
    MANIFEST_HEADER, Manifest, OFFSET_HEADER, PrivateKey, SIGNATURE_HEADER,
};
use serde_json::Value;

use crate::files::File;
use crate::site::Site;
use crate::wire::Reply;

impl Site<'_> {
    pub(crate) fn manifest(&self, round: &str, client: usize, file: &File) -> Manifest {
        Manifest {
            audience: self.wire.url(),
            round: round.parse().unwrap(),
            client: self.keys[client].name().clone(),
            media_type: file.kind,
            length: file.len(),
            sha256: file.digest,
            schema_sha256: self.schema.digest(),
        }
    }

    /// The head of an upload that starts at this offset of the file.
    pub(crate) fn put_head(&self, client: usize, manifest: &Manifest, offset: u64) -> String {
        put_head(manifest, &self.keys[client], offset, "")
    }

    /// A client's signed request for its receipt (no suffix) or the progress of its upload (`/upload`).
    pub(crate) fn query(&self, client: usize, manifest: &Manifest, suffix: &str) -> String {
        let path = path(manifest);
        let signed = signed(manifest, &self.keys[client]);
        format!("GET {path}{suffix} HTTP/1.1\r\n{COMMON}{signed}\r\n")
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.wire.send(&[format!("GET {path} HTTP/1.1\r\n{COMMON}\r\n").as_bytes()])
    }

    /// A coordinator's request.
    pub(crate) fn as_coordinator(&self, method: &str, path: &str, token: &str) -> Reply {
        let request = format!(
            "{method} {path} HTTP/1.1\r\n{COMMON}authorization: Bearer {token}\r\ncontent-length: 0\r\n\r\n"
        );
        self.wire.send(&[request.as_bytes()])
    }

    /// The public state of a round; null if the server does not answer.
    pub(crate) fn round_info(&self, round: &str) -> Value {
        self.get(&format!("/v1/rounds/{round}")).json()
    }
}

/// Headers of every request that expects one reply.
pub(crate) const COMMON: &str = "host: localhost\r\nconnection: close\r\n";

/// The head of an upload, signed with any key and with further headers.
pub(crate) fn put_head(manifest: &Manifest, key: &PrivateKey, offset: u64, more: &str) -> String {
    format!(
        "PUT {} HTTP/1.1\r\n{COMMON}{}{OFFSET_HEADER}: {offset}\r\n{more}content-type: {}\r\n\
         content-length: {}\r\n\r\n",
        path(manifest),
        signed(manifest, key),
        manifest.media_type.media_type(),
        manifest.length.saturating_sub(offset),
    )
}

pub(crate) fn path(manifest: &Manifest) -> String {
    format!("/v1/rounds/{}/submissions/{}", manifest.round, manifest.client)
}

pub(crate) fn signed(manifest: &Manifest, key: &PrivateKey) -> String {
    format!(
        "{MANIFEST_HEADER}: {}\r\n{SIGNATURE_HEADER}: {}\r\n",
        manifest.to_header(),
        manifest.sign(key)
    )
}
