//! Optimised pre-processing (Calmon et al., 2017): a randomised mapping of discretised features and labels that makes the
//! labels of all groups equally often positive, and otherwise distorts the data as little as possible.
//!
//! 1. Rows become cells: some columns, the most informative about the label, in a few bins each (`cells`).
//! 2. A linear program finds, for each cell, label and group, the probabilities of another cell and label (`mapping`).
//! 3. Every row is mapped at random by these, and a row is sampled for its new cell (`cell_rows`), so no private row is
//!    copied. The columns that are not in the cells are sampled as well, to fit the cell, and the row's own group and label.
//!
//! The paper also limits by how much each person may be distorted; here, a row may move by at most one bin of one column.
//! The proxy's model is whatever is fitted to the new rows. Equal rates of labels make its rates of decisions more equal,
//! not exactly equal.

mod cell_rows;
mod cells;
mod mapping;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::on_data::OnData;
use super::target::DATA_RIDGE;
use super::thresholds::{check_size, occupied_groups};
use super::{ClientData, GeneratedProxy, ProxySettings, ProxyStart, ProxySummary};
use crate::error::Error;
use crate::fairness::{Criterion, Fairness};
use crate::inner_fit::{FitPoint, InnerProblem, InnerSettings, fit_logistic};
use crate::observer::{Observer, Progress, report};
use crate::rows::Rows;
use cell_rows::CellRows;
use cells::Cells;
use mapping::{Destination, Mapping, MappingProblem, Source};

/// Total variation distance between the distributions of cell and label, before and after, up to which there is no reason
/// to move rows.
const MAX_SHIFT: f64 = 0.05;

/// Bins, in total, by which a row may move.
const MAX_DISTANCE: usize = 1;

/// Stages that an observer hears of.
const STAGES: usize = 3;

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
    let mapping = mapping_problem(rows, &cells, settings).solve()?;
    reached(2, on_data.measure(&start_theta)?)?;
    let proxy = transform(rows, &cells, &mapping, n_rows, settings.seed)?;

    let theta = fit_logistic(&proxy, settings.lambda, &tolerance)?;
    let summary = on_data.summarise(&proxy, theta, start_theta, settings)?;
    reached(STAGES, (summary.loss, summary.violation))?;
    let summary = ProxySummary { steps: 1, ..summary };
    Ok(GeneratedProxy { rows: proxy, summary, privacy: None })
}

fn check_supported(settings: &ProxySettings) -> Result<(), Error> {
    if settings.fairness != Fairness::from(Criterion::Sp) {
        return Err(Error::Input(format!(
            "the generator `transformation` supports statistical parity (sp) only, not {}: it equalises the rates of \
             positive labels, and rates among rows of the same label are equal before it starts",
            settings.fairness
        )));
    }
    if settings.start != ProxyStart::Smoothed {
        return Err(Error::Input(
            "the generator `transformation` samples its rows and cannot start from the data"
                .to_owned(),
        ));
    }
    Ok(())
}

/// The linear program of these rows.
fn mapping_problem(rows: &Rows, cells: &Cells, settings: &ProxySettings) -> MappingProblem {
    let n_groups = rows.layout().groups.len();
    let mut counts = vec![0usize; 2 * cells.len() * n_groups];
    for (i, &cell) in cells.of_rows().iter().enumerate() {
        counts[Source { cell, positive: rows.is_positive(i), group: rows.group(i) }
            .index(n_groups)] += 1;
    }
    let shares: Vec<f64> = counts.iter().map(|&n| n as f64 / rows.len() as f64).collect();
    let rate = |[negative, positive]: [usize; 2]| {
        positive as f64 / ((negative + positive) as f64).max(1.0)
    };
    let by_group = rows.cell_counts();
    let all = by_group.iter().fold([0, 0], |sum, cell| [sum[0] + cell[0], sum[1] + cell[1]]);
    // The share of every group's distance from the common rate that may remain.
    let remaining = settings.remaining_gap.max(0.0);
    let max_gaps = by_group.iter().map(|&cell| remaining * (rate(cell) - rate(all)).abs());
    MappingProblem {
        n_groups,
        shares,
        rate: rate(all),
        max_gaps: max_gaps.collect(),
        distances: cells.distances(),
        max_distance: MAX_DISTANCE,
        max_shift: MAX_SHIFT,
    }
}

/// `n_rows` rows, evenly taken from `rows` and mapped at random.
fn transform(
    rows: &Rows,
    cells: &Cells,
    mapping: &Mapping,
    n_rows: usize,
    seed: u64,
) -> Result<Rows, Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let sampler = CellRows::of(rows, cells)?;
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
