//! The pages of a round as HTML: views in, text out. Nothing is looked up here, and all text is escaped by the
//! report's writer.
//!
//! Every page is whole without scripts; `round.js` only keeps it up to date.

mod confirmation;
mod coordinator;
mod frame;
mod index;
mod login;
mod participation;
mod progress;
mod refusal;
mod results;
mod round;
mod steps;
mod time;
mod view;

pub(crate) use confirmation::confirmation;
pub(crate) use coordinator::coordinator;
pub(crate) use index::index;
pub(crate) use login::login;
pub(crate) use refusal::refusal;
pub(crate) use round::round;
pub(crate) use view::{
    Action, ClientView, PublishedFile, RefusedUpload, RoundView, SubmissionView,
};

/// What pages of rounds have beside the report's style.
pub(crate) const STYLE: &str = include_str!("pages/round.css");
/// Keeps a page up to date.
pub(crate) const SCRIPT: &str = include_str!("pages/round.js");
