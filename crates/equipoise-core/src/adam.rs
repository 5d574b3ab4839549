//! The Adam optimiser of Kingma and Ba, with the constants from their paper.

/// Decay of the running mean of the gradient.
const BETA1: f64 = 0.9;
/// Decay of the running mean of the squared gradient.
const BETA2: f64 = 0.999;
/// Avoids a division by 0 if all gradients so far were 0.
const EPSILON: f64 = 1e-8;

/// The running means and the number of steps.
#[derive(Debug, Clone)]
pub(crate) struct Adam {
    mean: Vec<f64>,
    square: Vec<f64>,
    steps: i32,
}

impl Adam {
    pub(crate) fn new(n_variables: usize) -> Self {
        Self { mean: vec![0.0; n_variables], square: vec![0.0; n_variables], steps: 0 }
    }

    /// Takes one step.
    pub(crate) fn step(&mut self, variables: &mut [f64], gradient: &[f64], learning_rate: f64) {
        self.steps += 1;
        let mean_scale = 1.0 / (1.0 - BETA1.powi(self.steps));
        let square_scale = 1.0 / (1.0 - BETA2.powi(self.steps));
        for (((x, g), m), v) in
            variables.iter_mut().zip(gradient).zip(&mut self.mean).zip(&mut self.square)
        {
            *m = BETA1 * *m + (1.0 - BETA1) * g;
            *v = BETA2 * *v + (1.0 - BETA2) * g * g;
            *x -= learning_rate * *m * mean_scale / ((*v * square_scale).sqrt() + EPSILON);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_has_the_size_of_the_learning_rate() {
        let mut x = [1.0, 1.0, 1.0];
        Adam::new(3).step(&mut x, &[1e-3, -50.0, 0.0], 0.1);
        for (found, expected) in x.iter().zip([0.9, 1.1, 1.0]) {
            assert!((found - expected).abs() < 1e-5);
        }
    }

    #[test]
    fn three_steps_follow_the_recurrence() {
        // Gradients 1, 1, -1 of one variable: m = .1, .19, .071; v = .001, .001999, .002997001.
        let mut x = [0.0];
        let mut adam = Adam::new(1);
        [1.0, 1.0, -1.0].iter().for_each(|g| adam.step(&mut x, &[*g], 0.5));
        let ratio = |m: f64, v: f64, t: i32| {
            m / (1.0 - 0.9f64.powi(t)) / ((v / (1.0 - 0.999f64.powi(t))).sqrt() + 1e-8)
        };
        let expected =
            -0.5 * (ratio(0.1, 0.001, 1) + ratio(0.19, 0.001999, 2) + ratio(0.071, 0.002997001, 3));
        assert!((x[0] - expected).abs() < 1e-12);
    }
}
