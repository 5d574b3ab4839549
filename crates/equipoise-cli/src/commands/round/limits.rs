//! The limits on a submission.

use clap::Args;
use equipoise_server::protocol::SubmissionLimits;

use crate::commands::defend::memory_args::parse_size;

/// The limits on a submission. Clients can look them up, and the server enforces them while it reads a file.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Limits on a submission")]
pub(super) struct LimitArgs {
    /// Maximum file size, such as 200MB or 1GiB [default: 512MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    max_bytes: Option<u64>,
    /// Maximum number of rows [default: 5000000]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    max_rows: Option<u64>,
    /// Maximum number of columns [default: 512]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    max_columns: Option<u64>,
    /// Maximum size of the decoded table, at 8 bytes per value [default: 4GiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    max_decoded: Option<u64>,
    /// Maximum ratio of decoded size to file size; not applied below 64 MiB [default: 200]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    max_ratio: Option<u64>,
}

impl LimitArgs {
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

fn parse_count(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err("must be at least 1".to_owned()),
        Ok(count) => Ok(count),
        Err(_) => Err(format!("`{text}` is not a whole number")),
    }
}

/// Parses a size with a unit, or a plain number of bytes.
fn parse_bytes(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err("must be at least one byte".to_owned()),
        Ok(bytes) => Ok(bytes),
        Err(_) => parse_size(text).map(|bytes| bytes as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn omitted_limits_use_the_defaults() {
        assert_eq!(LimitArgs::default().resolve(), SubmissionLimits::default());
        let args = LimitArgs { max_columns: Some(7), ..LimitArgs::default() };
        assert_eq!(args.resolve(), SubmissionLimits { columns: 7, ..Default::default() });
        assert_eq!(parse_bytes("1000"), Ok(1000));
        assert_eq!(parse_bytes("2MiB"), Ok(2 << 20));
        assert!(parse_bytes("0").is_err() && parse_bytes("large").is_err());
    }
}
