//! Scenarios: populations, the split into clients, reliable and unreliable ones, the round they make.

mod scenario;

pub use scenario::{
    OnClient, Scenario, ScenarioClient, ScenarioKind, ScenarioSettings, unfairness,
};
