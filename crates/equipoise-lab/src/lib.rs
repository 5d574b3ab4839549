//! Scenarios: populations, the split into clients, reliable and unreliable ones, the round they make.

mod demo;
mod error;
mod population;
mod scenario;

pub use demo::{DefenseRun, Demo, DemoSettings};
pub use error::Error;
pub use population::{COLUMNS, LABEL, Person, SENSITIVE, make_population};
pub use scenario::{
    Generator, Members, OnClient, Scenario, ScenarioClient, ScenarioKind, ScenarioSettings,
    unfairness,
};
