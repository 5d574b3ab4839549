//! Setup of a round, also while a server is running on the data directory.
//!
//! Roots are validated and copied to a hidden folder first. Then, under a lock shared by all processes, the folder gets
//! its final name and one transaction inserts the round. A crash before the commit leaves no round, and files that
//! the next start removes.

use std::collections::BTreeSet;
use std::path::PathBuf;

use equipoise_core::Settings;
use equipoise_data::{Schema, uninterrupted};
use jiff::Timestamp;
use rusqlite::params;

use super::folder::random_bytes;
use super::{Store, StoreError};
use crate::clock::whole_seconds;
use crate::protocol::{
    Digest, EventKind, PublicKey, RoundId, RoundSpec, RoundState, SubmissionLimits, check_audience,
};

/// A new round, as its coordinator defines it.
#[derive(Debug, Clone)]
pub struct NewRound {
    /// The round.
    pub round: RoundId,
    /// The server's address. Signatures are bound to it.
    pub audience: String,
    /// The schema.
    pub schema: Schema,
    /// The clients' keys, under their names in this round.
    pub roster: Vec<PublicKey>,
    /// Folder of roots: one table of raw rows per client.
    pub roots: PathBuf,
    /// Settings of the solve.
    pub settings: Settings,
    /// Minimum number of submissions for a solve.
    pub minimum: u64,
    /// When the round closes automatically.
    pub deadline: Option<Timestamp>,
    /// Limits on a submission.
    pub limits: SubmissionLimits,
}

impl Store {
    /// Sets up a round as a draft. Returns the coordinator's token, of which only the digest is stored.
    pub fn create_round(&self, new: NewRound) -> Result<String, StoreError> {
        let mut kept = String::new();
        self.set_up_round(new, RoundState::Draft, |token| {
            token.clone_into(&mut kept);
            Ok(())
        })?;
        Ok(kept)
    }

    /// Sets up a round as a draft or open. `keep_token` receives the coordinator's token just before the commit: if it
    /// fails, there is no round; if the setup fails after it, the token is void.
    pub fn set_up_round(
        &self,
        new: NewRound,
        state: RoundState,
        keep_token: impl FnOnce(&str) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        check(&new)?;
        self.refuse_existing(&new.round)?;
        let mut staged = self.stage_roots(&new)?;
        let spec = RoundSpec {
            schema_sha256: new.schema.digest(),
            schema_toml: new.schema.to_toml(),
            round: new.round,
            audience: new.audience,
            settings: new.settings,
            minimum: new.minimum,
            // With a fraction, files could arrive up to a second late.
            deadline: new.deadline.map(whole_seconds),
            limits: new.limits,
            roots: staged.files.clone(),
        };
        let mut roster = new.roster;
        roster.sort_by(|a, b| a.name().cmp(b.name()));
        let token = new_token()?;

        let _setup = self.folder.lock_setup()?;
        // Another process may have created it in the meantime.
        self.refuse_existing(&spec.round)?;
        uninterrupted(|| {
            keep_token(&token)?;
            staged.move_into_place(self, &spec.round)?;
            self.parts.crash.at("after_roots_rename");
            self.insert(&spec, roster, &token, state)?;
            staged.keep();
            Ok(())
        })
    }

    fn refuse_existing(&self, round: &RoundId) -> Result<(), StoreError> {
        match self.rounds()?.contains(round) {
            true => Err(StoreError::Round(format!("round `{round}` already exists"))),
            false => Ok(()),
        }
    }

    fn insert(
        &self,
        spec: &RoundSpec,
        roster: Vec<PublicKey>,
        token: &str,
        state: RoundState,
    ) -> Result<(), StoreError> {
        let round = &spec.round;
        let token_sha256 = Digest::of(token.as_bytes()).to_string();
        let spec_json = spec.to_json();
        self.transact(|transaction| {
            transaction.execute(
                "INSERT INTO round (id, state, spec, token_sha256) VALUES (?1, ?2, ?3, ?4)",
                params![round.as_str(), RoundState::Draft.name(), spec_json, token_sha256],
            )?;
            for key in &roster {
                transaction.execute(
                    "INSERT INTO client (round, name, public_key) VALUES (?1, ?2, ?3)",
                    params![round.as_str(), key.name().as_str(), key.to_string()],
                )?;
            }
            let created = EventKind::Created {
                spec_sha256: Digest::of(spec_json.as_bytes()),
                schema_sha256: spec.schema_sha256,
                server_key: Box::new(self.key.public()),
                roster,
                token_check: Digest::of(token_sha256.as_bytes()),
            };
            self.append(transaction, round, created)?;
            match state {
                RoundState::Open => self.transition(transaction, round, EventKind::Opened),
                _ => Ok(()),
            }
        })
    }
}

fn check(new: &NewRound) -> Result<(), StoreError> {
    let refuse = |text: String| Err(StoreError::Round(text));
    let mut names = BTreeSet::new();
    if let Some(key) = new.roster.iter().find(|key| !names.insert(key.name())) {
        return refuse(format!("client `{}` is on the roster twice", key.name()));
    }
    for (i, key) in new.roster.iter().enumerate() {
        if let Some(twin) = new.roster[..i].iter().find(|other| other.same_key(key)) {
            return refuse(format!(
                "clients `{}` and `{}` have the same key",
                twin.name(),
                key.name()
            ));
        }
    }
    if new.minimum == 0 || new.minimum > new.roster.len() as u64 {
        return refuse(format!(
            "the minimum number of submissions must be at least 1 and at most the number of clients ({}), found {}",
            new.roster.len(),
            new.minimum
        ));
    }
    // The encoded features, the sensitive attribute and the label.
    let n_columns = new.schema.encoded_names().len() as u64 + 2;
    if n_columns > new.limits.columns {
        return refuse(format!(
            "a proxy under this schema has {n_columns} columns, but the round would accept at most {}, so nobody could \
             submit. Choose a larger --max-columns.",
            new.limits.columns
        ));
    }
    check_audience(&new.audience).map_err(|error| StoreError::Round(error.to_string()))
}

/// 256 random bits, in base64.
fn new_token() -> Result<String, StoreError> {
    use base64::Engine as _;
    Ok(base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(random_bytes()?))
}
