//! Numbers as text.

/// A count with grouped digits: "5,000,000".
pub(super) fn grouped(n: u64) -> String {
    usize::try_from(n).map_or_else(|_| n.to_string(), equipoise_report::count)
}
