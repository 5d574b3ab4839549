//! How a schema is inferred from tables.

use clap::Args;
use equipoise_data::{Fill, InferOptions, Unknown};

use super::column_args::ColumnArgs;
use crate::choice_args::choice;

/// The options of every command that infers a schema.
#[derive(Debug, Args)]
pub(crate) struct InferenceArgs {
    /// Confirm that every label except the positive one counts as negative
    ///
    /// Needed if the label column has more than two values.
    #[arg(long)]
    label_rest_negative: bool,
    /// Compare the reference group with everyone else, as two groups
    #[arg(long)]
    two_groups: bool,
    /// Keep the groups out of the features: the model and `predict` do not need them
    #[arg(long)]
    blind: bool,
    #[command(flatten)]
    columns: ColumnArgs,
    /// What replaces missing values, such as mean,mode [default: rows without a value are refused]
    ///
    /// mean is for numeric columns, mode is for categorical ones. Empty cells, NA, N/A, NaN and null, in any case, and ?
    /// count as missing. Labels and sensitive values are never filled.
    #[arg(long, value_parser = choice::<Fill>(), value_name = "RULE", num_args = 1.., value_delimiter = ',')]
    fill: Vec<Fill>,
    /// What to do with values that are not levels of a categorical column [default: error]
    ///
    /// With `other`, such a value becomes 0 in every encoded column of its feature, so that proxies, roots, `evaluate`
    /// and `predict` can have values that nobody knew of. The commands say how many there were.
    #[arg(long, value_parser = choice::<Unknown>(), value_name = "RULE")]
    unknown: Option<Unknown>,
    /// Fit the model without an intercept
    #[arg(long)]
    no_intercept: bool,
}

impl InferenceArgs {
    /// The names of the options, for a command that also takes a schema that exists.
    pub(crate) const NAMES: [&str; 9] = [
        "label_rest_negative",
        "two_groups",
        "blind",
        "drop",
        "categorical",
        "numeric",
        "fill",
        "unknown",
        "no_intercept",
    ];

    pub(crate) fn options(
        &self,
        label: (String, String),
        sensitive: Vec<(String, Option<String>)>,
    ) -> InferOptions {
        InferOptions {
            label,
            label_rest_negative: self.label_rest_negative,
            sensitive,
            two_groups: self.two_groups,
            blind: self.blind,
            drop: self.columns.drop.clone(),
            intercept: !self.no_intercept,
            categorical: self.columns.categorical.clone(),
            numeric: self.columns.numeric.clone(),
            codes: true,
            fill: self.fill.clone(),
            unknown: self.unknown,
        }
    }
}
