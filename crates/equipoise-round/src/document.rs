//! A signed document: two lines, JSON and its signature.
//!
//! The signature line names the kind of document, the digest of the invitation that it belongs to (its audience), and
//! the signature in base64. Digest and signature cover the first line as written, without its line feed; nothing is
//! ever serialised again. What is signed begins with kind and audience, so that a document cannot pass for one of
//! another kind or round.

use std::fmt;
use std::str::FromStr;

use equipoise_data::Digest;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::key::{PrivateKey, PublicKey, Signature};
use crate::log::Refusal;
use crate::text::printable;

/// Maximum length of a document in bytes.
pub const MAX_DOCUMENT: u64 = 1 << 20;

/// The kinds of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The terms of a round, by the coordinator.
    Invitation,
    /// The header of a sealed file, by a client.
    Submission,
    /// A decision of the coordinator.
    Order,
    /// The coordinator's request for the log or a sealed file.
    Pull,
    /// The header of what the coordinator adds to a closed round at the mailbox.
    Extension,
    /// The digests of everything that is published, by the coordinator.
    Statement,
    /// A confirmation of an event, by whoever writes the log.
    Receipt,
}

const KINDS: [(Kind, &str); 7] = [
    (Kind::Invitation, "invitation"),
    (Kind::Submission, "submission"),
    (Kind::Order, "order"),
    (Kind::Pull, "pull"),
    (Kind::Extension, "extension"),
    (Kind::Statement, "statement"),
    (Kind::Receipt, "receipt"),
];

/// A document as it was written. Its signature need not be valid: [`read`](Self::read) checks it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    line: String,
    kind: Kind,
    audience: Digest,
    signature: Signature,
}

/// Text that is not a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is not a signed document: {0}")]
pub struct DocumentProblem(&'static str);

impl Document {
    /// Signs a value. An invitation is its own audience.
    pub fn sign(kind: Kind, audience: Digest, value: &impl Serialize, key: &PrivateKey) -> Self {
        // Structs of text, numbers and lists; JSON escapes line feeds.
        let line = serde_json::to_string(value).expect("a document is plain data");
        let audience = match kind {
            Kind::Invitation => Digest::of(line.as_bytes()),
            _ => audience,
        };
        let signature = key.sign(&message(kind, audience, &line));
        Self { line, kind, audience, signature }
    }

    /// The kind that the document claims.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The digest of the first line.
    pub fn digest(&self) -> Digest {
        Digest::of(self.line.as_bytes())
    }

    /// The audience that the document claims.
    pub fn audience(&self) -> Digest {
        self.audience
    }

    /// The content, unchecked: only to find the key that must have signed it.
    pub(crate) fn peek<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        serde_json::from_str(&self.line).map_err(|error| {
            Refusal::Malformed(format!("the {} is malformed: {error}", self.kind.name()))
        })
    }

    /// The content, if this key signed it as a document of this kind for this audience.
    pub fn read<T: DeserializeOwned>(
        &self,
        kind: Kind,
        audience: Digest,
        key: &PublicKey,
    ) -> Result<T, Refusal> {
        if self.kind != kind {
            return Err(Refusal::OtherKind(kind.name(), self.kind.name()));
        }
        if self.audience != audience {
            return Err(Refusal::OtherRound(audience, self.audience));
        }
        if !key.verifies(&message(kind, audience, &self.line), &self.signature) {
            return Err(Refusal::BadSignature(kind.name()));
        }
        self.peek()
    }
}

impl Kind {
    /// The word for it in a signature line.
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }
}

/// The bytes that a signature covers.
fn message(kind: Kind, audience: Digest, line: &str) -> Vec<u8> {
    format!("equipoise {} {audience}\0{line}", kind.name()).into_bytes()
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, kind, audience, signature } = self;
        write!(f, "{line}\n{} {audience} {signature}\n", kind.name())
    }
}

impl FromStr for Document {
    type Err = DocumentProblem;

    fn from_str(text: &str) -> Result<Self, DocumentProblem> {
        let problem = DocumentProblem;
        if text.len() as u64 > MAX_DOCUMENT {
            return Err(problem("it is larger than 1 MiB"));
        }
        let text = text.strip_suffix('\n').ok_or(problem("its second line does not end"))?;
        let (line, signature) = text.split_once('\n').ok_or(problem("it has one line"))?;
        if line.chars().any(char::is_control) {
            return Err(problem("it contains a control character"));
        }
        let fields: Vec<&str> = signature.split(' ').collect();
        let [kind, audience, signature] = fields[..] else {
            return Err(problem("its second line is not `KIND DIGEST SIGNATURE`"));
        };
        let known = KINDS.iter().find(|(_, name)| *name == kind);
        let (kind, _) = known.ok_or(problem("its kind is unknown"))?;
        let audience = audience.parse().map_err(|_| problem("its digest is malformed"))?;
        let signature = signature.parse().map_err(|_| problem("its signature is malformed"))?;
        Ok(Self { line: line.to_owned(), kind: *kind, audience, signature })
    }
}

equipoise_data::serde_as_text!(Document);

/// What a parser of JSON says about foreign text may quote it.
pub(crate) fn malformed(what: &str, error: &impl fmt::Display) -> Refusal {
    Refusal::Malformed(format!("{what} is malformed: {}", printable(&error.to_string())))
}

#[cfg(test)]
mod tests;
