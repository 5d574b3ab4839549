//! Solves a closed round and publishes the result: the same as `defend` on the same tables.

use std::path::{Path, PathBuf};

use equipoise_core::Observer;
use equipoise_data::write_json;

use super::results::{SolveInputs, write_results};
use super::solver::SolveError;
use crate::protocol::{
    Digest, PROGRAM, PUBLISHED_FILES, RoundId, RoundSpec, Statement, Subject, SubmissionList,
};
use crate::store::{Store, StoreError, create_private_folder, digest_of_file};

/// Solves a closed round, publishes it, and returns the duration of the solve. Only the proxies and roots of clients
/// that submitted are used.
pub(super) fn solve_and_publish(
    store: &Store,
    round: &RoundId,
    observer: &mut dyn Observer,
) -> Result<f64, SolveError> {
    let spec = store.spec(round)?;
    let list = store.submission_list(round)?;
    // The statement covers the log up to the start of the solve, so a rerun signs the same head.
    let (seq, chain_head) = store.chain_head(round)?;
    let scratch = ScratchFolder::new(store, round)?;
    scratch.link_inputs(store, &spec, &list)?;

    let inputs = SolveInputs {
        spec_json: &store.spec_json(round)?,
        list: &list,
        proxies: &scratch.0.join("proxies"),
        roots: &scratch.0.join("roots"),
    };
    let folder = scratch.0.join("result");
    let seconds = write_results(&inputs, &folder, observer)?;
    let subjects = PUBLISHED_FILES.iter().map(|name| {
        let sha256 = digest_of_file(&folder.join(name))?;
        Ok(Subject { name: (*name).to_owned(), sha256 })
    });
    let statement = Statement {
        audience: spec.audience.clone(),
        round: round.clone(),
        program: PROGRAM.to_owned(),
        subjects: subjects.collect::<Result<_, StoreError>>()?,
        seq,
        chain_head,
    }
    .sign(store.key());
    write_json(&folder.join("statement.json"), &statement, false)?;
    let statement_sha256 = digest_of_file(&folder.join("statement.json"))?;

    move_into_place(store, round, &folder)?;
    store.crash().at("after_artefacts");
    store.publish(round, &statement, statement_sha256, seconds)?;
    Ok(seconds)
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
