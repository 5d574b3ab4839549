//! The options that limit memory.

use std::path::PathBuf;

use clap::Args;
use equipoise_data::Memory;

/// The memory limit, and storage for rows beyond it.
#[derive(Debug, Args)]
pub(crate) struct MemoryArgs {
    /// Maximum memory, such as 512MiB or 2GB; rows that do not fit are kept on disk [default: no limit]
    ///
    /// Limits the whole program, which itself uses about 50 MiB, plus about 2.5 MiB per column while it reads tables. A
    /// limit of 256MiB or more is respected for tables of up to about 50 columns. A smaller limit may be exceeded, but the
    /// program then uses as little as possible. The limit affects speed, but not a single bit of the result.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Memory")]
    memory: Option<usize>,
    /// Folder on disk for rows that do not fit into --memory [default: the system's temporary folder]
    ///
    /// Needs 8 bytes for each number in the proxies. The file has no name, so it disappears when the program ends.
    #[arg(long, value_name = "DIR", requires = "memory", help_heading = "Memory")]
    scratch: Option<PathBuf>,
}

impl MemoryArgs {
    /// The memory that the round may use.
    pub(crate) fn resolve(&self) -> Memory {
        match self.memory {
            Some(bytes) => {
                Memory::at_most(bytes, self.scratch.clone().unwrap_or_else(std::env::temp_dir))
            }
            None => Memory::unlimited(),
        }
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

/// Parses a number with a unit of bytes.
pub(crate) fn parse_size(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &text[digits.len()..];
    let unit = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit));
    let number: Option<f64> =
        digits.trim_end().parse().ok().filter(|n: &f64| n.is_finite() && *n > 0.0);
    match (number, unit) {
        // The conversion saturates, and a limit that large is no limit.
        (Some(number), Some((_, unit))) => Ok((number * *unit as f64) as usize),
        _ => Err("must be a number above 0 with a unit, such as 512MiB, 1.5GiB or 2GB".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_size;

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
