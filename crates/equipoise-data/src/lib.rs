//! Reads and writes files: schemas, tables of raw rows, proxies, folders of clients, models, outcomes.
//!
//! Every file is checked here and becomes a checked type: a consistent [`Schema`], rows that are finite and
//! of one length ([`equipoise_core::Rows`]), a [`Model`] that fits its schema. An [`Error`] says what is wrong, in
//! which file, row and column, and what to do about it.
//!
//! Start with [`Schema`], then [`read_rows`] (raw rows), [`read_proxy`] and [`visit_proxy`] (encoded rows) and
//! [`load_round`] (a folder of proxies, and trusted rows). Files are written by [`write_atomically`] and
//! [`OutputFolder`], so that a reader never sees half a file, and [`Staged`] keeps an interrupted program from leaving
//! one behind. No maths, network or printing here.

mod digest;
mod distinct;
mod distinct_row_counter;
mod error;
mod folder;
mod model;
mod onnx;
pub mod outcome;
mod output_file;
mod output_folder;
mod output_table;
mod overlap;
mod partition;
mod proxy;
mod raw_rows;
mod read_limits;
mod round;
mod row_sketch;
mod schema;
mod staging;
mod stamp;
mod table;
mod table_columns;
mod trusted;
mod value;
mod warning;
mod wire;

pub use digest::{Digest, DigestProblem, Hasher, hex};
pub use distinct_row_counter::DistinctRowCounter;
pub use error::{BadCells, Error, Purpose, TableProblem};
pub use folder::{client_of, read_folder};
pub use model::{Model, Prediction};
pub use output_file::{check_output, write_atomically, write_json};
pub use output_folder::OutputFolder;
pub use output_table::{ColumnValues, OutputColumn, csv_bytes, record_batch, write_table};
pub use overlap::Overlaps;
pub use partition::{ClientSummary, PackedParts, PartSummary, ProxyPart, pack_parts};
pub use proxy::{
    OpenProxy, ProxyOrigin, ProxyWriter, check_origins, proxy_columns, read_proxy, read_proxy_of,
    visit_proxy, write_proxy, write_proxy_of,
};
pub use raw_rows::{
    EncodedTable, RowNote, RowsToScore, UnscorableRow, read_rows, read_rows_of, read_rows_to_score,
};
pub use read_limits::ReadLimits;
pub use round::{Absent, LoadedRound, load_round, load_round_with, load_summarised, load_tables};
pub use schema::{
    AgreedRoles, ColumnKind, DEFAULT_MIN_ROWS, DescribeOptions, Described, DescribedColumn,
    Description, Encoding, Feature, Fill, Group, GroupRows, InferOptions, Inferred, Label,
    LabelValues, Moments, RoleColumn, Schema, SchemaProblem, Sensitive, Unknown, ValueRows,
    agree_on_roles, describe, infer, infer_union, merge,
};
pub use staging::{NewFolders, Staged, remove_staged, uninterrupted};
pub use table::{Cell, Delimiter, Table, TableFile, TableKind, open_encoded_table, open_table};
pub use table_columns::read_columns;
pub use trusted::{CLIENT_COLUMN, Trusted, TrustedRows, names_clients, trusted_rows_by_client};
pub use wire::{WireReader, WireWriter};
