//! Folds of a client's rows, always the same for the same table.

use crate::error::Error;
use crate::logistic::dot;
use crate::rows::Rows;

/// Number of folds.
pub(crate) const FOLDS: usize = 5;

/// The fold of each row.
pub(crate) struct Folds<'a> {
    rows: &'a Rows,
    pub(crate) fold: Vec<usize>,
}

impl<'a> Folds<'a> {
    /// Deals the rows in turn, label by label and group by group, so that every fold has its share of each.
    pub(crate) fn of(rows: &'a Rows) -> Self {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&i| (rows.is_positive(i), rows.group(i)));
        let mut fold = vec![0; rows.len()];
        order.into_iter().enumerate().for_each(|(at, i)| fold[i] = at % FOLDS);
        Self { rows, fold }
    }

    /// The scores of every row by the models that `make` makes of the other folds.
    pub(crate) fn decide<const N: usize>(
        &self,
        mut make: impl FnMut(&Rows) -> Result<[Vec<f64>; N], Error>,
    ) -> Result<[Vec<f64>; N], Error> {
        let mut scores = [(); N].map(|()| vec![0.0; self.rows.len()]);
        for fold in 0..FOLDS {
            let (test, train): (Vec<usize>, Vec<usize>) =
                (0..self.rows.len()).partition(|&i| self.fold[i] == fold);
            let models = make(&self.rows.select(&train))?;
            for (scores, theta) in scores.iter_mut().zip(&models) {
                test.iter().for_each(|&i| scores[i] = dot(self.rows.a(i), theta));
            }
        }
        Ok(scores)
    }
}
