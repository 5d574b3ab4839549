//! The average of the clients' own models.

use std::borrow::Cow;

use super::trust::weighted_median;

/// The clients' own models, ready to be averaged with any weights.
pub(crate) struct ModelAverage<'a> {
    models: Vec<Cow<'a, [f64]>>,
    /// The scale of each model, and how many times the weighted median it may be. `None`: any scale.
    scales: Option<(Vec<f64>, f64)>,
}

impl<'a> ModelAverage<'a> {
    /// `Σ w_c θ_c`.
    pub(crate) fn new(models: Vec<&'a [f64]>) -> Self {
        Self { models: models.into_iter().map(Cow::Borrowed).collect(), scales: None }
    }

    /// The same, of models that were changed.
    pub(super) fn of_owned(models: Vec<Vec<f64>>) -> Self {
        Self { models: models.into_iter().map(Cow::Owned).collect(), scales: None }
    }

    /// The same, with models of excessive scale reduced: that changes none of their own decisions.
    pub(crate) fn with_limited_scales(self, scales: Vec<f64>, limit: f64) -> Self {
        Self { scales: Some((scales, limit)), ..self }
    }

    /// The average with these weights.
    pub(crate) fn at(&self, weights: &[f64]) -> Vec<f64> {
        let mut theta = vec![0.0; self.models.first().map_or(0, |model| model.len())];
        for ((model, w), factor) in self.models.iter().zip(weights).zip(self.factors(weights)) {
            theta.iter_mut().zip(model.iter()).for_each(|(average, t)| *average += w * factor * t);
        }
        theta
    }

    /// What each model is multiplied by under these weights.
    fn factors(&self, weights: &[f64]) -> Vec<f64> {
        let Some((scales, times)) = &self.scales else { return vec![1.0; weights.len()] };
        let weighted = scales.iter().zip(weights).map(|(scale, w)| (*scale, *w)).collect();
        let limit = times * weighted_median(weighted).unwrap_or(f64::INFINITY);
        scales.iter().map(|&scale| if scale > limit { limit / scale } else { 1.0 }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_of_excessive_scale_are_reduced_to_the_limit() {
        let models: [&[f64]; 3] = [&[1.0, 0.0], &[1.0, 2.0], &[10.0, 0.0]];
        let plain = ModelAverage::new(models.to_vec());
        assert_eq!(plain.at(&[0.5, 0.5, 0.0]), [1.0, 1.0]);
        let limited = plain.with_limited_scales(vec![1.0, 1.0, 10.0], 2.0);
        // The median is 1, so the third model counts as (2, 0).
        assert_eq!(limited.at(&[0.25, 0.5, 0.25]), [1.25, 1.0]);
        // Without the first, the median is 10 and nothing is reduced.
        assert_eq!(limited.at(&[0.0, 0.25, 0.75]), [7.75, 0.5]);
    }
}
