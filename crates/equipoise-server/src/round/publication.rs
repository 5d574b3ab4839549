//! Solves a closed round and publishes the result: the same as `defend` on the same tables.

use std::path::{Path, PathBuf};

use equipoise_core::{Observer, Warning, WarningCode};
use equipoise_data::{Memory, load_round, write_atomically, write_json};
use equipoise_defend::{Context, Timing, defend};

use super::solver::SolveError;
use crate::protocol::{
    Digest, PUBLISHED_FILES, RoundId, RoundSpec, Statement, Subject, SubmissionList,
};
use crate::store::{Store, StoreError, create_private_folder, digest_of_file};

/// Solves a closed round, publishes it, and returns the duration of the solve. Only the proxies and roots of clients
/// that submitted are used. Rows beyond the memory limit are kept in a file, which does not affect the result.
pub(super) fn solve_and_publish(
    store: &Store,
    round: &RoundId,
    memory_bytes: usize,
    observer: &mut dyn Observer,
) -> Result<f64, SolveError> {
    let spec = store.spec(round)?;
    let list = store.submission_list(round)?;
    // The statement covers the log up to the start of the solve, so a rerun signs the same head.
    let (seq, chain_head) = store.chain_head(round)?;
    let scratch = ScratchFolder::new(store, round)?;
    scratch.link_inputs(store, &spec, &list)?;

    let schema = spec.schema()?;
    let memory = Memory::at_most(memory_bytes, scratch.0.clone());
    let (proxies, roots) = (scratch.0.join("proxies"), scratch.0.join("roots"));
    let loaded = load_round(&proxies, &roots, &schema, &memory)?;
    let settings = spec.settings.validate()?;
    let context =
        Context { warnings: warnings(&list), timing: Timing::Omitted, ..Context::default() };
    let defended = defend(&schema, &loaded, &settings, context, observer)?;

    let folder = scratch.0.join("result");
    defended.write_files(&folder)?;
    write_text(&folder.join("schema.toml"), &spec.schema_toml)?;
    write_text(&folder.join("submissions.json"), &list.to_json())?;
    write_json(&folder.join("settings.json"), &spec.settings, false)?;
    let subjects = PUBLISHED_FILES.iter().map(|name| {
        let sha256 = digest_of_file(&folder.join(name))?;
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
    let statement_sha256 = digest_of_file(&folder.join("statement.json"))?;

    move_into_place(store, round, &folder)?;
    store.crash().at("after_artefacts");
    store.publish(round, &statement, statement_sha256, defended.seconds)?;
    Ok(defended.seconds)
}

/// Warnings about absent clients and suspicious submissions.
fn warnings(list: &SubmissionList) -> Vec<Warning> {
    let warning = |code, client: &RoundId, message: String| Warning {
        client: Some(client.to_string()),
        ..Warning::new(code, message)
    };
    let absent = list.absent.iter().map(|client| {
        let message = format!(
            "client `{client}` is on the roster but did not submit. The outcome excludes it"
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
            format!("only {distinct} of the {rows} rows of client `{client}` are distinct");
        warning(WarningCode::RepeatedRows, client, message)
    });
    absent.chain(copies).chain(repeated).collect()
}

/// Makes all files durable and renames the folder. A target left by an earlier run was never published.
fn move_into_place(store: &Store, round: &RoundId, folder: &Path) -> Result<(), StoreError> {
    for name in PUBLISHED_FILES.into_iter().chain(["statement.json"]) {
        store.sync_file("a result", &folder.join(name))?;
    }
    store.sync_folder("the results", folder)?;
    let target = store.folder().published(round);
    if target.exists() {
        std::fs::remove_dir_all(&target).map_err(StoreError::file(&target))?;
    }
    store.disk().rename(folder, &target).map_err(StoreError::file(&target))?;
    let parent = store.folder().path().join("published");
    store.sync_folder("the results", &parent)
}

fn write_text(path: &Path, text: &str) -> Result<(), equipoise_data::Error> {
    write_atomically(path, false, |out| out.write_all(text.as_bytes()))
}

/// A hidden folder for one solve, removed when it ends.
struct ScratchFolder(PathBuf);

impl ScratchFolder {
    fn new(store: &Store, round: &RoundId) -> Result<Self, StoreError> {
        let path = store.folder().path().join("published").join(format!(".{round}"));
        // Left over from an interrupted solve.
        let _ = std::fs::remove_dir_all(&path);
        let scratch = Self(path);
        create_private_folder(&scratch.0)?;
        for name in ["proxies", "roots", "result"] {
            create_private_folder(&scratch.0.join(name))?;
        }
        Ok(scratch)
    }

    /// Links the canonical tables and roots of the clients that submitted, after checking their digests again.
    fn link_inputs(
        &self,
        store: &Store,
        spec: &RoundSpec,
        list: &SubmissionList,
    ) -> Result<(), StoreError> {
        for submission in &list.submissions {
            let client = &submission.client;
            let canonical = store.folder().canonical(submission.canonical_sha256);
            let proxy = self.0.join("proxies").join(format!("{client}.parquet"));
            link(store, &canonical, submission.canonical_sha256, &proxy)?;
            let root = spec.roots.get(client).ok_or_else(|| StoreError::Damaged {
                what: format!("round `{}`", spec.round),
                problem: format!("client `{client}` has no root"),
            })?;
            let source = store.folder().roots(&spec.round).join(&root.file);
            link(store, &source, root.sha256, &self.0.join("roots").join(&root.file))?;
        }
        Ok(())
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn link(store: &Store, from: &Path, digest: Digest, to: &Path) -> Result<(), StoreError> {
    store.check_file("an input", from, digest)?;
    std::fs::hard_link(from, to).map_err(StoreError::file(to))
}
