//! What a submission may be, as it is typed.

use clap::Args;
use equipoise_server::round::SubmissionLimits;

use crate::commands::defend::memory_args::parse_size;

/// The limits of a round. Told to clients, and kept by the server while it reads.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Limits of a submission")]
pub(super) struct LimitArgs {
    /// Most bytes of a file, as 200MB or 1GiB [default: 512MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    max_bytes: Option<u64>,
    /// Most rows [default: 5000000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_rows: Option<u64>,
    /// Most columns [default: 512]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_columns: Option<u64>,
    /// Most bytes of the decoded table, 8 for every number [default: 4GiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    max_decoded: Option<u64>,
    /// Most decoded bytes for each byte of the file; tables below 64 MiB are not asked [default: 200]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_ratio: Option<u64>,
}

impl LimitArgs {
    /// The limits, with the defaults for those that were not typed.
    pub(super) fn resolve(&self) -> SubmissionLimits {
        let default = SubmissionLimits::default();
        SubmissionLimits {
            body_bytes: self.max_bytes.unwrap_or(default.body_bytes),
            rows: self.max_rows.unwrap_or(default.rows),
            columns: self.max_columns.unwrap_or(default.columns),
            decoded_bytes: self.max_decoded.unwrap_or(default.decoded_bytes),
            decoded_ratio: self.max_ratio.unwrap_or(default.decoded_ratio),
        }
    }
}

/// A size with a unit, or a plain number of bytes.
fn parse_bytes(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err("at least one byte is needed".to_owned()),
        Ok(bytes) => Ok(bytes),
        Err(_) => parse_size(text).map(|bytes| bytes as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_typed_is_the_default() {
        assert_eq!(LimitArgs::default().resolve(), SubmissionLimits::default());
        let typed = LimitArgs { max_columns: Some(7), ..LimitArgs::default() };
        assert_eq!(typed.resolve(), SubmissionLimits { columns: 7, ..Default::default() });
        assert_eq!(parse_bytes("1000"), Ok(1000));
        assert_eq!(parse_bytes("2MiB"), Ok(2 << 20));
        assert!(parse_bytes("0").is_err() && parse_bytes("much").is_err());
    }
}
