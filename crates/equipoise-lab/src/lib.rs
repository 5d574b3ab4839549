//! Scenarios: populations, the split into clients, reliable and unreliable ones, the round they make.

mod dataset;
mod demo;
mod error;
mod experiment;
mod fetch;
mod population;
mod scenario;

pub use dataset::{DATASETS, Dataset, Preprocessing};
pub use demo::{DefenseRun, Demo, DemoSettings};
pub use error::Error;
pub use experiment::{
    Cell, CellKey, CellSummary, DefenseResult, ExperimentSettings, OnCell, Profile, Variant,
    json_name, run_experiment, summarise, write_results_csv,
};
pub use fetch::{FetchProblem, FetchSettings, Fetched, HttpsProxy, OnBytes};
pub use population::{COLUMNS, LABEL, Person, SENSITIVE, make_population};
pub use scenario::{
    Generator, Members, OnClient, Scenario, ScenarioClient, ScenarioKind, ScenarioSettings, Split,
    unfairness,
};
