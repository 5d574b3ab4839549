//! The HTML pages of a round, rendered from views. The report's writer escapes all text.
//!
//! Every page is complete without scripts. `round.js` only keeps it up to date.

mod confirmation;
mod coordinator;
mod frame;
mod index;
mod login;
mod numbers;
mod participation;
mod progress;
mod refusal;
mod results;
mod round;
mod steps;
mod terms;
mod time;
mod view;

pub(crate) use confirmation::confirmation;
pub(crate) use coordinator::coordinator;
pub(crate) use index::index;
pub(crate) use login::login;
pub(crate) use refusal::refusal;
pub(crate) use round::round;
pub(crate) use view::RoundView;

/// Styles in addition to the report's.
pub(crate) const STYLE: &str = include_str!("pages/round.css");
/// The script that keeps a page up to date.
pub(crate) const SCRIPT: &str = include_str!("pages/round.js");
