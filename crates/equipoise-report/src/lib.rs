//! Figures in, one self-contained HTML page out.
//!
//! Two layers. The lower one is a small set of blocks: a [`Page`] has [`Section`]s, a section has
//! [`Block`]s (paragraphs, notices, tiles, tables, charts), and [`Page::render`] writes them. The upper one,
//! [`OutcomeReport`], arranges what is known about one outcome into such a page, for a reader who audits
//! and does not program.
//!
//! What holds for every page:
//! - it asks for nothing: no script, font, image or style from elsewhere, and a policy in its head that
//!   forbids the browser to fetch any;
//! - all text is escaped on its way in, in one place (`markup.rs`); what is not escaped can only be a
//!   constant of the program;
//! - every chart says in a sentence what it shows and carries its numbers as a table;
//! - nothing is computed here but positions on paper: figures come in and are formatted. What has no
//!   value, or none that is finite, is shown as "–".

mod block;
mod chart;
mod convergence;
mod format;
mod markdown;
mod markup;
mod outcome_report;
mod page;
mod table;

pub use block::{Block, Figure, NoticeKind};
pub use chart::{
    Axis, Bar, Bars, Chart, ChartKind, GroupedBars, Heatmap, Lines, Marker, Point, Quantity,
    Reference, Scatter, ScatterSeries, Series,
};
pub use convergence::Convergence;
pub use format::Format;
pub use markup::{Attributes, Markup};
pub use outcome_report::{Measured, OutcomeReport, termination_label};
pub use page::{Page, Section};
pub use table::{Align, Cell, Column, Table};

/// The style sheet of every page: for pages that are served, so that all of ours look alike.
pub const STYLE: &str = include_str!("style.css");
