//! One submission: a file is signed, sent, resumed if necessary, and acknowledged by a receipt.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use equipoise_data::{Schema, TableKind};
use equipoise_server::protocol::{
    ClientId, Digest, MANIFEST_HEADER, Manifest, OFFSET_HEADER, PROGRAM, PrivateKey, PublicKey,
    RoundInfo, SIGNATURE_HEADER, SignedReceipt, UploadState, Validated,
};
use equipoise_server::validator::digest_proxy;
use ureq::{RequestBuilder, SendBody};

use super::connection::{Connection, RefusedByServer};
use crate::output::Output;
use crate::progress::Bar;

const FIRST_WAIT: Duration = Duration::from_millis(500);
const MAX_WAIT: Duration = Duration::from_secs(30);
/// The longest wait that a server can request.
const MAX_REQUESTED_WAIT: Duration = Duration::from_secs(300);
/// How often the whole file is sent again because the server held other bytes of it.
const MAX_RESTARTS: u32 = 3;

/// A file that was checked and signed.
pub(crate) struct Submission {
    path: PathBuf,
    manifest: Manifest,
    signature: String,
    /// What the server should find in the file.
    expected: Validated,
    server_key: PublicKey,
    /// The server's program.
    program: String,
}

impl Submission {
    /// Checks a file against the schema and signs it. It is read in chunks, because it may not fit into memory.
    pub(crate) fn sign(
        path: &Path,
        schema: &Schema,
        info: &RoundInfo,
        client: ClientId,
        key: &PrivateKey,
    ) -> anyhow::Result<Self> {
        let media_type = TableKind::of(path)?;
        let (length, sha256) = length_and_digest(path)?;
        let limit = info.limits.body_bytes;
        ensure!(
            length <= limit,
            "{}: the file has {length} bytes, but the round accepts at most {limit}",
            path.display()
        );
        let expected = digest_proxy(path, schema).context("nothing was sent")?;
        let manifest = Manifest {
            audience: info.audience.clone(),
            round: info.round.clone(),
            client,
            media_type,
            length,
            sha256,
            schema_sha256: info.schema_sha256,
        };
        let signature = manifest.sign(key).to_string();
        let (server_key, program) = (info.server_key.clone(), info.program.clone());
        Ok(Self { path: path.to_path_buf(), manifest, signature, expected, server_key, program })
    }

    /// Number of rows in the file.
    pub(crate) fn n_rows(&self) -> u64 {
        self.expected.rows
    }

    /// Sends the file. After a temporary failure it waits and resumes, up to `retries` times. If the file does not
    /// continue what the server already has, for example because someone replayed the request with another body, it is
    /// sent again from the start.
    pub(crate) fn send(
        &self,
        connection: &Connection,
        retries: u32,
        output: &Output,
    ) -> anyhow::Result<SignedReceipt> {
        let mut wait = FIRST_WAIT;
        let (mut attempt, mut restarts) = (0, 0);
        let mut may_resume = true;
        loop {
            let error = match self.send_once(connection, may_resume, output) {
                Ok(receipt) => return self.check(receipt, connection, output),
                Err(error) => error,
            };
            // If the file has changed in the meantime, the server's refusal would be misleading.
            ensure!(
                self.is_unchanged()?,
                "{}: the file changed while it was being sent and was not accepted. Run the command \
                 again once the file is complete.",
                self.path.display()
            );
            let refused = error.downcast_ref::<RefusedByServer>();
            may_resume = refused.is_none_or(|refused| refused.body.code != "digest_mismatch");
            if !may_resume && restarts < MAX_RESTARTS {
                restarts += 1;
                output.note(format!(
                    "{error}; sending the whole file again (restart {restarts} of {MAX_RESTARTS})"
                ));
                continue;
            }
            let is_final = refused.is_some_and(|refused| !refused.is_temporary());
            if is_final || attempt == retries {
                return Err(error);
            }
            attempt += 1;
            let requested = refused.and_then(|refused| refused.body.retry_after_seconds);
            let pause =
                requested.map_or(wait, Duration::from_secs).min(MAX_REQUESTED_WAIT).max(wait);
            let seconds = pause.as_secs_f64();
            output.note(format!(
                "{error}; retrying in {seconds:.1} s (retry {attempt} of {retries})"
            ));
            std::thread::sleep(pause);
            wait = (wait * 2).min(MAX_WAIT);
        }
    }

    fn send_once(
        &self,
        connection: &Connection,
        may_resume: bool,
        output: &Output,
    ) -> anyhow::Result<SignedReceipt> {
        let path = format!("/submissions/{}", self.manifest.client);
        let length = self.manifest.length;
        let mut offset = 0;
        if may_resume {
            let upload = connection.agent.get(connection.url(&format!("{path}/upload")));
            let state: UploadState = connection.read_json(self.signed(upload).call())?;
            offset = state.offset.min(length);
        }
        if offset > 0 {
            output.note(format!("resuming the upload at byte {offset}"));
        }
        let mut file = File::open(&self.path).with_context(|| self.path.display().to_string())?;
        file.seek(SeekFrom::Start(offset))?;
        let file = file.take(length - offset);
        let mut body = ProgressReader { file, sent: offset, length, bar: Bar::of_bytes(output) };
        let request = self
            .signed(connection.agent.put(connection.url(&path)))
            .header("content-type", self.manifest.media_type.media_type())
            .header("content-length", length - offset)
            .header(OFFSET_HEADER, offset)
            // The server can then refuse before the body is sent.
            .header("expect", "100-continue");
        connection.read_json(request.send(SendBody::from_reader(&mut body)))
    }

    fn signed<B>(&self, request: RequestBuilder<B>) -> RequestBuilder<B> {
        request
            .header(MANIFEST_HEADER, self.manifest.to_header())
            .header(SIGNATURE_HEADER, &self.signature)
    }

    fn is_unchanged(&self) -> anyhow::Result<bool> {
        let signed = (self.manifest.length, self.manifest.sha256);
        Ok(length_and_digest(&self.path)? == signed)
    }

    /// Checks that the receipt is for this file and its rows, and signed with the round's key.
    fn check(
        &self,
        signed: SignedReceipt,
        connection: &Connection,
        output: &Output,
    ) -> anyhow::Result<SignedReceipt> {
        let (receipt, manifest, expected) = (&signed.receipt, &self.manifest, &self.expected);
        let same_table = receipt.canonical_sha256 == expected.canonical_sha256;
        let same_distinct = receipt.distinct_rows == expected.distinct_rows;
        let other_version = self.program != PROGRAM;
        let checks = [
            (signed.server_key.same_key(&self.server_key), "it is signed with another key"),
            (signed.has_valid_signature(), "its signature is invalid"),
            (receipt.audience == manifest.audience, "it is for another server"),
            (receipt.round == manifest.round, "it is for another round"),
            (receipt.client == manifest.client, "it is for another client"),
            (receipt.sha256 == manifest.sha256, "it is for another file"),
            (receipt.rows == expected.rows, "it states another number of rows"),
            (same_distinct || other_version, "it states another number of distinct rows"),
            (
                same_table || other_version,
                "its canonical table is not the one that this version makes of your file",
            ),
        ];
        if let Some((_, problem)) = checks.iter().find(|(holds, _)| !holds) {
            ensure!(
                self.is_unchanged()?,
                "{}: the file changed while it was being checked, so the server's receipt could not be checked and was \
                 not saved. Restore the file that was sent and run the command again.",
                self.path.display()
            );
            bail!(
                "{}: the server's receipt is worthless and was not saved: {problem}. The file was sent; tell the \
                 coordinator.",
                connection.server()
            );
        }
        if !(same_table && same_distinct) {
            output.note(format!(
                "the server's table could not be compared with your file, because the server runs {} and this is {PROGRAM}",
                self.program
            ));
        }
        Ok(signed)
    }
}

fn length_and_digest(path: &Path) -> anyhow::Result<(u64, Digest)> {
    Digest::of_file(path).with_context(|| format!("{}: cannot be read", path.display()))
}

/// The part of a file that is still to be sent; shows its progress.
struct ProgressReader {
    file: io::Take<File>,
    sent: u64,
    length: u64,
    bar: Bar,
}

impl Read for ProgressReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buffer)?;
        if n == 0 && !buffer.is_empty() && self.sent < self.length {
            // Otherwise the server would wait for bytes that never come.
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter"));
        }
        self.sent += n as u64;
        self.bar.show(self.sent as usize, self.length as usize, || "sending".to_owned());
        Ok(n)
    }
}
