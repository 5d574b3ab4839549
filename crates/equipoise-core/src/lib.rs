//! The maths of Equipoise: one-shot fair collaborative learning with a server-side defense.
//!
//! Each of `K` clients sends one proxy dataset, and the server holds a small trusted root sample. The server solves
//! for one weight per client such that the model trained on the weighted proxies is accurate and fair on the root:
//!
//! ```text
//! min  P(w) = F(θ(w), w)            over the simplex  w ≥ 0, Σ w = 1
//!
//! θ(w)   = argmin_θ  ℓ(θ; w) = (1/N) Σ_c w_c L_c(θ) + (λ/2n²)‖θ‖²          the inner problem
//! F(θ,w) = root loss + (λ/2n²)‖θ‖² + (ρ/2) [ (1−ν) d_SP² + ν d_EO² ]         the outer objective
//! ∂P/∂w_c = −g_c·v / N + ∂F/∂w_c,   H v = ∂F/∂θ                              the hypergradient
//! ```
//!
//! where `L_c = Σ_i log(1 + exp(−y_i a_i·θ))` over the rows of client `c`, `g_c` and `H_c` are its derivatives,
//! `H = (1/N) Σ w_c H_c + (λ/n²) I`, and `d_SP`, `d_EO` are the covariances of the sensitive attribute with the
//! model's decision on the root.
//!
//! | symbol | here |
//! | --- | --- |
//! | rows `a = (x, s[, 1])`, labels `y` | [`Rows`], [`Layout`] |
//! | `L_c`, `g_c`, `H_c` | [`Statistics`], [`ClientStatistics`] |
//! | `θ(w)` | `inner_fit`, [`InnerSettings`], [`fit_logistic`] |
//! | `d_SP`, `d_EO`, `ν` | [`Covariance`], [`Violation`], [`Fairness`] |
//! | root, `F` | [`Root`], [`RootWeighting`] |
//! | `P`, `∇P` | `bilevel` |
//! | `w`, `ρ` | [`solve()`], [`OuterSettings`], [`RhoSchedule`], [`project_onto_simplex`] |
//! | Algorithm 1, Definition 1 | [`generate_proxy`], [`test_fair_proxy`] |
//!
//! Start reading at [`solve()`]. This crate does no I/O and reads no clock. Progress goes to an [`Observer`], everything
//! else into the [`Outcome`].
//!
//! ```
//! use equipoise_core::{Client, Fairness, Layout, Round, Rows, Settings, NoopObserver, solve};
//!
//! // Two clients with two features each. The server holds four trusted rows of each.
//! let layout = Layout::two_groups(2, true);
//! let rows = |shift: f64| {
//!     let x: Vec<f64> = (0..80).map(|i| (f64::from(i) * 0.7).sin() + shift).collect();
//!     let sensitive: Vec<bool> = (0..40).map(|i| i % 3 != 0).collect();
//!     let positive: Vec<bool> = (0..40).map(|i| (f64::from(i) * 1.4).sin() + 0.3 * shift > 0.1).collect();
//!     Rows::new(layout.clone(), &x, &sensitive, &positive)
//! };
//! let client = |id: &str, shift: f64| -> Result<Client, equipoise_core::Error> {
//!     let proxy = rows(shift)?;
//!     Ok(Client { id: id.to_owned(), root: proxy.select(&[0, 1, 2, 3]), proxy })
//! };
//! let round = Round::new(vec![client("bank-a", 0.0)?, client("bank-b", 0.4)?])?;
//! let outcome = solve(&round, &Settings::new(Fairness::SP).validate()?, &mut NoopObserver)?;
//! assert!((outcome.weights().iter().sum::<f64>() - 1.0).abs() < 1e-9);
//! # Ok::<(), equipoise_core::Error>(())
//! ```

mod adam;
mod adapt;
mod audit;
mod bilevel;
mod blindness;
mod choice;
mod comparison;
mod defense;
mod error;
mod fairness;
mod figure_warnings;
mod folds;
mod groups;
mod held_out;
mod inner_fit;
mod interval;
mod kernel;
mod linalg;
mod local_fit;
mod logistic;
mod metrics;
mod newton;
mod observer;
mod outcome;
mod packed_rows;
mod proxy;
mod root;
mod round;
mod row_spacing;
mod rows;
mod settings;
mod simplex;
mod solve;
mod statistics;
mod sweep;
#[cfg(test)]
mod test_rows;
mod trusted;
mod verdict;
mod warning;

pub use adapt::{Adaptation, HomeModel, adapt};
pub use audit::{ClientAudit, DistinctRows, LeftOut, OwnModel, audit};
pub use blindness::{Blindness, cost_of_blindness};
pub use choice::Choice;
pub use comparison::{Comparison, Comparisons, compare_with_pooled, compare_with_root_only};
pub use defense::{
    ClientGap, ClientTilt, Counted, Defense, TiltContrast, TiltReason, TiltSummary, fedasl_weights,
    fednolowe_weights,
};
pub use error::Error;
pub use fairness::{Condition, Covariance, Criterion, Fairness, Violation};
pub use figure_warnings::warn_if_no_better_than_constant;
pub use groups::{Groups, MAX_GROUPS};
pub use inner_fit::{FitEnd, InnerSettings, InnerSolver, fit_logistic, fit_weighted_logistic};
pub use interval::{
    Auc, Count, Estimate, Location, WorstGap, balanced_accuracy, calibration, normal_cdf,
    paired_mean, rate_difference, rate_ratio, rows_per_group, rows_to_exclude, worst_ratio,
};
pub use local_fit::{LocalFit, LocalFits};
pub use metrics::{Gap, Gaps, GroupMetrics, Metrics, is_selected};
pub use observer::{NoopObserver, Observer, Progress};
pub use outcome::{About, ClientOutcome, Counts, Outcome, Overlap, Termination, TracePoint};
pub use packed_rows::{ClientPacker, PackedClient, PackedPartition, PackedRows, SEGMENT_ROWS};
pub use proxy::{
    ClientData, Closeness, Distances, EncodedColumn, EncodedColumns, FEW_DATA_ROWS, FairProxyTest,
    GeneratedProxy, MembershipAttack, NoisyRelease, Privacy, PrivacyStatement, ProxyGenerator,
    ProxyModels, ProxySettings, ProxySolver, ProxyStart, ProxySummary, Release, Separation,
    SmallestCell, attack_membership, check_fairness_is_measurable, cross_validate, epsilon_of,
    generate_proxy, measure_closeness, random_halves, rho_of, smallest_cell, test_fair_proxy,
};
pub use root::{Root, RootWeighting};
pub use round::{Client, Round};
pub use row_spacing::{SpacedRows, first_spaced};
pub use rows::{Layout, MAX_ABS_VALUE, Rows};
pub use settings::{CheckedSettings, OuterSettings, OuterSolver, Profile, RhoSchedule, Settings};
pub use simplex::project_onto_simplex;
pub use solve::solve;
pub use statistics::{ClientStatistics, Order, Statistics};
pub use sweep::{SweepPoint, can_sweep, sweep};
pub use verdict::{Judgement, Requirement, Requirements, Verdict, describe_verdict};
pub use warning::{TableRole, Warning, WarningCode, sort_by_importance};
