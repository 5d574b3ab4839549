//! What a round does: admits clients, receives and accepts their files, closes, solves and publishes.
//!
//! [`Rounds`] is the only way in. Each rule stands in one file, and nothing here knows about HTTP:
//!
//! | file | rule |
//! | --- | --- |
//! | `authentication` | who may act: clients by signature, the coordinator by token |
//! | `admission` | which file a round accepts, and when |
//! | `upload` | the pipeline of one upload, from its first byte to the commit |
//! | `lifecycle` | when a round opens, closes or ends, and who can do that |
//! | `solver`, `results`, `publication` | the solve of a closed round, its files, and how they are published |
//! | `published_files`, `summary`, `history` | what the public and the coordinator can see |

mod action;
mod admission;
mod arrivals;
mod authentication;
mod client_locks;
mod counters;
mod history;
mod hub;
mod lifecycle;
mod publication;
mod published_files;
mod refused_uploads;
mod results;
mod rounds;
mod solver;
mod summary;
mod upload;

pub(crate) use action::Action;
pub(crate) use counters::Counters;
pub(crate) use history::History;
pub(crate) use lifecycle::NO_REASON;
pub(crate) use refused_uploads::RefusedUpload;
pub(crate) use results::{SolveInputs, about, submission_warnings, write_results};
pub use rounds::Rounds;
pub(crate) use summary::PublishedFile;
