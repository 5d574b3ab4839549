//! The limits on a submission.

use clap::Args;
use equipoise_server::protocol::SubmissionLimits;

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

const UNITS: [(&str, u64); 8] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];

/// Parses a size with a unit, or a plain number of bytes.
fn parse_bytes(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err("must be at least one byte".to_owned()),
        Ok(bytes) => Ok(bytes),
        Err(_) => parse_size(text),
    }
}

/// Parses a number with a unit of bytes.
fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &text[digits.len()..];
    let unit = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit));
    let number: Option<f64> =
        digits.trim_end().parse().ok().filter(|n: &f64| n.is_finite() && *n > 0.0);
    match (number, unit) {
        // The conversion saturates, and a limit that large is no limit.
        (Some(number), Some((_, unit))) => Ok((number * *unit as f64) as u64),
        _ => Err("must be a number above 0 with a unit, such as 512MiB, 1.5GiB or 2GB".to_owned()),
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

    #[test]
    fn sizes_have_a_number_and_a_unit() {
        assert_eq!(parse_size("512MiB"), Ok(512 << 20));
        assert_eq!(parse_size("1.5 gib"), Ok(3 << 29));
        assert_eq!(parse_size("2GB"), Ok(2_000_000_000));
        for text in ["", "1", "GiB", "-1GiB", "0MB", "1XB", "1GiB2", "NaNMB", "infGB", "1e400GB"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
