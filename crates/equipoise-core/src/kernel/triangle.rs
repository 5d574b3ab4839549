//! The Hessian's update: the lower triangle of `Σ_r b_r b_rᵀ`, tile by tile, each tile in registers while it runs
//! over the rows of a sub-block.
//!
//! Every entry has four lanes, one for each position in a panel, and each adds its rows in order. So neither tiles nor
//! sub-blocks affect the result.

use super::lanes::{Lanes, Quad};
use super::prefetch::Prefetch;

/// Rows of a tile.
const HEIGHT: usize = 4;

/// The `W` columns from `first` on.
#[inline(always)]
fn columns_from<const P: usize, const W: usize>(
    columns: &[[Quad; P]],
    first: usize,
) -> &[[Quad; P]; W] {
    // Unwrap safety: the slice has `W` columns.
    #[allow(clippy::unwrap_used)]
    columns[first..first + W].try_into().unwrap()
}

/// Tiles of the lower triangle of an `n × n` matrix.
pub(super) fn n_tiles(n: usize) -> usize {
    let first = n % HEIGHT;
    let rows_of_tiles = (first..n).step_by(HEIGHT).map(|top| top.div_ceil(3) + 1);
    usize::from(first > 0) + rows_of_tiles.sum::<usize>()
}

/// Adds the lower triangle of `Σ b bᵀ` over the first `panels` of the `P` panels in `columns` to `sums`, row by row.
#[inline(always)]
pub(super) fn add_products<V: Lanes, const P: usize>(
    columns: &[[Quad; P]],
    panels: usize,
    sums: &mut [Quad],
    mut prefetch: Prefetch,
) {
    let n = columns.len();
    // The rows that do not fill a tile come first, so that all rectangles have full height.
    let first = n % HEIGHT;
    if first > 0 {
        prefetch.during_tile();
    }
    match first {
        1 => corner::<V, P, 1>(columns, panels, 0, sums),
        2 => corner::<V, P, 2>(columns, panels, 0, sums),
        3 => corner::<V, P, 3>(columns, panels, 0, sums),
        _ => {}
    }
    for top in (first..n).step_by(HEIGHT) {
        let mut left = 0;
        while left < top {
            prefetch.during_tile();
            // Width 3 keeps the arithmetic units busiest. Width 1 keeps less than half of them busy.
            let width = match top - left {
                1 => 1,
                2 | 4 => 2,
                _ => 3,
            };
            match width {
                1 => rectangle::<V, P, 1>(columns, panels, top, left, sums),
                2 => rectangle::<V, P, 2>(columns, panels, top, left, sums),
                _ => rectangle::<V, P, 3>(columns, panels, top, left, sums),
            }
            left += width;
        }
        prefetch.during_tile();
        corner::<V, P, HEIGHT>(columns, panels, top, sums);
    }
}

/// Rows `top..top + 4`, columns `left..left + W`.
#[inline(always)]
fn rectangle<V: Lanes, const P: usize, const W: usize>(
    columns: &[[Quad; P]],
    panels: usize,
    top: usize,
    left: usize,
    sums: &mut [Quad],
) {
    let (down, along) =
        (columns_from::<P, HEIGHT>(columns, top), columns_from::<P, W>(columns, left));
    let mut tile = [[V::splat(0.0); W]; HEIGHT];
    for i in 0..HEIGHT {
        let row = &sums[row_start(top + i) + left..][..W];
        for j in 0..W {
            tile[i][j] = V::load(&row[j]);
        }
    }
    if V::IN_REGISTERS && panels == P {
        for p in 0..P {
            add_to_rectangle(along, down, p, &mut tile);
        }
    } else {
        for p in 0..panels.min(P) {
            add_to_rectangle(along, down, p, &mut tile);
        }
    }
    for i in 0..HEIGHT {
        let row = &mut sums[row_start(top + i) + left..][..W];
        for j in 0..W {
            tile[i][j].store(&mut row[j]);
        }
    }
}

/// The lower triangle of rows and columns `top..top + W`.
#[inline(always)]
fn corner<V: Lanes, const P: usize, const W: usize>(
    columns: &[[Quad; P]],
    panels: usize,
    top: usize,
    sums: &mut [Quad],
) {
    let columns = columns_from::<P, W>(columns, top);
    let mut tile = [[V::splat(0.0); W]; W];
    for i in 0..W {
        let row = &sums[row_start(top + i) + top..][..i + 1];
        for j in 0..=i {
            tile[i][j] = V::load(&row[j]);
        }
    }
    if V::IN_REGISTERS && panels == P {
        for p in 0..P {
            add_to_corner(columns, p, &mut tile);
        }
    } else {
        for p in 0..panels.min(P) {
            add_to_corner(columns, p, &mut tile);
        }
    }
    for i in 0..W {
        let row = &mut sums[row_start(top + i) + top..][..i + 1];
        for j in 0..=i {
            tile[i][j].store(&mut row[j]);
        }
    }
}

/// Offset of row `i` in a lower triangle.
#[inline(always)]
fn row_start(i: usize) -> usize {
    i * (i + 1) / 2
}

#[inline(always)]
fn add_to_rectangle<V: Lanes, const P: usize, const W: usize>(
    along: &[[Quad; P]; W],
    down: &[[Quad; P]; HEIGHT],
    p: usize,
    tile: &mut [[V; W]; HEIGHT],
) {
    let mut b = [V::splat(0.0); W];
    for j in 0..W {
        b[j] = V::load(&along[j][p]);
    }
    for i in 0..HEIGHT {
        let a = V::load(&down[i][p]);
        for j in 0..W {
            tile[i][j] = a.mul_add(b[j], tile[i][j]);
        }
    }
}

#[inline(always)]
fn add_to_corner<V: Lanes, const P: usize, const W: usize>(
    columns: &[[Quad; P]; W],
    p: usize,
    tile: &mut [[V; W]; W],
) {
    let mut b = [V::splat(0.0); W];
    for j in 0..W {
        b[j] = V::load(&columns[j][p]);
    }
    for i in 0..W {
        for j in 0..=i {
            tile[i][j] = b[i].mul_add(b[j], tile[i][j]);
        }
    }
}
