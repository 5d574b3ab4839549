//! What a client says, and signs, about the one file that it sends.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use equipoise_data::{Digest, TableKind};

use super::canonical::{self, CanonicalProblem};
use super::key::{PrivateKey, PublicKey, Signature};
use super::name::Name;

const KIND: &str = "equipoise-manifest 1";
const FIELDS: [&str; 7] =
    ["audience", "round", "client", "media-type", "length", "sha256", "schema-sha256"];

/// A submission in words: which file, by whom, for which round of which server. Version 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The server it is meant for, as the round names it.
    pub audience: String,
    /// The round.
    pub round: Name,
    /// The client.
    pub client: Name,
    /// The kind of file.
    pub media_type: TableKind,
    /// Bytes of the file.
    pub length: u64,
    /// Digest of the file.
    pub sha256: Digest,
    /// Digest of the schema that the rows are encoded by.
    pub schema_sha256: Digest,
}

/// Why a header is no manifest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestProblem {
    /// Not base64.
    #[error("the manifest is not base64")]
    Base64,
    /// Not the canonical form.
    #[error("the manifest is not in its canonical form: {0}")]
    Form(#[from] CanonicalProblem),
    /// A value that cannot be.
    #[error("the manifest's `{field}` is not sound")]
    Value {
        /// The field.
        field: &'static str,
    },
}

impl Manifest {
    /// The bytes that are signed.
    pub fn to_bytes(&self) -> Vec<u8> {
        let values = [
            self.audience.clone(),
            self.round.to_string(),
            self.client.to_string(),
            self.media_type.media_type().to_owned(),
            self.length.to_string(),
            self.sha256.to_string(),
            self.schema_sha256.to_string(),
        ];
        let fields: Vec<_> = FIELDS.into_iter().zip(values).collect();
        canonical::encode(KIND, &fields)
    }

    /// Reads the signed bytes. Another spelling of the same values is refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ManifestProblem> {
        let [audience, round, client, media_type, length, sha256, schema] =
            canonical::parse(bytes, KIND, FIELDS)?;
        let manifest = Self {
            audience,
            round: round.parse().map_err(|_| ManifestProblem::Value { field: "round" })?,
            client: client.parse().map_err(|_| ManifestProblem::Value { field: "client" })?,
            media_type: TableKind::of_media_type(&media_type)
                .ok_or(ManifestProblem::Value { field: "media-type" })?,
            length: length.parse().map_err(|_| ManifestProblem::Value { field: "length" })?,
            sha256: sha256.parse().map_err(|_| ManifestProblem::Value { field: "sha256" })?,
            schema_sha256: schema
                .parse()
                .map_err(|_| ManifestProblem::Value { field: "schema-sha256" })?,
        };
        match manifest.to_bytes() == bytes {
            true => Ok(manifest),
            false => Err(ManifestProblem::Value { field: "length" }),
        }
    }

    /// The value of the manifest's header.
    pub fn to_header(&self) -> String {
        BASE64.encode(self.to_bytes())
    }

    /// Reads the manifest's header.
    pub fn from_header(text: &str) -> Result<Self, ManifestProblem> {
        Self::from_bytes(&BASE64.decode(text).map_err(|_| ManifestProblem::Base64)?)
    }

    /// The client's signature.
    pub fn sign(&self, key: &PrivateKey) -> Signature {
        key.sign(KIND, &self.to_bytes())
    }

    /// Whether the signature is this key's.
    pub fn is_signed_by(&self, key: &PublicKey, signature: &Signature) -> bool {
        key.verifies(KIND, &self.to_bytes(), signature)
    }
}
