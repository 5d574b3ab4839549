//! The terms used on the page.

use crate::block::Block;
use crate::page::Section;
use crate::table::{Cell, Column, Table};

const TERMS: [(&str, &str); 12] = [
    ("Client", "An organisation that takes part without sharing its own rows."),
    ("Proxy", "The dataset that a client sends, once, in place of its own rows."),
    (
        "Root",
        "A small trusted sample that the server holds for each client and uses to judge models.",
    ),
    ("Round", "One collection of proxies, one solve, one model."),
    (
        "Weight",
        "The share of a client's proxy in the model. Weights are at least 0 and add up to 1.",
    ),
    ("Defense", "A method that turns proxies and root into a model."),
    ("Selected", "A row is selected if the model decides in its favour."),
    (
        "Privileged group",
        "The group that the schema names as privileged. All other rows form the other group.",
    ),
    (
        "SPD",
        "Statistical parity difference: how much more often the privileged group is selected than the \
         other. 0 means equally often; 0.1 means ten more in every hundred.",
    ),
    ("EOD", "Equal opportunity difference: the same, counting only rows whose label is positive."),
    (
        "Violation",
        "A smooth stand-in for SPD or EOD that the solver can lower: how scores vary together with \
         group membership on the root. The target is 0; a violation of 0 does not guarantee an SPD of \
         exactly 0.",
    ),
    ("ρ", "The penalty on a violation. It grows from stage to stage."),
];

pub(super) fn section() -> Section {
    Section {
        heading: "Glossary".to_owned(),
        lead: String::new(),
        blocks: vec![Block::Table(Table {
            caption: "Terms used on this page".to_owned(),
            columns: vec![Column::text("Term"), Column::text("Meaning")],
            rows: TERMS.map(|(term, meaning)| vec![Cell::text(term), Cell::text(meaning)]).to_vec(),
        })],
    }
}
