//! The options that select the cells of the grid and how they are run.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use equipoise_core::{Criterion, RootWeighting};
use equipoise_lab::{
    Ablation, ExperimentSettings, Generator, Preprocessing, Profile, ProxySize, ScenarioKind,
    Variant, json_name,
};
use serde::de::DeserializeOwned;

/// Which cells to run, and how.
#[derive(Debug, Args)]
pub(super) struct ExperimentOptions {
    /// Datasets: law-school, dutch, synthetic (the demo's population) or csv (your own table)
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", default_value = "law-school,dutch")]
    dataset: Vec<String>,
    /// What reliable clients send: each its own fair proxy (realistic), or all the same one (ideal)
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", default_value = "realistic,ideal")]
    #[arg(value_parser = one_of::<ScenarioKind>(&["realistic", "ideal"]))]
    scenario: Vec<ScenarioKind>,
    /// Fairness criteria; dutch is omitted under eo, as in the paper, unless it is the only combination
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", default_value = "sp,eo")]
    #[arg(value_parser = one_of::<Criterion>(&["sp", "eo"]))]
    fairness: Vec<Criterion>,
    /// Shares of unreliable clients
    #[arg(long, value_delimiter = ',', value_name = "SHARE,…", default_value = "0.2,0.4,0.6")]
    unreliable: Vec<f64>,
    /// Number of seeds; the first seed is 1
    #[arg(long, value_name = "N", default_value_t = 5)]
    seeds: u64,
    /// Defenses; bilevel-rho0 is bilevel without its fairness penalty
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", default_value = ALL)]
    #[arg(value_parser = PossibleValuesParser::new([ALL].into_iter().chain(Variant::ALL.map(|v| v.name()))))]
    defenses: Vec<String>,
    /// Settings of the method: the paper's, or the defaults of `defend`
    #[arg(long, value_name = "NAME", default_value = "paper")]
    #[arg(value_parser = one_of::<Profile>(&["paper", "default"]))]
    profile: Profile,
    /// Number of clients that each dataset is split among
    #[arg(long, value_name = "K", default_value_t = 5)]
    clients: usize,
    /// Share of each client's training rows in the root
    #[arg(long, value_name = "SHARE", default_value_t = 0.005)]
    root_share: f64,
    /// Number of rows in a fair proxy [default: as many as the client's training rows]
    #[arg(long, value_name = "N")]
    proxy_rows: Option<usize>,
    /// How fair proxies are generated: by Adam from the data, as in the paper, or smoothed, as `proxy` does
    #[arg(long, value_name = "NAME", default_value = "adam")]
    #[arg(value_parser = one_of::<Generator>(&["adam", "smoothed"]))]
    generator: Generator,
    /// How columns become features: as in the paper, with an intercept, or with codes one-hot and an intercept
    ///
    /// Your own table (--dataset csv) is always encoded by its schema.
    #[arg(long, value_name = "NAME", default_value = "paper")]
    #[arg(value_parser = one_of::<Preprocessing>(&["paper", "intercept", "one-hot"]))]
    preprocessing: Preprocessing,
    /// Regularisation strength of the model
    #[arg(long, value_name = "L", default_value_t = 1e-4)]
    lambda: f64,
    /// How root rows are weighted: all equally, or by their client's weight
    #[arg(long, value_name = "NAME", default_value = "pooled")]
    #[arg(value_parser = one_of::<RootWeighting>(&["pooled", "client"]))]
    root_weighting: RootWeighting,
    /// Ablations to add, each a table in the report: the method with one setting changed
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", default_value = "none")]
    #[arg(value_parser = PossibleValuesParser::new(ABLATIONS))]
    ablations: Vec<String>,
}

/// Stands for every defense or ablation.
const ALL: &str = "all";

const ABLATIONS: [&str; 7] =
    ["none", ALL, "root-weighting", "intercept", "root-share", "proxy-size", "lambda"];

/// Parses one of these names, each the JSON name of a value.
fn one_of<T>(names: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| serde_json::from_value(name.into()))
}

impl ExperimentOptions {
    pub(super) fn resolve(&self) -> ExperimentSettings {
        ExperimentSettings {
            datasets: self.dataset.clone(),
            fairness: self.fairness.clone(),
            scenarios: self.scenario.clone(),
            unreliable: self.unreliable.clone(),
            seeds: self.seeds,
            variants: select(&self.defenses, &Variant::ALL, |variant| variant.name().to_owned()),
            profile: self.profile,
            n_clients: self.clients,
            root_share: self.root_share,
            proxy_size: self.proxy_rows.map_or(ProxySize::Share(1.0), ProxySize::Rows),
            generator: self.generator,
            preprocessing: self.preprocessing,
            lambda: self.lambda,
            root_weighting: self.root_weighting,
        }
    }

    pub(super) fn ablations(&self) -> Vec<Ablation> {
        select(&self.ablations, &Ablation::ALL, json_name)
    }
}

/// The values with these names, each once, in the order of their first appearance.
fn select<T: Copy + PartialEq>(names: &[String], all: &[T], name_of: fn(&T) -> String) -> Vec<T> {
    let mut selected = Vec::new();
    for name in names {
        for value in all {
            if (name == ALL || *name == name_of(value)) && !selected.contains(value) {
                selected.push(*value);
            }
        }
    }
    selected
}
