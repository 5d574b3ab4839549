//! Messages of the command line for users of the Python package.

/// A message with the keywords of the Python package in place of options: `--root-weighting` is `root_weighting`. A whole
/// command in backticks stays one.
pub fn in_python_terms(message: &str) -> String {
    let message = without_placeholders(message);
    let parts = message.split('`').enumerate().map(|(i, part)| match part.find("--") {
        Some(at) if i % 2 == 1 && at > 0 => part.to_owned(),
        _ => options_as_keywords(part),
    });
    parts.collect::<Vec<_>>().join("`")
}

/// `'--fairness <CRITERION>'`, as the parser of the command line quotes an option, without quotes and placeholder; and a
/// label to be given with its positive value as the two keywords that it is.
fn without_placeholders(message: &str) -> String {
    let mut text = String::new();
    let mut rest = message;
    while let Some((before, option)) = rest.split_once("'--") {
        let Some((option, after)) = option.split_once('\'') else { break };
        let name = option.split(" <").next().unwrap_or_default();
        text += &format!("{before}--{name}");
        rest = after;
    }
    text += rest;
    match text.split_once("--label ").and_then(|(a, b)| Some((a, b.split_once("=VALUE")?))) {
        Some((before, (column, after))) => {
            format!("{before}label=\"{column}\", positive=VALUE{after}")
        }
        None => text,
    }
}

fn options_as_keywords(message: &str) -> String {
    let mut parts = message.split("--");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_option = |c: char| c.is_ascii_lowercase() || c == '-';
        let end = part.find(|c| !is_option(c)).unwrap_or(part.len());
        let (option, rest) = part.split_at(end);
        // In the middle of a word, such as the name of a file, dashes are just that.
        let starts_a_word =
            text.chars().last().is_none_or(|c| c.is_whitespace() || "`'\"([".contains(c));
        if option.is_empty() || !starts_a_word {
            text += "--";
            text += part;
            continue;
        }
        // `lambda` is a keyword of the language.
        text += &option.replace('-', "_").replace("lambda", "lambda_");
        text += rest;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::in_python_terms;

    #[test]
    fn options_become_keywords_and_commands_stay_commands() {
        let cases = [
            ("--root-weighting must be pooled", "root_weighting must be pooled"),
            ("use `--lambda` or --seed", "use `lambda_` or seed"),
            ("run `equipoise proxy --client c3` again", "run `equipoise proxy --client c3` again"),
            ("a -- b", "a -- b"),
            ("data/my--schema.toml: cannot be read", "data/my--schema.toml: cannot be read"),
            (
                "invalid value 'x' for '--fairness <CRITERION>': no",
                "invalid value 'x' for fairness: no",
            ),
            (
                "Name it with --label passed=VALUE.",
                "Name it with label=\"passed\", positive=VALUE.",
            ),
        ];
        for (message, expected) in cases {
            assert_eq!(in_python_terms(message), expected);
        }
    }
}
