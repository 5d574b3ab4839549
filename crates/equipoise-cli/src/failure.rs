//! How a failure is told: one message with its causes, maybe a hint, exit code 2.

use std::borrow::Cow;
use std::io::ErrorKind::NotFound;
use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind;
use serde::Serialize;

use crate::output::{Output, print_json, say};
use crate::round_client::RefusedByServer;
use crate::shell::quoted;

/// Exit code of bad usage or input.
const BAD_INPUT: u8 = 2;

/// Tells of an error and gives the exit code.
pub(crate) fn report(error: &anyhow::Error, output: &Output) -> ExitCode {
    let (message, hint) = (in_words(error), hint(error));
    let hint = hint.as_deref();
    say("error", &message);
    if let Some(hint) = hint {
        say("hint", hint);
    }
    if output.json {
        // If stdout is closed, the message on stderr has to do.
        let _ = print_json(&Document { error: &message, hint });
    }
    ExitCode::from(BAD_INPUT)
}

/// Tells what is wrong with what was typed, or prints the help that was asked for.
pub(crate) fn report_usage(error: &clap::Error) -> ExitCode {
    // If stdout or stderr is closed, there is nobody to tell.
    let _ = error.print();
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return ExitCode::SUCCESS;
    }
    if std::env::args_os().any(|arg| arg == "--json") {
        let text = error.render().to_string();
        let message = text.split("\n\n").next().unwrap_or_default();
        let message = message.strip_prefix("error: ").unwrap_or(message);
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = print_json(&Document { error: &message, hint: None });
    }
    ExitCode::from(BAD_INPUT)
}

/// A failure in JSON.
#[derive(Serialize)]
struct Document<'a> {
    error: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

/// The message and its causes, joined. A cause that the message already tells is left out.
fn in_words(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        let cause = cause.trim_end();
        if message.is_empty() {
            message.push_str(cause);
        } else if !message.contains(cause) {
            message.push_str(": ");
            message.push_str(cause);
        }
    }
    message
}

/// What to do about it, where the message does not say so itself.
fn hint(error: &anyhow::Error) -> Option<Cow<'static, str>> {
    let found = |cause: &(dyn std::error::Error + 'static)| {
        let of_maths = cause.downcast_ref().and_then(hint_of_maths).map(Cow::Borrowed);
        let of_data = || cause.downcast_ref().and_then(hint_of_data).map(Cow::Borrowed);
        let of_server = || {
            let refused = cause.downcast_ref::<RefusedByServer>()?;
            refused.body.hint.clone().map(Cow::Owned)
        };
        let of_lab = || cause.downcast_ref().and_then(hint_of_lab);
        of_maths.or_else(of_data).or_else(of_lab).or_else(of_server)
    };
    error.chain().find_map(found)
}

fn hint_of_maths(error: &equipoise_core::Error) -> Option<&'static str> {
    use equipoise_core::Error;
    match error {
        Error::RootGroup { .. } => Some(
            "add root rows of the group that is missing, for at least one client, or check the \
             privileged value in the schema",
        ),
        Error::RootPositives { .. } => Some(
            "add positive root rows of the group that has none, or ask for statistical parity \
             (--fairness sp)",
        ),
        Error::NoPositives { .. } => Some(
            "equal opportunity compares positive rows; statistical parity (--fairness sp) does \
             without them",
        ),
        Error::OneClass { .. } | Error::OneGroup { .. } => Some(
            "check the positive and the privileged value in the schema; such data alone cannot \
             show what is fair",
        ),
        _ => None,
    }
}

fn hint_of_data(error: &equipoise_data::Error) -> Option<&'static str> {
    use equipoise_data::Error;
    match error {
        Error::Scratch { .. } => Some("--scratch names the folder, --memory the memory"),
        Error::TooLittleMemory { .. } => Some("raise --memory, or leave it out to have no limit"),
        _ => None,
    }
}

fn hint_of_lab(error: &equipoise_lab::Error) -> Option<Cow<'static, str>> {
    use equipoise_lab::{Error, FetchProblem};
    match error {
        Error::DatasetFile { dataset, file, source } if source.kind() == NotFound => {
            Some(Cow::Owned(format!(
                "name the folder that holds it with --data, or download it: {}",
                fetch_command(dataset, file)
            )))
        }
        Error::DatasetDigest { dataset, file, .. } => {
            let own = equipoise_lab::Dataset::named(dataset)
                .is_some_and(|known| file.file_name().is_some_and(|name| name == known.file));
            let (words, force) = match own {
                true => ("to replace it with the right one", " --force"),
                false => ("to get the right one", ""),
            };
            Some(Cow::Owned(format!("{words}: {}{force}", fetch_command(dataset, file))))
        }
        Error::Fetch { problem: FetchProblem::Certificate(_), .. } => Some(Cow::Borrowed(
            "if you trust this server, for example your own mirror or a company proxy, pass its certificates \
             with --ca-file",
        )),
        _ => None,
    }
}

/// The command that puts a dataset's file where it is looked for.
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
    fn causes_are_joined_and_said_once() {
        let error = anyhow::anyhow!("no such file")
            .context("a.csv: cannot be read: no such file")
            .context("the root");
        assert_eq!(in_words(&error), "the root: a.csv: cannot be read: no such file");
    }

    #[test]
    fn a_folder_is_quoted_where_a_shell_would_part_it() {
        let command = |file: &str| fetch_command("dutch", Path::new(file));
        assert_eq!(command("data/dutch.csv"), "equipoise data fetch dutch --to data");
        assert_eq!(command("dutch.csv"), "equipoise data fetch dutch --to .");
        assert_eq!(
            command("my data/it's/dutch.csv"),
            r"equipoise data fetch dutch --to 'my data/it'\''s'"
        );
    }
}
