//! The median of each coefficient over the clients' models.
//!
//! Source: D. Yin, Y. Chen, K. Ramchandran, P. Bartlett, "Byzantine-robust distributed learning: towards optimal
//! statistical rates", ICML 2018, Algorithm 1, with one round.

use super::{RivalInput, RivalModel};
use crate::error::Error;

pub(super) fn run(input: &RivalInput<'_>) -> Result<RivalModel, Error> {
    let n = input.models[0].len();
    let column = |j: usize| input.models.iter().map(|theta| theta[j]).collect();
    Ok(RivalModel { theta: (0..n).map(|j| median(column(j))).collect(), weights: None })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { 0.5 * (values[half - 1] + values[half]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise_core::Fairness;

    #[test]
    fn each_coefficient_is_the_middle_one() {
        let run = |models: &[[f64; 2]]| {
            let models = models.iter().map(|model| model.to_vec()).collect();
            let input = RivalInput {
                proxies: Vec::new(),
                roots: Vec::new(),
                models,
                fairness: Fairness::SP,
                lambda: 1e-4,
            };
            super::run(&input).expect("three models").theta
        };
        assert_eq!(run(&[[1.0, 9.0], [2.0, 7.0], [30.0, 8.0]]), [2.0, 8.0]);
        assert_eq!(run(&[[1.0, 9.0], [2.0, 7.0], [30.0, 8.0], [4.0, 5.0]]), [3.0, 7.5]);
    }
}
