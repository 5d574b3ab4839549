//! FedASL and FedNolowe, made one-shot as in the paper: the server trains a model on each proxy alone,
//! turns the losses into weights, and averages the models.

use super::{ModelAverage, Solution};
use crate::error::Error;
use crate::inner_fit::ridge;
use crate::local_fit::{LocalFit, LocalFits};
use crate::observer::{NoopObserver, Observer, Progress, report};
use crate::outcome::Counts;
use crate::round::Round;
use crate::settings::Settings;

/// FedASL's half-width of the good region, in standard deviations of the losses.
const ALPHA: f64 = 0.9;
/// FedASL's distance for clients inside the good region, in the same unit.
const BETA: f64 = 0.2;

pub(super) fn average(
    round: &Round,
    settings: &Settings,
    weigh: fn(&[f64]) -> Vec<f64>,
    observer: &mut dyn Observer,
) -> Result<Solution, Error> {
    let mut counts = Counts::default();
    let models = fit_each(round, settings, &mut counts, observer)?;
    let weights = weigh(&models.iter().map(|model| model.loss).collect::<Vec<_>>());
    let thetas = models.iter().map(|model| model.theta.as_slice()).collect();
    let theta = ModelAverage::new(thetas).at(&weights);
    Ok(Solution::direct(weights, theta, counts))
}

/// The mean of the models of all clients, as the defense averages them: uniform weights, and that model.
pub(crate) fn uniform_average(
    round: &Round,
    settings: &Settings,
) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let models = fit_each(round, settings, &mut Counts::default(), &mut NoopObserver)?;
    let uniform = vec![1.0 / models.len() as f64; models.len()];
    let thetas = models.iter().map(|model| model.theta.as_slice()).collect();
    let theta = settings.defense.model_average(thetas, round.root())?.at(&uniform);
    Ok((uniform, theta))
}

/// A model trained on one proxy alone.
pub(super) struct LocalModel {
    pub(super) theta: Vec<f64>,
    /// Its mean loss on that proxy.
    pub(super) loss: f64,
}

/// Trains a model on each proxy alone. The observer hears of every client and its loss.
pub(super) fn fit_each(
    round: &Round,
    settings: &Settings,
    counts: &mut Counts,
    observer: &mut dyn Observer,
) -> Result<Vec<LocalModel>, Error> {
    let proxies = round.proxies();
    let n = proxies.n();
    let request =
        LocalFits::of_mean_losses(proxies, vec![0.0; n], ridge(settings.lambda, n), settings.inner);
    let fit = |(client, made): (usize, Option<LocalFit>)| {
        let fit = request.fit(proxies, client, made, None)?;
        counts.add_fit_from_scratch(&fit.end);
        let loss = fit.loss / proxies.n_rows(client) as f64;
        let (done, of) = (client + 1, round.n_clients());
        let (violation, rho, weights) = (0.0, 0.0, &[][..]);
        report(observer, Progress { done, of, objective: loss, violation, rho, weights })?;
        Ok(LocalModel { theta: fit.theta, loss })
    };
    proxies.fit_alone(&request)?.into_iter().enumerate().map(fit).collect()
}

/// FedASL: with `σ` the population standard deviation of the losses, `d_c = βσ` if
/// `|L_c − median| ≤ ασ`, otherwise `|L_c − median|`; `w ∝ 1/d`. Uniform if all losses are equal.
pub fn fedasl_weights(losses: &[f64]) -> Vec<f64> {
    let n = losses.len() as f64;
    let mean = losses.iter().sum::<f64>() / n;
    let sigma = (losses.iter().map(|l| (l - mean) * (l - mean)).sum::<f64>() / n).sqrt();
    let middle = median(losses);
    // Losses that differ only by rounding count as equal: σ and the weights would be noise.
    if sigma <= 1e-12 * mean.abs() {
        return vec![1.0 / n; losses.len()];
    }
    normalise(losses.iter().map(|loss| {
        let distance = (loss - middle).abs();
        1.0 / if distance <= ALPHA * sigma { BETA * sigma } else { distance }
    }))
}

/// FedNolowe: `w ∝ 1 − L_c / ΣL`. A single client has weight 1. Uniform if all losses are 0.
pub fn fednolowe_weights(losses: &[f64]) -> Vec<f64> {
    let sum: f64 = losses.iter().sum();
    if losses.len() == 1 || sum <= 0.0 {
        return vec![1.0 / losses.len() as f64; losses.len()];
    }
    normalise(losses.iter().map(|loss| 1.0 - loss / sum))
}

fn normalise(shares: impl Iterator<Item = f64>) -> Vec<f64> {
    let shares: Vec<f64> = shares.collect();
    let sum: f64 = shares.iter().sum();
    shares.iter().map(|share| share / sum).collect()
}

/// The median; 0 of no values.
pub(crate) fn median(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { 0.5 * (sorted[half - 1] + sorted[half]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// To the two digits printed in the paper's Table I.
    fn assert_printed(found: &[f64], printed: &[f64]) {
        assert_eq!(found.len(), printed.len());
        for (w, p) in found.iter().zip(printed) {
            assert!((w - p).abs() <= 0.0051, "{found:?} against {printed:?}");
        }
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn fedasl_reproduces_table_1() {
        // Law and Dutch, 20 %: four replicas and one other, whatever the size of the difference.
        for other in [0.1, 0.25, 0.399, 0.5] {
            let row = fedasl_weights(&[0.4, 0.4, 0.4, other, 0.4]);
            assert_printed(&row, &[0.25, 0.25, 0.25, 0.02, 0.25]);
        }
        // 40 %: three replicas and two distinct others.
        let row = fedasl_weights(&[0.27, 0.27, 0.27, 0.35, 0.38]);
        assert_printed(&row, &[0.31, 0.31, 0.31, 0.04, 0.03]);
        // 60 %: the median has moved to the three unreliable clients.
        let row = fedasl_weights(&[0.26, 0.26, 0.36, 0.37, 0.40]);
        assert_printed(&row, &[0.04, 0.04, 0.31, 0.31, 0.31]);
    }

    #[test]
    fn fednolowe_reproduces_table_1() {
        // w = (1 − L/ΣL)/(K − 1), so a row of the table determines the losses up to scale:
        // .21 ×4 and .15 need L/ΣL = .16 ×4 and .40, to the two digits printed.
        let row = fednolowe_weights(&[0.15, 0.15, 0.15, 0.39, 0.15]);
        assert_printed(&row, &[0.21, 0.21, 0.21, 0.15, 0.21]);
        let row = fednolowe_weights(&[0.13, 0.13, 0.13, 0.345, 0.385]);
        assert_printed(&row, &[0.22, 0.22, 0.22, 0.17, 0.16]);
        let row = fednolowe_weights(&[0.08, 0.08, 0.28, 0.255, 0.285]);
        assert_printed(&row, &[0.23, 0.23, 0.18, 0.19, 0.18]);
    }

    #[test]
    fn equal_losses_get_equal_weights() {
        for weigh in [fedasl_weights, fednolowe_weights] {
            assert_eq!(weigh(&[0.3]), [1.0]);
            assert_eq!(weigh(&[0.25; 4]), [0.25; 4]);
            assert_eq!(weigh(&[0.0; 4]), [0.25; 4]);
        }
    }
}
