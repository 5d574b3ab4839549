//! Rows of short numbers, of which a file needs few bytes.
//!
//! Features become multiples of a power of two, about half a standard deviation apart. Those of one column are shifted by half of it, or by ½ if it is above 1, and so
//! are never whole numbers: a row cannot be a copy of an encoded row with a level, or a whole number, in that column.
//!
//! Half of the rows are rounded at a time, and the others move to make up for it (`path_match`). Those nearest to the threshold of the target come last, because
//! they change its gradient most. In the end, one row of each group and label keeps its digits, so that the target stays the exact model
//! (`exact_rows`). If so few cannot do that without moving far, twice as many keep them, and so on.

use super::super::blocks::scores;
use super::super::exact_rows::{ExactRows, loss_gradient, make_exact};
use super::path_match::{MOVE_PENALTY, PathGradients, match_path};
use crate::error::Error;
use crate::linalg::{RangeProjection, norm};
use crate::rows::Rows;
use crate::statistics::triangle;

/// Distance of two numbers of the grid, at most, in standard deviations.
const STEP: f64 = 0.75;

/// The norm of the gradient at the target, at most, if the target is the model of the rows.
const EXACT: f64 = 1e-10;

/// By how much the exact rows may move in the end, in steps of the grid: up to three standard deviations.
const MAX_MOVE: f64 = 4.0;

/// A column whose standard deviation is below this is constant: what varies is rounding.
const CONSTANT: f64 = 1e-7;

/// The rows with short numbers and the exact model `target`; `None` if that needs all digits. `ridge` is the gradient of the ridge at the target,
/// and the grid is chosen by the features of `all`.
pub(super) fn shorten(
    rows: &Rows,
    all: &Rows,
    target: &[f64],
    wanted: &PathGradients,
    ridge: &[f64],
) -> Result<Option<ExactRows>, Error> {
    let grid = Grid::of(all);
    let varying = grid.varying();
    let mut tries = round_by_halves(rows, &grid, target, wanted)?;
    while let Some(HalfRounded { mut rows, left, steps }) = tries.pop() {
        let rest = rest_gradient(&rows, &left, target, ridge);
        let before = rows.select(&left);
        let Ok(exact) = make_exact(before.clone(), target, &rest, &varying) else { continue };
        put(&mut rows, &left, &exact.rows);
        let is_exact = norm(&loss_gradient(&rows, target, ridge)) < EXACT;
        if is_exact && grid.are_close(&before, &exact.rows) {
            return Ok(Some(ExactRows { rows, steps: steps + exact.steps }));
        }
    }
    Ok(None)
}

/// Rows of which some are on the grid, and `left` are not.
struct HalfRounded {
    rows: Rows,
    left: Vec<usize>,
    steps: usize,
}

/// More and more rows on the grid.
fn round_by_halves(
    rows: &Rows,
    grid: &Grid,
    target: &[f64],
    wanted: &PathGradients,
) -> Result<Vec<HalfRounded>, Error> {
    let varying = grid.varying();
    let mut short = rows.clone();
    grid.set_constants(&mut short);
    let mut cells = farthest_first(rows, target);
    let (mut rounded, mut steps, mut all) = (Vec::new(), 0, Vec::new());
    while cells.iter().any(|cell| cell.len() > 1) {
        for cell in &mut cells {
            for i in cell.drain(..cell.len() / 2) {
                grid.round(short.x_mut(i));
                rounded.push(i);
            }
        }
        let left = cells.concat();
        let others = wanted.after(&short.select(&rounded), left.len());
        let penalty = MOVE_PENALTY * rows.len() as f64 / left.len() as f64;
        let moved = match_path(short.select(&left), &others, &varying, penalty)?;
        put(&mut short, &left, &moved.rows);
        steps += moved.steps;
        all.push(HalfRounded { rows: short.clone(), left, steps });
    }
    Ok(all)
}

/// The rows of each group and label, in the order of their distance from the threshold of `theta`.
fn farthest_first(rows: &Rows, theta: &[f64]) -> Vec<Vec<usize>> {
    let mut cells: Vec<Vec<usize>> = vec![Vec::new(); 2 * rows.layout().groups.len()];
    for i in 0..rows.len() {
        cells[2 * rows.group(i) + usize::from(rows.is_positive(i))].push(i);
    }
    let distances: Vec<f64> = scores(rows, theta).iter().map(|score| score.abs()).collect();
    for cell in &mut cells {
        cell.sort_by(|&i, &j| distances[j].total_cmp(&distances[i]));
    }
    cells
}

/// What the ridge and all rows but those at `left` add to the gradient of the mean loss of these, at the same scale.
fn rest_gradient(rows: &Rows, left: &[usize], target: &[f64], ridge: &[f64]) -> Vec<f64> {
    let mut is_left = vec![false; rows.len()];
    left.iter().for_each(|&i| is_left[i] = true);
    let others: Vec<usize> = (0..rows.len()).filter(|&i| !is_left[i]).collect();
    let of_others = loss_gradient(&rows.select(&others), target, &vec![0.0; target.len()]);
    let [n_rows, n_others, n_left] = [rows.len(), others.len(), left.len()].map(|n| n as f64);
    let both = of_others.iter().zip(ridge);
    both.map(|(gradient, ridge)| (n_others * gradient + n_rows * ridge) / n_left).collect()
}

fn put(rows: &mut Rows, places: &[usize], from: &Rows) {
    for (k, &i) in places.iter().enumerate() {
        rows.x_mut(i).copy_from_slice(from.x(k));
    }
}

/// The numbers that each feature may have.
struct Grid(Vec<Numbers>);

enum Numbers {
    Constant(f64),
    /// `offset` plus multiples of `step`.
    Steps {
        step: f64,
        offset: f64,
    },
}

impl Grid {
    fn of(rows: &Rows) -> Self {
        let mut numbers: Vec<Numbers> =
            (0..rows.layout().n_x).map(|k| Numbers::of(rows, k)).collect();
        let first = numbers.iter_mut().find_map(|numbers| match numbers {
            Numbers::Steps { step, offset } => Some((step, offset)),
            Numbers::Constant(_) => None,
        });
        if let Some((step, offset)) = first {
            *offset = 0.5 * step.min(1.0);
        }
        Self(numbers)
    }

    /// To the nearest number of each feature.
    fn round(&self, x: &mut [f64]) {
        for (x, numbers) in x.iter_mut().zip(&self.0) {
            if let Numbers::Steps { step, offset } = numbers {
                // Adding 0 turns −0 into 0.
                *x = ((*x - offset) / step).round() * step + offset + 0.0;
            }
        }
    }

    fn set_constants(&self, rows: &mut Rows) {
        for i in 0..rows.len() {
            for (x, numbers) in rows.x_mut(i).iter_mut().zip(&self.0) {
                if let Numbers::Constant(value) = numbers {
                    *x = *value;
                }
            }
        }
    }

    /// Whether no feature of any row differs by much.
    fn are_close(&self, a: &Rows, b: &Rows) -> bool {
        let are_close = |((a, b), numbers): ((&f64, &f64), &Numbers)| match numbers {
            Numbers::Constant(_) => true,
            Numbers::Steps { step, .. } => (a - b).abs() <= MAX_MOVE * step,
        };
        (0..a.len()).all(|i| a.x(i).iter().zip(b.x(i)).zip(&self.0).all(are_close))
    }

    /// The features that vary.
    fn varying(&self) -> RangeProjection {
        let n_x = self.0.len();
        let mut diagonal = vec![0.0; triangle(n_x)];
        for (k, numbers) in self.0.iter().enumerate() {
            let varies = matches!(numbers, Numbers::Steps { .. });
            diagonal[triangle(k + 1) - 1] = f64::from(u8::from(varies));
        }
        RangeProjection::new(&diagonal, n_x)
    }
}

impl Numbers {
    /// Those for feature `k`.
    fn of(rows: &Rows, k: usize) -> Self {
        let n = rows.len() as f64;
        let mean = (0..rows.len()).map(|i| rows.x(i)[k]).sum::<f64>() / n;
        let squares = (0..rows.len()).map(|i| (rows.x(i)[k] - mean).powi(2));
        let deviation = (squares.sum::<f64>() / n).sqrt();
        if deviation < CONSTANT {
            let short = (1024.0 * mean).round() / 1024.0 + 0.0;
            return Self::Constant(if (short - mean).abs() < CONSTANT { short } else { mean });
        }
        Self::Steps { step: (STEP * deviation).log2().floor().exp2(), offset: 0.0 }
    }
}
