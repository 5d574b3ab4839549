//! `outcome.json`: everything that a solve gave, for auditors, reports and other programs.

mod check;

use std::collections::BTreeMap;
use std::path::Path;

use equipoise_core::{
    Counts, Metrics, Outcome, Round, Rows, Settings, Termination, TracePoint, Violation,
};
use serde::{Deserialize, Serialize};

pub use check::OutcomeProblem;

use crate::error::Error;
use crate::output_file::write_json;
use crate::overlap::{Overlap, Overlaps};
use crate::schema::Schema;
use crate::warning::Warning;

const FORMAT: &str = "equipoise-outcome";
const VERSION: u32 = 1;

/// `outcome.json`, version 1. [`new`](Self::new) and [`read`](Self::read) give checked ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutcomeFile {
    /// `equipoise-outcome`.
    pub format: String,
    /// Version of the format; 1.
    pub version: u32,
    /// Digest of the schema that all rows were encoded by.
    pub schema_digest: String,
    /// The clients, sorted by id.
    pub clients: Vec<OutcomeClient>,
    /// Weight of each client, by id.
    pub weights: BTreeMap<String, f64>,
    /// Names of θ's entries.
    pub features: Vec<String>,
    /// The model θ.
    pub theta: Vec<f64>,
    /// Root loss, regulariser and penalty of the model at the last ρ.
    pub objective: f64,
    /// Mean loss on the root.
    pub root_loss: f64,
    /// ρ of the objective.
    pub rho: f64,
    /// Size of the violation on the root.
    pub violation: f64,
    /// Both covariances on the root, signed.
    pub violations: Violation,
    /// How the solve stopped.
    pub termination: Termination,
    /// What a feasible direction still promises, as a share of the objective; null without an outer loop.
    pub gap: Option<f64>,
    /// How often the objective and its gradient were evaluated.
    pub evaluations: usize,
    /// What the solve took.
    pub counts: Counts,
    /// The model on the rows of all roots: few rows, so noisy figures.
    pub root_metrics: Metrics,
    /// The settings used.
    pub settings: Settings,
    /// What the reader must know, of the data and of the solve.
    pub warnings: Vec<OutcomeWarning>,
    /// Clients whose proxies have rows in common, largest share first, at most 20 pairs. Not there where there
    /// are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overlaps: Vec<Overlap>,
    /// Pairs beyond those; not there where it is 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_overlaps: usize,
    /// The way of the outer loop; empty without one.
    pub trace: Vec<TracePoint>,
    /// How long the solve took. Last, for nothing else differs between two runs.
    pub seconds: f64,
}

/// One client's part of an outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutcomeClient {
    /// The client.
    pub id: String,
    /// Rows of its proxy.
    pub proxy_rows: usize,
    /// Rows of its root.
    pub root_rows: usize,
    /// Its weight.
    pub weight: f64,
}

/// Something that the reader of an outcome must know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutcomeWarning {
    /// A name that programs can go by.
    pub code: String,
    /// The client, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Which of the client's tables, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<WarnedTable>,
    /// The warning in words.
    pub message: String,
}

/// The table that a warning is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarnedTable {
    /// What the client sent.
    Proxy,
    /// What the server trusts of it.
    Root,
}

impl OutcomeWarning {
    /// A warning about a table of a round.
    pub fn of_table(warning: &Warning, table: WarnedTable) -> Self {
        Self {
            code: warning.kind.code().to_string(),
            client: warning.client.clone(),
            table: Some(table),
            message: warning.kind.to_string(),
        }
    }

    fn of_solve(warning: &equipoise_core::Warning) -> Self {
        // The code is the tag that core gives the warning in JSON.
        let code = serde_json::to_value(warning)
            .ok()
            .and_then(|value| Some(value.get("code")?.as_str()?.to_string()))
            .unwrap_or_default();
        Self { code, client: None, table: None, message: warning.to_string() }
    }
}

impl OutcomeFile {
    /// Joins what a solve gave with the round it was given. `warnings` are those of reading the round;
    /// those of the solve are added behind them.
    pub fn new(
        schema: &Schema,
        round: &Round,
        outcome: &Outcome,
        warnings: Vec<OutcomeWarning>,
        seconds: f64,
    ) -> Result<Self, Error> {
        let roots = round.root().tables();
        let ids = round.client_ids();
        let clients = ids.iter().zip(&outcome.weights).enumerate();
        let root_rows = Rows::concat(roots)?;
        let file = Self {
            format: FORMAT.to_string(),
            version: VERSION,
            schema_digest: schema.digest().to_string(),
            clients: clients
                .map(|(c, (id, &weight))| OutcomeClient {
                    id: id.clone(),
                    proxy_rows: round.proxies().n_rows(c),
                    root_rows: roots[c].len(),
                    weight,
                })
                .collect(),
            weights: ids.iter().cloned().zip(outcome.weights.iter().copied()).collect(),
            features: schema.theta_names(),
            theta: outcome.theta.clone(),
            objective: outcome.objective,
            root_loss: outcome.root_loss,
            rho: outcome.rho,
            violation: outcome.violation,
            violations: outcome.violations,
            termination: outcome.termination,
            gap: outcome.gap,
            evaluations: outcome.counts.evaluations,
            counts: outcome.counts,
            root_metrics: Metrics::of(&outcome.theta, &root_rows)?,
            settings: outcome.settings,
            warnings: warnings
                .into_iter()
                .chain(outcome.warnings.iter().map(OutcomeWarning::of_solve))
                .collect(),
            overlaps: Vec::new(),
            more_overlaps: 0,
            trace: outcome.trace.clone(),
            seconds,
        };
        file.check().map_err(|problem| Error::Outcome { file: None, problem })?;
        Ok(file)
    }

    /// The same with what clients share, as it was noticed when the round was read.
    pub fn with_overlaps(mut self, overlaps: Overlaps) -> Result<Self, Error> {
        (self.overlaps, self.more_overlaps) = (overlaps.listed, overlaps.more);
        self.check().map_err(|problem| Error::Outcome { file: None, problem })?;
        Ok(self)
    }

    /// Reads and checks an outcome file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| Error::Read { file: path.to_path_buf(), source })?;
        Self::from_json(&text, path)
    }

    /// Reads and checks an outcome. `file` is where the text came from, for the error's sake.
    pub fn from_json(text: &str, file: &Path) -> Result<Self, Error> {
        let syntax = |source| Error::OutcomeSyntax { file: file.to_path_buf(), source };
        let wrong = |problem| Error::Outcome { file: Some(file.to_path_buf()), problem };
        // Format and version come first: another file, or a newer one, has keys not known here.
        let stamp: Stamp = serde_json::from_str(text).map_err(syntax)?;
        check::stamp(&stamp.format, stamp.version).map_err(wrong)?;
        let outcome: Self = serde_json::from_str(text).map_err(syntax)?;
        outcome.check().map_err(wrong)?;
        Ok(outcome)
    }

    /// Writes the outcome file; it reads back equal.
    pub fn write(&self, path: &Path, force: bool) -> Result<(), Error> {
        write_json(path, self, force)
    }
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// What every version of an outcome has.
#[derive(Deserialize)]
struct Stamp {
    format: String,
    version: u32,
}

#[cfg(test)]
mod tests;
