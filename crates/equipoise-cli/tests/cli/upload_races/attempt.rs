//! One attempt of one client: leave a part, send requests that are abandoned, then an upload that races them.

use std::time::{Duration, Instant};

use equipoise_data::TableKind;
use equipoise_server::protocol::{Digest, Manifest, SignedReceipt};

use super::file::{File, Rows};
use crate::fleet::Fleet;
use crate::random::Random;
use crate::stored_files::check_stored_files;
use crate::wire::{Peer, Reply};

/// How long a part may take to reach the disk, and an honest client to succeed.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the abandoned requests try to do to the upload that follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Race {
    /// Truncate or overwrite its file after the digest was checked.
    Truncation,
    /// Delete its file before it is on disk.
    Deletion,
}

/// A request whose client hangs up.
#[derive(Debug, Clone, Copy)]
enum Abandoned {
    /// Resumes with nothing: the manifest's length is that of the part, its digest that of the whole file.
    Shorter,
    /// Resumes with some rows: another length, the same digest.
    OtherLength,
    /// Resumes with other rows of the right length.
    OtherRest,
    /// Starts again from byte 0 with rows that are not the file's.
    Restart,
    /// A small file under the same digest.
    Namesake,
    /// Another file of the same client.
    OtherFile,
    /// The same digest in another format.
    OtherFormat,
    /// Requests the progress of the upload.
    Query,
}

pub(super) struct Attempt<'a> {
    pub(super) fleet: &'a Fleet,
    pub(super) client: usize,
    pub(super) file: File<'a>,
    pub(super) random: Random,
}

/// What one attempt did.
pub(super) struct Outcome {
    pub(super) n_abandoned: usize,
    pub(super) replies: Vec<Reply>,
    pub(super) receipt: SignedReceipt,
}

impl<'a> Attempt<'a> {
    pub(super) fn new(
        fleet: &'a Fleet,
        rows: &'a Rows,
        client: usize,
        seed: u64,
        bytes: u64,
    ) -> Self {
        let mut random = Random::new(seed, client as u64);
        let file = File::new(fleet, rows, client as u64, bytes, &mut random);
        Self { fleet, client, file, random }
    }

    /// Returns a problem if the server broke a promise.
    pub(super) fn run(mut self, race: Race) -> Result<Outcome, String> {
        let whole = self.manifest(TableKind::Csv, self.file.bytes(), self.file.digest);
        let restarts = race == Race::Deletion && self.random.chance(70);
        if !restarts || self.random.chance(50) {
            self.leave_part(&whole)?;
        }
        let kinds: &[Abandoned] = match race {
            Race::Truncation => {
                use Abandoned::{OtherLength, OtherRest, Query, Shorter};
                &[Shorter, Shorter, Shorter, OtherLength, OtherRest, Query]
            }
            Race::Deletion => {
                use Abandoned::{
                    Namesake, OtherFile, OtherFormat, OtherLength, OtherRest, Restart,
                };
                &[
                    Namesake,
                    Namesake,
                    Namesake,
                    OtherFile,
                    OtherFormat,
                    OtherRest,
                    OtherLength,
                    Restart,
                ]
            }
        };
        // A run of the same kind as often as a mixture.
        let kinds =
            if self.random.chance(50) { vec![self.random.pick(kinds)] } else { kinds.to_vec() };
        let requests: Vec<Vec<u8>> = (0..self.random.range(1, 7))
            .map(|_| {
                let kind = self.random.pick(&kinds);
                self.abandoned(kind, &whole)
            })
            .collect();
        let n_abandoned = requests.len();
        let n_finals = if self.random.chance(10) { 2 } else { 1 };
        let replies = self.race(&requests, &whole, restarts, n_finals)?;
        let receipt = self.check(&replies, &whole)?;
        Ok(Outcome { n_abandoned, replies, receipt })
    }

    fn manifest(&self, kind: TableKind, length: u64, sha256: Digest) -> Manifest {
        self.fleet.manifest(self.client, kind, length, sha256)
    }

    /// Sends the start of the file, breaks off, and waits until the server has all of it.
    fn leave_part(&self, whole: &Manifest) -> Result<(), String> {
        let head = self.fleet.head_of(self.client, whole, 0);
        let mut peer = self.fleet.wire.connect().map_err(|error| error.to_string())?;
        let [first, shared] = self.file.start();
        peer.write_pieces(&[head.as_bytes(), first, shared]);
        peer.break_off();
        let query = self.fleet.query(self.client, whole, "/upload");
        let started = Instant::now();
        loop {
            let reply = self.fleet.wire.send(&[query.as_bytes()]);
            if reply.json()["offset"] == self.file.start_bytes() {
                return Ok(());
            }
            if started.elapsed() > PATIENCE {
                let (outcome, sent) = (reply.outcome(), self.file.start_bytes());
                return Err(format!("of {sent} bytes sent, {}: {outcome}", reply.json()["offset"]));
            }
            std::thread::sleep(Duration::from_micros(500));
        }
    }

    /// The bytes of a request that is abandoned.
    fn abandoned(&mut self, kind: Abandoned, whole: &Manifest) -> Vec<u8> {
        let (client, start, digest) = (self.client, self.file.start_bytes(), self.file.digest);
        // Less than the server writes at a time, so that all of it is written last.
        let small = self.random.pick(&[1, 100 << 10, 250 << 10]) + self.random.below(1000);
        let (manifest, offset, body) = match kind {
            Abandoned::Query => return self.fleet.query(client, whole, "/upload").into_bytes(),
            Abandoned::Shorter => (self.manifest(TableKind::Csv, start, digest), start, Vec::new()),
            Abandoned::OtherLength => {
                let longer = self.manifest(TableKind::Csv, start + small, digest);
                (longer, start, self.file.any_rows(small))
            }
            Abandoned::OtherRest => (whole.clone(), start, self.file.other_rest()),
            Abandoned::Restart => {
                // Of a large file, only the beginning.
                let bytes = self.file.bytes().min(2 << 20);
                (whole.clone(), 0, self.file.any_rows(bytes))
            }
            Abandoned::Namesake => {
                let manifest = self.manifest(TableKind::Csv, small, digest);
                (manifest, 0, self.file.any_rows(small))
            }
            Abandoned::OtherFile => {
                let other = Digest::of(format!("not the digest of {small} bytes").as_bytes());
                let manifest = self.manifest(TableKind::Csv, small, other);
                (manifest, 0, self.file.any_rows(small))
            }
            Abandoned::OtherFormat => {
                let manifest = self.manifest(TableKind::CsvGz, small, digest);
                (manifest, 0, self.file.any_rows(small))
            }
        };
        [self.fleet.head_of(client, &manifest, offset).into_bytes(), body].concat()
    }

    /// Sends and abandons the requests; then, or before the last one is abandoned, sends the upload.
    fn race(
        &mut self,
        requests: &[Vec<u8>],
        whole: &Manifest,
        restarts: bool,
        n_finals: usize,
    ) -> Result<Vec<Reply>, String> {
        let (offset, start): (u64, &[&[u8]]) = match restarts {
            true => (0, &self.file.start()),
            false => (self.file.start_bytes(), &[]),
        };
        let head = self.fleet.head_of(self.client, whole, offset);
        let mut upload = vec![head.as_bytes()];
        upload.extend(start);
        upload.push(&self.file.rest);
        let mut peers = (0..requests.len() + n_finals)
            .map(|_| self.connect())
            .collect::<Result<Vec<Peer>, String>>()?;
        let finals = peers.split_off(requests.len());
        let queues_early = self.random.chance(50);
        let longest = self.random.pick(&[1, 500, 3000, 8000]);
        let delay = Duration::from_micros(self.random.below(longest));
        let mut held = Vec::new();
        for (mut peer, request) in peers.into_iter().zip(requests) {
            peer.write_pieces(&[request]);
            if queues_early {
                held.push(peer);
                continue;
            }
            std::thread::sleep(delay);
            peer.hang_up();
        }
        Ok(std::thread::scope(|scope| {
            let (upload, mut senders) = (&upload, Vec::new());
            for mut peer in finals {
                senders.push(scope.spawn(move || {
                    peer.write_pieces(upload);
                    peer.reply()
                }));
            }
            // One after the other, because only one of them is being served.
            for peer in held {
                std::thread::sleep(delay);
                peer.hang_up();
            }
            senders.into_iter().map(|sender| sender.join().unwrap()).collect()
        }))
    }

    /// Connects, with the TLS handshake done, so that requests follow each other closely.
    fn connect(&self) -> Result<Peer, String> {
        use std::io::Write as _;
        let mut peer = self.fleet.wire.connect().map_err(|error| error.to_string())?;
        peer.flush().map_err(|error| error.to_string())?;
        Ok(peer)
    }

    /// Checks the replies, then submits as an honest client would. Returns the client's receipt.
    fn check(&self, replies: &[Reply], whole: &Manifest) -> Result<SignedReceipt, String> {
        let mut receipt: Option<SignedReceipt> = None;
        for reply in replies {
            if reply.status >= 500 && reply.status != 503 {
                return Err(format!("the upload got {}", reply.outcome()));
            }
            if !reply.is_receipt() {
                continue;
            }
            let found = self.checked_receipt(reply, self.file.digest)?;
            if !self.file.is_valid {
                return Err("an invalid file was accepted".to_owned());
            }
            if receipt.as_ref().is_some_and(|receipt| *receipt != found) {
                return Err("two receipts for one file differ".to_owned());
            }
            receipt = Some(found);
        }
        let honest = self.fleet.proxy(self.client as u64, 2000);
        let digest = Digest::of(honest.as_bytes());
        let manifest = self.manifest(TableKind::Csv, honest.len() as u64, digest);
        let reply = self.persist_until_answered(&manifest, &[honest.as_bytes()])?;
        match (receipt, reply.status) {
            (Some(receipt), 409) => {
                let [first, shared] = self.file.start();
                let again =
                    self.persist_until_answered(whole, &[first, shared, &self.file.rest])?;
                match self.checked_receipt(&again, self.file.digest)? == receipt {
                    true if again.status == 200 => Ok(receipt),
                    _ => Err(format!("the accepted file sent again got {}", again.outcome())),
                }
            }
            (None, 201) => self.checked_receipt(&reply, digest),
            (_, _) => Err(format!("the honest file got {}", reply.outcome())),
        }
    }

    /// Retries while the server is busy with the requests before.
    fn persist_until_answered(&self, manifest: &Manifest, body: &[&[u8]]) -> Result<Reply, String> {
        let head = self.fleet.head_of(self.client, manifest, 0);
        let started = Instant::now();
        loop {
            let reply = self.fleet.wire.send_when_asked(&head, body);
            if !matches!(reply.status, 0 | 429 | 503) {
                return Ok(reply);
            }
            if started.elapsed() > PATIENCE {
                return Err(format!(
                    "an honest client is refused for {PATIENCE:?}: {}",
                    reply.outcome()
                ));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The receipt in a reply. The server must hold exactly the file that it names.
    fn checked_receipt(&self, reply: &Reply, digest: Digest) -> Result<SignedReceipt, String> {
        let signed: SignedReceipt = serde_json::from_slice(&reply.body)
            .map_err(|error| format!("not a receipt: {error}"))?;
        if !signed.has_valid_signature() || signed.receipt.sha256 != digest {
            return Err("the receipt is for another file, or its signature is invalid".to_owned());
        }
        check_stored_files(&self.fleet.dir.path().join("data"), &signed)?;
        Ok(signed)
    }
}
