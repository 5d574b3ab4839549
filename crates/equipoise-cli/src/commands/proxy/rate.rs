//! `--rate`: the share of rows that the proxy's model selects.

/// Parses `kept`, `labels` or a number between 0 (kept) and 1 (labels).
pub(super) fn parse_rate(text: &str) -> Result<f64, String> {
    match text {
        "kept" => Ok(0.0),
        "labels" => Ok(1.0),
        number => match number.parse() {
            Ok(towards) if (0.0..=1.0).contains(&towards) => Ok(towards),
            _ => {
                Err("use `kept`, `labels`, or a number between 0 (kept) and 1 (labels)".to_owned())
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_names_and_numbers_between() {
        for (text, towards) in
            [("kept", 0.0), ("labels", 1.0), ("0.5", 0.5), ("0", 0.0), ("1", 1.0)]
        {
            assert_eq!(parse_rate(text), Ok(towards));
        }
        for text in ["", "label", "-0.1", "1.01", "NaN", "inf", "50%"] {
            assert!(parse_rate(text).is_err_and(|error| error.contains("`kept`")), "{text}");
        }
    }
}
