//! What the test knows about a round, and whether a reply agrees with it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use equipoise_server::protocol::{Digest, Manifest, SignedReceipt};
use jiff::Timestamp;

use crate::files::{File, Validity};
use crate::plan::RoundPlan;
use crate::site::Site;
use crate::stored_files::check_stored_files;
use crate::wire::Reply;

pub(crate) struct Round {
    pub(crate) plan: RoundPlan,
    pub(crate) token: String,
    pub(crate) deadline: Option<Timestamp>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    receipts: BTreeMap<usize, SignedReceipt>,
    /// All files of which a client sent at least one byte.
    sent: BTreeMap<(usize, Digest), (Manifest, File)>,
    /// Clients whose key is about to be revoked, and whether the server confirmed it.
    revoked: BTreeMap<usize, bool>,
    /// When the round was certainly open.
    opened: Option<Instant>,
    /// Whether the coordinator ended the round, or is about to.
    ended: bool,
}

impl Round {
    pub(crate) fn new(plan: RoundPlan, token: String, deadline: Option<Timestamp>) -> Self {
        let opened = (!plan.is_draft).then(Instant::now);
        let known = Mutex::new(Known { opened, ..Known::default() });
        Self { plan, token, deadline, known }
    }

    pub(crate) fn name(&self) -> &str {
        &self.plan.name
    }

    pub(crate) fn has_opened(&self) {
        self.known.lock().unwrap().opened.get_or_insert_with(Instant::now);
    }

    pub(crate) fn is_ending(&self) {
        self.known.lock().unwrap().ended = true;
    }

    pub(crate) fn is_revoking(&self, client: usize) {
        self.known.lock().unwrap().revoked.entry(client).or_default();
    }

    pub(crate) fn has_revoked(&self, client: usize) {
        self.known.lock().unwrap().revoked.insert(client, true);
    }

    pub(crate) fn may_be_revoked(&self, client: usize) -> bool {
        self.known.lock().unwrap().revoked.contains_key(&client)
    }

    /// The replies that a client may get when it asks for its receipt.
    pub(crate) fn receipt_statuses(&self, client: usize) -> &'static [u16] {
        match self.known.lock().unwrap().revoked.get(&client) {
            None => &[200],
            Some(true) => &[403],
            // The reply was lost, or the round was over.
            Some(false) => &[200, 403],
        }
    }

    /// Called before a client sends the first byte of a file.
    pub(crate) fn is_sending(&self, client: usize, manifest: &Manifest, file: &File) {
        let sent = (manifest.clone(), file.clone());
        self.known.lock().unwrap().sent.insert((client, file.digest), sent);
    }

    pub(crate) fn receipts(&self) -> BTreeMap<usize, SignedReceipt> {
        self.known.lock().unwrap().receipts.clone()
    }

    /// The manifest and file with this digest that a client sent.
    pub(crate) fn sent(&self, client: usize, digest: Digest) -> Option<(Manifest, File)> {
        self.known.lock().unwrap().sent.get(&(client, digest)).cloned()
    }

    /// Whether the round may refuse uploads because of its state.
    fn may_be_closed(&self, known: &Known) -> bool {
        let may_have_submitted = |client: &usize| {
            known.revoked.contains_key(client)
                || known
                    .sent
                    .iter()
                    .any(|((c, _), (_, file))| c == client && file.validity != Validity::Invalid)
        };
        // A reply may come after the reply to a later request.
        known.opened.is_none_or(|at| at.elapsed() < Duration::from_secs(3))
            || known.ended
            || self.deadline.is_some_and(|deadline| Timestamp::now() >= deadline)
            || (0..self.plan.n_clients).all(|client| may_have_submitted(&client))
    }

    /// Checks the reply to a request that is correctly signed. The caller judges 400, 411, 413 and 415.
    pub(crate) fn check_reply(
        &self,
        site: &Site<'_>,
        client: usize,
        manifest: &Manifest,
        reply: &Reply,
    ) -> Result<(), String> {
        let problem = |text: &str| {
            let (round, outcome) = (self.name(), reply.outcome());
            Err(format!("round {round}, client {client}, {}: {outcome}: {text}", manifest.sha256))
        };
        if reply.is_receipt() {
            return self.record(site, client, manifest, reply);
        }
        let known = self.known.lock().unwrap();
        let validity = known.sent.get(&(client, manifest.sha256)).map(|(_, file)| file.validity);
        match (reply.status, reply.code().as_str()) {
            (409, "already_submitted") => {
                let accepted = reply.json()["accepted_sha256"].as_str().map(str::parse::<Digest>);
                let Some(Ok(accepted)) = accepted else { return problem("no digest") };
                let receipt = known.receipts.get(&client).map(|signed| signed.receipt.sha256);
                let is_other = accepted != manifest.sha256;
                let was_sent = known
                    .sent
                    .get(&(client, accepted))
                    .is_some_and(|(_, file)| file.validity != Validity::Invalid);
                match is_other && was_sent && receipt.is_none_or(|digest| digest == accepted) {
                    true => Ok(()),
                    false => problem("this is not the accepted file"),
                }
            }
            (409, "round_not_open" | "too_late") if !self.may_be_closed(&known) => {
                problem("the round is open")
            }
            (403, _) if !known.revoked.contains_key(&client) => problem("the key is not revoked"),
            (401 | 404 | 405, _) => problem("the request is correct"),
            (422, "value_rejected" | "file_rejected") if validity == Some(Validity::Valid) => {
                problem("the file is valid")
            }
            (500.., _) if !matches!(reply.status, 503 | 507) => problem("the server failed"),
            _ => Ok(()),
        }
    }

    /// Checks a receipt and compares it with the client's earlier one.
    fn record(
        &self,
        site: &Site<'_>,
        client: usize,
        manifest: &Manifest,
        reply: &Reply,
    ) -> Result<(), String> {
        let problem = |text: String| {
            Err(format!("round {}, client {client}, {}: {text}", self.name(), manifest.sha256))
        };
        let signed: SignedReceipt = match serde_json::from_slice(&reply.body) {
            Ok(signed) => signed,
            Err(error) => return problem(format!("{} without a receipt: {error}", reply.status)),
        };
        let receipt = &signed.receipt;
        if !signed.has_valid_signature()
            || receipt.sha256 != manifest.sha256
            || receipt.round != manifest.round
            || receipt.client != manifest.client
        {
            return problem("the receipt is for something else".to_owned());
        }
        check_stored_files(&site.path("data"), &signed).or_else(problem)?;
        let mut known = self.known.lock().unwrap();
        match known.sent.get(&(client, receipt.sha256)) {
            None => return problem("a file was accepted that was never sent".to_owned()),
            Some((_, file)) if file.validity == Validity::Invalid => {
                return problem("an invalid file was accepted".to_owned());
            }
            Some(_) => {}
        }
        match known.receipts.insert(client, signed.clone()) {
            Some(earlier) if earlier != signed => {
                problem(format!("a second receipt: {earlier:?}, then {signed:?}"))
            }
            _ => Ok(()),
        }
    }

    /// Frees the memory of the files, once the round is over.
    pub(crate) fn forget_content(&self) {
        for (_, file) in self.known.lock().unwrap().sent.values_mut() {
            file.bytes = Vec::new().into();
        }
    }
}
