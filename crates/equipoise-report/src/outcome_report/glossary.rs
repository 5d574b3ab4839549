//! The terms used on the page.

use crate::block::Block;
use crate::page::Section;
use crate::table::{Cell, Column, Table};

const TERMS: [(&str, &str); 18] = [
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
    ("Reference group", "The group that the schema names for others to be compared with."),
    (
        "Gap",
        "The largest difference between the rates of two groups. 10\u{202f}% means ten more people in every hundred.",
    ),
    ("Statistical parity", "All groups are selected equally often."),
    ("Equal opportunity", "The same, counting only people whose label is positive."),
    ("Predictive equality", "The same, counting only people whose label is negative."),
    (
        "80\u{202f}% rule",
        "The group that is selected least often must be selected at least 80\u{202f}% as often as the one that is \
         selected most often.",
    ),
    (
        "Confidence interval",
        "The range in which a figure lies with 95\u{202f}% confidence, given how few rows it was measured on.",
    ),
    (
        "Loss",
        "How badly a model's probabilities predict the labels: 0 is perfect, and 0.69 is a coin toss.",
    ),
    (
        "Drift",
        "How far the mean of a feature is from its mean on the root, in typical standard deviations of that feature.",
    ),
    (
        "Violation",
        "A smooth stand-in for the gap that the solver can lower. The target is 0; a violation of 0 does not guarantee \
         a gap of exactly 0.",
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
