//! One file on its way to the server: signed, sent, resumed, acknowledged.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use equipoise_data::TableKind;
use equipoise_server::protocol::{
    Digest, MANIFEST_HEADER, Manifest, Name, OFFSET_HEADER, PrivateKey, RoundInfo,
    SIGNATURE_HEADER, SignedReceipt, UploadState,
};
use ureq::SendBody;

use super::connection::Connection;
use super::refused::RefusedByServer;
use crate::output::Output;
use crate::progress::Bar;

const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// A signed file.
pub(crate) struct Submission {
    path: PathBuf,
    manifest: Manifest,
    manifest_header: String,
    signature: String,
}

impl Submission {
    /// Reads and signs a file for a round.
    pub(crate) fn sign(
        path: &Path,
        info: &RoundInfo,
        client: Name,
        key: &PrivateKey,
    ) -> anyhow::Result<Self> {
        let media_type = TableKind::of(path)?;
        let place = || path.display().to_string();
        let (length, sha256) = Digest::of_file(path).with_context(place)?;
        let limit = info.limits.body_bytes;
        if length > limit {
            bail!("{}: has {length} bytes, and the round accepts {limit}", path.display());
        }
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
        let manifest_header = manifest.to_header();
        Ok(Self { path: path.to_path_buf(), manifest, manifest_header, signature })
    }

    /// Sends the file, again and again if need be, from where the last attempt stopped.
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
            // A refusal of what is not in the file any more would only puzzle.
            self.check_unchanged()?;
            let refused = error.downcast_ref::<RefusedByServer>();
            let hopeless = refused.is_some_and(|refused| !refused.is_worth_a_retry());
            if hopeless || attempt == retries {
                return Err(error);
            }
            attempt += 1;
            let asked = refused.and_then(|refused| refused.body.retry_after_seconds);
            let pause = asked.map_or(wait, Duration::from_secs).min(LONGEST_WAIT).max(wait);
            output.note(format!(
                "{error}; trying again in {:.1} s ({attempt} of {retries})",
                pause.as_secs_f64()
            ));
            std::thread::sleep(pause);
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    fn send_once(&self, connection: &Connection, output: &Output) -> anyhow::Result<SignedReceipt> {
        let place = format!("/submissions/{}", self.manifest.client);
        let upload = connection.agent().get(connection.url(&format!("{place}/upload")));
        let upload = upload
            .header(MANIFEST_HEADER, &self.manifest_header)
            .header(SIGNATURE_HEADER, &self.signature);
        let state: UploadState = connection.json(upload.call())?;
        let offset = state.offset.min(self.manifest.length);
        if offset > 0 {
            output.note(format!("the upload goes on at byte {offset}"));
        }
        let mut file = File::open(&self.path).with_context(|| self.path.display().to_string())?;
        file.seek(SeekFrom::Start(offset))?;
        let left = self.manifest.length - offset;
        let mut body = Watched {
            file: file.take(left),
            sent: offset,
            of: self.manifest.length,
            bar: Bar::of_bytes(output),
        };
        let request = connection
            .agent()
            .put(connection.url(&place))
            .header(MANIFEST_HEADER, &self.manifest_header)
            .header(SIGNATURE_HEADER, &self.signature)
            .header("content-type", self.manifest.media_type.media_type())
            .header("content-length", left)
            .header(OFFSET_HEADER, offset)
            // So that a refusal comes before the body is sent.
            .header("expect", "100-continue");
        connection.json(request.send(SendBody::from_reader(&mut body)))
    }

    /// Whether the file is still the one that was signed.
    fn check_unchanged(&self) -> anyhow::Result<()> {
        let found = Digest::of_file(&self.path).with_context(|| self.path.display().to_string())?;
        anyhow::ensure!(
            found == (self.manifest.length, self.manifest.sha256),
            "{}: was changed while it was being sent, and not accepted. Run the command again when it is finished.",
            self.path.display()
        );
        Ok(())
    }

    /// A receipt is worth something if it is for this file and signed by the round's key.
    fn check(
        &self,
        receipt: SignedReceipt,
        connection: &Connection,
    ) -> anyhow::Result<SignedReceipt> {
        let told = &receipt.receipt;
        let fits = told.round == self.manifest.round
            && told.client == self.manifest.client
            && told.sha256 == self.manifest.sha256;
        anyhow::ensure!(
            fits && receipt.has_valid_signature(),
            "{}: the receipt is not for this file, or not signed by the server",
            connection.server()
        );
        Ok(receipt)
    }
}

struct Watched {
    file: io::Take<File>,
    sent: u64,
    of: u64,
    bar: Bar,
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buffer)?;
        if n == 0 && !buffer.is_empty() && self.sent < self.of {
            // Else the server would wait for what never comes.
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter"));
        }
        self.sent += n as u64;
        self.bar.show(self.sent as usize, self.of as usize, || "sending".to_owned());
        Ok(n)
    }
}
