//! Where a proxy comes from: the client, the schema and the criterion, as its file says, or that it holds raw rows.
//!
//! They are kept as key-value metadata of a Parquet file, which other programs ignore. CSV has no place for them that every
//! reader skips, so a CSV proxy says nothing about its origin. Nobody signs these values: they prevent mistakes, not
//! forgeries. The server and the solver read only what a proxy says about its noise.

use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use equipoise_core::{Fairness, PrivacyStatement, TableRole, Warning, WarningCode};

use crate::digest::Digest;
use crate::error::{Error, TableProblem};
use crate::folder::client_of;
use crate::schema::Schema;
use crate::table::{Table, TableKind, open_table};

const CLIENT: &str = "equipoise.client";
const SCHEMA: &str = "equipoise.schema_sha256";
const FAIRNESS: &str = "equipoise.fairness";
const RAW_ROWS: &str = "equipoise.raw_rows";
const PRIVACY: &str = "equipoise.privacy";

/// Maximum number of bytes of a client's name. Longer ones are not read.
const MAX_NAME_BYTES: usize = 200;

/// Maximum number of bytes of a statement about privacy.
const MAX_STATEMENT_BYTES: usize = 16 << 10;

/// Who made a proxy, with which schema, and for which criterion.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProxyOrigin {
    /// The client's name.
    pub client: Option<String>,
    /// The digest of the schema that the rows were encoded with.
    pub schema_sha256: Option<Digest>,
    /// The criterion under which the proxy is fair. Raw rows have none.
    pub fairness: Option<Fairness>,
    /// Whether the rows are the client's own, only written as numbers.
    pub raw_rows: bool,
    /// How the proxy is differentially private, if it is.
    pub privacy: Option<PrivacyStatement>,
}

impl ProxyOrigin {
    /// Whether a client's name can be stored.
    pub fn is_valid_name(name: &str) -> bool {
        !name.is_empty() && name.len() <= MAX_NAME_BYTES && !name.contains(char::is_control)
    }

    /// Reads what a file says about its origin. What is missing or malformed is `None`, as in files of other programs. A name
    /// such as `north.raw.csv` says that the rows are raw, too.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let is_named_raw = client_of(path).is_some_and(|name| name.ends_with(".raw"));
        if TableKind::of(path)? != TableKind::Parquet {
            return Ok(Self { raw_rows: is_named_raw, ..Self::default() });
        }
        let table = open_table(path)?;
        Ok(Self {
            client: table.property(CLIENT).filter(|name| Self::is_valid_name(name)),
            schema_sha256: table.property(SCHEMA).and_then(|text| Digest::from_str(&text).ok()),
            fairness: table.property(FAIRNESS).and_then(|text| Fairness::from_str(&text).ok()),
            raw_rows: is_named_raw || table.property(RAW_ROWS).as_deref() == Some("true"),
            ..Declaration::of(&table).read(path)?
        })
    }

    /// The properties to store, in a fixed order: metadata of a Parquet file, or of the schema of an Arrow table.
    pub fn properties(&self) -> Vec<(&'static str, String)> {
        let client = self.client.clone().map(|client| (CLIENT, client));
        let schema = self.schema_sha256.map(|digest| (SCHEMA, digest.to_string()));
        let fairness = self.fairness.map(|fairness| (FAIRNESS, fairness.name()));
        let raw_rows = self.raw_rows.then(|| (RAW_ROWS, "true".to_owned()));
        let privacy = self.privacy.as_ref().map(privacy_property);
        [client, schema, fairness, raw_rows, privacy].into_iter().flatten().collect()
    }

    /// Refuses rows that were encoded with another schema. Its columns may be the same, but the values mean something else.
    pub fn check_schema(&self, path: &Path, schema: &Schema) -> Result<(), Error> {
        let expected = schema.digest();
        match self.schema_sha256 {
            Some(found) if found != expected => Err(TableProblem::new(format!(
                "the proxy was made with another schema: its digest is {found}, that of the schema given is {expected}. \
                 Make the proxy again with this schema, or use the schema that it was made with."
            ))
            .in_file(path)),
            _ => Ok(()),
        }
    }

    /// A warning if the proxy was made for another criterion.
    pub fn warn_of_criterion(&self, path: &Path, fairness: Fairness) -> Option<Warning> {
        let made_for = self.fairness.filter(|made_for| made_for.name() != fairness.name())?;
        let message = format!(
            "the proxy was made for {made_for}, not for {fairness}, and need not be fair by the latter. It should be \
             made again with --fairness {}",
            fairness.name()
        );
        Some(warning(path, WarningCode::OtherCriterion, message))
    }

    /// A warning if the proxy was made by another client than this one.
    pub fn warn_of_client(&self, path: &Path, client: &str) -> Option<Warning> {
        let made_by = self.client.as_deref().filter(|&made_by| made_by != client)?;
        let message = format!(
            "the proxy was made by client `{made_by}`. If the file was not renamed on purpose, it is in the place of \
             another client's"
        );
        Some(warning(path, WarningCode::OtherClient, message))
    }
}

/// What a table declares about its noise, and nothing else, as it is stored. So another process can read it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Declaration {
    pub(crate) privacy: Option<String>,
}

impl Declaration {
    /// What a table declares.
    pub(crate) fn of(table: &Table) -> Self {
        // Enough to see that it is too long.
        let shortened = |text: String| text.chars().take(MAX_STATEMENT_BYTES + 1).collect();
        Self { privacy: table.property(PRIVACY).map(shortened) }
    }

    /// Reads the declaration of the table `file`. A statement about privacy that cannot be read or contradicts itself is an
    /// error.
    pub(crate) fn read(&self, file: &Path) -> Result<ProxyOrigin, Error> {
        let privacy = self.privacy.as_deref().map(|text| read_statement(text, file)).transpose()?;
        Ok(ProxyOrigin { privacy, ..ProxyOrigin::default() })
    }
}

fn read_statement(text: &str, file: &Path) -> Result<PrivacyStatement, Error> {
    let refuse = |problem: String| {
        let text = format!(
            "the statement about its privacy cannot be trusted: {problem}. Make the proxy again with `equipoise proxy`."
        );
        Err(TableProblem::new(text).in_file(file))
    };
    if text.len() > MAX_STATEMENT_BYTES {
        return refuse("it is too long".to_owned());
    }
    match serde_json::from_str::<PrivacyStatement>(text) {
        Err(error) => refuse(format!("it is not one ({error})")),
        Ok(statement) => match statement.contradiction() {
            Some(contradiction) => refuse(contradiction),
            None => Ok(statement),
        },
    }
}

/// The property that holds a statement.
fn privacy_property(statement: &PrivacyStatement) -> (&'static str, String) {
    // Names and finite numbers.
    (PRIVACY, serde_json::to_string(statement).unwrap_or_default())
}

/// Checks what each proxy says about its origin against the schema, the criterion and the client whose file it is.
pub fn check_origins(
    proxies: &[(String, PathBuf)],
    schema: &Schema,
    fairness: Fairness,
) -> Result<Vec<Warning>, Error> {
    let mut warnings = Vec::new();
    for (client, path) in proxies {
        // The reader of the rows reports a file that is broken.
        let Ok(origin) = ProxyOrigin::read(path) else { continue };
        origin.check_schema(path, schema)?;
        let found = [origin.warn_of_client(path, client), origin.warn_of_criterion(path, fairness)];
        warnings.extend(found.into_iter().flatten().map(|warning| Warning {
            client: Some(client.clone()),
            table: Some(TableRole::Proxy),
            ..warning
        }));
    }
    Ok(warnings)
}

fn warning(path: &Path, code: WarningCode, message: String) -> Warning {
    Warning { file: Some(path.to_path_buf()), ..Warning::new(code, message) }
}

#[cfg(test)]
mod tests;
