//! Honest uploads, and uploads that break off.

use std::time::{Duration, Instant};

use equipoise_data::TableKind;
use equipoise_server::protocol::{Digest, Manifest};

use crate::files::File;
use crate::plan::Stage;
use crate::random::Random;
use crate::round::Round;
use crate::site::Site;
use crate::wire::{Peer, Reply};

/// How long an honest client may have to retry.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);

/// A client of a round with one of its files.
pub(crate) struct Upload<'a> {
    site: &'a Site<'a>,
    round: &'a Round,
    pub(crate) client: usize,
    pub(crate) file: File,
    pub(crate) manifest: Manifest,
}

impl<'a> Upload<'a> {
    /// Number 0 is the file that the client means to submit; others are further valid files.
    pub(crate) fn honest(site: &'a Site<'a>, round: &'a Round, client: usize, number: u64) -> Self {
        let name = round
            .name()
            .bytes()
            .fold(client as u64, |sum, byte| sum.wrapping_mul(257).wrapping_add(u64::from(byte)));
        let seed = Random::new(site.report.seed ^ name, number).next();
        Self::of(site, round, client, File::honest(&site.schema, seed))
    }

    pub(crate) fn of(site: &'a Site<'a>, round: &'a Round, client: usize, file: File) -> Self {
        let manifest = site.manifest(round.name(), client, &file);
        round.is_sending(client, &manifest, &file);
        Self { site, round, client, file, manifest }
    }

    /// A file that the client sent before.
    pub(crate) fn sent(
        site: &'a Site<'a>,
        round: &'a Round,
        client: usize,
        digest: Digest,
    ) -> Option<Self> {
        let (manifest, file) = round.sent(client, digest)?;
        Some(Self { site, round, client, file, manifest })
    }

    /// Sends the file until there is a conclusive answer, resuming where the server stopped.
    pub(crate) fn submit(&self) -> Reply {
        let (started, mut n_mismatches) = (Instant::now(), 0);
        loop {
            let reply = self.put_from(self.offset());
            n_mismatches += u32::from(reply.status == 400);
            let is_temporary = matches!(reply.status, 0 | 408 | 429 | 503 | 507)
                || reply.code() == "offset_mismatch"
                // Someone else's bytes were in the part; the next attempt starts from 0.
                || (reply.status == 400 && n_mismatches < 5);
            if !is_temporary {
                if !matches!(reply.status, 200 | 201 | 403 | 409) {
                    self.violation(&format!("an honest file got {}", reply.outcome()));
                }
                return reply;
            }
            if self.site.report.has_failed() {
                return reply;
            }
            if started.elapsed() > PATIENCE {
                self.violation(&format!("no success within a minute: {}", reply.outcome()));
                return reply;
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Sends the rest of the file from an offset, once.
    pub(crate) fn put_from(&self, offset: u64) -> Reply {
        let offset = offset.min(self.file.len());
        let head = self.site.put_head(self.client, &self.manifest, offset);
        let rest = &self.file.bytes[offset as usize..];
        self.checked(self.site.wire.send_when_asked(&head, &[rest]))
    }

    /// Announces the file once more, without sending it, as an accepted file is not read again.
    pub(crate) fn announce(&self) -> Reply {
        let head = self.site.put_head(self.client, &self.manifest, 0);
        self.checked(self.site.wire.send(&[head.as_bytes()]))
    }

    /// Requests the receipt of this file.
    pub(crate) fn receipt(&self) -> Reply {
        let query = self.site.query(self.client, &self.manifest, "");
        self.checked(self.site.wire.send(&[query.as_bytes()]))
    }

    /// How much of the file the server has.
    pub(crate) fn offset(&self) -> u64 {
        let query = self.site.query(self.client, &self.manifest, "/upload");
        let reply = self.site.wire.send(&[query.as_bytes()]);
        if reply.status != 200 {
            self.checked(reply.clone());
        }
        reply.json()["offset"].as_u64().unwrap_or(0)
    }

    /// Sends the head and the first bytes; returns the open connection.
    pub(crate) fn begin(&self, bytes: u64) -> Option<Peer> {
        let head = self.site.put_head(self.client, &self.manifest, 0);
        let mut peer = self.site.wire.connect().ok()?;
        peer.write_pieces(&[head.as_bytes(), &self.file.bytes[..bytes as usize]]);
        Some(peer)
    }

    /// Hangs up at a stage. What the server makes of it is checked later.
    pub(crate) fn disconnect(&self, stage: Stage, random: &mut Random) -> String {
        let peer = match stage {
            Stage::InTheHeader => self.site.wire.connect().ok().map(|mut peer| {
                let head = self.site.put_head(self.client, &self.manifest, 0);
                let bytes = random.below(head.len() as u64) as usize;
                peer.write_pieces(&[&head.as_bytes()[..bytes]]);
                peer
            }),
            Stage::AfterTheHeader | Stage::Body(0) => self.begin(0),
            Stage::Body(percent) => self.begin(self.file.len() * percent / 100),
            Stage::DuringValidation | Stage::BeforeReading => self.begin(self.file.len()),
        };
        let Some(peer) = peer else { return "no connection".to_owned() };
        match stage {
            Stage::AfterTheHeader => {}
            Stage::DuringValidation => sleep_ms(random.range(1, 40)),
            Stage::BeforeReading => sleep_ms(random.range(100, 400)),
            _ => sleep_ms(random.below(3)),
        }
        peer.hang_up();
        "hung up".to_owned()
    }

    /// Breaks off, then resumes; sometimes tries a wrong offset first.
    pub(crate) fn resume(&self, random: &mut Random) -> String {
        if let Some(peer) = self.begin(random.below(self.file.len())) {
            sleep_ms(random.below(5));
            peer.hang_up();
        }
        if random.chance(30) {
            self.put_from(random.range(1, self.file.len()));
        }
        sleep_ms(random.below(10));
        self.submit().outcome()
    }

    /// Sends the same file several times at once.
    pub(crate) fn duplicates(&self, random: &mut Random) -> String {
        let n = random.range(2, 8);
        let replies: Vec<Reply> = std::thread::scope(|scope| {
            let senders: Vec<_> = (0..n).map(|_| scope.spawn(|| self.put_from(0))).collect();
            senders.into_iter().map(|sender| sender.join().unwrap()).collect()
        });
        let n_new = replies.iter().filter(|reply| reply.status == 201).count();
        if n_new > 1 {
            self.violation(&format!("{n_new} of {n} duplicates got 201"));
        }
        let mut outcomes: Vec<String> = replies.iter().map(Reply::outcome).collect();
        outcomes.sort();
        outcomes.dedup();
        outcomes.join(" + ")
    }

    /// Leaves a part, abandons some requests that would change it, and submits: see `upload_races` in the tests of
    /// the command line.
    pub(crate) fn abandon(&self, random: &mut Random) -> String {
        let start = random.below(self.file.len());
        if let Some(peer) = self.begin(start) {
            peer.hang_up();
        }
        sleep_ms(random.range(1, 10));
        let offset = self.offset();
        for _ in 0..random.range(1, 6) {
            let mut manifest = self.manifest.clone();
            let mut body: Vec<u8> = Vec::new();
            match random.below(4) {
                0 | 1 => manifest.length = offset,
                2 => body = vec![b'7'; (self.file.len() - offset.min(self.file.len())) as usize],
                _ => {
                    manifest.media_type = match manifest.media_type {
                        TableKind::Csv => TableKind::CsvGz,
                        _ => TableKind::Csv,
                    };
                    manifest.length = offset;
                }
            }
            let head = self.site.put_head(self.client, &manifest, offset);
            if let Ok(mut peer) = self.site.wire.connect() {
                peer.write_pieces(&[head.as_bytes(), &body]);
                peer.hang_up();
            }
        }
        self.submit().outcome()
    }

    fn checked(&self, reply: Reply) -> Reply {
        let check = self.round.check_reply(self.site, self.client, &self.manifest, &reply);
        self.site.report.require(check);
        reply
    }

    fn violation(&self, text: &str) {
        let (round, digest) = (self.round.name(), self.file.digest);
        let text = format!("round {round}, client {}, {digest}: {text}", self.client);
        self.site.report.violation(text);
    }
}

pub(crate) fn sleep_ms(milliseconds: u64) {
    if milliseconds > 0 {
        std::thread::sleep(Duration::from_millis(milliseconds));
    }
}
