//! An example of every refusal, for the OpenAPI description.

use super::Refusal;
use crate::protocol::{Digest, RoundState};

impl Refusal {
    /// One refusal of each kind.
    pub fn examples() -> Vec<Self> {
        let client = || "north".to_owned();
        vec![
            Self::NotAuthenticated,
            Self::NotCoordinator,
            Self::KeyRevoked(client()),
            Self::TooManyFailures,
            Self::NotFound("round"),
            Self::MethodNotAllowed,
            Self::NotSubmitted(client()),
            Self::NotPublished(RoundState::Open),
            Self::AlreadySubmitted { client: client(), accepted_sha256: Digest::ZERO },
            Self::NotOpen(RoundState::Closed),
            Self::NotPossible(RoundState::Published),
            Self::TooLate,
            Self::TooFewSubmissions { found: 1, minimum: 2 },
            Self::OffsetMismatch { offset: 4096, found: 8192 },
            Self::ManifestMismatch,
            Self::BodyTruncated { expected: 8192, found: 4096 },
            Self::DigestMismatch(Digest::ZERO),
            Self::BadRequest("upload-offset is not a number".into()),
            Self::TooSlow(16384),
            Self::LengthRequired,
            Self::TooLarge { limit: 536_870_912, found: 1_073_741_824 },
            Self::Unsupported("Content-Encoding gzip is not supported".into()),
            Self::SchemaMismatch { expected: Digest::of(b"ours"), found: Digest::of(b"theirs") },
            Self::ValueRejected {
                message: "row 3, column `score`: `nan` is not finite".into(),
                row: Some(3),
                column: Some("score".into()),
            },
            Self::FileRejected("the file is not a Parquet table".into()),
            Self::TooManyRequests,
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
        // Lines of the table such as `Self::TooLate => (409, "too_late"),`.
        let codes = source.lines().filter_map(|line| {
            let (_, pair) = line.split_once("=> (")?;
            Some(pair.split('"').nth(1)?.to_owned())
        });
        let mut codes: Vec<String> = codes.collect();
        let mut examples: Vec<String> =
            Refusal::examples().iter().map(|refusal| refusal.code().to_owned()).collect();
        codes.sort();
        examples.sort();
        assert_eq!(examples, codes);
        assert!(examples.len() > 20, "the table was not found");
    }
}
