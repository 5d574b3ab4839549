//! What the attackers agree on, and the proxy that follows.
//!
//! A forged proxy has the rows of an honest one, so that its features look honest. Its labels are drawn from another
//! model: a point on the line through the client's fair model and its raw one.

use equipoise_core::{InnerSettings, MAX_ABS_VALUE, Rows, fit_logistic};

use super::super::table::{Table, draw_labels, least_and_most_favoured};
use crate::error::Error;

/// Ridge of the raw model, that of the honest generator's.
const RAW_RIDGE: f64 = 1e-3;

/// One member of the family of proxies that the attackers choose from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Plan {
    /// Where the model is on the line from the fair one, 0, to the raw one, 1. Below 0, it over-corrects.
    pub(super) gap: f64,
    /// Factor of the model's scores. Large ones make it loud in an average.
    pub(super) scale: f64,
    /// Share of rows with labels of that model. The others keep their honest labels.
    pub(super) share: f64,
    /// Share of the least favoured group's labels that are flipped.
    pub(super) flipped: f64,
    /// By how much the fair model's scores of that group are raised by moving its features, so that the models of other
    /// clients look unfair on these rows.
    pub(super) shift: f64,
}

/// A client that can forge a proxy for any plan.
pub(super) struct Forger {
    honest: Rows,
    fair: Vec<f64>,
    raw: Vec<f64>,
    least_favoured: usize,
}

impl Forger {
    pub(super) fn new(train: &Rows, honest: &Rows, lambda: f64) -> Result<Self, Error> {
        let inner = InnerSettings::default();
        let n = train.layout().n() as f64;
        Ok(Self {
            honest: honest.clone(),
            fair: fit_logistic(honest, lambda, &inner)?,
            raw: fit_logistic(train, RAW_RIDGE * n * n, &inner)?,
            least_favoured: least_and_most_favoured(train).0,
        })
    }

    /// The proxy for a plan.
    pub(super) fn forge(&self, plan: &Plan) -> Result<Rows, Error> {
        let mut table = Table::of(&self.honest);
        self.shift_features(&mut table, plan.shift);
        let moved = table.into_rows()?;
        let mut table = Table::of(&moved);
        let theta: Vec<f64> = self
            .fair
            .iter()
            .zip(&self.raw)
            .map(|(fair, raw)| plan.scale * (fair + plan.gap * (raw - fair)))
            .collect();
        let score = |i: usize| moved.a(i).iter().zip(&theta).map(|(a, t)| a * t).sum();
        let scores: Vec<f64> = (0..moved.len()).map(score).collect();
        let drawn = draw_labels(moved.groups(), &scores);
        for (i, drawn) in drawn.into_iter().enumerate() {
            if is_chosen(i, GOLDEN_RATIO, plan.share) {
                let flip = moved.group(i) == self.least_favoured
                    && is_chosen(i, SQUARE_ROOT_OF_TWO, plan.flipped);
                table.positive[i] = drawn != flip;
            }
        }
        table.into_rows()
    }

    /// Moves the features of the least favoured group along those of the fair model, as little as possible.
    fn shift_features(&self, table: &mut Table, shift: f64) {
        let direction = &self.fair[..table.layout.n_x];
        let squares: f64 = direction.iter().map(|d| d * d).sum();
        if shift == 0.0 || squares == 0.0 {
            return;
        }
        for i in 0..table.groups.len() {
            if usize::from(table.groups[i]) == self.least_favoured {
                for (x, d) in table.x_mut(i).iter_mut().zip(direction) {
                    *x = (*x + shift * d / squares).clamp(-MAX_ABS_VALUE, MAX_ABS_VALUE);
                }
            }
        }
    }
}

const GOLDEN_RATIO: f64 = 1.618_033_988_749_895;
const SQUARE_ROOT_OF_TWO: f64 = std::f64::consts::SQRT_2;

/// Whether row `i` is among this share of all rows. Multiples of an irrational number spread the chosen rows evenly,
/// and a larger share only adds rows.
fn is_chosen(i: usize, irrational: f64, share: f64) -> bool {
    (i as f64 * irrational).fract() < share
}
