//! Prefetching: the next rows are loaded into the cache while the current ones are processed.
//!
//! A processor tracks only a few outstanding cache misses and stalls on more. So a few cache lines at a time are
//! requested, during the steps that read no rows, in proportion to the time that each step takes.

use super::lanes::Quad;
use super::triangle;
use crate::statistics::{Order, triangle as size_of_triangle};

/// Time to compute the terms of a panel, measured in quads that the Hessian's update adds in that time.
const TERMS_TIME: usize = 80;

/// Quads per cache line.
const LINE: usize = 2;
/// Cache lines requested together.
const TOGETHER: usize = 2;

/// How many times to request [`TOGETHER`] cache lines.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    /// While computing the terms of two panels.
    terms: usize,
    /// While updating a tile of the Hessian.
    tile: usize,
}

impl Pace {
    /// The pace at which the next `P` panels have been requested by the time a sub-block of `P` panels is done.
    pub(super) fn of<const P: usize>(n: usize, order: Order) -> Self {
        let total = (P * n).div_ceil(LINE * TOGETHER);
        if order < Order::Hessian {
            return Self { terms: total.div_ceil(P / 2), tile: 0 };
        }
        let terms = total * TERMS_TIME / (TERMS_TIME + size_of_triangle(n)) / (P / 2);
        let tile = (total - terms * (P / 2)).div_ceil(triangle::n_tiles(n));
        Self { terms, tile }
    }
}

/// The address to request next.
#[derive(Clone, Copy)]
pub(super) struct Prefetch {
    next: *const Quad,
    pace: Pace,
}

impl Prefetch {
    /// Requests what follows `values`.
    #[inline(always)]
    pub(super) fn after(values: &[Quad], pace: Pace) -> Self {
        Self { next: values.as_ptr().wrapping_add(values.len()), pace }
    }

    #[inline(always)]
    pub(super) fn during_terms(&mut self) {
        self.request(self.pace.terms);
    }

    #[inline(always)]
    pub(super) fn during_tile(&mut self) {
        self.request(self.pace.tile);
    }

    #[inline(always)]
    fn request(&mut self, times: usize) {
        for _ in 0..times {
            #[cfg(target_arch = "x86_64")]
            for line in 0..TOGETHER {
                use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
                // SAFETY: a hint, which may name any address, even an invalid one.
                #[allow(unsafe_code)]
                unsafe {
                    _mm_prefetch::<_MM_HINT_T0>(self.next.wrapping_add(LINE * line).cast());
                }
            }
            self.next = self.next.wrapping_add(LINE * TOGETHER);
        }
    }
}
