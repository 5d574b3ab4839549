//! Error reporting: one message with its causes, possibly a hint, and exit code 2.

use std::io::ErrorKind::NotFound;
use std::path::Path;

use clap::error::ErrorKind;
use serde::Serialize;

use crate::invocation::Invocation;
use crate::output::{Output, print_json, print_to_stderr};
use crate::round_client::RefusedByServer;
use crate::shell::{command_line, quoted};

/// Exit code for bad usage or input.
const BAD_INPUT: u8 = 2;

/// An error as JSON.
#[derive(Serialize)]
struct Document<'a> {
    error: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

/// Reports the error of a command and returns the exit code.
pub(crate) fn report(error: &anyhow::Error, output: &Output) -> u8 {
    let (message, hint) = (message(error), hint(error));
    print_to_stderr("error", &message);
    if let Some(hint) = &hint {
        print_to_stderr("hint", hint);
    }
    if output.json {
        // If stdout is closed, the message on stderr must suffice.
        let _ = print_json(&Document { error: &message, hint: hint.as_deref() });
    }
    BAD_INPUT
}

/// Reports an error in the command line, or prints the help or version requested there.
pub(crate) fn report_usage(error: &clap::Error, invocation: &Invocation) -> u8 {
    // If the stream is closed, nobody is reading.
    let _ = error.print();
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return 0;
    }
    if invocation.arguments.iter().any(|arg| arg == "--json") {
        let _ = print_json(&Document { error: &usage_message(error), hint: None });
    }
    BAD_INPUT
}

/// An error in the command line as one line, for a caller that printed nothing.
pub(crate) fn usage_error(error: &clap::Error) -> anyhow::Error {
    anyhow::Error::msg(usage_message(error))
}

fn usage_message(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let message = text.split("\n\n").next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(message);
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The error as one message that ends with the hint, if there is one.
pub(crate) fn with_hint(error: &anyhow::Error) -> anyhow::Error {
    let message = message(error);
    match hint(error) {
        Some(hint) => anyhow::anyhow!("{message} (hint: {hint})"),
        None => anyhow::Error::msg(message),
    }
}

/// The message and its causes, joined. A cause that the message already contains is left out.
fn message(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain().map(ToString::to_string) {
        let cause = cause.trim_end();
        if message.is_empty() {
            message.push_str(cause);
        } else if !message.contains(cause) {
            message += &format!(": {cause}");
        }
    }
    message
}

/// What to do about the error, unless its message already says so.
fn hint(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        let hint = cause.downcast_ref().and_then(core_hint);
        let hint = hint.map(str::to_owned).or_else(|| cause.downcast_ref().and_then(data_hint));
        let refused = || cause.downcast_ref::<RefusedByServer>()?.body.hint.clone();
        hint.or_else(|| cause.downcast_ref().and_then(lab_hint)).or_else(refused)
    })
}

fn core_hint(error: &equipoise_core::Error) -> Option<&'static str> {
    use equipoise_core::Error;
    match error {
        Error::RootGroup { .. } => Some(
            "add root rows of another group for at least one client, or check the groups in the schema",
        ),
        Error::RootCondition { .. } => Some(
            "add such root rows for a group that has none, or use statistical parity (--fairness sp)",
        ),
        Error::NoRate { .. } => {
            Some("statistical parity (--fairness sp) does not need rows of a certain label")
        }
        Error::OneClass { .. } | Error::OneGroup { .. } => {
            Some("check the positive value and the groups in the schema")
        }
        _ => None,
    }
}

fn data_hint(error: &equipoise_data::Error) -> Option<String> {
    use equipoise_data::Error;
    match error {
        Error::ManyLabels { .. } => {
            // The package for Python has no command line.
            let command = crate::invocation::given().map(|words| command_line(words) + " ");
            Some(format!("to confirm: {}--label-rest-negative", command.unwrap_or_default()))
        }
        _ => None,
    }
}

fn lab_hint(error: &equipoise_lab::Error) -> Option<String> {
    use equipoise_core::Error as CoreError;
    use equipoise_lab::{Dataset, Error, FetchProblem};
    match error {
        Error::DatasetFile { dataset, file, source } if source.kind() == NotFound => Some(format!(
            "pass the folder that contains it with --data, or download it: {}",
            fetch_command(dataset, file)
        )),
        Error::DatasetDigest { dataset, file, .. } => {
            let has_standard_name = Dataset::named(dataset)
                .is_some_and(|known| file.file_name().is_some_and(|name| name == known.file));
            let (what, force) = match has_standard_name {
                true => ("replace it with the original", " --force"),
                false => ("download the original", ""),
            };
            Some(format!("{what}: {}{force}", fetch_command(dataset, file)))
        }
        Error::Cell(_, inner)
            if matches!(
                **inner,
                Error::Core(CoreError::RootGroup { .. } | CoreError::RootCondition { .. })
            ) =>
        {
            Some(
                "the root is too small: increase --root-share, or --people for the synthetic population"
                    .to_owned(),
            )
        }
        Error::Fetch { problem: FetchProblem::Certificate(_), .. } => Some(
            "if you trust this server, for example your own mirror or a company proxy, pass its certificates \
             with --ca-file"
                .to_owned(),
        ),
        _ => None,
    }
}

/// The command that downloads a dataset to where its file is expected.
fn fetch_command(dataset: &str, file: &Path) -> String {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.display().to_string(),
        _ => ".".to_owned(),
    };
    format!("equipoise data fetch {dataset} --to {}", quoted(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_causes_without_repeating_them() {
        let error = anyhow::anyhow!("no such file")
            .context("a.csv: cannot be read: no such file")
            .context("the root");
        assert_eq!(message(&error), "the root: a.csv: cannot be read: no such file");
    }

    #[test]
    fn quotes_a_folder_that_a_shell_would_split() {
        let command = |file: &str| fetch_command("dutch", Path::new(file));
        assert_eq!(command("data/dutch.csv"), "equipoise data fetch dutch --to data");
        assert_eq!(command("dutch.csv"), "equipoise data fetch dutch --to .");
        assert_eq!(
            command("my data/it's/dutch.csv"),
            r"equipoise data fetch dutch --to 'my data/it'\''s'"
        );
    }
}
