//! `outcome.json`: the outcome of a solve, for auditors, reports and other programs.

mod about;
mod check;

use std::collections::BTreeMap;
use std::path::Path;

use equipoise_core::{Blindness, Metrics, Outcome, SweepPoint, Warning, sort_by_importance};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

pub use about::About;

use crate::error::Error;
use crate::output_file::write_json;
use crate::overlap::{Overlap, Overlaps};
use crate::schema::Schema;
use crate::stamp::Stamp;

const FORMAT: &str = "equipoise-outcome";
const VERSION: u32 = 2;

/// `outcome.json`, version 2: an outcome and data that only the file has. [`new`](Self::new) and [`read`](Self::read)
/// check it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutcomeFile {
    /// `equipoise-outcome`.
    pub format: String,
    /// Version of the format: 2.
    pub version: u32,
    /// Which round this is and who ran it, as far as is known. Omitted if nothing is.
    #[serde(default, skip_serializing_if = "About::is_empty")]
    pub about: About,
    /// Digest of the schema that encoded all rows.
    pub schema_digest: String,
    /// Names of θ's entries.
    pub features: Vec<String>,
    /// Clients whose proxies have rows in common, largest share first, at most 20 pairs. Omitted if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overlaps: Vec<Overlap>,
    /// Number of further pairs. Omitted if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_overlaps: usize,
    /// Metrics of the pooled model on all root rows, for comparison with `root_metrics`. Omitted if the defense is pooled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pooled_root_metrics: Option<Metrics>,
    /// What it costs that the model does not see the group. Omitted if it does, or if the root is too small to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blindness: Option<Blindness>,
    /// The trade-off between accuracy and fairness, weakest fairness first. Omitted unless requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sweep: Vec<SweepPoint>,
    /// The outcome itself. The file repeats its weights by id and its evaluations.
    #[serde(flatten, serialize_with = "with_derived_keys")]
    pub outcome: Outcome,
    /// Duration of the solve. It comes last, because nothing else differs between two runs.
    pub seconds: f64,
}

/// Keys of the file that repeat parts of the outcome in a handier form.
#[derive(Serialize)]
struct DerivedKeys<'a> {
    /// The weight of each client, by id.
    weights: BTreeMap<&'a str, f64>,
    /// Also in `counts`.
    evaluations: usize,
    #[serde(flatten)]
    outcome: &'a Outcome,
}

fn with_derived_keys<S: Serializer>(outcome: &Outcome, serializer: S) -> Result<S::Ok, S::Error> {
    let weights =
        outcome.clients.iter().map(|client| (client.id.as_str(), client.weight)).collect();
    DerivedKeys { weights, evaluations: outcome.counts.evaluations, outcome }.serialize(serializer)
}

impl OutcomeFile {
    /// The file of an outcome. `warnings` are those about the round; they are sorted in among those of the solve, without
    /// the paths, which mean nothing elsewhere. Rows that clients share give one more.
    pub fn new(
        schema: &Schema,
        mut outcome: Outcome,
        warnings: Vec<Warning>,
        overlaps: Overlaps,
        seconds: f64,
    ) -> Result<Self, Error> {
        let warnings = warnings.into_iter().map(|warning| Warning { file: None, ..warning });
        outcome.warnings.splice(0..0, warnings);
        outcome.warnings.extend(overlaps.warning());
        sort_by_importance(&mut outcome.warnings);
        let file = Self {
            format: FORMAT.to_string(),
            version: VERSION,
            about: About::default(),
            schema_digest: schema.digest().to_string(),
            features: schema.theta_names(),
            overlaps: overlaps.listed,
            more_overlaps: overlaps.more,
            pooled_root_metrics: None,
            blindness: None,
            sweep: Vec::new(),
            outcome,
            seconds,
        };
        file.check().map_err(|problem| Error::Invalid(format!("the outcome: {problem}")))?;
        Ok(file)
    }

    /// Reads and checks an outcome file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| Error::Read { file: path.to_path_buf(), source })?;
        Self::from_json(&text, path)
    }

    /// Parses and checks an outcome. Errors name `file`.
    pub fn from_json(text: &str, file: &Path) -> Result<Self, Error> {
        let syntax = |error| Error::in_document(file, format!("is not an outcome: {error}"));
        let invalid = |problem| Error::in_document(file, problem);
        let stamp: Stamp = serde_json::from_str(text).map_err(syntax)?;
        stamp.check(("an", "outcome"), FORMAT, VERSION).map_err(invalid)?;
        let mut document: Map<String, Value> = serde_json::from_str(text).map_err(syntax)?;
        let weights = document.remove("weights").unwrap_or_default();
        document.remove("evaluations");
        let outcome: Self = serde_json::from_value(document.into()).map_err(syntax)?;
        outcome.check().map_err(invalid)?;
        let weights = serde_json::from_value(weights).map_err(syntax)?;
        outcome.check_weights_by_id(&weights).map_err(invalid)?;
        Ok(outcome)
    }

    /// The file's content. Parsing it gives an equal value.
    pub fn to_json(&self) -> String {
        // Strings, finite numbers and lists of them always serialise.
        let mut text = serde_json::to_string_pretty(self).expect("an outcome is plain data");
        text.push('\n');
        text
    }

    /// Writes the outcome file. Reading it gives an equal value.
    pub fn write(&self, path: &Path, force: bool) -> Result<(), Error> {
        write_json(path, self, force)
    }
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

#[cfg(test)]
mod tests;
