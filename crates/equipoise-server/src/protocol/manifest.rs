//! The manifest: what a client signs about the one file that it sends.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use equipoise_data::{Digest, TableKind};

use super::canonical::{self, CanonicalError};
use super::key::{PrivateKey, PublicKey, Signature};
use super::name::{ClientId, RoundId};

const KIND: &str = "equipoise-manifest 1";
const FIELDS: [&str; 7] =
    ["audience", "round", "client", "media-type", "length", "sha256", "schema-sha256"];

/// Identifies a submission: which file, by which client, for which round of which server. Version 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The server's name, as the round states it.
    pub audience: String,
    /// The round.
    pub round: RoundId,
    /// The client.
    pub client: ClientId,
    /// The file format.
    pub media_type: TableKind,
    /// File size in bytes.
    pub length: u64,
    /// Digest of the file.
    pub sha256: Digest,
    /// Digest of the schema that encodes the rows.
    pub schema_sha256: Digest,
}

/// A manifest and a signature over it, not yet verified.
#[derive(Debug, Clone)]
pub struct SignedManifest {
    /// The manifest.
    pub manifest: Manifest,
    /// The client's signature.
    pub signature: Signature,
}

/// A header that is not a valid manifest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// Not base64.
    #[error("the manifest is not base64")]
    Base64,
    /// Not the canonical form.
    #[error("the manifest is not in canonical form: {0}")]
    Form(#[from] CanonicalError),
    /// This field has an invalid value.
    #[error("the manifest's `{0}` is invalid")]
    Value(&'static str),
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

    /// Parses the signed bytes. A different spelling of the same values is an error.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ManifestError> {
        let [audience, round, client, media_type, length, sha256, schema] =
            canonical::parse(bytes, KIND, FIELDS)?;
        let manifest = Self {
            audience,
            round: value("round", &round)?,
            client: value("client", &client)?,
            media_type: TableKind::of_media_type(&media_type)
                .ok_or(ManifestError::Value("media-type"))?,
            length: value("length", &length)?,
            sha256: value("sha256", &sha256)?,
            schema_sha256: value("schema-sha256", &schema)?,
        };
        match manifest.to_bytes() == bytes {
            true => Ok(manifest),
            false => Err(ManifestError::Value("length")),
        }
    }

    /// The value of the manifest header.
    pub fn to_header(&self) -> String {
        BASE64.encode(self.to_bytes())
    }

    /// Parses the value of the manifest header.
    pub fn from_header(text: &str) -> Result<Self, ManifestError> {
        Self::from_bytes(&BASE64.decode(text).map_err(|_| ManifestError::Base64)?)
    }

    /// Signs the manifest.
    pub fn sign(&self, key: &PrivateKey) -> Signature {
        key.sign(KIND, &self.to_bytes())
    }

    /// Whether this key made the signature.
    pub fn is_signed_by(&self, key: &PublicKey, signature: &Signature) -> bool {
        key.verifies(KIND, &self.to_bytes(), signature)
    }
}

fn value<T: std::str::FromStr>(field: &'static str, text: &str) -> Result<T, ManifestError> {
    text.parse().map_err(|_| ManifestError::Value(field))
}
