//! Ed25519 keys, their files, and the fingerprint of the coordinator's key.
//!
//! A key file has one line, `equipoise-ed25519 BASE64 label`, or `equipoise-ed25519-private BASE64 label` in a file
//! that only its owner may read. The label is a client's name, or a mailbox's address.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use equipoise_data::Hasher;

use crate::error::{Error, Result};

const PUBLIC: &str = "equipoise-ed25519";
const PRIVATE: &str = "equipoise-ed25519-private";

/// A private key. `Debug` does not show it.
#[derive(Clone)]
pub struct PrivateKey(SigningKey);

/// A public key. Its text form is base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

/// A signature. Its text form is base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature([u8; 64]);

/// Text that is not a valid key, signature or fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a valid {0}")]
pub struct KeyProblem(&'static str);

impl KeyProblem {
    pub(crate) const SEALING: Self = Self("sealing key");
}

impl PrivateKey {
    /// The key with this seed.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        Self(SigningKey::from_bytes(&seed))
    }

    /// A new random key.
    pub fn random() -> io::Result<Self> {
        random_bytes().map(Self::from_seed)
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Signs a message.
    pub(crate) fn sign(&self, message: &[u8]) -> Signature {
        Signature(self.0.sign(message).to_bytes())
    }

    /// Bytes that only the owner of this key can compute, for this purpose and content.
    pub(crate) fn derive(&self, purpose: &str, content: &[u8]) -> [u8; 64] {
        self.sign(&[b"equipoise derived secret\0", purpose.as_bytes(), b"\0", content].concat()).0
    }

    /// Writes the key to a new file that only its owner can read.
    pub fn write(&self, file: &Path, label: &str) -> Result<()> {
        write_private(file, &format!("{PRIVATE} {} {label}\n", BASE64.encode(self.0.to_bytes())))
    }

    /// Reads a key file, and its label. A file that others can read is refused.
    pub fn read(file: &Path) -> Result<(Self, String)> {
        let text = read_private(file)?;
        let (bytes, label) = fields(&text, PRIVATE).ok_or_else(|| wrong_line(file, PRIVATE))?;
        Ok((Self::from_seed(bytes), label))
    }
}

impl PublicKey {
    /// The fingerprint, to compare by phone.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut hasher = Hasher::default();
        hasher.update(self.0.as_bytes());
        Fingerprint(base32(&hasher.finish().to_string()))
    }

    /// Whether this key made the signature. Verification is strict: no weak keys, no second form of a signature.
    pub(crate) fn verifies(&self, message: &[u8], signature: &Signature) -> bool {
        let signature = ed25519_dalek::Signature::from_bytes(&signature.0);
        self.0.verify_strict(message, &signature).is_ok()
    }

    /// The line of a public key file.
    pub fn to_line(&self, label: &str) -> String {
        format!("{PUBLIC} {self} {label}\n")
    }

    /// Reads a public key file, and its label.
    pub fn read(file: &Path) -> Result<(Self, String)> {
        let text = std::fs::read_to_string(file).map_err(Error::io(file))?;
        if text.trim_start().starts_with(PRIVATE) {
            let problem = "is a private key, which only its owner should have. Use the .pub file";
            return Err(Error::file(file, problem));
        }
        let (bytes, label) = fields(&text, PUBLIC).ok_or_else(|| wrong_line(file, PUBLIC))?;
        let key = Self::from_bytes(&bytes).map_err(|problem| Error::file(file, problem))?;
        Ok((key, label))
    }

    fn from_bytes(bytes: &[u8; 32]) -> Result<Self, KeyProblem> {
        let key = VerifyingKey::from_bytes(bytes).ok().filter(|key| !key.is_weak());
        key.map(Self).ok_or(KeyProblem("Ed25519 key"))
    }
}

/// 160 bits of the SHA-256 of a public key in base32: eight groups of four characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint(String);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for at in 0..8 {
            let separator = if at == 0 { "" } else { "-" };
            write!(f, "{separator}{}", &self.0[4 * at..4 * at + 4])?;
        }
        Ok(())
    }
}

impl FromStr for Fingerprint {
    type Err = KeyProblem;

    fn from_str(text: &str) -> Result<Self, KeyProblem> {
        let characters = text.chars().filter(|c| !matches!(c, ' ' | '-'));
        let text: String = characters.map(|c| c.to_ascii_uppercase()).collect();
        let is_valid = text.len() == 32 && text.bytes().all(|byte| BASE32.contains(&byte));
        match is_valid {
            true => Ok(Self(text)),
            false => {
                Err(KeyProblem("fingerprint: it has eight groups of four letters or digits 2 to 7"))
            }
        }
    }
}

const BASE32: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The first 160 bits of a number in hex, in base32 (RFC 4648).
fn base32(hex: &str) -> String {
    let digits = hex.chars().take(40).map(|c| c.to_digit(16).unwrap_or_default());
    let bits: Vec<u32> =
        digits.flat_map(|digit| (0..4).rev().map(move |i| digit >> i & 1)).collect();
    let value = |bits: &[u32]| bits.iter().fold(0, |sum, bit| 2 * sum + *bit as usize);
    bits.chunks(5).map(|chunk| char::from(BASE32[value(chunk)])).collect()
}

/// Random bytes of the operating system.
pub(crate) fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

/// Writes a new file that only its owner can read, durably.
pub(crate) fn write_private(file: &Path, text: &str) -> Result<()> {
    let write = || {
        let mut out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
        out.write_all(text.as_bytes())?;
        out.sync_all()?;
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    };
    write().map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Error::file(file, "exists already. Choose another name"),
        _ => Error::io(file)(error),
    })
}

/// Reads a small file, which must not be accessible to anyone but its owner.
pub(crate) fn read_private(file: &Path) -> Result<String> {
    let mut text = String::new();
    let opened = File::open(file).map_err(Error::io(file))?;
    let metadata = opened.metadata().map_err(Error::io(file))?;
    if metadata.mode() & 0o077 != 0 {
        let problem = "is a secret that other users can access. Run `chmod 600` on it, and replace it if anyone may \
                       have read it";
        return Err(Error::file(file, problem));
    }
    opened.take(4096).read_to_string(&mut text).map_err(Error::io(file))?;
    Ok(text)
}

/// Key and label of a line of this kind.
pub(crate) fn fields(text: &str, kind: &str) -> Option<([u8; 32], String)> {
    let fields: Vec<&str> = text.split_whitespace().collect();
    match fields[..] {
        [first, key, label] if first == kind => Some((decode(key)?, label.to_owned())),
        _ => None,
    }
}

fn wrong_line(file: &Path, kind: &str) -> Error {
    Error::file(file, format!("is not a key: expected one line of the form `{kind} BASE64 label`"))
}

pub(crate) fn encode(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

pub(crate) fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    BASE64.decode(text).ok()?.try_into().ok()
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKey")
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&encode(self.0.as_bytes()))
    }
}

impl FromStr for PublicKey {
    type Err = KeyProblem;

    fn from_str(text: &str) -> Result<Self, KeyProblem> {
        Self::from_bytes(&decode(text).ok_or(KeyProblem("Ed25519 key"))?)
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&encode(&self.0))
    }
}

impl FromStr for Signature {
    type Err = KeyProblem;

    fn from_str(text: &str) -> Result<Self, KeyProblem> {
        decode(text).map(Self).ok_or(KeyProblem("signature"))
    }
}

equipoise_data::serde_as_text!(PublicKey);
equipoise_data::serde_as_text!(Signature);

#[cfg(test)]
mod tests;
