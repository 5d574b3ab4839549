//! Numbers with a comma: as a decimal point in much of Europe, between thousands elsewhere.

use super::TableProblem;

pub(super) const DECIMAL_COMMA: &str = "has a decimal comma";
pub(super) const THOUSANDS_COMMA: &str = "has a comma between thousands";
pub(super) const AMBIGUOUS_COMMA: &str =
    "has a comma, either a decimal comma or one between thousands";

/// The problem of a number that has a comma, such as `3,5` or `1,234.5`. `None` if the text is no such number.
pub(crate) fn number_with_comma(text: &str) -> Option<TableProblem> {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-', '−']).unwrap_or(text);
    let decimal = in_notation(digits, '.', ',').then(|| text.replace('.', "").replace(',', "."));
    let thousands = in_notation(digits, ',', '.').then(|| text.replace(',', ""));
    let (problem, remedy) = match (decimal, thousands) {
        _ if !digits.contains(',') => return None,
        (Some(decimal), None) => {
            (DECIMAL_COMMA, format!("Write numbers with a decimal point, such as {decimal}."))
        }
        (None, Some(thousands)) => {
            (THOUSANDS_COMMA, format!("Write numbers without it, such as {thousands}."))
        }
        (Some(decimal), Some(thousands)) => (
            AMBIGUOUS_COMMA,
            format!(
                "Write numbers with a decimal point, such as {decimal}, or without commas, such as {thousands}."
            ),
        ),
        (None, None) => return None,
    };
    Some(TableProblem::of_value(text, problem, remedy))
}

/// Whether the digits form a number with this separator between thousands, if any, and this decimal mark.
fn in_notation(digits: &str, thousands: char, decimal: char) -> bool {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = match digits.split_once(decimal) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (digits, None),
    };
    let mut groups = whole.split(thousands);
    let first = groups.next().unwrap_or_default();
    let is_grouped = whole.contains(thousands);
    is_digits(first)
        && (!is_grouped || (first.len() <= 3 && !first.starts_with('0')))
        && groups.all(|group| group.len() == 3 && is_digits(group))
        && fraction.is_none_or(is_digits)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::number_with_comma;

    #[test]
    fn the_remedy_depends_on_what_the_comma_means() {
        for (text, says) in [
            ("3,5", &["`3,5` has a decimal comma", "such as 3.5."][..]),
            (" -0,250 ", &["`-0,250` has a decimal comma", "-0.250"]),
            ("1.234,5", &["decimal comma", "1234.5"]),
            ("1234,567", &["decimal comma", "1234.567"]),
            ("1,234,567", &["between thousands", "1234567"]),
            ("1,234.5", &["between thousands", "1234.5"]),
            ("1,234", &["either", "1.234", "1234."]),
        ] {
            let problem = number_with_comma(text).unwrap().to_string();
            says.iter().for_each(|part| assert!(problem.contains(part), "{text}: {problem}"));
        }
    }

    #[test]
    fn other_text_is_no_number_with_a_comma() {
        for text in
            ["", ",", "3.5", "35", "3,", ",5", "a,b", "3,5 kg", "1,2,3", "1,23.4", "3,5,", "1e3,5"]
        {
            assert_eq!(number_with_comma(text), None, "{text}");
        }
    }
}
