//! The next rows are fetched into the cache while these are worked on.
//!
//! A processor can wait for some lines of its cache at a time, and stops at more. So they are asked for a few at a time,
//! during the steps that read no rows themselves, to each as many as it takes time for.

use super::lanes::Quad;
use super::triangle;
use crate::statistics::{Order, triangle as size_of_triangle};

/// How long the terms of a panel take, in steps of the Hessian's update: about so many of its quads are added meanwhile.
const TERMS: usize = 80;

/// Quads of a line of the cache, and lines that are asked for in one go.
const LINE: usize = 2;
const TOGETHER: usize = 2;

/// How many times [`TOGETHER`] lines of the cache to ask for.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    /// With the terms of two panels.
    terms: usize,
    /// With each tile of the Hessian.
    tile: usize,
}

impl Pace {
    /// So that a sub-block of `P` panels has asked for as many panels when it is done.
    pub(super) fn of<const P: usize>(n: usize, order: Order) -> Self {
        let all = (P * n).div_ceil(LINE * TOGETHER);
        if order < Order::Hessian {
            return Self { terms: all.div_ceil(P / 2), tile: 0 };
        }
        let terms = all * TERMS / (TERMS + size_of_triangle(n)) / (P / 2);
        let tile = (all - terms * (P / 2)).div_ceil(triangle::n_tiles(n));
        Self { terms, tile }
    }
}

/// What is to be asked for next.
#[derive(Clone, Copy)]
pub(super) struct Ahead {
    next: *const Quad,
    pace: Pace,
}

impl Ahead {
    /// The values behind these.
    #[inline(always)]
    pub(super) fn of(values: &[Quad], pace: Pace) -> Self {
        Self { next: values.as_ptr().wrapping_add(values.len()), pace }
    }

    /// Nothing is fetched.
    #[inline(always)]
    pub(super) fn nothing() -> Self {
        Self { next: std::ptr::null(), pace: Pace { terms: 0, tile: 0 } }
    }

    #[inline(always)]
    pub(super) fn fetch_during_terms(&mut self) {
        self.fetch(self.pace.terms);
    }

    #[inline(always)]
    pub(super) fn fetch_during_tile(&mut self) {
        self.fetch(self.pace.tile);
    }

    #[inline(always)]
    fn fetch(&mut self, times: usize) {
        for _ in 0..times {
            #[cfg(target_arch = "x86_64")]
            for line in 0..TOGETHER {
                use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
                // SAFETY: a hint; it may name any address, even one that does not exist.
                #[allow(unsafe_code)]
                unsafe {
                    _mm_prefetch::<_MM_HINT_T0>(self.next.wrapping_add(LINE * line).cast());
                }
            }
            self.next = self.next.wrapping_add(LINE * TOGETHER);
        }
    }
}
