//! From the frozen list of submissions to published files: what `defend` does with the same tables.

use std::path::{Path, PathBuf};

use equipoise_core::{Observer, Warning, WarningCode};
use equipoise_data::{Memory, load_round, write_atomically, write_json};
use equipoise_defend::{Context, Timing, defend};

use super::solver::SolveError;
use super::spec::RoundSpec;
use crate::protocol::{Digest, Name, Statement, Subject, SubmissionList};
use crate::store::{Store, StoreError};

/// The files of a published round, all of them named in the statement; beside them are `statement.json` itself and
/// [`LOG_FILES`].
pub const PUBLISHED_FILES: [&str; 7] = [
    "model.json",
    "outcome.json",
    "report.html",
    "schema.toml",
    "settings.json",
    "submissions.json",
    "weights.csv",
];

/// The log, and the server's signature over its end: made when they are asked for, for the log goes on.
pub const LOG_FILES: [&str; 2] = ["audit.jsonl", "audit-head.json"];

/// Solves a closed round and publishes it; gives the time that the solve took. Only clients that submitted
/// take part, with their proxy and their root. Rows for which there is no room in memory go to a file, which
/// changes no bit of the result.
pub(super) fn solve_and_publish(
    store: &Store,
    round: &Name,
    memory_bytes: usize,
    observer: &mut dyn Observer,
) -> Result<f64, SolveError> {
    let spec = store.spec(round)?;
    let list = store.submission_list(round)?;
    // The statement covers the log up to the event that tells of the solve. A rerun finds the same.
    let (seq, chain_head) = store.chain_head(round)?;
    let workshop = Workshop::new(store, round)?;
    workshop.lay_out(store, &spec, &list)?;

    let schema = spec.schema()?;
    let memory = Memory::at_most(memory_bytes, workshop.0.clone());
    let loaded = load_round(&workshop.proxies(), &workshop.roots(), &schema, &memory)?;
    let settings = spec.settings.validate()?;
    let context =
        Context { warnings: warnings(&list), timing: Timing::Omitted, ..Context::default() };
    let solved = defend(&schema, &loaded, &settings, context, observer)?;

    let folder = workshop.result();
    solved.write_files(&folder)?;
    write_text(&folder.join("schema.toml"), &spec.schema_toml)?;
    write_text(&folder.join("submissions.json"), &list.to_json())?;
    write_json(&folder.join("settings.json"), &spec.settings, false)?;
    let subjects = PUBLISHED_FILES.iter().map(|name| {
        let sha256 = store.digest_of(&folder.join(name))?;
        Ok(Subject { name: (*name).to_owned(), sha256 })
    });
    let statement = Statement {
        audience: spec.audience.clone(),
        round: round.clone(),
        subjects: subjects.collect::<Result<_, StoreError>>()?,
        seq,
        chain_head,
    }
    .sign(store.key());
    write_json(&folder.join("statement.json"), &statement, false)?;
    let statement_sha256 = store.digest_of(&folder.join("statement.json"))?;

    put_in_place(store, round, &folder)?;
    store.crash().at("after_artefacts");
    store.publish(round, &statement, statement_sha256, solved.seconds)?;
    Ok(solved.seconds)
}

/// Warnings about who took part.
fn warnings(list: &SubmissionList) -> Vec<Warning> {
    let warning = |code, client: &Name, message: String| Warning {
        client: Some(client.to_string()),
        ..Warning::new(code, message)
    };
    let absent = list.absent.iter().map(|client| {
        let message = format!(
            "client `{client}` is on the roster but sent nothing: it is not in this outcome"
        );
        warning(WarningCode::NoSubmission, client, message)
    });
    let copies = list.submissions.iter().filter_map(|submission| {
        let (client, twin) = (&submission.client, submission.same_table_as.as_ref()?);
        let message = format!("client `{client}` sent the same rows as client `{twin}`");
        Some(warning(WarningCode::SameTable, client, message))
    });
    let repeated = list.submissions.iter().filter(|s| s.distinct_rows * 2 < s.rows).map(|s| {
        let (client, rows, distinct) = (&s.client, s.rows, s.distinct_rows);
        let message =
            format!("of the {rows} rows of client `{client}` only {distinct} are distinct");
        warning(WarningCode::RepeatedRows, client, message)
    });
    absent.chain(copies).chain(repeated).collect()
}

/// All files on the disk, then the folder under its name. What an earlier run left there was never
/// published, for this one would not run.
fn put_in_place(store: &Store, round: &Name, folder: &Path) -> Result<(), StoreError> {
    for name in PUBLISHED_FILES.into_iter().chain(["statement.json"]) {
        store.require_durable("a result", store.disk().sync_file(&folder.join(name)))?;
    }
    store.require_durable("the results", store.disk().sync_folder(folder))?;
    let target = store.folder().published(round);
    if target.exists() {
        std::fs::remove_dir_all(&target).map_err(StoreError::file(&target))?;
    }
    store.disk().rename(folder, &target).map_err(StoreError::file(&target))?;
    let parent = store.folder().path().join("published");
    store.require_durable("the results", store.disk().sync_folder(&parent))
}

fn write_text(path: &Path, text: &str) -> Result<(), equipoise_data::Error> {
    write_atomically(path, false, |out| out.write_all(text.as_bytes()))
}

/// A hidden folder for one solve, gone when it ends.
struct Workshop(PathBuf);

impl Workshop {
    fn new(store: &Store, round: &Name) -> Result<Self, StoreError> {
        let path = store.folder().path().join("published").join(format!(".{round}"));
        // Of a solve that did not end.
        let _ = std::fs::remove_dir_all(&path);
        let workshop = Self(path);
        for folder in [workshop.proxies(), workshop.roots(), workshop.result()] {
            std::fs::create_dir_all(&folder).map_err(StoreError::file(&folder))?;
        }
        Ok(workshop)
    }

    fn proxies(&self) -> PathBuf {
        self.0.join("proxies")
    }

    fn roots(&self) -> PathBuf {
        self.0.join("roots")
    }

    fn result(&self) -> PathBuf {
        self.0.join("result")
    }

    /// Links the checked tables and the roots of the clients that submitted, each checked once more.
    fn lay_out(
        &self,
        store: &Store,
        spec: &RoundSpec,
        list: &SubmissionList,
    ) -> Result<(), StoreError> {
        for submission in &list.submissions {
            let client = &submission.client;
            let canonical = store.folder().canonical(submission.canonical_sha256);
            let proxy = self.proxies().join(format!("{client}.parquet"));
            link(store, &canonical, submission.canonical_sha256, &proxy)?;
            let root = spec.roots.get(client).ok_or_else(|| StoreError::Damaged {
                what: format!("round `{}`", spec.round),
                problem: format!("client `{client}` has no root"),
            })?;
            let source = store.folder().roots(&spec.round).join(&root.file);
            link(store, &source, root.sha256, &self.roots().join(&root.file))?;
        }
        Ok(())
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn link(store: &Store, from: &Path, digest: Digest, to: &Path) -> Result<(), StoreError> {
    if store.digest_of(from)? != digest {
        return Err(StoreError::Damaged {
            what: from.display().to_string(),
            problem: format!("its SHA-256 is not {digest}"),
        });
    }
    std::fs::hard_link(from, to).map_err(StoreError::file(to))
}
