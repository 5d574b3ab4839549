//! Makes an outcome of a round ([`defend`](defend::defend)), and renders results as one self-contained HTML page.
//!
//! Rendering has two layers. In the lower one, a [`Page`] has [`Section`]s, a section has [`Block`]s
//! (paragraphs, notices, key figures, cards, tables, matrices, charts), and [`Page::render`] writes them. The upper one,
//! [`OutcomePage`], arranges one outcome into such a page for an auditor who is not a programmer.
//!
//! Every page
//! - loads nothing: no external script, font, image or style, and its content security policy forbids any;
//! - escapes all text, in `markup.rs`; only constants of this program are written verbatim;
//! - describes every chart in a sentence and lists its numbers in a table;
//! - computes nothing but the layout. A missing or non-finite value is shown as "–".

mod block;
mod chart;
pub mod defend;
mod format;
mod markup;
mod matrix;
mod outcome_report;
mod page;
mod table;

pub use block::{Answer, Block, Card, Fact, Figure, NoticeKind, Tone, write_value};
pub use chart::{
    Axis, Bar, Bars, Chart, ChartKind, GroupedBars, Heatmap, Point, Quantity, Reference, Scatter,
    ScatterSeries,
};
pub use format::{Format, count};
pub use markup::{Attributes, Markup};
pub use matrix::{Matrix, MatrixCell, MatrixRow};
pub use outcome_report::{
    Measured, OutcomePage, answer, groups_text, requirement_text, root_figures, sentence,
};
pub use page::{Page, Section};
pub use table::{Cell, Column, Table};

/// The style sheet of every page. The server serves it so that its own pages look the same.
pub const STYLE: &str = include_str!("style.css");
