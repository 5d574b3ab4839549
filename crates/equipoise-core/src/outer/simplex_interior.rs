//! The minimum of a convex quadratic of low rank on the simplex of many clients, by an interior-point method.
//!
//! `q(d) = slope·d + ½ dᵀ (Vᵀ V + μ I) d`, with `V` of `n × K`, `n` small. The conditions of a minimum at
//! `z = weights + d` are `∇q − ν − s = 0`, `Σ z = 1`, `z_c s_c = 0`, `z, s ≥ 0`. Newton's method follows
//! `z_c s_c = τ` down to 0 (Mehrotra's predictor and corrector). A system in `E + Vᵀ V`, `E` diagonal, costs `K n²`
//! by way of `I + V E⁻¹ Vᵀ`, whatever clients are positive: an active set would exchange them one by one.

use crate::kernel::Vectors;
use crate::linalg::Cholesky;
use crate::logistic::dot;
use crate::statistics::triangle;

/// Share of the decrease so far at which what is left, `Σ z_c s_c`, is small enough.
const ENOUGH: f64 = 1e-10;
/// Some 20 steps are usual.
const MAX_STEPS: usize = 80;
/// How far a step goes towards the point where something would become 0.
const SHORT_OF_ZERO: f64 = 0.995;
/// A step shorter than this leads nowhere: the arithmetic is at its end.
const SHORTEST: f64 = 1e-10;
/// Weights below this are 0. They are there because the path ends a little inside the simplex.
const NOTHING: f64 = 1e-9;
/// Steps that make up for what was set to 0.
const CORRECTIONS: usize = 3;
/// What these steps work against, as a share of how the quadratic bends, so that they move the weights little.
const RESISTANCE: f64 = 1e-8;

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
    /// The point of the simplex where the quadratic is lowest. Where the arithmetic fails, the last point before is
    /// the answer.
    pub(super) fn minimise(&self) -> Vec<f64> {
        let mut path = Path::start(self);
        for _ in 0..MAX_STEPS {
            let left = dot(&path.z, &path.s);
            let gained = -self.value(&path.z);
            if left.is_nan() || left <= ENOUGH * gained.abs() || !path.step(self, left) {
                break;
            }
        }
        let mut z = path.z;
        z.iter_mut().filter(|z| **z < NOTHING).for_each(|z| *z = 0.0);
        self.correct(&mut z);
        z
    }

    /// What was set to 0 is little, but much in a direction that bends strongly: the others make up for it.
    fn correct(&self, z: &mut [f64]) {
        // The trace of V Z Vᵀ: the last entry of each row of its lower triangle.
        let squares = self.factor.squares(z);
        let bend: f64 = (1..=self.factor.n()).map(|row| squares[triangle(row) - 1]).sum();
        let resistance = vec![RESISTANCE * bend + f64::MIN_POSITIVE; z.len()];
        for _ in 0..CORRECTIONS {
            let Some(system) = System::new(self, z, &resistance) else { return };
            let right: Vec<f64> = self.slope(z).iter().map(|slope| -slope).collect();
            let (step, _) = system.solve(&right, 1.0 - z.iter().sum::<f64>());
            if !step.iter().all(|d| d.is_finite()) {
                return;
            }
            let length = short_of(longest(z, &step));
            z.iter_mut().zip(&step).for_each(|(z, d)| *z += length * d);
        }
        let sum: f64 = z.iter().sum();
        z.iter_mut().for_each(|z| *z /= sum);
    }

    /// `V d` for `d = z − weights`.
    fn moved(&self, z: &[f64]) -> Vec<f64> {
        let d: Vec<f64> = z.iter().zip(self.weights).map(|(z, w)| z - w).collect();
        self.factor.combination(&d)
    }

    fn slope(&self, z: &[f64]) -> Vec<f64> {
        let moved = self.moved(z);
        let bent = self.factor.products(&moved);
        let straight = self.gradient.iter().zip(z.iter().zip(self.weights));
        straight.zip(bent).map(|((g, (z, w)), b)| g + b + self.diagonal * (z - w)).collect()
    }

    fn value(&self, z: &[f64]) -> f64 {
        let moved = self.moved(z);
        let d: Vec<f64> = z.iter().zip(self.weights).map(|(z, w)| z - w).collect();
        dot(self.gradient, &d) + 0.5 * (dot(&moved, &moved) + self.diagonal * dot(&d, &d))
    }
}

/// A point on the way.
struct Path {
    z: Vec<f64>,
    s: Vec<f64>,
    nu: f64,
}

impl Path {
    fn start(quadratic: &LowRankQuadratic<'_>) -> Self {
        let size = quadratic.weights.len();
        let z = vec![1.0 / size as f64; size];
        let slope = quadratic.slope(&z);
        let lowest = slope.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = slope.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let nu = lowest - (highest - lowest).max(f64::MIN_POSITIVE);
        Self { z, s: slope.iter().map(|slope| slope - nu).collect(), nu }
    }

    /// One step; `left` is `Σ z_c s_c`. Says whether there was one.
    fn step(&mut self, quadratic: &LowRankQuadratic<'_>, left: f64) -> bool {
        let (z, s, size) = (&self.z, &self.s, self.z.len());
        let Some(system) = System::new(quadratic, z, s) else { return false };
        let slope = quadratic.slope(z);
        let missing = 1.0 - z.iter().sum::<f64>();
        // The step after which all conditions would hold, and `z_c s_c` have changed by `aim(c)`, were they linear.
        let solve = |aim: &dyn Fn(usize) -> f64| {
            let right: Vec<f64> =
                (0..size).map(|c| aim(c) / z[c] - slope[c] + self.nu + s[c]).collect();
            let (dz, d_nu) = system.solve(&right, missing);
            let ds: Vec<f64> = (0..size).map(|c| (aim(c) - s[c] * dz[c]) / z[c]).collect();
            (dz, ds, d_nu)
        };
        let (dz, ds, _) = solve(&|c| -z[c] * s[c]);
        let length = longest(z, &dz).min(longest(s, &ds));
        let after: f64 = (0..size).map(|c| (z[c] + length * dz[c]) * (s[c] + length * ds[c])).sum();
        let centre = (after / left).powi(3) * left / size as f64;
        let (dz, ds, d_nu) = solve(&|c| centre - z[c] * s[c] - dz[c] * ds[c]);
        let length = short_of(longest(z, &dz).min(longest(s, &ds)));
        if !dz.iter().chain(&ds).all(|d| d.is_finite()) || length < SHORTEST {
            return false;
        }
        self.z.iter_mut().zip(&dz).for_each(|(z, d)| *z += length * d);
        self.s.iter_mut().zip(&ds).for_each(|(s, d)| *s += length * d);
        self.nu += length * d_nu;
        true
    }
}

/// `(Vᵀ V + μ I + S Z⁻¹) dz − ν = right`, with `Σ dz` given. Where `z` is 0 it stays 0.
struct System<'a> {
    quadratic: &'a LowRankQuadratic<'a>,
    /// `E⁻¹`.
    inverse: Vec<f64>,
    /// Of `I + V E⁻¹ Vᵀ`.
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

/// How far `at` can move by `step`, at most once, without a negative entry.
fn longest(at: &[f64], step: &[f64]) -> f64 {
    at.iter().zip(step).filter(|(_, d)| **d < 0.0).map(|(a, d)| -a / d).fold(1.0, f64::min)
}

/// A whole step where that is possible, otherwise not quite as far as it is.
fn short_of(longest: f64) -> f64 {
    if longest >= 1.0 { 1.0 } else { SHORT_OF_ZERO * longest }
}
