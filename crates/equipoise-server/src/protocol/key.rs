//! Ed25519 keys and how they are written down.
//!
//! A public key is one line, `equipoise-ed25519 BASE64 name`, made to be sent by mail and compared by eye. A
//! private key is one line, `equipoise-ed25519-private BASE64 name`, and stays in a file that only its
//! owner reads.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};

use super::canonical::to_sign;
use super::name::{Name, NameProblem};

const PUBLIC: &str = "equipoise-ed25519";
const PRIVATE: &str = "equipoise-ed25519-private";

/// Why text is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyProblem {
    /// Not the three words of a key.
    #[error("it is not one line of `{expected} BASE64 name`")]
    Line {
        /// The first word.
        expected: &'static str,
    },
    /// A private key where a public one belongs.
    #[error("it is a PRIVATE key, which nobody but its owner may have: use the .pub file")]
    IsPrivate,
    /// The second word is not the base64 of a key.
    #[error("its second word is not the base64 of an Ed25519 key")]
    Bytes,
    /// The third word is no name.
    #[error(transparent)]
    Name(#[from] NameProblem),
}

/// A client's or a server's private key. `Debug` shows its name alone.
#[derive(Clone)]
pub struct PrivateKey {
    name: Name,
    key: SigningKey,
}

/// A public key and the name it was made for.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct PublicKey {
    name: Name,
    key: VerifyingKey,
}

/// An Ed25519 signature; base64 as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Signature([u8; 64]);

impl PrivateKey {
    /// The key that these random bytes give.
    pub fn from_seed(name: Name, seed: [u8; 32]) -> Self {
        Self { name, key: SigningKey::from_bytes(&seed) }
    }

    /// Reads the line of a private key file.
    pub fn from_line(line: &str) -> Result<Self, KeyProblem> {
        let (name, bytes) = parse_line(line, PRIVATE)?;
        Ok(Self { name, key: SigningKey::from_bytes(&bytes) })
    }

    /// The line of a private key file.
    pub fn to_line(&self) -> String {
        format!("{PRIVATE} {} {}\n", BASE64.encode(self.key.to_bytes()), self.name)
    }

    /// Whom it was made for.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// What others may know of it.
    pub fn public(&self) -> PublicKey {
        PublicKey { name: self.name.clone(), key: self.key.verifying_key() }
    }

    /// Signs a canonical document of a kind.
    pub fn sign(&self, kind: &str, bytes: &[u8]) -> Signature {
        Signature(self.key.sign(&to_sign(kind, bytes)).to_bytes())
    }
}

impl PublicKey {
    /// Whom it was made for.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// The same key under another name: a roster may call a client otherwise than it calls itself.
    pub fn named(self, name: Name) -> Self {
        Self { name, ..self }
    }

    /// The key in base64, without the name.
    pub fn to_base64(&self) -> String {
        BASE64.encode(self.key.as_bytes())
    }

    /// Whether both are the same key, whatever their names.
    pub fn same_key(&self, other: &Self) -> bool {
        self.key == other.key
    }

    /// Whether the signature over a canonical document of a kind is this key's.
    pub fn verifies(&self, kind: &str, bytes: &[u8], signature: &Signature) -> bool {
        let signature = ed25519_dalek::Signature::from_bytes(&signature.0);
        // Strict: refuses weak keys and the second spelling of a signature.
        self.key.verify_strict(&to_sign(kind, bytes), &signature).is_ok()
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({})", self.name)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PUBLIC} {} {}", self.to_base64(), self.name)
    }
}

impl FromStr for PublicKey {
    type Err = KeyProblem;

    fn from_str(line: &str) -> Result<Self, KeyProblem> {
        if line.trim_start().starts_with(PRIVATE) {
            return Err(KeyProblem::IsPrivate);
        }
        let (name, bytes) = parse_line(line, PUBLIC)?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| KeyProblem::Bytes)?;
        if key.is_weak() {
            return Err(KeyProblem::Bytes);
        }
        Ok(Self { name, key })
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> Self {
        key.to_string()
    }
}

impl TryFrom<String> for PublicKey {
    type Error = KeyProblem;

    fn try_from(line: String) -> Result<Self, KeyProblem> {
        line.parse()
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64.encode(self.0))
    }
}

impl FromStr for Signature {
    type Err = KeyProblem;

    fn from_str(text: &str) -> Result<Self, KeyProblem> {
        let bytes = BASE64.decode(text).map_err(|_| KeyProblem::Bytes)?;
        Ok(Self(bytes.try_into().map_err(|_| KeyProblem::Bytes)?))
    }
}

impl From<Signature> for String {
    fn from(signature: Signature) -> Self {
        signature.to_string()
    }
}

impl TryFrom<String> for Signature {
    type Error = KeyProblem;

    fn try_from(text: String) -> Result<Self, KeyProblem> {
        text.parse()
    }
}

fn parse_line(line: &str, kind: &'static str) -> Result<(Name, [u8; 32]), KeyProblem> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [first, key, name] = words[..] else { return Err(KeyProblem::Line { expected: kind }) };
    if first != kind {
        return Err(KeyProblem::Line { expected: kind });
    }
    let bytes = BASE64.decode(key).map_err(|_| KeyProblem::Bytes)?;
    Ok((name.parse()?, bytes.try_into().map_err(|_| KeyProblem::Bytes)?))
}
