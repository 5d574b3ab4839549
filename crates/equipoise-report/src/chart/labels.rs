//! Where names go so that they do not lie on each other.

/// Places near the `wanted` ones, at least `step` apart and within `bounds` where there is room.
pub(crate) fn spread(wanted: &[f64], step: f64, (low, high): (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&i, &j| wanted[i].total_cmp(&wanted[j]));
    let mut placed = wanted.to_vec();
    let mut free_from = low;
    for &i in &order {
        placed[i] = placed[i].max(free_from);
        free_from = placed[i] + step;
    }
    let mut free_to = high;
    for &i in order.iter().rev() {
        placed[i] = placed[i].min(free_to);
        free_to = placed[i] - step;
    }
    placed
}

/// A box on paper: left, top, right, bottom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Area {
    /// How much of this area the other covers.
    pub(crate) fn overlap(&self, other: &Self) -> f64 {
        let width = self.right.min(other.right) - self.left.max(other.left);
        let height = self.bottom.min(other.bottom) - self.top.max(other.top);
        width.max(0.0) * height.max(0.0)
    }

    /// How much of this area lies outside the other.
    pub(crate) fn outside(&self, other: &Self) -> f64 {
        (self.right - self.left) * (self.bottom - self.top) - self.overlap(other)
    }
}

/// Gaps tried between a point and its name, and the height of a name.
const GAPS: [f64; 3] = [9.0, 20.0, 34.0];
const HEIGHT: f64 = 15.0;

/// The area for a name of `width` around the point, the one that covers least of what is taken.
pub(crate) fn place_label((x, y): (f64, f64), width: f64, taken: &[Area], bounds: &Area) -> Area {
    let at = |left: f64, top: f64| Area { left, top, right: left + width, bottom: top + HEIGHT };
    let half = (width / 2.0, HEIGHT / 2.0);
    let around = |gap: f64| {
        [
            at(x + gap, y - half.1),
            at(x - gap - width, y - half.1),
            at(x - half.0, y - gap - HEIGHT),
            at(x - half.0, y + gap),
            at(x + gap * 0.7, y - gap * 0.7 - HEIGHT),
            at(x + gap * 0.7, y + gap * 0.7),
            at(x - gap * 0.7 - width, y - gap * 0.7 - HEIGHT),
            at(x - gap * 0.7 - width, y + gap * 0.7),
        ]
    };
    let cost = |area: &Area| {
        taken.iter().map(|other| area.overlap(other)).sum::<f64>() + 4.0 * area.outside(bounds)
    };
    let mut best = at(x + GAPS[0], y - half.1);
    let mut least = f64::MAX;
    for area in GAPS.into_iter().flat_map(around) {
        let cost = cost(&area);
        if cost < least - 1e-9 {
            (best, least) = (area, cost);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_apart_and_inside() {
        let placed = spread(&[50.0, 50.0, 52.0, 98.0], 10.0, (0.0, 100.0));
        let mut sorted = placed.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= 10.0 - 1e-9), "{placed:?}");
        assert!(sorted.iter().all(|y| (0.0..=100.0).contains(y)));
    }

    #[test]
    fn a_label_avoids_what_is_taken() {
        let bounds = Area { left: 0.0, top: 0.0, right: 200.0, bottom: 200.0 };
        let first = place_label((100.0, 100.0), 40.0, &[], &bounds);
        let second = place_label((100.0, 104.0), 40.0, &[first], &bounds);
        assert_eq!(first.overlap(&second), 0.0);
        let at_edge = place_label((198.0, 100.0), 40.0, &[], &bounds);
        assert_eq!(at_edge.outside(&bounds), 0.0);
    }
}
