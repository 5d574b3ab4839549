//! One submission: a file is signed, sent, resumed if necessary, and acknowledged by a receipt.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use equipoise_data::TableKind;
use equipoise_server::protocol::{
    Digest, MANIFEST_HEADER, Manifest, Name, OFFSET_HEADER, PrivateKey, PublicKey, RoundInfo,
    SIGNATURE_HEADER, SignedReceipt, UploadState,
};
use ureq::{RequestBuilder, SendBody};

use super::connection::{Connection, RefusedByServer};
use crate::output::Output;
use crate::progress::Bar;

const FIRST_WAIT: Duration = Duration::from_millis(500);
const MAX_WAIT: Duration = Duration::from_secs(30);
/// The longest wait that a server can request.
const MAX_REQUESTED_WAIT: Duration = Duration::from_secs(300);

/// A signed file.
pub(crate) struct Submission {
    path: PathBuf,
    manifest: Manifest,
    signature: String,
    server_key: PublicKey,
}

impl Submission {
    pub(crate) fn sign(
        path: &Path,
        info: &RoundInfo,
        client: Name,
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
        let server_key = info.server_key.clone();
        Ok(Self { path: path.to_path_buf(), manifest, signature, server_key })
    }

    /// Sends the file. After a temporary failure it waits and resumes, up to `retries` times.
    pub(crate) fn send(
        &self,
        connection: &Connection,
        retries: u32,
        output: &Output,
    ) -> anyhow::Result<SignedReceipt> {
        let mut wait = FIRST_WAIT;
        let mut attempt = 0;
        loop {
            let error = match self.send_once(connection, output) {
                Ok(receipt) => return self.check(receipt, connection),
                Err(error) => error,
            };
            // If the file has changed in the meantime, the server's refusal would be misleading.
            ensure!(
                length_and_digest(&self.path)? == (self.manifest.length, self.manifest.sha256),
                "{}: the file changed while it was being sent and was not accepted. Run the command \
                 again once the file is complete.",
                self.path.display()
            );
            let refused = error.downcast_ref::<RefusedByServer>();
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

    fn send_once(&self, connection: &Connection, output: &Output) -> anyhow::Result<SignedReceipt> {
        let path = format!("/submissions/{}", self.manifest.client);
        let upload = connection.agent.get(connection.url(&format!("{path}/upload")));
        let state: UploadState = connection.read_json(self.signed(upload).call())?;
        let length = self.manifest.length;
        let offset = state.offset.min(length);
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

    /// Checks that the receipt is for this file and signed with the round's key.
    fn check(
        &self,
        signed: SignedReceipt,
        connection: &Connection,
    ) -> anyhow::Result<SignedReceipt> {
        let (receipt, manifest) = (&signed.receipt, &self.manifest);
        let matches = receipt.round == manifest.round
            && receipt.client == manifest.client
            && receipt.sha256 == manifest.sha256;
        ensure!(
            matches && signed.has_valid_signature() && signed.server_key.same_key(&self.server_key),
            "{}: the receipt is for another file, or not signed with the round's key",
            connection.server()
        );
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
