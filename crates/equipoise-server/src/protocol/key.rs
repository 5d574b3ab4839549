//! Ed25519 keys and their text form.
//!
//! A public key is one line, `equipoise-ed25519 BASE64 name`, easy to email and to compare by eye. A
//! private key is one line, `equipoise-ed25519-private BASE64 name`, in a file that only its owner can read.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};

use super::canonical::signed_bytes;
use super::name::{ClientId, NameError};

const PUBLIC: &str = "equipoise-ed25519";
const PRIVATE: &str = "equipoise-ed25519-private";

/// Text that is not a valid key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Not one line of three fields, the first of which is this.
    #[error("expected one line of the form `{0} BASE64 name`")]
    Line(&'static str),
    /// A private key where a public one is expected.
    #[error("it is a private key, which only its owner should have. Use the .pub file")]
    IsPrivate,
    /// The second field is not a base64-encoded key.
    #[error("its second field is not a base64-encoded Ed25519 key")]
    Bytes,
    /// The third field is not a valid name.
    #[error(transparent)]
    Name(#[from] NameError),
}

/// The private key of a client or a server. `Debug` shows only its name.
#[derive(Clone)]
pub struct PrivateKey {
    name: ClientId,
    key: SigningKey,
}

/// A public key and its owner's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    name: ClientId,
    key: VerifyingKey,
}

/// An Ed25519 signature. Its text form is base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature([u8; 64]);

impl PrivateKey {
    /// The key derived from 32 random bytes.
    pub fn from_seed(name: ClientId, seed: [u8; 32]) -> Self {
        Self { name, key: SigningKey::from_bytes(&seed) }
    }

    /// Parses the line in a private key file.
    pub fn from_line(line: &str) -> Result<Self, KeyError> {
        let (name, bytes) = parse_line(line, PRIVATE)?;
        Ok(Self { name, key: SigningKey::from_bytes(&bytes) })
    }

    /// The line in a private key file.
    pub fn to_line(&self) -> String {
        format!("{PRIVATE} {} {}\n", BASE64.encode(self.key.to_bytes()), self.name)
    }

    /// The owner's name.
    pub fn name(&self) -> &ClientId {
        &self.name
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        PublicKey { name: self.name.clone(), key: self.key.verifying_key() }
    }

    /// Signs a canonical document of this kind.
    pub fn sign(&self, kind: &str, bytes: &[u8]) -> Signature {
        Signature(self.key.sign(&signed_bytes(kind, bytes)).to_bytes())
    }
}

impl PublicKey {
    /// The owner's name.
    pub fn name(&self) -> &ClientId {
        &self.name
    }

    /// The same key under another name.
    pub fn named(self, name: ClientId) -> Self {
        Self { name, ..self }
    }

    /// The key in base64, without the name.
    pub fn to_base64(&self) -> String {
        BASE64.encode(self.key.as_bytes())
    }

    /// Whether both are the same key, regardless of name.
    pub fn same_key(&self, other: &Self) -> bool {
        self.key == other.key
    }

    /// Whether this key made the signature over a canonical document of this kind.
    pub fn verifies(&self, kind: &str, bytes: &[u8], signature: &Signature) -> bool {
        let signature = ed25519_dalek::Signature::from_bytes(&signature.0);
        // Strict verification rejects weak keys and malleable signatures.
        self.key.verify_strict(&signed_bytes(kind, bytes), &signature).is_ok()
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({})", self.name)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PUBLIC} {} {}", self.to_base64(), self.name)
    }
}

impl FromStr for PublicKey {
    type Err = KeyError;

    fn from_str(line: &str) -> Result<Self, KeyError> {
        if line.trim_start().starts_with(PRIVATE) {
            return Err(KeyError::IsPrivate);
        }
        let (name, bytes) = parse_line(line, PUBLIC)?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| KeyError::Bytes)?;
        if key.is_weak() {
            return Err(KeyError::Bytes);
        }
        Ok(Self { name, key })
    }
}

equipoise_data::serde_as_text!(PublicKey);

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64.encode(self.0))
    }
}

impl FromStr for Signature {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        decode(text).map(Self)
    }
}

equipoise_data::serde_as_text!(Signature);

fn parse_line(line: &str, kind: &'static str) -> Result<(ClientId, [u8; 32]), KeyError> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    match fields[..] {
        [first, key, name] if first == kind => {
            let bytes = decode(key)?;
            Ok((name.parse()?, bytes))
        }
        _ => Err(KeyError::Line(kind)),
    }
}

fn decode<const N: usize>(text: &str) -> Result<[u8; N], KeyError> {
    BASE64.decode(text).ok().and_then(|bytes| bytes.try_into().ok()).ok_or(KeyError::Bytes)
}
