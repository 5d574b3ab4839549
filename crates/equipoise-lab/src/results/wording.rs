//! Words that the sections share.

use equipoise_core::{Criterion, Defense};
use equipoise_report::{Cell, Format};

use crate::dataset::Preprocessing;
use crate::experiment::Variant;
use crate::scenario::Generator;
use crate::source::dataset_title;

/// "|SPD|" or "|EOD|".
pub(super) fn measure(fairness: Criterion) -> &'static str {
    if fairness == Criterion::Eo { "|EOD|" } else { "|SPD|" }
}

/// "Law School, |SPD|".
pub(super) fn place_words((dataset, fairness): (&str, Criterion)) -> String {
    format!("{}, {}", dataset_title(dataset), measure(fairness))
}

/// "20 %", "0.25 %".
pub(super) fn share(share: f64) -> String {
    let percent = 100.0 * share;
    let decimals = (0..4).find(|&d| {
        let scaled = percent * 10f64.powi(d);
        (scaled - scaled.round()).abs() < 1e-6
    });
    Format::Percent(decimals.unwrap_or(4) as usize).write(Some(share))
}

/// What is run, as the paper's tables call it where they do.
pub(super) fn variant_words(variant: Variant) -> &'static str {
    match variant {
        Variant::Defense(Defense::Bilevel) => "the\u{a0}method",
        Variant::BilevelWithoutPenalty => "the\u{a0}method, ρ\u{a0}=\u{a0}0",
        Variant::Defense(defense) => defense.title(),
    }
}

pub(super) fn preprocessing_words(preprocessing: Preprocessing) -> &'static str {
    match preprocessing {
        Preprocessing::Paper => {
            "numbers standardised, 0/1 columns kept, codes taken as numbers, no intercept (the paper's way)"
        }
        Preprocessing::Intercept => {
            "numbers standardised, 0/1 columns kept, codes taken as numbers, and an intercept"
        }
        Preprocessing::OneHot => "numbers standardised, codes as one-hot columns, and an intercept",
    }
}

pub(super) fn generator_words(generator: Generator) -> &'static str {
    match generator {
        Generator::Adam => "by Adam from the client's own rows, as the paper's figures suggest",
        Generator::Smoothed => "as `equipoise proxy` makes them, from a smoothed model of the data",
    }
}

/// Ours minus theirs, with its sign; a dash where they have none.
pub(super) fn difference(ours: f64, theirs: Option<f64>, decimals: usize) -> Cell {
    let Some(value) = theirs.map(|theirs| ours - theirs) else {
        return Cell::number(None, Format::Auto);
    };
    let text = Format::Fixed(decimals).write(Some(value));
    let is_zero = !text.bytes().any(|b| (b'1'..=b'9').contains(&b));
    let sign = if value > 0.0 && !is_zero { "+" } else { "" };
    Cell { number: Some(value), ..Cell::text(format!("{sign}{text}")) }
}
