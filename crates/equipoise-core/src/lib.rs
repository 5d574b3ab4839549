//! The maths of a round.
mod adam;
mod bilevel;
mod client_rows;
mod defense;
mod error;
mod fairness;
mod hypergradient;
mod inner_fit;
mod linalg;
mod logistic;
mod metrics;
mod observer;
mod outcome;
mod outer;
mod proxy;
mod root;
mod round;
mod rows;
mod settings;
mod simplex;
mod solve;
mod statistics;
#[cfg(test)]
mod test_rows;

pub use client_rows::ClientRows;
pub use defense::{Defense, fedasl_weights, fednolowe_weights};
pub use error::Error;
pub use fairness::{Covariance, Criterion, Fairness, Violation};
pub use inner_fit::{InnerSettings, InnerSolver, fit_logistic};
pub use metrics::{GroupMetrics, Groups, Metrics, is_selected};
pub use observer::{Observer, Progress, Unobserved};
pub use outcome::{Counts, Outcome, Termination, TracePoint, Warning};
pub use proxy::{
    Closeness, Distances, FairProxyTest, GeneratedProxy, ProxySettings, ProxyStart, ProxySummary,
    Separation, generate_proxy, measure_closeness, test_fair_proxy,
};
pub use root::{Root, RootWeighting};
pub use round::{Client, Round};
pub use rows::{Layout, Rows};
pub use settings::{CheckedSettings, OuterSettings, OuterSolver, RhoSchedule, Settings};
pub use simplex::project_onto_simplex;
pub use solve::solve;
pub use statistics::{ClientStatistics, Order, Statistics};
