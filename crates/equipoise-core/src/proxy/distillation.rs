//! Distillation: a few rows that stand for the whole proxy of `thresholds`.
//!
//! The target model is that of `thresholds`, and so are the rows from which everything here is learnt: a smoothed sample,
//! never the private rows. The distilled rows are a few of it, evenly chosen (`even_choice`) and moved until the gradient of
//! their mean loss equals that of the whole sample all along the path from 0 to the target (`path_match`). A server that starts
//! to fit a model, or mixes it with those of other clients, then sees nearly what the whole proxy would show it. Finally
//! the target is made their exact minimiser (`exact_rows`).
//!
//! All rows have the same weight. A proxy file has no column for weights, and every reader, defense and check counts rows
//! alike; a row that should count twice is two rows. Weights would gain little: a weight is one number, but moving a row has as many as it has features, and
//! the exact model needs only a few. What does count is how many rows all of them stand for, which the file says (`represented_rows`).

mod even_choice;
mod path_match;
mod short_rows;

use super::exact_rows::{ExactRows, make_exact, ridge_gradient};
use super::thresholds::{STAGES, TargetRows, check_size, occupied_groups};
use super::{ClientData, GeneratedProxy, ProxySettings, ProxyStart};
use crate::error::Error;
use crate::inner_fit::ridge;
use crate::observer::{Observer, Progress, report};
use even_choice::choose_evenly;
use path_match::{MOVE_PENALTY, PathGradients, match_path};
use short_rows::shorten;

/// The number of rows by default, unless the data has fewer.
const ROWS: usize = 200;

/// Rows for each coefficient, by default at least: fewer determine a model badly.
const ROWS_PER_COEFFICIENT: usize = 3;

/// Shares of the way from 0 to the target at which gradients are matched.
const PATH: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// Generates a proxy of `data`, whose settings and cells have been checked.
pub(super) fn generate(
    data: &ClientData<'_>,
    settings: &ProxySettings,
    observer: &mut dyn Observer,
) -> Result<GeneratedProxy, Error> {
    if settings.start != ProxyStart::Smoothed {
        return Err(Error::Input(
            "the generator `distillation` can only start from smoothed rows".to_owned(),
        ));
    }
    let data = data.rows;
    let by_default = ROWS.max(ROWS_PER_COEFFICIENT * data.layout().n()).min(data.len());
    let n_rows = settings.rows.unwrap_or(by_default);
    check_size(data.layout(), occupied_groups(data), n_rows)?;
    let mut reached = |done: usize, (objective, violation): (f64, f64)| {
        let (of, rho, weights) = (STAGES, 0.0, &[][..]);
        report(observer, Progress { done, of, objective, violation, rho, weights })
    };
    let whole = TargetRows::of(data, data.len().max(n_rows), settings, &mut reached)?;
    let wanted = PathGradients::of(&whole.rows, path_to(&whole.target));
    let few = choose_evenly(&whole.rows, &whole.target, n_rows);
    let matched = match_path(few, &wanted, whole.model.varying(), MOVE_PENALTY)?;
    let ridge = ridge_gradient(&whole.target, ridge(settings.lambda, whole.target.len()));
    let ExactRows { rows, steps } =
        match shorten(&matched.rows, &whole.rows, &whole.target, &wanted, &ridge)? {
            Some(exact) => exact,
            None => make_exact(matched.rows, &whole.target, &ridge, whole.model.varying())?,
        };
    let distilled = TargetRows { rows, steps: matched.steps + steps, ..whole };
    let (rows, summary) = distilled.finish(settings)?;
    reached(STAGES, (summary.loss, summary.violation))?;
    let represented_rows = Some(data.len() as u64);
    Ok(GeneratedProxy { rows, summary, privacy: None, represented_rows })
}

/// Models from 0 to `target`.
fn path_to(target: &[f64]) -> Vec<Vec<f64>> {
    PATH.iter().map(|share| target.iter().map(|t| share * t).collect()).collect()
}

#[cfg(test)]
mod tests;
