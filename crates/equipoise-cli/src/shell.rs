//! Quoting for the shell.

use std::ffi::OsString;

/// The argument, in quotes if a shell would otherwise split or expand it.
pub(crate) fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./,=:+%@".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}

/// The program's command line, quoted for the shell.
pub(crate) fn command_line(arguments: impl Iterator<Item = OsString>) -> String {
    let arguments = arguments.skip(1).map(|argument| quoted(&argument.to_string_lossy()));
    arguments.fold("equipoise".to_owned(), |line, argument| line + " " + &argument)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_the_command_line_for_the_shell() {
        let arguments =
            ["/x/equipoise", "experiment", "-o", "my results", "it's"].map(OsString::from);
        assert_eq!(
            command_line(arguments.into_iter()),
            r"equipoise experiment -o 'my results' 'it'\''s'"
        );
    }
}
