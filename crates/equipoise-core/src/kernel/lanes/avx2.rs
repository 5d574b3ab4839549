//! Four numbers in one register of a processor with AVX2 and FMA.
//!
//! Values of this type exist only inside functions that are compiled for both features and called after both have been
//! detected (see `widest`). That makes the intrinsics sound.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{FROM_SQRT_HALF, Lanes, Quad, TWO_52, TWO_52_AND_BIAS, lane_operations};

#[derive(Clone, Copy)]
pub(in crate::kernel) struct Avx2(__m256d);

// SAFETY of every block below: see the module comment. Loads and stores go through references to quads, which have the
// right size and alignment.
impl Lanes for Avx2 {
    const IN_REGISTERS: bool = true;

    #[inline(always)]
    fn load(from: &Quad) -> Self {
        unsafe { Self(_mm256_load_pd(from.0.as_ptr())) }
    }

    #[inline(always)]
    fn store(self, to: &mut Quad) {
        unsafe { _mm256_store_pd(to.0.as_mut_ptr(), self.0) }
    }

    #[inline(always)]
    fn splat(value: f64) -> Self {
        unsafe { Self(_mm256_set1_pd(value)) }
    }

    lane_operations! {
        add(self, other) = unsafe { Self(_mm256_add_pd(self.0, other.0)) };
        sub(self, other) = unsafe { Self(_mm256_sub_pd(self.0, other.0)) };
        mul(self, other) = unsafe { Self(_mm256_mul_pd(self.0, other.0)) };
        div(self, other) = unsafe { Self(_mm256_div_pd(self.0, other.0)) };
        mul_add(self, factor, summand) = unsafe { Self(_mm256_fmadd_pd(self.0, factor.0, summand.0)) };
        neg_mul_add(self, factor, summand) = unsafe { Self(_mm256_fnmadd_pd(self.0, factor.0, summand.0)) };
        neg_abs(self) = unsafe { Self(_mm256_or_pd(self.0, _mm256_set1_pd(-0.0))) };
        // The instruction returns its second operand unless the first is greater.
        max_or_second(self, other) = unsafe { Self(_mm256_max_pd(self.0, other.0)) };
        select_by_sign(self, negative, positive) =
            unsafe { Self(_mm256_blendv_pd(positive.0, negative.0, self.0)) };
        zero_unless_above(self, x, limit) =
            unsafe { Self(_mm256_and_pd(self.0, _mm256_cmp_pd::<_CMP_GT_OQ>(x.0, limit.0))) };
        mul_power_of_two(self, rounded) = unsafe {
            let k = _mm256_slli_epi64::<52>(_mm256_castpd_si256(rounded.0));
            Self(_mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(self.0), k)))
        };
    }

    #[inline(always)]
    fn lane_sums([a, b, c, d]: [Self; 4]) -> Self {
        unsafe {
            // Sums of neighbours, alternating between two registers: a₀ + a₁, b₀ + b₁, a₂ + a₃, b₂ + b₃.
            let (ab, cd) = (_mm256_hadd_pd(a.0, b.0), _mm256_hadd_pd(c.0, d.0));
            let low = _mm256_permute2f128_pd::<0x20>(ab, cd);
            let high = _mm256_permute2f128_pd::<0x31>(ab, cd);
            Self(_mm256_add_pd(low, high))
        }
    }

    #[inline(always)]
    fn split_exponent(self) -> (Self, Self) {
        unsafe {
            let shift = _mm256_set1_epi64x(FROM_SQRT_HALF as i64);
            let shifted = _mm256_add_epi64(_mm256_castpd_si256(self.0), shift);
            let biased = _mm256_srli_epi64::<52>(shifted);
            let joined = _mm256_or_si256(biased, _mm256_set1_epi64x(TWO_52 as i64));
            let k = _mm256_sub_pd(_mm256_castsi256_pd(joined), _mm256_set1_pd(TWO_52_AND_BIAS));
            let power = _mm256_slli_epi64::<52>(_mm256_sub_epi64(_mm256_set1_epi64x(2046), biased));
            (Self(k), Self(_mm256_castsi256_pd(power)))
        }
    }
}
