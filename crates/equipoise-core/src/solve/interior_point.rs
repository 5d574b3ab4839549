//! Minimises a low-rank convex quadratic over the simplex of many clients by Mehrotra's predictor–corrector
//! interior-point method.
//!
//! `q(d) = gradient·d + ½ dᵀ (Vᵀ V + μ I) d`, with `V` of `n × K` and `n` small. The optimality conditions at
//! `z = weights + d` are `∇q − ν − s = 0`, `Σ z = 1`, `z_c s_c = 0`, `z, s ≥ 0`. Newton's method follows the central path
//! `z_c s_c = τ` as τ falls to 0. A system in `E + Vᵀ V`, `E` diagonal, costs `K n²` via `I + V E⁻¹ Vᵀ` (Woodbury). An
//! active-set method would exchange clients one by one.

use crate::kernel::Vectors;
use crate::linalg::Cholesky;
use crate::logistic::dot;
use crate::statistics::triangle;

/// Complementarity gap `Σ z_c s_c`, as a share of the decrease so far, at which the method stops.
const GAP_TOLERANCE: f64 = 1e-10;
/// About 20 steps are usual.
const MAX_STEPS: usize = 80;
const FRACTION_TO_BOUNDARY: f64 = 0.995;
/// At shorter steps the limit of floating-point precision is reached.
const MIN_STEP_LENGTH: f64 = 1e-10;
/// Smaller weights become 0: the central path ends slightly inside the simplex.
const ZERO_WEIGHT: f64 = 1e-9;
/// Newton steps that restore optimality after small weights became 0.
const CORRECTIONS: usize = 3;
/// Regularisation of these steps, as a share of the curvature, so that they change the weights little.
const CORRECTION_DAMPING: f64 = 1e-8;

/// A quadratic around some weights.
pub(super) struct LowRankQuadratic<'a> {
    /// `V`: a vector of `n` entries per client.
    pub(super) factor: &'a Vectors,
    /// `∇q` at the weights.
    pub(super) gradient: &'a [f64],
    /// `μ`.
    pub(super) diagonal: f64,
    /// Where `d = 0`.
    pub(super) weights: &'a [f64],
}

impl LowRankQuadratic<'_> {
    /// The minimiser over the simplex. If a system cannot be solved, the result is the last point before that.
    pub(super) fn minimise(&self) -> Vec<f64> {
        let mut path = Path::start(self);
        for _ in 0..MAX_STEPS {
            let gap = dot(&path.z, &path.s);
            let decrease = -self.value(&path.z);
            if gap.is_nan() || gap <= GAP_TOLERANCE * decrease.abs() || !path.step(self, gap) {
                break;
            }
        }
        let mut z = path.z;
        z.iter_mut().filter(|z| **z < ZERO_WEIGHT).for_each(|z| *z = 0.0);
        self.correct(&mut z);
        z
    }

    /// Restores optimality: small changes of the weights matter in a direction of large curvature.
    fn correct(&self, z: &mut [f64]) {
        // The trace of V Z Vᵀ: the last entry of each row of its lower triangle.
        let squares = self.factor.squares(z);
        let curvature: f64 = (1..=self.factor.n()).map(|row| squares[triangle(row) - 1]).sum();
        let damping = vec![CORRECTION_DAMPING * curvature + f64::MIN_POSITIVE; z.len()];
        for _ in 0..CORRECTIONS {
            let Some(system) = System::new(self, z, &damping) else { return };
            let right: Vec<f64> = self.gradient_at(z).iter().map(|g| -g).collect();
            let (step, _) = system.solve(&right, 1.0 - z.iter().sum::<f64>());
            if !step.iter().all(|d| d.is_finite()) {
                return;
            }
            let length = damped_length(max_length(z, &step));
            z.iter_mut().zip(&step).for_each(|(z, d)| *z += length * d);
        }
        let sum: f64 = z.iter().sum();
        z.iter_mut().for_each(|z| *z /= sum);
    }

    /// `V d` for `d = z − weights`.
    fn factor_product(&self, z: &[f64]) -> Vec<f64> {
        let d: Vec<f64> = z.iter().zip(self.weights).map(|(z, w)| z - w).collect();
        self.factor.combination(&d)
    }

    /// `∇q`.
    fn gradient_at(&self, z: &[f64]) -> Vec<f64> {
        let product = self.factor_product(z);
        let curvature = self.factor.products(&product);
        let linear = self.gradient.iter().zip(z.iter().zip(self.weights));
        linear.zip(curvature).map(|((g, (z, w)), c)| g + c + self.diagonal * (z - w)).collect()
    }

    /// `q`.
    fn value(&self, z: &[f64]) -> f64 {
        let product = self.factor_product(z);
        let d: Vec<f64> = z.iter().zip(self.weights).map(|(z, w)| z - w).collect();
        dot(self.gradient, &d) + 0.5 * (dot(&product, &product) + self.diagonal * dot(&d, &d))
    }
}

/// A point near the central path.
struct Path {
    z: Vec<f64>,
    s: Vec<f64>,
    nu: f64,
}

impl Path {
    fn start(quadratic: &LowRankQuadratic<'_>) -> Self {
        let size = quadratic.weights.len();
        let z = vec![1.0 / size as f64; size];
        let gradient = quadratic.gradient_at(&z);
        let lowest = gradient.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = gradient.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let nu = lowest - (highest - lowest).max(f64::MIN_POSITIVE);
        Self { z, s: gradient.iter().map(|g| g - nu).collect(), nu }
    }

    /// One step at complementarity gap `gap`; false if no step is possible.
    fn step(&mut self, quadratic: &LowRankQuadratic<'_>, gap: f64) -> bool {
        let (z, s, size) = (&self.z, &self.s, self.z.len());
        let Some(system) = System::new(quadratic, z, s) else { return false };
        let gradient = quadratic.gradient_at(z);
        let missing = 1.0 - z.iter().sum::<f64>();
        // The step to where the linearised conditions hold and each `z_c s_c` has changed by `change(c)`.
        let solve = |change: &dyn Fn(usize) -> f64| {
            let right: Vec<f64> =
                (0..size).map(|c| change(c) / z[c] - gradient[c] + self.nu + s[c]).collect();
            let (dz, d_nu) = system.solve(&right, missing);
            let ds: Vec<f64> = (0..size).map(|c| (change(c) - s[c] * dz[c]) / z[c]).collect();
            (dz, ds, d_nu)
        };
        let (dz, ds, _) = solve(&|c| -z[c] * s[c]);
        let length = max_length(z, &dz).min(max_length(s, &ds));
        let after: f64 = (0..size).map(|c| (z[c] + length * dz[c]) * (s[c] + length * ds[c])).sum();
        let centre = (after / gap).powi(3) * gap / size as f64;
        let (dz, ds, d_nu) = solve(&|c| centre - z[c] * s[c] - dz[c] * ds[c]);
        let length = damped_length(max_length(z, &dz).min(max_length(s, &ds)));
        if !dz.iter().chain(&ds).all(|d| d.is_finite()) || length < MIN_STEP_LENGTH {
            return false;
        }
        self.z.iter_mut().zip(&dz).for_each(|(z, d)| *z += length * d);
        self.s.iter_mut().zip(&ds).for_each(|(s, d)| *s += length * d);
        self.nu += length * d_nu;
        true
    }
}

/// `(Vᵀ V + μ I + S Z⁻¹) dz − ν = right`, with `Σ dz` given. Entries of `z` that are 0 stay 0.
struct System<'a> {
    quadratic: &'a LowRankQuadratic<'a>,
    /// `E⁻¹`.
    inverse: Vec<f64>,
    /// Cholesky factor of `I + V E⁻¹ Vᵀ`.
    small: Cholesky,
    /// `(E + Vᵀ V)⁻¹ 1`.
    common: Vec<f64>,
}

impl<'a> System<'a> {
    fn new(quadratic: &'a LowRankQuadratic<'a>, z: &[f64], s: &[f64]) -> Option<Self> {
        let n = quadratic.factor.n();
        let inverse: Vec<f64> =
            z.iter().zip(s).map(|(z, s)| z / (quadratic.diagonal * z + s)).collect();
        let small = Cholesky::new(&quadratic.factor.squares(&inverse), n, 1.0).ok()?;
        let mut system = Self { quadratic, inverse, small, common: Vec::new() };
        system.common = system.apply_inverse(&vec![1.0; z.len()]);
        Some(system)
    }

    /// `dz` and `ν`.
    fn solve(&self, right: &[f64], sum: f64) -> (Vec<f64>, f64) {
        let own = self.apply_inverse(right);
        let nu = (sum - own.iter().sum::<f64>()) / self.common.iter().sum::<f64>();
        (own.iter().zip(&self.common).map(|(o, c)| o + nu * c).collect(), nu)
    }

    /// `(E + Vᵀ V)⁻¹ b`.
    fn apply_inverse(&self, b: &[f64]) -> Vec<f64> {
        let scaled: Vec<f64> = b.iter().zip(&self.inverse).map(|(b, e)| b * e).collect();
        let sums = self.small.solve(&self.quadratic.factor.combination(&scaled));
        let products = self.quadratic.factor.products(&sums);
        let parts = scaled.iter().zip(products.iter().zip(&self.inverse));
        parts.map(|(x, (product, e))| x - e * product).collect()
    }
}

/// The largest share of `step`, at most 1, that leaves no entry of `at` negative.
fn max_length(at: &[f64], step: &[f64]) -> f64 {
    at.iter().zip(step).filter(|(_, d)| **d < 0.0).map(|(a, d)| -a / d).fold(1.0, f64::min)
}

/// A full step if possible, otherwise a fraction of the way to the boundary.
fn damped_length(max_length: f64) -> f64 {
    if max_length >= 1.0 { 1.0 } else { FRACTION_TO_BOUNDARY * max_length }
}
