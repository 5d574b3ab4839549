//! Four numbers side by side: what the kernel computes with.
//!
//! The arithmetic of every implementation is the same to the last bit: each operation rounds once, as
//! IEEE 754 says, and a multiplication with an addition behind it is always fused. Which instructions do
//! it is a matter of speed alone.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "aarch64")]
pub(super) mod neon;

/// Four numbers in memory, aligned for the widest load that takes all of them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C, align(32))]
pub(crate) struct Quad(pub(crate) [f64; 4]);

impl Quad {
    /// The sum of the four, in the order that all results here rely on.
    #[inline(always)]
    pub(crate) fn sum(&self) -> f64 {
        (self.0[0] + self.0[1]) + (self.0[2] + self.0[3])
    }
}

/// The bytes of some quads, in the order of this processor.
pub(crate) fn as_bytes(quads: &[Quad]) -> &[u8] {
    // SAFETY: a quad is four numbers and nothing between them; bytes need no alignment.
    #[allow(unsafe_code)]
    unsafe {
        std::slice::from_raw_parts(quads.as_ptr().cast(), size_of_val(quads))
    }
}

/// The bytes of some quads, to be overwritten.
pub(crate) fn as_bytes_mut(quads: &mut [Quad]) -> &mut [u8] {
    // SAFETY: as above, and any bytes are numbers.
    #[allow(unsafe_code)]
    unsafe {
        std::slice::from_raw_parts_mut(quads.as_mut_ptr().cast(), size_of_val(quads))
    }
}

/// Four numbers in registers. All operations work on each of the four by itself.
pub(super) trait Lanes: Copy {
    fn load(from: &Quad) -> Self;
    fn store(self, to: &mut Quad);
    fn splat(value: f64) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn sqrt(self) -> Self;
    /// `self · factor + summand`, rounded once.
    fn mul_add(self, factor: Self, summand: Self) -> Self;
    /// `summand − self · factor`, rounded once.
    fn sub_from(self, factor: Self, summand: Self) -> Self;
    /// `−|self|`.
    fn minus_abs(self) -> Self;
    /// `self` where it is above `other`, else `other`; so `other` where either is not a number.
    fn above_or(self, other: Self) -> Self;
    /// `negative` where the sign bit of `self` is set, `positive` elsewhere.
    fn by_sign(self, negative: Self, positive: Self) -> Self;
    /// `self` where `x` is above `limit`, 0 elsewhere.
    fn if_above(self, x: Self, limit: Self) -> Self;
    /// `self · 2^k`, where the low bits of `rounded` hold `k` and the result is a normal number.
    fn times_power(self, rounded: Self) -> Self;
    /// The sum of each of the four, each as [`Quad::sum`] adds it.
    fn sums(four: [Self; 4]) -> Self;
    /// For numbers of at least 1: `(k, 2^−k)` with `self · 2^−k` between √½ and √2.
    fn split_exponent(self) -> (Self, Self);
}

/// Defines a function that calls a generic one with the widest lanes that this processor has.
///
/// The generic one must be inlined, and so must be all that it calls, or it would be compiled without the features that
/// it needs.
macro_rules! widest {
    ($(#[$about:meta])* $visible:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) = $generic:ident) => {
        $(#[$about])*
        $visible fn $name($($argument: $type),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn with_avx2($($argument: $type),*) {
                    $generic::<$crate::kernel::lanes::avx2::Avx2>($($argument),*)
                }
                use std::arch::is_x86_feature_detected;
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the processor has just been asked whether it has what the function is compiled for.
                    #[allow(unsafe_code)]
                    return unsafe { with_avx2($($argument),*) };
                }
            }
            #[cfg(target_arch = "aarch64")]
            $generic::<$crate::kernel::lanes::neon::Neon>($($argument),*);
            #[cfg(not(target_arch = "aarch64"))]
            $generic::<$crate::kernel::lanes::Quad>($($argument),*)
        }
    };
}
pub(super) use widest;

/// Bits of 1 minus those of √½: added to a number's bits, the exponent steps at √2 instead of at 2.
pub(super) const FROM_SQRT_HALF: u64 = 0x3ff0_0000_0000_0000 - 0x3fe6_a09e_667f_3bcd;
/// Bits of 2⁵²: a small integer in its low bits is that integer added to it.
pub(super) const TWO_52: u64 = 0x4330_0000_0000_0000;
/// 2⁵² plus the bias of exponents.
pub(super) const TWO_52_AND_BIAS: f64 = 4_503_599_627_370_496.0 + 1023.0;

/// The implementation for every processor. Without hardware for it, `f64::mul_add` is a slow library
/// call, though an exact one.
impl Lanes for Quad {
    #[inline(always)]
    fn load(from: &Quad) -> Self {
        *from
    }

    #[inline(always)]
    fn store(self, to: &mut Quad) {
        *to = self;
    }

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self([value; 4])
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|l| self.0[l] + other.0[l]))
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(std::array::from_fn(|l| self.0[l] - other.0[l]))
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(std::array::from_fn(|l| self.0[l] * other.0[l]))
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(std::array::from_fn(|l| self.0[l] / other.0[l]))
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(std::array::from_fn(|l| self.0[l].sqrt()))
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, summand: Self) -> Self {
        Self(std::array::from_fn(|l| self.0[l].mul_add(factor.0[l], summand.0[l])))
    }

    #[inline(always)]
    fn sub_from(self, factor: Self, summand: Self) -> Self {
        Self(std::array::from_fn(|l| (-self.0[l]).mul_add(factor.0[l], summand.0[l])))
    }

    #[inline(always)]
    fn minus_abs(self) -> Self {
        Self(self.0.map(|v| -v.abs()))
    }

    #[inline(always)]
    fn above_or(self, other: Self) -> Self {
        let pick = |l: usize| if self.0[l] > other.0[l] { self.0[l] } else { other.0[l] };
        Self(std::array::from_fn(pick))
    }

    #[inline(always)]
    fn by_sign(self, negative: Self, positive: Self) -> Self {
        let pick =
            |l: usize| if self.0[l].is_sign_negative() { negative.0[l] } else { positive.0[l] };
        Self(std::array::from_fn(pick))
    }

    #[inline(always)]
    fn if_above(self, x: Self, limit: Self) -> Self {
        Self(std::array::from_fn(|l| if x.0[l] > limit.0[l] { self.0[l] } else { 0.0 }))
    }

    #[inline(always)]
    fn times_power(self, rounded: Self) -> Self {
        let scale =
            |l: usize| self.0[l].to_bits().wrapping_add(rounded.0[l].to_bits().wrapping_shl(52));
        Self(std::array::from_fn(|l| f64::from_bits(scale(l))))
    }

    #[inline(always)]
    fn sums(four: [Self; 4]) -> Self {
        Self(four.map(|quad| quad.sum()))
    }

    #[inline(always)]
    fn split_exponent(self) -> (Self, Self) {
        let biased = self.0.map(|v| v.to_bits().wrapping_add(FROM_SQRT_HALF) >> 52);
        let k = biased.map(|b| f64::from_bits(b | TWO_52) - TWO_52_AND_BIAS);
        let power = biased.map(|b| f64::from_bits(2046u64.wrapping_sub(b) << 52));
        (Self(k), Self(power))
    }
}
