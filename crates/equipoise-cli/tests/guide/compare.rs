//! Whether a command printed what the guide shows, apart from times and what depends on fresh keys.

/// Stands for any lines.
const ANY_LINES: &str = "…";

/// Words after which a digest depends on keys or on the time.
const BEFORE_FRESH_DIGESTS: [&str; 4] = ["statement", "key", "fingerprint", "head"];

/// Whether the printed lines match the guide's.
pub(crate) fn matches(shown: &[String], printed: &[String]) -> bool {
    match shown {
        [] => printed.is_empty(),
        [first, rest @ ..] if first.trim() == ANY_LINES => {
            (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..]))
        }
        [first, rest @ ..] => printed.split_first().is_some_and(|(line, lines)| {
            without_chance(first) == without_chance(line) && matches(rest, lines)
        }),
    }
}

/// A line with the words replaced that differ from run to run.
fn without_chance(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut result = Vec::with_capacity(words.len());
    for (i, word) in words.iter().enumerate() {
        let before = i.checked_sub(1).map_or("", |i| words[i].trim_end_matches([':', ',']));
        let after = words.get(i + 1).map_or("", |w| w.trim_end_matches([',', '.', ';', ')', ':']));
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_time = is_timestamp(bare);
        let is_duration = bare.parse::<f64>().is_ok() && matches!(after, "s" | "ms" | "min");
        let is_fresh = BEFORE_FRESH_DIGESTS.contains(&before) && is_hex(bare);
        result.push(if is_time || is_duration || is_fresh { "#" } else { word });
    }
    result.join(" ")
}

/// `2027-03-01T12:00:00Z`, or a date alone.
fn is_timestamp(word: &str) -> bool {
    let date = word.split('T').next().unwrap_or("");
    let digits = |part: &str, n| part.len() == n && part.bytes().all(|b| b.is_ascii_digit());
    let parts: Vec<&str> = date.split('-').collect();
    matches!(parts[..], [y, m, d] if digits(y, 4) && digits(m, 2) && digits(d, 2))
}

fn is_hex(word: &str) -> bool {
    word.len() >= 8 && word.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

#[test]
fn any_lines_may_be_left_out() {
    assert!(matches(&lines("a\n…\nd"), &lines("a\nb\nc\nd")));
    assert!(matches(&lines("…"), &[]));
    assert!(!matches(&lines("a\n…\nd"), &lines("a\nb")));
    assert!(!matches(&lines("a"), &lines("a\nb")));
}

#[test]
fn times_and_fresh_digests_may_differ_and_nothing_else() {
    let same = |a: &str, b: &str| matches(&lines(a), &lines(b));
    assert!(same("3  2026-11-17T21:50:36Z  opened", "3  2027-01-01T00:00:00Z  opened"));
    assert!(same("solved in 0.01 s and", "solved in 12 s and"));
    assert!(same("statement 68589074…", "statement 0011aabb…"));
    assert!(!same("schema 68589074…", "schema 0011aabb…"));
    assert!(!same("0.01 rows", "0.02 rows"));
    assert!(!same("gap 0.012", "gap 0.013"));
}
