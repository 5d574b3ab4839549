//! SHA-256 digests, shown in lower-case hex.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::Path;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// Text that is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not a SHA-256 digest. A digest has 64 lower-case hex digits.")]
pub struct DigestProblem {
    /// The text, cut off after 80 characters.
    pub found: String,
}

/// Hashes bytes as they arrive. It implements [`Write`], so that [`io::copy`] can feed it.
#[derive(Debug, Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Adds bytes.
    pub fn update(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.update(bytes);
    }

    /// The digest of all bytes added so far.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

impl Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Digest {
    /// All zeros: the predecessor of the first event in a hash chain.
    pub const ZERO: Self = Self([0; 32]);

    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Length and digest of a file.
    pub fn of_file(path: &Path) -> io::Result<(u64, Self)> {
        Self::of_reader(File::open(path)?)
    }

    /// Length and digest of everything that can still be read.
    pub fn of_reader(content: impl io::Read) -> io::Result<(u64, Self)> {
        let mut hasher = Hasher::default();
        let content = &mut BufReader::with_capacity(1 << 16, content);
        let length = io::copy(content, &mut hasher)?;
        Ok((length, hasher.finish()))
    }
}

/// Serialises a type as text, through `Display` and `FromStr`.
#[macro_export]
macro_rules! serde_as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(source)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

/// Bytes as lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = DigestProblem;

    fn from_str(text: &str) -> Result<Self, DigestProblem> {
        let byte = |i: usize| u8::from_str_radix(text.get(2 * i..2 * i + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..32).map(byte).collect();
        let digest = bytes.and_then(|bytes| bytes.try_into().ok()).map(Self);
        // Only the canonical spelling is accepted: no upper case, no sign, nothing after it.
        digest
            .filter(|digest| digest.to_string() == text)
            .ok_or_else(|| DigestProblem { found: text.chars().take(80).collect() })
    }
}

serde_as_text!(Digest);
