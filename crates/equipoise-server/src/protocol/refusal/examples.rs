//! One refusal of each kind, as the description of the server shows them.

use super::Refusal;
use crate::protocol::{Digest, RoundState};

impl Refusal {
    /// One of each kind.
    pub fn examples() -> Vec<Self> {
        let client = || "north".to_owned();
        vec![
            Self::NotAuthenticated,
            Self::NotCoordinator,
            Self::KeyRevoked { client: client() },
            Self::TooManyFailures { retry_after_seconds: 60 },
            Self::NotFound { what: "such round" },
            Self::MethodNotAllowed,
            Self::NotSubmitted { client: client() },
            Self::NotPublished { state: RoundState::Open },
            Self::AlreadySubmitted { client: client(), accepted_sha256: Digest::ZERO },
            Self::NotOpen { state: RoundState::Closed },
            Self::TooLate,
            Self::TooFewSubmissions { found: 1, minimum: 2 },
            Self::OffsetMismatch { offset: 4096, found: 8192 },
            Self::ManifestMismatch { what: "the length" },
            Self::BodyTruncated { expected: 8192, found: 4096 },
            Self::DigestMismatch { found: Digest::ZERO },
            Self::BadRequest { what: "upload-offset is no number".into() },
            Self::TooSlow { minimum: 16384 },
            Self::LengthRequired,
            Self::TooLarge { limit: 536_870_912, found: 1_073_741_824 },
            Self::Unsupported { what: "Content-Encoding gzip".into() },
            Self::SchemaMismatch { expected: Digest::of(b"ours"), found: Digest::of(b"theirs") },
            Self::ValueRejected {
                message: "row 3, column `score`: `nan` is not finite".into(),
                row: Some(3),
                column: Some("score".into()),
            },
            Self::FileRejected { message: "the file is no Parquet table".into() },
            Self::TooMany { whom: "client", retry_after_seconds: 5 },
            Self::Busy { retry_after_seconds: 5 },
            Self::DiskFull,
            Self::Internal,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_an_example() {
        let source = include_str!("../refusal.rs");
        // The one table of statuses and codes: lines such as `Self::TooLate => (409, "too_late"),`.
        let written = source.lines().filter_map(|line| {
            let (_, pair) = line.split_once("=> (")?;
            Some(pair.split('"').nth(1)?.to_owned())
        });
        let mut written: Vec<String> = written.collect();
        let mut shown: Vec<String> =
            Refusal::examples().iter().map(|refusal| refusal.code().to_owned()).collect();
        written.sort();
        shown.sort();
        assert_eq!(shown, written);
        assert_eq!(shown.len(), 28);
    }
}
