//! The distance to the nearest of many points, by a k-d tree.
//!
//! Every distance that counts is computed as without the tree, so the smallest one is the same to the last bit.

use rayon::prelude::*;

use crate::rows::Rows;

/// Points that a leaf has at most.
const LEAF_POINTS: usize = 32;
/// Coordinates after which a sum of squares is compared with the smallest so far.
const CHUNK: usize = 4;

/// The rows of a table as points in space: their features and indicators.
pub(super) struct Tree<'a> {
    rows: &'a Rows,
    dimensions: usize,
    /// Row numbers, in the order of the leaves.
    order: Vec<usize>,
    root: Node,
}

enum Node {
    /// Points `start..end` of the order.
    Leaf { start: usize, end: usize },
    /// Points with a coordinate below the value are in `children.0`, points above it in `children.1`.
    Split { axis: usize, value: f64, children: Box<(Node, Node)> },
}

impl<'a> Tree<'a> {
    pub(super) fn new(rows: &'a Rows) -> Self {
        let dimensions = rows.layout().indicators().end;
        let mut order: Vec<usize> = (0..rows.len()).collect();
        let root = build(rows, dimensions, &mut order, 0);
        Self { rows, dimensions, order, root }
    }

    /// The distance from `point` to the nearest row other than row `except`; infinite if there is none.
    pub(super) fn distance(&self, point: &[f64], except: Option<usize>) -> f64 {
        let point = &point[..self.dimensions];
        let mut search = Search { tree: self, point, except, nearest: f64::INFINITY };
        search.visit(&self.root);
        search.nearest.sqrt()
    }
}

/// Splits `order` at the median of the coordinate with the widest range, until leaves are small.
fn build(rows: &Rows, dimensions: usize, order: &mut [usize], start: usize) -> Node {
    let leaf = Node::Leaf { start, end: start + order.len() };
    if order.len() <= LEAF_POINTS {
        return leaf;
    }
    let mut axis = (0, 0.0);
    for k in 0..dimensions {
        let values = order.iter().map(|&i| rows.a(i)[k]);
        let (low, high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if high - low > axis.1 {
            axis = (k, high - low);
        }
    }
    // All points are the same.
    if axis.1 == 0.0 {
        return leaf;
    }
    let axis = axis.0;
    let middle = order.len() / 2;
    let by_axis = |a: &usize, b: &usize| rows.a(*a)[axis].total_cmp(&rows.a(*b)[axis]);
    order.select_nth_unstable_by(middle, by_axis);
    let value = rows.a(order[middle])[axis];
    let (below, above) = order.split_at_mut(middle);
    let children = rayon::join(
        || build(rows, dimensions, below, start),
        || build(rows, dimensions, above, start + middle),
    );
    Node::Split { axis, value, children: Box::new(children) }
}

struct Search<'a> {
    tree: &'a Tree<'a>,
    point: &'a [f64],
    except: Option<usize>,
    /// The smallest squared distance so far.
    nearest: f64,
}

impl Search<'_> {
    fn visit(&mut self, node: &Node) {
        match node {
            Node::Leaf { start, end } => {
                for &i in &self.tree.order[*start..*end] {
                    if self.except != Some(i) {
                        self.compare(self.tree.rows.a(i));
                    }
                }
            }
            Node::Split { axis, value, children } => {
                let away = self.point[*axis] - value;
                let (near, far) = match away < 0.0 {
                    true => (&children.0, &children.1),
                    false => (&children.1, &children.0),
                };
                self.visit(near);
                // The far side is at least this far away; it may have points at exactly `value`.
                if away * away < self.nearest {
                    self.visit(far);
                }
            }
        }
    }

    /// Adds squares in the order of the coordinates and stops when the sum cannot be the smallest any more.
    fn compare(&mut self, other: &[f64]) {
        let mut squared = 0.0;
        for (own, other) in self.point.chunks(CHUNK).zip(other.chunks(CHUNK)) {
            for (a, b) in own.iter().zip(other) {
                squared += (a - b) * (a - b);
            }
            if squared >= self.nearest {
                return;
            }
        }
        self.nearest = squared;
    }
}

/// The distances from the chosen rows of `from`. With `skip_self`, a row is not compared with itself: `from` must then
/// be the tree's table.
pub(super) fn distances(
    tree: &Tree<'_>,
    from: &Rows,
    chosen: &[usize],
    skip_self: bool,
) -> Vec<f64> {
    let distance = |&i: &usize| tree.distance(from.a(i), skip_self.then_some(i));
    chosen.par_iter().map(distance).collect()
}
