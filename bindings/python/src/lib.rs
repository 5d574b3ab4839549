//! The native half of the Python package `equipoise`: conversions, and calls into the other crates.
//!
//! Everything that a user sees is Python, in `python/equipoise`. This module takes and returns plain values: text, lists,
//! tables, JSON documents. No figure is computed here.

mod adapt;
mod command;
mod defense;
mod error;
mod gaps;
mod logistic;
mod model;
mod output;
mod partition;
mod proposal;
mod proxy;
mod remote_round;
mod remote_rows;
mod schema;
mod split;
mod table;
mod task;

#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use super::adapt::adapt;
    #[pymodule_export]
    use super::command::{call, main};
    #[pymodule_export]
    use super::defense::{check_settings, defend, outcome_page, write_outcome};
    #[pymodule_export]
    use super::gaps::gap_figures;
    #[pymodule_export]
    use super::logistic::fit_logistic;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::output::{OutputTable, write_text};
    #[pymodule_export]
    use super::partition::Partition;
    #[pymodule_export]
    use super::proposal::{describe_table, infer_schema, merge_descriptions, parse_description};
    #[pymodule_export]
    use super::proxy::{Proxy, check_proxy, make_proxy, reason_not_to_send, validate_proxy};
    #[pymodule_export]
    use super::remote_round::{claimed_rows, defend_partitions, folder_clients};
    #[pymodule_export]
    use super::schema::Schema;
    #[pymodule_export]
    use super::split::split_rows;

    /// Rows of a client that are packed and summed on their own. Parts of a proxy start at multiples of it.
    #[pymodule_export]
    const SEGMENT_ROWS: usize = equipoise_core::SEGMENT_ROWS;

    /// The version of the package and of the command.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
