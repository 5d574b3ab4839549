//! `equipoise schema merge`: one schema from the descriptions of several clients' tables.

use std::path::PathBuf;

use clap::Args;
use equipoise_data::{Description, agree_on_roles, merge};

use super::column_args::{parse_column, parse_pair};
use super::proposal::ProposalArgs;
use crate::output::{Answer, Output};

/// Merge clients' descriptions of their tables into one schema
///
/// Gives the schema that `infer` would give for all rows together, except for what the descriptions withhold. Whether
/// integers are codes, how large the groups are and which level is the most frequent is decided over all clients. A column
/// of which a description withholds rare levels gets `unknown = "other"`, unless --unknown says otherwise, so that no
/// client's rows are refused. The order of the files does not matter.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise schema merge north.description.json south.description.json \\
      -o schema.toml")]
pub(crate) struct MergeArgs {
    /// Descriptions that `schema describe` wrote, one per client
    #[arg(required = true)]
    descriptions: Vec<PathBuf>,
    /// Label column and its positive value [default: as the clients agree]
    #[arg(long, value_name = "COL=POSITIVE", value_parser = parse_pair)]
    label: Option<(String, String)>,
    /// Sensitive column and the value of its reference group [default: as the clients agree]
    ///
    /// The columns must be those of the descriptions. Groups with fewer than 50 rows, or 1 % of all rows, are pooled.
    #[arg(long, value_name = "COL[=REFERENCE]", value_parser = parse_column)]
    sensitive: Vec<(String, Option<String>)>,
    #[command(flatten)]
    proposal: ProposalArgs,
}

pub(crate) fn run(args: &MergeArgs, output: &Output) -> anyhow::Result<Answer> {
    args.proposal.check_output(&args.descriptions)?;
    let read = |path: &PathBuf| Description::read(path);
    let descriptions = args.descriptions.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let roles = agree_on_roles(&descriptions, args.label.as_ref(), &args.sensitive)?;
    let options = args.proposal.options(roles.label, roles.sensitive);
    args.proposal.present(&merge(&descriptions, &options)?, output)
}
