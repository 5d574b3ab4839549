//! A sealed file: the signed header, then one HPKE message (RFC 9180: X25519, HKDF-SHA256, ChaCha20-Poly1305).
//!
//! ```text
//! {"context":"…","length":…,"sha256":"…","content_sha256":"…"}      header, one line
//! submission DIGEST SIGNATURE                                        the client's signature over it
//! ciphertext                                                         encapsulated key, then the sealed content
//! ```
//!
//! The context is a line of JSON of its own, and the message's `info`: what was sealed for one round, client and time
//! opens for no other. The digest of the content shows an auditor without the sealing key that an opened table is
//! what its client sealed; the content's secret keeps anyone from guessing it.

use std::fmt;
use std::io::{self, BufRead, Read as _};
use std::path::Path;
use std::str::FromStr;

use equipoise_data::Digest;
use hpke::aead::ChaCha20Poly1305;
use hpke::kdf::HkdfSha256;
use hpke::kem::X25519HkdfSha256;
use hpke::{Deserializable as _, Kem, OpModeR, OpModeS, Serializable as _};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::content::{Content, Fault, Problem};
use crate::document::{Document, DocumentProblem, Kind};
use crate::error::{Error, Result};
use crate::invitation::Invitation;
use crate::key::{self, KeyProblem, PrivateKey};
use crate::log::Refusal;
use crate::text::Name;

/// Maximum length of a ciphertext in bytes: 64 MiB.
pub const MAX_SEALED: u64 = 64 << 20;
/// Maximum length of header and signature in bytes.
pub const MAX_HEADER: usize = 8 << 10;

const PRIVATE: &str = "equipoise-sealing-private";
const ENCAPSULATED: usize = 32;

type X25519 = X25519HkdfSha256;

/// The private key that opens a round's files.
pub struct SealingKey(<X25519 as Kem>::PrivateKey);

/// The public key that files are sealed to. Its text form is base64.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealingPublicKey(<X25519 as Kem>::PublicKey);

/// For whom and when a file was sealed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Context {
    format: u32,
    invitation: Digest,
    client: Name,
    sealed_at: Timestamp,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    context: String,
    length: u64,
    sha256: Digest,
    content_sha256: Digest,
}

/// The checked header of a sealed file.
#[derive(Debug, Clone, PartialEq)]
pub struct Submission {
    /// Who sealed it.
    pub client: Name,
    /// When, by the client's clock.
    pub sealed_at: Timestamp,
    /// Length of the ciphertext.
    pub length: u64,
    /// Digest of the ciphertext.
    pub sha256: Digest,
    /// Digest of the content.
    pub content_sha256: Digest,
    /// The header, as signed.
    pub document: Document,
    info: String,
}

impl Submission {
    /// Checks a header: its signature by the roster's key, and that it is for this round.
    pub fn of(document: Document, invitation: &Invitation) -> Result<Self, Refusal> {
        if document.kind() != Kind::Submission {
            let (expected, found) = (Kind::Submission.name(), document.kind().name());
            return Err(Refusal::OtherKind(expected, found));
        }
        let context = |header: &Header| -> Result<Context, Refusal> {
            serde_json::from_str(&header.context)
                .map_err(|error| crate::document::malformed("the header's context", &error))
        };
        let client = context(&document.peek()?)?.client;
        let key = invitation.terms.roster.get(&client);
        let key = key.ok_or(Refusal::NotOnRoster(client))?;
        let header: Header = document.read(Kind::Submission, invitation.digest, key)?;
        let Context { format, invitation: round, client, sealed_at } = context(&header)?;
        if format != 1 {
            let problem = "the sealed file has a format that this version does not know";
            return Err(Refusal::Malformed(problem.into()));
        }
        if round != invitation.digest {
            return Err(Refusal::OtherRound(invitation.digest, round));
        }
        let (length, limit) = (header.length, invitation.terms.max_bytes);
        if length > limit {
            return Err(Refusal::TooLarge(length, limit));
        }
        let Header { context: info, sha256, content_sha256, .. } = header;
        Ok(Self { client, sealed_at, length, sha256, content_sha256, document, info })
    }

    /// Opens the ciphertext and checks the content against the schema. Returns it as sealed, and parsed.
    pub fn open(
        &self,
        ciphertext: &[u8],
        key: &SealingKey,
        invitation: &Invitation,
    ) -> Result<(Vec<u8>, Content), Problem> {
        let bytes = self.decrypt(ciphertext, key).ok_or(Problem::of(Fault::NotOpened))?;
        if Digest::of(&bytes) != self.content_sha256 {
            return Err(Problem::of(Fault::OtherContent));
        }
        let content = Content::parse(&bytes)?;
        content.check(invitation)?;
        Ok((bytes, content))
    }

    fn decrypt(&self, ciphertext: &[u8], key: &SealingKey) -> Option<Vec<u8>> {
        let (encapsulated, sealed) = ciphertext.split_at_checked(ENCAPSULATED)?;
        let encapsulated = <X25519 as Kem>::EncappedKey::from_bytes(encapsulated).ok()?;
        let info = self.info.as_bytes();
        hpke::single_shot_open::<ChaCha20Poly1305, HkdfSha256, X25519>(
            &OpModeR::Base,
            &key.0,
            &encapsulated,
            info,
            sealed,
            b"",
        )
        .ok()
    }
}

/// Seals a table for a round. Returns the whole file.
pub fn seal(
    invitation: &Invitation,
    client: &Name,
    key: &PrivateKey,
    content: &Content,
    sealed_at: Timestamp,
) -> Result<Vec<u8>, Refusal> {
    check_roster(invitation, client, key)?;
    seal_bytes(invitation, client, key, &content.to_bytes(), sealed_at)
}

/// Checks that the invitation lists this client with this key.
pub fn check_roster(
    invitation: &Invitation,
    client: &Name,
    key: &PrivateKey,
) -> Result<(), Refusal> {
    match invitation.terms.roster.get(client) {
        None => Err(Refusal::NotOnRoster(client.clone())),
        Some(listed) if *listed != key.public() => Err(Refusal::OtherKey(client.clone())),
        Some(_) => Ok(()),
    }
}

/// Seals any bytes, also those that nobody will accept.
#[doc(hidden)]
pub fn seal_bytes(
    invitation: &Invitation,
    client: &Name,
    key: &PrivateKey,
    content: &[u8],
    sealed_at: Timestamp,
) -> Result<Vec<u8>, Refusal> {
    let (client, invited) = (client.clone(), invitation.digest);
    let context = Context { format: 1, invitation: invited, client, sealed_at };
    // Names, digests and a time.
    let context = serde_json::to_string(&context).expect("a context is plain data");
    let (encapsulated, sealed) = hpke::single_shot_seal::<ChaCha20Poly1305, HkdfSha256, X25519>(
        &OpModeS::Base,
        &invitation.terms.sealing_key.0,
        context.as_bytes(),
        content,
        b"",
    )
    .map_err(|_| {
        Refusal::Malformed("the invitation has a sealing key that cannot be used".into())
    })?;
    let ciphertext = [&encapsulated.to_bytes()[..], &sealed].concat();
    let (length, limit) = (ciphertext.len() as u64, invitation.terms.max_bytes);
    if length > limit {
        return Err(Refusal::TooLarge(length, limit));
    }
    let content_sha256 = Digest::of(content);
    let header = Header { context, length, sha256: Digest::of(&ciphertext), content_sha256 };
    let document = Document::sign(Kind::Submission, invited, &header, key);
    Ok([document.to_string().as_bytes(), &ciphertext].concat())
}

/// Reads the two lines of a header.
pub fn read_header(source: &mut impl BufRead) -> io::Result<Result<Document, DocumentProblem>> {
    let (mut bytes, mut source) = (Vec::new(), source.by_ref().take(MAX_HEADER as u64));
    source.read_until(b'\n', &mut bytes)?;
    source.read_until(b'\n', &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).parse())
}

impl SealingKey {
    /// A new random key.
    pub fn random() -> Self {
        Self(X25519::gen_keypair().0)
    }

    /// The public half.
    pub fn public(&self) -> SealingPublicKey {
        SealingPublicKey(X25519::sk_to_pk(&self.0))
    }

    /// Writes the key to a new file that only its owner can read.
    pub fn write(&self, file: &Path, round: &Name) -> Result<()> {
        let line = format!("{PRIVATE} {} {round}\n", key::encode(&self.0.to_bytes()));
        key::write_private(file, &line)
    }

    /// Reads a key file. A file that others can read is refused.
    pub fn read(file: &Path) -> Result<Self> {
        let text = key::read_private(file)?;
        let bytes = key::fields(&text, PRIVATE).map(|(bytes, _)| bytes);
        let key = bytes.and_then(|bytes| <X25519 as Kem>::PrivateKey::from_bytes(&bytes).ok());
        key.map(Self).ok_or_else(|| Error::file(file, "is not the sealing key of a round"))
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealingKey")
    }
}

impl fmt::Display for SealingPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&key::encode(&self.0.to_bytes()))
    }
}

impl FromStr for SealingPublicKey {
    type Err = KeyProblem;

    fn from_str(text: &str) -> Result<Self, KeyProblem> {
        let bytes: Option<[u8; 32]> = key::decode(text);
        let key = bytes.and_then(|bytes| <X25519 as Kem>::PublicKey::from_bytes(&bytes).ok());
        key.map(Self).ok_or(KeyProblem::SEALING)
    }
}

equipoise_data::serde_as_text!(SealingPublicKey);
