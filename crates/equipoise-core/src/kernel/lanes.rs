//! Four-lane vectors, the unit of the kernel's arithmetic.
//!
//! All implementations agree to the last bit: each operation rounds once, as IEEE 754 requires, and a multiplication
//! followed by an addition is always fused. They differ in speed only.

use std::array::from_fn;

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "aarch64")]
pub(super) mod neon;

/// Four numbers in memory, aligned for a single load.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C, align(32))]
pub(crate) struct Quad(pub(crate) [f64; 4]);

impl Quad {
    /// The sum of the four numbers. All results depend on this order.
    #[inline(always)]
    pub(crate) fn sum(&self) -> f64 {
        (self.0[0] + self.0[1]) + (self.0[2] + self.0[3])
    }
}

/// The bytes of quads, in native byte order.
pub(crate) fn as_bytes(quads: &[Quad]) -> &[u8] {
    // SAFETY: a quad is four numbers without padding, and bytes need no alignment.
    #[allow(unsafe_code)]
    unsafe {
        std::slice::from_raw_parts(quads.as_ptr().cast(), size_of_val(quads))
    }
}

/// The bytes of quads, to be overwritten.
pub(crate) fn as_bytes_mut(quads: &mut [Quad]) -> &mut [u8] {
    // SAFETY: as above, and any bytes are valid numbers.
    #[allow(unsafe_code)]
    unsafe {
        std::slice::from_raw_parts_mut(quads.as_mut_ptr().cast(), size_of_val(quads))
    }
}

/// Four numbers in registers. All operations act lane by lane, except `lane_sums`.
pub(super) trait Lanes: Copy {
    /// Whether the processor has registers and instructions for four numbers.
    const IN_REGISTERS: bool;

    fn load(from: &Quad) -> Self;
    fn store(self, to: &mut Quad);
    fn splat(value: f64) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    /// `self · factor + summand`, rounded once.
    fn mul_add(self, factor: Self, summand: Self) -> Self;
    /// `summand − self · factor`, rounded once.
    fn neg_mul_add(self, factor: Self, summand: Self) -> Self;
    /// `−|self|`.
    fn neg_abs(self) -> Self;
    /// The larger number, or `other` if either is NaN.
    fn max_or_second(self, other: Self) -> Self;
    /// `negative` if the sign bit of `self` is set, otherwise `positive`.
    fn select_by_sign(self, negative: Self, positive: Self) -> Self;
    /// `self` if `x > limit`, otherwise 0.
    fn zero_unless_above(self, x: Self, limit: Self) -> Self;
    /// `self · 2^k`, where the low bits of `rounded` hold `k` and the result is a normal number.
    fn mul_power_of_two(self, rounded: Self) -> Self;
    /// The lane sums of four vectors, each in the order of [`Quad::sum`].
    fn lane_sums(four: [Self; 4]) -> Self;
    /// For numbers of at least 1: `(k, 2^−k)` with `self · 2^−k` between √½ and √2.
    fn split_exponent(self) -> (Self, Self);
}

/// Implements operations of [`Lanes`], each given by an expression.
macro_rules! lane_operations {
    ($($name:ident($this:ident $(, $operand:ident)*) = $result:expr;)*) => {
        $(
            #[inline(always)]
            fn $name($this $(, $operand: Self)*) -> Self {
                $result
            }
        )*
    };
}
use lane_operations;

/// Defines a function that calls a generic one with the widest lanes of this processor.
///
/// The generic function and everything it calls must be inlined, or they would be compiled without the target features.
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
                    // SAFETY: both features have just been detected.
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

/// Bits of 1 minus those of √½: added to the bits of a number, they make the exponent step at √2 instead of 2.
pub(super) const FROM_SQRT_HALF: u64 = 0x3ff0_0000_0000_0000 - 0x3fe6_a09e_667f_3bcd;
/// Bits of 2⁵²: setting its low bits to a small integer adds that integer.
pub(super) const TWO_52: u64 = 0x4330_0000_0000_0000;
/// 2⁵² plus the exponent bias.
pub(super) const TWO_52_AND_BIAS: f64 = 4_503_599_627_370_496.0 + 1023.0;

/// The implementation for any processor. Without hardware support, `f64::mul_add` is a slow but exact library call.
impl Lanes for Quad {
    const IN_REGISTERS: bool = false;

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

    lane_operations! {
        add(self, other) = Self(from_fn(|l| self.0[l] + other.0[l]));
        sub(self, other) = Self(from_fn(|l| self.0[l] - other.0[l]));
        mul(self, other) = Self(from_fn(|l| self.0[l] * other.0[l]));
        div(self, other) = Self(from_fn(|l| self.0[l] / other.0[l]));
        mul_add(self, factor, summand) = Self(from_fn(|l| self.0[l].mul_add(factor.0[l], summand.0[l])));
        neg_mul_add(self, factor, summand) = Self(from_fn(|l| (-self.0[l]).mul_add(factor.0[l], summand.0[l])));
        neg_abs(self) = Self(self.0.map(|v| -v.abs()));
        max_or_second(self, other) = Self(from_fn(|l| if self.0[l] > other.0[l] { self.0[l] } else { other.0[l] }));
        select_by_sign(self, negative, positive) =
            Self(from_fn(|l| if self.0[l].is_sign_negative() { negative.0[l] } else { positive.0[l] }));
        zero_unless_above(self, x, limit) = Self(from_fn(|l| if x.0[l] > limit.0[l] { self.0[l] } else { 0.0 }));
        mul_power_of_two(self, rounded) = Self(from_fn(|l| {
            let k = rounded.0[l].to_bits().wrapping_shl(52);
            f64::from_bits(self.0[l].to_bits().wrapping_add(k))
        }));
    }

    #[inline(always)]
    fn lane_sums(four: [Self; 4]) -> Self {
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
