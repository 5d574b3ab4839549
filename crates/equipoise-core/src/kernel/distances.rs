//! The smallest squared distance from a point to others, which are packed four to a panel like rows.
//!
//! A squared distance adds its squares in the order of the coordinates, each rounded.

use super::GROUP;
use super::lanes::{Lanes, Quad, widest};

/// Coordinates after which the sums are compared with the smallest distance so far.
const CHUNK: usize = 8;

widest! {
    /// Lowers `nearest`, a squared distance, to that of the nearest point in `panels`. The point at the place `except`
    /// does not count. Points that fill up the last panel must be infinitely far away.
    pub(crate) fn lower_to_nearest(
        point: &[f64],
        panels: &[Quad],
        except: Option<usize>,
        nearest: &mut f64,
    ) = lower_with
}

#[inline(always)]
fn lower_with<V: Lanes>(point: &[f64], panels: &[Quad], except: Option<usize>, nearest: &mut f64) {
    let n = point.len();
    let mut first = 0;
    for group in panels.chunks(GROUP * n) {
        if group.len() == GROUP * n {
            compare::<V, GROUP>(point, group, first, except, nearest);
        } else {
            for (p, panel) in group.chunks_exact(n).enumerate() {
                compare::<V, 1>(point, panel, first + 4 * p, except, nearest);
            }
        }
        first += 4 * GROUP;
    }
}

/// Compares with the points of `G` panels, the first of which has the place `first`. Stops when no sum can be the smallest
/// any more.
#[inline(always)]
fn compare<V: Lanes, const G: usize>(
    point: &[f64],
    panels: &[Quad],
    first: usize,
    except: Option<usize>,
    nearest: &mut f64,
) {
    let n = point.len();
    let mut sums = [V::splat(0.0); G];
    for from in (0..n).step_by(CHUNK) {
        for k in from..(from + CHUNK).min(n) {
            let own = V::splat(point[k]);
            for p in 0..G {
                let away = own.sub(V::load(&panels[p * n + k]));
                sums[p] = sums[p].add(away.mul(away));
            }
        }
        // Sums are not negative, so the largest of their opposites is that of the smallest sum.
        let mut opposite = sums[0].neg_abs();
        for p in 1..G {
            opposite = opposite.max_or_second(sums[p].neg_abs());
        }
        let mut smallest = Quad::default();
        opposite.store(&mut smallest);
        if smallest.0.iter().all(|opposite| -opposite >= *nearest) {
            return;
        }
    }
    for p in 0..G {
        let mut squared = Quad::default();
        sums[p].store(&mut squared);
        for l in 0..4 {
            if except != Some(first + 4 * p + l) {
                *nearest = nearest.min(squared.0[l]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `count` points of `n` coordinates in panels, and the points themselves.
    fn points(n: usize, count: usize) -> (Vec<Quad>, Vec<Vec<f64>>) {
        let value = |i: usize, k: usize| ((i * 31 + k * 17) as f64 * 0.7).sin();
        let points: Vec<Vec<f64>> =
            (0..count).map(|i| (0..n).map(|k| value(i, k)).collect()).collect();
        let mut panels = vec![Quad([f64::INFINITY; 4]); count.div_ceil(4) * n];
        for (i, point) in points.iter().enumerate() {
            for (k, v) in point.iter().enumerate() {
                panels[i / 4 * n + k].0[i % 4] = *v;
            }
        }
        (panels, points)
    }

    fn expected(point: &[f64], points: &[Vec<f64>], except: Option<usize>) -> f64 {
        let others = points.iter().enumerate().filter(|(i, _)| Some(*i) != except);
        let squared =
            others.map(|(_, other)| point.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum());
        squared.fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn every_number_of_points_and_coordinates_gives_the_smallest_distance() {
        for n in [1, 3, 8, 9, 17] {
            for count in [0, 1, 4, 5, 16, 17, 35] {
                let (panels, points) = points(n, count);
                let point: Vec<f64> = (0..n).map(|k| (k as f64).cos()).collect();
                let mut nearest = f64::INFINITY;
                lower_to_nearest(&point, &panels, None, &mut nearest);
                assert_eq!(nearest, expected(&point, &points, None), "{n}, {count}");
                for except in 0..count {
                    let mut nearest = f64::INFINITY;
                    lower_to_nearest(&points[except], &panels, Some(except), &mut nearest);
                    assert_eq!(nearest, expected(&points[except], &points, Some(except)));
                }
            }
        }
    }

    #[test]
    fn the_widest_lanes_agree_with_plain_arithmetic_and_never_raise_a_distance() {
        let (panels, points) = points(13, 40);
        let (mut wide, mut plain) = (f64::INFINITY, f64::INFINITY);
        let point: Vec<f64> = points[7].iter().map(|v| v + 0.1).collect();
        lower_to_nearest(&point, &panels, Some(7), &mut wide);
        lower_with::<Quad>(&point, &panels, Some(7), &mut plain);
        assert_eq!(wide.to_bits(), plain.to_bits());
        let mut small = 1e-9;
        lower_to_nearest(&point, &panels, None, &mut small);
        assert_eq!(small, 1e-9);
    }
}
