//! Four numbers in two registers of a 64-bit ARM processor, all of which have NEON.
#![allow(unsafe_code)]

use std::arch::aarch64::*;

use super::{FROM_SQRT_HALF, Lanes, Quad, TWO_52, TWO_52_AND_BIAS, lane_operations};

#[derive(Clone, Copy)]
pub(in crate::kernel) struct Neon(float64x2_t, float64x2_t);

/// The same operation on both halves.
macro_rules! halves {
    ($operation:ident, $($operand:expr),+) => {
        // SAFETY: NEON is part of the base architecture.
        unsafe { Neon($operation($($operand.0),+), $operation($($operand.1),+)) }
    };
}

// SAFETY of every block below: as above. Loads and stores go through references to quads, which have the right size.
impl Lanes for Neon {
    const IN_REGISTERS: bool = true;

    #[inline(always)]
    fn load(from: &Quad) -> Self {
        let at = from.0.as_ptr();
        unsafe { Self(vld1q_f64(at), vld1q_f64(at.add(2))) }
    }

    #[inline(always)]
    fn store(self, to: &mut Quad) {
        let at = to.0.as_mut_ptr();
        unsafe {
            vst1q_f64(at, self.0);
            vst1q_f64(at.add(2), self.1);
        }
    }

    #[inline(always)]
    fn splat(value: f64) -> Self {
        unsafe { Self(vdupq_n_f64(value), vdupq_n_f64(value)) }
    }

    lane_operations! {
        add(self, other) = halves!(vaddq_f64, self, other);
        sub(self, other) = halves!(vsubq_f64, self, other);
        mul(self, other) = halves!(vmulq_f64, self, other);
        div(self, other) = halves!(vdivq_f64, self, other);
        mul_add(self, factor, summand) = halves!(vfmaq_f64, summand, self, factor);
        neg_mul_add(self, factor, summand) = halves!(vfmsq_f64, summand, self, factor);
        neg_abs(self) = {
            let size = halves!(vabsq_f64, self);
            halves!(vnegq_f64, size)
        };
        max_or_second(self, other) = {
            let pick = |a: float64x2_t, b: float64x2_t| unsafe { vbslq_f64(vcgtq_f64(a, b), a, b) };
            Self(pick(self.0, other.0), pick(self.1, other.1))
        };
        select_by_sign(self, negative, positive) = {
            let pick = |sign: float64x2_t, negative: float64x2_t, positive: float64x2_t| unsafe {
                let is_negative = vcltzq_s64(vreinterpretq_s64_f64(sign));
                vbslq_f64(is_negative, negative, positive)
            };
            Self(pick(self.0, negative.0, positive.0), pick(self.1, negative.1, positive.1))
        };
        zero_unless_above(self, x, limit) = {
            let pick = |value: float64x2_t, x: float64x2_t, limit: float64x2_t| unsafe {
                let bits = vandq_u64(vreinterpretq_u64_f64(value), vcgtq_f64(x, limit));
                vreinterpretq_f64_u64(bits)
            };
            Self(pick(self.0, x.0, limit.0), pick(self.1, x.1, limit.1))
        };
        mul_power_of_two(self, rounded) = {
            let scale = |value: float64x2_t, rounded: float64x2_t| unsafe {
                let k = vshlq_n_u64::<52>(vreinterpretq_u64_f64(rounded));
                vreinterpretq_f64_u64(vaddq_u64(vreinterpretq_u64_f64(value), k))
            };
            Self(scale(self.0, rounded.0), scale(self.1, rounded.1))
        };
    }

    #[inline(always)]
    fn lane_sums([a, b, c, d]: [Self; 4]) -> Self {
        let sums_of_two = |a: Self, b: Self| unsafe {
            // Sums of neighbours of two registers: a₀ + a₁ and b₀ + b₁, then the same for the other halves.
            vaddq_f64(vpaddq_f64(a.0, b.0), vpaddq_f64(a.1, b.1))
        };
        Self(sums_of_two(a, b), sums_of_two(c, d))
    }

    #[inline(always)]
    fn split_exponent(self) -> (Self, Self) {
        let split = |value: float64x2_t| unsafe {
            let shifted = vaddq_u64(vreinterpretq_u64_f64(value), vdupq_n_u64(FROM_SQRT_HALF));
            let biased = vshrq_n_u64::<52>(shifted);
            let joined = vorrq_u64(biased, vdupq_n_u64(TWO_52));
            let k = vsubq_f64(vreinterpretq_f64_u64(joined), vdupq_n_f64(TWO_52_AND_BIAS));
            let power = vshlq_n_u64::<52>(vsubq_u64(vdupq_n_u64(2046), biased));
            (k, vreinterpretq_f64_u64(power))
        };
        let ((k0, power0), (k1, power1)) = (split(self.0), split(self.1));
        (Self(k0, k1), Self(power0, power1))
    }
}
