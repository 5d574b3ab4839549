//! Setup of a round.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use equipoise_core::Settings;
use equipoise_data::{Purpose, Schema, read_folder, read_rows};
use jiff::Timestamp;
use rusqlite::params;

use super::folder::{digest_of_file, random_bytes};
use super::{Store, StoreError};
use crate::protocol::{
    Digest, EventKind, Name, PublicKey, RootFile, RoundSpec, RoundState, SubmissionLimits,
};

/// A new round, as its coordinator defines it.
#[derive(Debug, Clone)]
pub struct NewRound {
    /// The round.
    pub round: Name,
    /// The server's name. Signatures are bound to it.
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
        if new.audience.is_empty() || new.audience.chars().any(char::is_control) {
            return refuse("the audience must be the server's name or address".into());
        }
        if self.rounds()?.contains(&new.round) {
            return refuse(format!("round `{}` already exists", new.round));
        }
        let roots = self.copy_roots(&new)?;
        let spec = RoundSpec {
            schema_sha256: new.schema.digest(),
            schema_toml: new.schema.to_toml(),
            round: new.round.clone(),
            audience: new.audience,
            settings: new.settings,
            minimum: new.minimum,
            deadline: new.deadline,
            limits: new.limits,
            roots,
        };
        let token = new_token()?;
        let token_sha256 = Digest::of(token.as_bytes()).to_string();
        let spec_json = spec.to_json();
        let mut roster = new.roster;
        roster.sort_by(|a, b| a.name().cmp(b.name()));
        self.transact(|transaction| {
            transaction.execute(
                "INSERT INTO round (id, state, spec, token_sha256) VALUES (?1, ?2, ?3, ?4)",
                params![new.round.as_str(), RoundState::Draft.name(), spec_json, token_sha256],
            )?;
            for key in &roster {
                transaction.execute(
                    "INSERT INTO client (round, name, public_key) VALUES (?1, ?2, ?3)",
                    params![new.round.as_str(), key.name().as_str(), key.to_string()],
                )?;
            }
            let created = EventKind::Created {
                spec_sha256: Digest::of(spec_json.as_bytes()),
                schema_sha256: spec.schema_sha256,
                server_key: Box::new(self.key.public()),
                roster: roster.clone(),
                token_check: Digest::of(token_sha256.as_bytes()),
            };
            self.append(transaction, &new.round, created)?;
            Ok(())
        })?;
        Ok(token)
    }

    /// Validates each client's root and keeps a copy.
    fn copy_roots(&self, new: &NewRound) -> Result<BTreeMap<Name, RootFile>, StoreError> {
        let found: BTreeMap<String, PathBuf> = read_folder(&new.roots)?.into_iter().collect();
        let target = self.folder.roots(&new.round);
        // Left over from an interrupted setup, because no round has this name.
        let _ = std::fs::remove_dir_all(&target);
        std::fs::create_dir_all(&target).map_err(StoreError::file(&target))?;
        let mut roots = BTreeMap::new();
        for key in &new.roster {
            let client = key.name();
            let source = found.get(client.as_str()).ok_or_else(|| {
                StoreError::Round(format!("{}: no root for client `{client}`", new.roots.display()))
            })?;
            read_rows(source, &new.schema, Purpose::Root)?;
            let file = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let copy = target.join(&file);
            std::fs::copy(source, &copy).map_err(StoreError::file(&copy))?;
            self.sync_file("a root", &copy)?;
            roots.insert(client.clone(), RootFile { sha256: digest_of_file(&copy)?, file });
        }
        for folder in target.ancestors().take(3) {
            self.sync_folder("the roots", folder)?;
        }
        Ok(roots)
    }
}

/// 256 random bits, in base64.
fn new_token() -> Result<String, StoreError> {
    use base64::Engine as _;
    Ok(base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(random_bytes()?))
}
