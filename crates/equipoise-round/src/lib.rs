//! A round: one file, sealed submissions, and a key that is never on the mailbox.
//!
//! The coordinator signs an [`Invitation`]. Each client seals its table for it ([`seal`]) and delivers the file in
//! any way. Whoever writes the round's [`RoundFile`] (the mailbox until the round is closed, then the coordinator)
//! checks the client's signature, stores bytes that it cannot read, appends an event and signs a receipt. The
//! coordinator opens and checks the files ([`open_all`]), and publishes what it has made of them with a signed
//! [`Statement`], which anyone can [`verify`] together with the log.
//!
//! Start with [`log`]: a round's life as one state machine. Then [`document`] (what is signed), [`sealed`] and
//! [`content`] (what travels), and [`store`] (what is on disk). No maths and no HTTP server here.

pub mod client;
pub mod content;
pub mod document;
mod error;
pub mod extension;
pub mod invitation;
pub mod key;
pub mod log;
pub mod mailbox;
mod opening;
pub mod order;
mod publish;
mod receive;
pub mod sealed;
pub mod spool;
pub mod store;
mod text;
mod verify;

pub use content::{Content, Exclusion, Fault, Problem};
pub use document::{Document, Kind};
pub use error::{Error, Result};
pub use invitation::{Invitation, Mailbox, Terms, TrustedSample};
pub use key::{Fingerprint, PrivateKey, PublicKey};
pub use log::{Event, Log, Receipt, Refusal, Stage};
pub use opening::{open_all, open_file, read_opened};
pub use order::{Order, Pull, Statement};
pub use publish::{prepare, publish};
pub use receive::{purge, receive};
pub use sealed::{SealingKey, Submission, seal};
pub use store::RoundFile;
pub use text::{Name, printable};
pub use verify::{Files, Verified, verify};
