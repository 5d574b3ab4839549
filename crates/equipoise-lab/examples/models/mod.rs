//! What the examples that measure proxies and defenses have in common.

use std::error::Error;

pub(crate) type Answer<T> = Result<T, Box<dyn Error>>;

/// The mean of several models.
#[allow(dead_code)] // Not every example needs it.
pub(crate) fn mean_model(models: &[Vec<f64>]) -> Vec<f64> {
    let n = models.len() as f64;
    (0..models[0].len()).map(|k| models.iter().map(|theta| theta[k]).sum::<f64>() / n).collect()
}
