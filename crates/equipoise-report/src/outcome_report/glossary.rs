//! The words of the page.

use crate::block::Block;
use crate::page::Section;
use crate::table::{Cell, Column, Table};

const WORDS: [(&str, &str); 12] = [
    ("Client", "An organisation that takes part without sharing its own rows."),
    ("Proxy", "The dataset that a client sends, once, in place of its own rows."),
    ("Root", "A small trusted sample that the server holds for each client, and judges models by."),
    ("Round", "One collection of proxies, one solve, one model."),
    (
        "Weight",
        "How much a client's proxy counts in the model. Weights are at least 0 and add up to 1.",
    ),
    ("Defense", "A way to get from proxies and root to a model."),
    ("Selected", "Said of a row that the model decides in favour of."),
    (
        "Privileged group",
        "The group that the schema names as privileged. All other rows form the other group.",
    ),
    (
        "SPD",
        "Statistical parity difference: how much more often the privileged group is selected than the \
         other. 0 is equal; 0.1 means ten more of every hundred.",
    ),
    ("EOD", "Equal opportunity difference: the same, counting only rows whose label is positive."),
    (
        "Violation",
        "A smooth stand-in for SPD or EOD that the solver can lower: how scores vary together with \
         group membership on the root. 0 is what is asked for; a violation of 0 does not promise an SPD \
         of exactly 0.",
    ),
    ("ρ", "How much a violation costs the solver. It grows from stage to stage."),
];

pub(super) fn section() -> Section {
    Section {
        heading: "Words used here".to_owned(),
        lead: String::new(),
        blocks: vec![Block::Table(Table {
            caption: "Glossary".to_owned(),
            columns: vec![Column::text("Word"), Column::text("Meaning")],
            rows: WORDS.map(|(word, meaning)| vec![Cell::text(word), Cell::text(meaning)]).to_vec(),
        })],
    }
}
