//! The coordinator's and a client's view of a mailbox: pulling its log, and talking to it over HTTP.
//!
//! Each pull must extend the lines already held, and its writer's receipt must be of the last event that the mailbox
//! wrote. So a mailbox that was restored from an old copy, or that shows different logs, is found out.

use std::fs::File;
use std::io::{BufReader, Read, Seek as _, SeekFrom};
use std::path::Path;
use std::time::Duration;

use equipoise_data::Digest;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body, SendBody};

use crate::document::{Document, MAX_DOCUMENT};
use crate::error::{Error, Result};
use crate::invitation::Invitation;
use crate::key::PrivateKey;
use crate::log::{Log, Refusal, Stage};
use crate::order::Pull;
use crate::spool::{Spool, Spooled};
use crate::store::RoundFile;
use crate::text::printable;

/// The mailbox's answer to a pull of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PulledLog {
    /// All lines.
    pub lines: Vec<String>,
    /// The receipt of the last event that the mailbox wrote.
    pub receipt: Document,
}

/// An error as a mailbox sends it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorBody {
    /// A stable code.
    pub code: String,
    /// What is wrong, and what to do.
    pub message: String,
}

impl PulledLog {
    /// What a mailbox answers.
    pub fn of(round: &RoundFile, writer: &PrivateKey) -> Result<Self> {
        let last = last_written(round.log(), writer);
        Ok(Self { lines: round.lines(1)?, receipt: round.receipt(last, writer)? })
    }

    /// Checks the answer against the log held here. Returns what it says, and its lines that are new here.
    fn check(&self, held: &Log) -> Result<(Log, &[String]), Refusal> {
        let n_common = self.lines.len().min(held.seq() as usize);
        for (seq, line) in (1..).zip(&self.lines[..n_common]) {
            if held.digest_of(seq) != Some(Digest::of(line.as_bytes())) {
                return Err(Refusal::Fork(seq));
            }
        }
        let first_missing = n_common as u64 + 1;
        let is_own = |seq: u64| *held.writer_of(seq) == held.invitation.terms.coordinator;
        if first_missing <= held.seq() && !is_own(first_missing) {
            return Err(Refusal::Fork(first_missing));
        }
        let pulled = Log::replay(&self.lines)?;
        let receipt = pulled.check_receipt(&self.receipt)?;
        let is_last = receipt.seq == pulled.seq() || is_coordinators(&pulled, receipt.seq + 1);
        match is_last && !is_coordinators(&pulled, receipt.seq) {
            true => Ok((pulled, &self.lines[n_common..])),
            false => Err(Refusal::Receipt("it is not of the last event of the mailbox".into())),
        }
    }
}

fn is_coordinators(log: &Log, seq: u64) -> bool {
    *log.writer_of(seq) == log.invitation.terms.coordinator
}

fn last_written(log: &Log, writer: &PrivateKey) -> u64 {
    (1..=log.seq()).rev().find(|seq| *log.writer_of(*seq) == writer.public()).unwrap_or(1)
}

/// Brings the coordinator's copy up to date: `fetch` gets the log (`None`) or a sealed file from the mailbox. Returns
/// the receipt of the mailbox's last event.
pub fn pull(
    round: &mut RoundFile,
    mut fetch: impl FnMut(Option<Digest>) -> Result<Box<dyn Read>>,
) -> Result<Document> {
    let mut text = Vec::new();
    let read = fetch(None)?.take(64 * MAX_DOCUMENT).read_to_end(&mut text);
    read.map_err(Error::io(round.path()))?;
    let answer: PulledLog = serde_json::from_slice(&text)
        .map_err(|error| crate::document::malformed("the mailbox's answer", &error))?;
    let (pulled, new) = answer.check(round.log())?;
    let held = round.log().blobs();
    let mut bodies = Vec::new();
    for (sha256, length) in pulled.blobs() {
        if held.contains_key(&sha256) || new.is_empty() {
            continue;
        }
        let body = Spool::fill(round.folder(), &mut fetch(Some(sha256))?, length)?;
        if (body.length, body.sha256) != (length, sha256) {
            return Err(Refusal::OtherBody(length, body.length).into());
        }
        bodies.push(body);
    }
    if !new.is_empty() {
        round.extend(new, bodies)?;
    }
    Ok(answer.receipt)
}

/// What a mailbox shows everyone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// How far the round has come.
    pub state: String,
    /// How many clients have delivered.
    pub delivered: usize,
    /// How many are on the roster.
    pub clients: usize,
    /// Files that arrive later are marked late.
    pub deadline: Timestamp,
    /// The files that can be downloaded, after publication.
    pub files: Vec<String>,
}

impl Status {
    /// What a log lets everyone know: before publication only how many have delivered.
    pub fn of(log: &Log) -> Self {
        let is_published = log.stage == Stage::Published;
        let statement = log.statement.iter().filter(|_| is_published);
        Self {
            state: log.stage.name().to_owned(),
            delivered: log.clients.values().filter(|client| client.has_delivered()).count(),
            clients: log.clients.len(),
            deadline: log.invitation.terms.deadline,
            files: statement.flat_map(|(_, statement)| statement.files.keys().cloned()).collect(),
        }
    }
}

/// A mailbox over HTTP. It honours `HTTPS_PROXY`.
#[derive(Debug)]
pub struct Remote {
    agent: Agent,
    /// Address of the round.
    address: String,
}

impl Remote {
    /// The mailbox of an invitation. `ca` has the certificates to trust instead of the usual ones.
    pub fn of(invitation: &Invitation, ca: Option<&Path>) -> Result<Self> {
        let mailbox = invitation.terms.mailbox.as_ref();
        let mailbox = mailbox.ok_or(Refusal::Malformed("this round has no mailbox".into()))?;
        let roots = ca.map(read_certificates).transpose()?;
        let tls = TlsConfig::builder().root_certs(roots.unwrap_or(RootCerts::WebPki));
        let config = Agent::config_builder()
            .tls_config(tls.build())
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_connect(Some(Duration::from_secs(20)))
            .timeout_recv_response(Some(Duration::from_secs(120)))
            // Also bounds a server that sends a byte a second.
            .timeout_global(Some(Duration::from_secs(1800)))
            .user_agent(concat!("equipoise/", env!("CARGO_PKG_VERSION")));
        let base = mailbox.address.trim_end_matches('/');
        let address = format!("{base}/rounds/{}", invitation.digest);
        Ok(Self { agent: config.build().into(), address })
    }

    /// Delivers a document, or a header with its body. Returns the receipt.
    pub fn put(&self, header: &Document, body: Option<&mut File>) -> Result<Document> {
        let text = header.to_string();
        let nothing: &mut dyn Read = &mut std::io::empty();
        let mut rest = body.map_or(nothing, |file| file as &mut dyn Read);
        let mut whole = BufReader::with_capacity(1 << 16, text.as_bytes().chain(&mut rest));
        let request = self.agent.put(&self.address);
        let answer = self.check(request.send(SendBody::from_reader(&mut whole)))?;
        let text = self.read(answer, MAX_DOCUMENT)?;
        text.parse().map_err(|problem| self.failed(problem))
    }

    /// Pulls the log or a sealed file.
    pub fn pull(
        &self,
        invitation: &Invitation,
        coordinator: &PrivateKey,
        blob: Option<Digest>,
        now: Timestamp,
    ) -> Result<Box<dyn Read>> {
        let order = Pull { at: now, blob }.sign(invitation, coordinator);
        let request = self.agent.post(format!("{}/pull", self.address));
        let answer = self.check(request.send(order.to_string()))?;
        Ok(Box::new(answer.into_reader()))
    }

    /// What everyone can see.
    pub fn status(&self) -> Result<Status> {
        let request = self.agent.get(&self.address).header("accept", "application/json");
        let answer = self.check(request.call())?;
        let text = self.read(answer, MAX_DOCUMENT)?;
        serde_json::from_str(&text).map_err(|error| self.failed(error))
    }

    /// Downloads a published file.
    pub fn published(&self, name: &str, folder: &Path, limit: u64) -> Result<Spooled> {
        let answer = self.check(self.agent.get(format!("{}/files/{name}", self.address)).call())?;
        let mut file = Spool::fill(folder, &mut answer.into_reader(), limit)?;
        file.file.seek(SeekFrom::Start(0)).map_err(Error::io(folder))?;
        Ok(file)
    }

    fn check(&self, answer: Result<ureq::http::Response<Body>, ureq::Error>) -> Result<Body> {
        let answer = answer.map_err(|error| self.failed(error))?;
        let status = answer.status();
        let body = answer.into_body();
        if status.is_success() {
            return Ok(body);
        }
        let text = self.read(body, 64 << 10)?;
        match serde_json::from_str::<ErrorBody>(&text) {
            Ok(error) => Err(self.failed(error.message)),
            Err(_) => Err(self.failed(format!("answered with HTTP status {}", status.as_u16()))),
        }
    }

    fn read(&self, body: Body, limit: u64) -> Result<String> {
        let mut text = String::new();
        let read = body.into_reader().take(limit).read_to_string(&mut text);
        read.map(|_| text).map_err(|error| self.failed(error))
    }

    /// Everything that a mailbox says is foreign text.
    fn failed(&self, problem: impl ToString) -> Error {
        let problem = printable(&problem.to_string());
        Error::Mailbox { address: self.address.clone(), problem }
    }
}

fn read_certificates(file: &Path) -> Result<RootCerts> {
    let pem = std::fs::read(file).map_err(Error::io(file))?;
    let certificates: Vec<Certificate<'static>> = parse_pem(&pem)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    match certificates.is_empty() {
        true => Err(Error::file(file, "has no certificate in PEM format")),
        false => Ok(certificates.into()),
    }
}
