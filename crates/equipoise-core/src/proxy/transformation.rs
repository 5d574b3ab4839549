//! Optimised pre-processing (Calmon et al., 2017): a randomised mapping of discretised features and labels that makes the
//! labels of all groups equally often positive, and otherwise distorts the data as little as possible.
//!
//! 1. Rows become cells: some columns, the most informative about the label, in a few bins each (`cells`).
//! 2. A linear program finds, for each cell, label and group, the probabilities of another cell and label (`mapping`).
//! 3. Every row is mapped at random by these, and a row is sampled for its new cell (`cell_rows`), so no private row is
//!    copied. The columns that are not in the cells are sampled as well, to fit the cell, and the row's own group and label.
//! 4. The proxy's model is fitted to the new rows. If its decisions on the client's data are not fair, the linear program is solved again with
//!    other rates of labels (`aims`).
//!
//! As in the paper, the criterion is statistical parity, and no other.
//!
//! The paper also limits by how much each person may be distorted; here, a row may move by at most one bin of one column. Its limit on
//! the change of the distribution is a penalty here, so that there is always a solution.

mod aims;
mod cell_rows;
mod cells;
mod mapping;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::blocks::scores;
use super::on_data::OnData;
use super::own_model::DATA_RIDGE;
use super::target::{Goal, Rates, worst_gap};
use super::thresholds::{check_size, occupied_groups};
use super::{ClientData, GeneratedProxy, ProxySettings, ProxyStart, ProxySummary};
use crate::error::Error;
use crate::fairness::Condition;
use crate::inner_fit::{FitPoint, InnerProblem, InnerSettings, fit_logistic};
use crate::observer::{Observer, Progress, report};
use crate::rows::Rows;
use aims::Aims;
use cell_rows::CellRows;
use cells::Cells;
use mapping::{Destination, Mapping, MappingProblem, Source};

/// Total variation distance between the distributions of cell and label, before and after, up to which there is no reason
/// to move rows.
const MAX_SHIFT: f64 = 0.05;

/// Bins, in total, by which a row may move.
const MAX_DISTANCE: usize = 1;

/// Tries at most. The fairest is taken.
const MAX_TRIES: usize = 8;

/// Stages that an observer hears of: the model of the data, and each try.
const STAGES: usize = 1 + MAX_TRIES;

/// Generates a proxy of `data`, whose settings and cells have been checked.
pub(super) fn generate(
    data: &ClientData<'_>,
    settings: &ProxySettings,
    observer: &mut dyn Observer,
) -> Result<GeneratedProxy, Error> {
    check_supported(settings)?;
    let (rows, columns) = (data.rows, &data.columns);
    let n_rows = settings.rows.unwrap_or(rows.len());
    check_size(rows.layout(), occupied_groups(rows), n_rows)?;
    let on_data = OnData::new(rows, settings.fairness)?;
    let mut reached = |done: usize, (objective, violation): (f64, f64)| {
        let (of, rho, weights) = (STAGES, 0.0, &[][..]);
        report(observer, Progress { done, of, objective, violation, rho, weights })
    };
    let problem = InnerProblem { rows: &on_data.packed, weights: &[1.0], ridge: DATA_RIDGE };
    let tolerance = InnerSettings { tolerance: 1e-9, ..InnerSettings::default() };
    let start_theta = problem.fit(FitPoint::origin(&on_data.packed)?, &tolerance)?.point.theta;
    reached(1, on_data.measure(&start_theta)?)?;

    let cells = Cells::of(rows, columns);
    let goal = Goal::new(rows, &scores(rows, &start_theta), settings);
    let mut aims = Aims::new(rows, &cells, &goal, settings.remaining_gap);
    let sampler = CellRows::of(rows, &cells)?;
    // What remains of the gap on purpose, and what one person more or less changes.
    let small_enough = settings.remaining_gap.abs()
        * worst_gap(rows, &start_theta, settings.fairness)
        + 1.0 / fewest_rows(rows) as f64;
    let mut fairest: Option<(f64, Rows, Vec<f64>)> = None;
    let mut tries = 0;
    while tries < MAX_TRIES && fairest.as_ref().is_none_or(|(gap, ..)| *gap > small_enough) {
        let mapping = mapping_problem(rows, &cells, &aims).solve()?;
        let proxy = transform(rows, &cells, &sampler, &mapping, n_rows, settings.seed)?;
        let theta = fit_logistic(&proxy, settings.lambda, &tolerance)?;
        tries += 1;
        reached(1 + tries, on_data.measure(&theta)?)?;
        aims.correct(&Rates::of(rows, &scores(rows, &theta), 0.0));
        let gap = worst_gap(rows, &theta, settings.fairness);
        if fairest.as_ref().is_none_or(|(lowest, ..)| gap < *lowest) {
            fairest = Some((gap, proxy, theta));
        }
    }
    let Some((_, proxy, theta)) = fairest else {
        return Err(Error::Input("the transformation made no proxy".to_owned()));
    };
    let summary = on_data.summarise(&proxy, theta, start_theta, settings)?;
    reached(STAGES, (summary.loss, summary.violation))?;
    let summary = ProxySummary { steps: tries, ..summary };
    Ok(GeneratedProxy { rows: proxy, summary, privacy: None })
}

/// Rows of the smallest group that has any.
fn fewest_rows(rows: &Rows) -> usize {
    let counts = rows.cell_counts().into_iter().map(|[negatives, positives]| negatives + positives);
    counts.filter(|n| *n > 0).min().unwrap_or(1)
}

fn check_supported(settings: &ProxySettings) -> Result<(), Error> {
    if settings.start != ProxyStart::Smoothed {
        return Err(Error::Input(
            "the generator `transformation` samples its rows and cannot start from the data"
                .to_owned(),
        ));
    }
    if settings.fairness.conditions().any(|(condition, _)| condition != Condition::All) {
        return Err(Error::Input(
            "the generator `transformation` knows statistical parity only: choose the fairness sp, or another generator"
                .to_owned(),
        ));
    }
    Ok(())
}

/// The linear program of these rows.
fn mapping_problem(rows: &Rows, cells: &Cells, aims: &Aims) -> MappingProblem {
    let n_groups = rows.layout().groups.len();
    let mut counts = vec![0usize; 2 * cells.len() * n_groups];
    for (i, &cell) in cells.of_rows().iter().enumerate() {
        counts[Source { cell, positive: rows.is_positive(i), group: rows.group(i) }
            .index(n_groups)] += 1;
    }
    MappingProblem {
        n_groups,
        shares: counts.iter().map(|&n| n as f64 / rows.len() as f64).collect(),
        limits: aims.limits(),
        distances: cells.distances(),
        max_distance: MAX_DISTANCE,
        max_shift: MAX_SHIFT,
    }
}

/// `n_rows` rows, evenly taken from `rows` and mapped at random.
fn transform(
    rows: &Rows,
    cells: &Cells,
    sampler: &CellRows,
    mapping: &Mapping,
    n_rows: usize,
    seed: u64,
) -> Result<Rows, Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut x, mut groups, mut positive) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..n_rows {
        let i = (row as u128 * rows.len() as u128 / n_rows as u128) as usize;
        let source = Source {
            cell: cells.of_rows()[i],
            positive: rows.is_positive(i),
            group: rows.group(i),
        };
        let Destination { cell, positive: label } = mapping.draw(source, rng.random());
        sampler.sample(cell, source, &mut rng, &mut x);
        groups.push(source.group as u8);
        positive.push(label);
    }
    Rows::new(rows.layout().clone(), &x, &groups, &positive)
}

#[cfg(test)]
mod tests;
