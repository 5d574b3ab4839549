//! Scenarios: populations, the split into clients, reliable and unreliable ones, the round they make.

mod population;
mod scenario;

pub use population::{COLUMNS, LABEL, Person, SENSITIVE, make_population};
pub use scenario::{
    Members, OnClient, Scenario, ScenarioClient, ScenarioKind, ScenarioSettings, unfairness,
};
