//! The average of the clients' own models.

use std::borrow::Cow;

/// The clients' own models, ready to be averaged with any weights.
pub(crate) struct ModelAverage<'a> {
    models: Vec<Cow<'a, [f64]>>,
}

impl<'a> ModelAverage<'a> {
    /// `Σ w_c θ_c`.
    pub(crate) fn new(models: Vec<&'a [f64]>) -> Self {
        Self { models: models.into_iter().map(Cow::Borrowed).collect() }
    }

    /// The same, of models that were changed.
    pub(super) fn of_owned(models: Vec<Vec<f64>>) -> Self {
        Self { models: models.into_iter().map(Cow::Owned).collect() }
    }

    /// The average with these weights.
    pub(crate) fn at(&self, weights: &[f64]) -> Vec<f64> {
        let mut theta = vec![0.0; self.models.first().map_or(0, |model| model.len())];
        for (model, w) in self.models.iter().zip(weights) {
            theta.iter_mut().zip(model.iter()).for_each(|(average, t)| *average += w * t);
        }
        theta
    }
}
