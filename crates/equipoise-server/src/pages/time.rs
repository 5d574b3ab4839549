//! Times as text.

use jiff::Timestamp;

/// For example "2026-11-16 18:00 UTC".
pub(super) fn absolute(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// For example "in 3 days" or "2 hours ago".
pub(super) fn relative(now: Timestamp, then: Timestamp) -> String {
    let seconds = then.as_second() - now.as_second();
    let size = seconds.unsigned_abs();
    let (n, unit) = match size {
        0..60 => return if seconds > 0 { "in less than a minute" } else { "just now" }.into(),
        60..5_400 => ((size + 30) / 60, "minute"),
        5_400..129_600 => ((size + 1_800) / 3_600, "hour"),
        129_600..63_072_000 => ((size + 43_200) / 86_400, "day"),
        _ => ((size + 15_778_800) / 31_557_600, "year"),
    };
    let plural = if n == 1 { "" } else { "s" };
    match seconds > 0 {
        true => format!("in {n} {unit}{plural}"),
        false => format!("{n} {unit}{plural} ago"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_times_use_a_suitable_unit() {
        let at = |seconds: i64| Timestamp::from_second(1_800_000_000 + seconds).unwrap_or_default();
        let text = |seconds| relative(at(0), at(seconds));
        assert_eq!(text(30), "in less than a minute");
        assert_eq!(text(0), "just now");
        assert_eq!(text(60), "in 1 minute");
        assert_eq!(text(7_200), "in 2 hours");
        assert_eq!(text(-3 * 86_400), "3 days ago");
        assert_eq!(text(729 * 86_400), "in 729 days");
        assert_eq!(text(26_707 * 86_400), "in 73 years");
        assert_eq!(absolute(Timestamp::UNIX_EPOCH), "1970-01-01 00:00 UTC");
    }
}
