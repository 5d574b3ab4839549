//! The distance to the nearest of many points, by a tree of bounding boxes.
//!
//! The squared distance to a point and to a box are sums over the coordinates in the same order. Rounding is monotone, so
//! the distance to a box is never above that to a point inside, and the result is the same, to the last bit, as that of
//! comparing with every point.

use rayon::prelude::*;

use crate::kernel::lanes::Quad;
use crate::kernel::lower_to_nearest;
use crate::rows::Rows;

/// Points that a leaf has at most.
const LEAF_POINTS: usize = 32;
/// Points that decide which coordinate is split. The tree's shape affects its speed only.
const JUDGED_POINTS: usize = 512;
/// Points that are compared at once.
const PANEL: usize = 4;
/// Leaves that a search visits on its own, the nearest first. With few coordinates that is nearly always enough.
const OWN_LEAVES: usize = 64;
/// Searches that go on together. With many coordinates most boxes are near, so every search visits most leaves, and
/// reading these from memory takes longer than comparing with them.
const TOGETHER: usize = 64;

/// The rows of a table as points in space: their features and indicators.
pub(super) struct Tree {
    dimensions: usize,
    root: Node,
}

struct Node {
    /// For each coordinate, the lowest and the highest value of a point.
    bounds: Vec<[f64; 2]>,
    content: Content,
}

enum Content {
    Leaf {
        /// The row of each point.
        rows: Vec<usize>,
        /// The points, in panels: the first coordinate of each, then the second, and so on. Points that fill up the last
        /// panel are infinitely far away.
        panels: Vec<Quad>,
    },
    Split(Box<(Node, Node)>),
}

impl Tree {
    pub(super) fn new(rows: &Rows) -> Self {
        let dimensions = rows.layout().indicators().end;
        let mut order: Vec<usize> = (0..rows.len()).collect();
        Self { dimensions, root: build(rows, dimensions, &mut order) }
    }

    /// The distances from the chosen rows of `from`. With `skip_self`, a row is not compared with itself; `from` must
    /// then be the tree's table. The distance to no point is infinite.
    pub(super) fn distances(&self, from: &Rows, chosen: &[usize], skip_self: bool) -> Vec<f64> {
        let search = |&i: &usize| {
            let point = &from.a(i)[..self.dimensions];
            Search { point, except: skip_self.then_some(i), nearest: f64::INFINITY, leaves: 0 }
        };
        let mut searches: Vec<Search<'_>> = chosen.iter().map(search).collect();
        searches.par_iter_mut().for_each(|search| search.visit(&self.root));
        let unfinished = searches.iter_mut().filter(|search| search.leaves >= OWN_LEAVES);
        let mut unfinished: Vec<&mut Search<'_>> = unfinished.collect();
        unfinished.par_chunks_mut(TOGETHER).for_each(|searches| {
            let all: Vec<usize> = (0..searches.len()).collect();
            visit_together(searches, &all, &self.root);
        });
        searches.iter().map(|search| search.nearest.sqrt()).collect()
    }
}

/// Splits the points at the median of the coordinate with the widest range, until leaves are small.
fn build(rows: &Rows, dimensions: usize, order: &mut [usize]) -> Node {
    let Some(axis) = axis_to_split(rows, dimensions, order) else {
        let bounds = bounds_of(rows, dimensions, order.iter().copied());
        return Node { bounds, content: leaf(rows, dimensions, order) };
    };
    let middle = order.len() / 2;
    let by_axis = |a: &usize, b: &usize| rows.a(*a)[axis].total_cmp(&rows.a(*b)[axis]);
    order.select_nth_unstable_by(middle, by_axis);
    let (below, above) = order.split_at_mut(middle);
    let (a, b) = rayon::join(|| build(rows, dimensions, below), || build(rows, dimensions, above));
    let both = a.bounds.iter().zip(&b.bounds);
    let bounds = both.map(|(a, b)| [a[0].min(b[0]), a[1].max(b[1])]).collect();
    Node { bounds, content: Content::Split(Box::new((a, b))) }
}

/// The coordinate with the widest range, judged by some of the points if there are many. `None` if the points belong
/// in one leaf, which may be large if all of them are the same.
fn axis_to_split(rows: &Rows, dimensions: usize, order: &[usize]) -> Option<usize> {
    if order.len() <= LEAF_POINTS {
        return None;
    }
    let widest = |step: usize| {
        let bounds = bounds_of(rows, dimensions, order.iter().copied().step_by(step));
        let range = |axis: usize| bounds[axis][1] - bounds[axis][0];
        let widest = (0..dimensions).max_by(|a, b| range(*a).total_cmp(&range(*b)));
        widest.filter(|axis| range(*axis) > 0.0)
    };
    widest(order.len().div_ceil(JUDGED_POINTS)).or_else(|| widest(1))
}

/// For each coordinate, the lowest and the highest value of some points.
fn bounds_of(rows: &Rows, dimensions: usize, points: impl Iterator<Item = usize>) -> Vec<[f64; 2]> {
    let mut bounds = vec![[f64::INFINITY, f64::NEG_INFINITY]; dimensions];
    for i in points {
        for ([low, high], &v) in bounds.iter_mut().zip(rows.a(i)) {
            (*low, *high) = (low.min(v), high.max(v));
        }
    }
    bounds
}

fn leaf(rows: &Rows, dimensions: usize, order: &[usize]) -> Content {
    let panels = order.chunks(PANEL).flat_map(|members| {
        (0..dimensions).map(move |axis| {
            let value = |k| members.get(k).map_or(f64::INFINITY, |&i: &usize| rows.a(i)[axis]);
            Quad(std::array::from_fn(value))
        })
    });
    Content::Leaf { rows: order.to_vec(), panels: panels.collect() }
}

struct Search<'a> {
    point: &'a [f64],
    /// The row that the point is itself.
    except: Option<usize>,
    /// The smallest squared distance so far.
    nearest: f64,
    /// Leaves visited on its own.
    leaves: usize,
}

impl Search<'_> {
    /// Visits the leaves below a node, the nearest first, until there are too many.
    fn visit(&mut self, node: &Node) {
        match &node.content {
            Content::Leaf { rows, panels } => {
                self.compare(rows, panels);
                self.leaves += 1;
            }
            Content::Split(children) => {
                let (a, b) = (&children.0, &children.1);
                let (to_a, to_b) = (self.to_box(a), self.to_box(b));
                let by_distance =
                    if to_a <= to_b { [(to_a, a), (to_b, b)] } else { [(to_b, b), (to_a, a)] };
                for (distance, child) in by_distance {
                    if distance < self.nearest && self.leaves < OWN_LEAVES {
                        self.visit(child);
                    }
                }
            }
        }
    }

    fn compare(&mut self, rows: &[usize], panels: &[Quad]) {
        let except = self.except.and_then(|except| rows.iter().position(|row| *row == except));
        lower_to_nearest(self.point, panels, except, &mut self.nearest);
    }

    /// The squared distance to the box of a node: 0 inside.
    fn to_box(&self, node: &Node) -> f64 {
        let mut squared = 0.0;
        for (v, [low, high]) in self.point.iter().zip(&node.bounds) {
            let away = (low - v).max(v - high).max(0.0);
            squared += away * away;
        }
        squared
    }
}

/// Finishes the searches of these numbers: visits every leaf below a node for all of them to which it may be near enough.
fn visit_together(searches: &mut [&mut Search<'_>], numbers: &[usize], node: &Node) {
    match &node.content {
        Content::Leaf { rows, panels } => {
            numbers.iter().for_each(|&number| searches[number].compare(rows, panels));
        }
        Content::Split(children) => {
            for child in [&children.0, &children.1] {
                let is_near = |number: &usize| {
                    let search = &searches[*number];
                    search.to_box(child) < search.nearest
                };
                let near: Vec<usize> = numbers.iter().copied().filter(is_near).collect();
                if !near.is_empty() {
                    visit_together(searches, &near, child);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::rows::Layout;
    use crate::test_rows::{layout, random_rows_of};

    /// As the tree, by comparing with every row.
    fn by_brute_force(from: &Rows, to: &Rows, i: usize, skip_self: bool) -> f64 {
        let n = to.layout().indicators().end;
        let squared = |j: usize| -> f64 {
            from.a(i)[..n].iter().zip(to.a(j)).map(|(a, b)| (a - b) * (a - b)).sum()
        };
        let others = (0..to.len()).filter(|&j| !(skip_self && i == j));
        others.map(squared).fold(f64::INFINITY, f64::min).sqrt()
    }

    #[test]
    fn distances_are_those_of_comparing_with_every_row() {
        for (n_x, as_feature) in [(1, true), (3, false), (6, true), (9, true)] {
            let layout = layout(3, n_x, as_feature, true);
            let (data, proxy) = (random_rows_of(&layout, 1, 700), random_rows_of(&layout, 2, 150));
            let tree = Tree::new(&data);
            let (own, other): (Vec<usize>, Vec<usize>) = ((0..700).collect(), (0..150).collect());
            for (i, found) in tree.distances(&proxy, &other, false).into_iter().enumerate() {
                assert_eq!(found, by_brute_force(&proxy, &data, i, false));
            }
            for (i, found) in tree.distances(&data, &own, true).into_iter().enumerate() {
                assert_eq!(found, by_brute_force(&data, &data, i, true));
            }
            assert!(tree.distances(&data, &own, false).iter().all(|distance| *distance == 0.0));
        }
    }

    /// Twenty coordinates of random rows: boxes say little, and no search ends on its own.
    #[test]
    fn searches_that_go_on_together_find_the_same_distances() {
        let layout = layout(2, 20, true, true);
        let (data, proxy) = (random_rows_of(&layout, 3, 5000), random_rows_of(&layout, 4, 150));
        let tree = Tree::new(&data);
        let chosen: Vec<usize> = (0..150).collect();
        for (from, skip_self) in [(&proxy, false), (&data, true)] {
            let mut alone = Search {
                point: &from.a(0)[..tree.dimensions],
                except: skip_self.then_some(0),
                nearest: f64::INFINITY,
                leaves: 0,
            };
            alone.visit(&tree.root);
            assert_eq!(alone.leaves, OWN_LEAVES);
            let found = tree.distances(from, &chosen, skip_self);
            for (i, found) in found.into_iter().enumerate() {
                assert_eq!(found, by_brute_force(from, &data, i, skip_self));
            }
        }
    }

    #[test]
    fn equal_points_and_empty_tables_have_distances() {
        let rows = |x: &[f64]| {
            let n = x.len();
            Rows::new(Layout::two_groups(1, true), x, &vec![true; n], &vec![true; n]).unwrap()
        };
        let same = rows(&[2.0; 100]);
        assert_eq!(Tree::new(&same).distances(&same, &[0, 99], true), [0.0, 0.0]);
        assert_eq!(Tree::new(&same).distances(&rows(&[5.0]), &[0], false), [3.0]);
        assert_eq!(Tree::new(&rows(&[])).distances(&same, &[0], false), [f64::INFINITY]);
        let one = rows(&[1.0]);
        assert_eq!(Tree::new(&one).distances(&one, &[0], true), [f64::INFINITY]);
    }
}
