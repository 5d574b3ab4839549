//! The terms used on the page.

use equipoise_core::Defense;

use crate::block::Block;
use crate::page::Section;
use crate::table::{Cell, Column, Table};

const TERMS: [(&str, &str); 22] = [
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
    (
        "Reliable",
        "A client is reliable if the model of its proxy is fair and useful. That is no statement about its intent.",
    ),
    (
        "Counted",
        "In full: as much as the root and all proxies together allow. Less: for the reason given. Not: less than a \
         tenth of an equal share of the weight.",
    ),
    ("Mean model", "The average of the models fitted to each proxy alone."),
    ("Defense", "A method that turns proxies and root into a model."),
    ("Selected", "A row is selected if the model decides in its favour."),
    ("Reference group", "The group that the schema names for others to be compared with."),
    (
        "Gap",
        "The difference between the rates of two groups, in percentage points (pp): 10\u{202f}pp are ten more people in every \
         hundred. With more groups, the largest difference of all pairs.",
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
        "AUC",
        "How well a model ranks people: the probability that someone with a positive label gets a higher score than someone \
         with a negative one. 1 is perfect, and 0.5 is chance.",
    ),
    (
        "Calibration",
        "The mean predicted probability minus the share of positive labels: 0 is ideal, and above 0 the model is too \
         optimistic.",
    ),
    (
        "Loss",
        "How badly a model's probabilities predict the labels: 0 is perfect, and 0.69 is a coin toss.",
    ),
    (
        "Violation",
        "A smooth stand-in for the gap that the solver can lower. The target is 0; a violation of 0 does not guarantee \
         a gap of exactly 0.",
    ),
    (RHO, "The penalty on a violation. It grows from stage to stage."),
];

/// Only bilevel has it.
const RHO: &str = "ρ";

pub(super) fn section(defense: Defense) -> Section {
    let terms = TERMS.iter().filter(|(term, _)| *term != RHO || defense == Defense::Bilevel);
    Section {
        heading: "Glossary".to_owned(),
        lead: String::new(),
        blocks: vec![Block::Table(Table {
            caption: "Terms used on this page".to_owned(),
            columns: vec![Column::text("Term"), Column::text("Meaning")],
            rows: terms
                .map(|(term, meaning)| vec![Cell::text(*term), Cell::text(*meaning)])
                .collect(),
        })],
    }
}
