//! Why a client has its weight, in one sentence.

use super::left_out::{LeftOut, NOTHING_LEFT};
use super::own_model::OwnFit;
use crate::defense::Defense;
use crate::outcome::{ClientOutcome, Outcome};
use crate::verdict::group_digits;

/// Weights up to this are negligible.
const NEGLIGIBLE: f64 = 0.01;

/// Changes of the loss and of a gap below these are not worth a sentence.
const SMALL_LOSS: f64 = 5e-4;
const SMALL_GAP: f64 = 5e-3;

/// A sentence for each client.
pub(super) fn sentences(
    outcome: &Outcome,
    fits: &[Option<OwnFit>],
    left_out: &[Option<LeftOut>],
) -> Vec<String> {
    let losses: Vec<f64> = fits.iter().flatten().map(|fit| fit.proxy_loss).collect();
    let clients = outcome.clients.iter().zip(fits).zip(left_out);
    let sentence = |((client, fit), left_out): ((_, &Option<OwnFit>), &Option<LeftOut>)| {
        let client: &ClientOutcome = client;
        let own_loss = fit.as_ref().map(|fit| fit.proxy_loss);
        match outcome.settings.defense {
            Defense::RootOnly => "This defense does not use the proxies.".to_owned(),
            Defense::Pooled => format!(
                "This defense counts every row once, and the proxy has {} of all {} rows.",
                group_digits(client.proxy_rows),
                group_digits(outcome.clients.iter().map(|client| client.proxy_rows).sum())
            ),
            Defense::Fedasl => by_loss(own_loss, &losses, "near the median", median),
            Defense::Fednolowe => by_loss(own_loss, &losses, "low", mean),
            Defense::Tilt => {
                outcome.reason(client).unwrap_or_else(|| "Its model cannot be read.".to_owned())
            }
            Defense::Bilevel => by_mixture(client.weight, left_out.as_ref()),
        }
    };
    clients.map(sentence).collect()
}

/// For defenses that turn losses into weights.
fn by_loss(own: Option<f64>, all: &[f64], favoured: &str, middle: fn(&[f64]) -> f64) -> String {
    let rule = format!("This defense favours clients whose own loss is {favoured}");
    let name = if favoured == "low" { "mean" } else { "median" };
    match own {
        Some(own) => format!("{rule}: it is {own:.3} here, and the {name} is {:.3}.", middle(all)),
        None => format!("{rule}."),
    }
}

/// For learned weights.
fn by_mixture(weight: f64, left_out: Option<&LeftOut>) -> String {
    match left_out {
        _ if weight >= 1.0 - NOTHING_LEFT => {
            "It is the only client with weight: the solver found no mixture that does better on the root."
                .to_owned()
        }
        _ if weight <= NEGLIGIBLE => {
            "The solver found no mixture with more weight for it that does better on the root."
                .to_owned()
        }
        None => "It is part of the mixture that the solver found best on the root.".to_owned(),
        Some(left_out) => with_weight(left_out),
    }
}

fn with_weight(left_out: &LeftOut) -> String {
    let gap = left_out.gap.unwrap_or(0.0);
    let loss = describe(left_out.loss, SMALL_LOSS, "raise the loss", "lower the loss", 4);
    let gap = describe(gap, SMALL_GAP, "widen the gap", "narrow the gap", 3);
    match (loss, gap) {
        (None, None) => "Leaving it out would hardly change the model on the root.".to_owned(),
        (Some(one), None) | (None, Some(one)) => {
            format!("Leaving it out would {one} on the root.")
        }
        (Some(loss), Some(gap)) => {
            format!("Leaving it out would {loss} and {gap} on the root.")
        }
    }
}

/// A change in words, unless it is small.
fn describe(change: f64, small: f64, up: &str, down: &str, digits: usize) -> Option<String> {
    let verb = if change > 0.0 { up } else { down };
    (change.abs() >= small).then(|| format!("{verb} by {:.digits$}", change.abs()))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn median(values: &[f64]) -> f64 {
    crate::defense::median(values)
}
