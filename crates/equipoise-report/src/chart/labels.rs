//! Places labels so that they do not overlap.

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Area {
    /// The rectangle from its top left corner to its bottom right one, with a margin.
    pub(super) fn around((left, top): (f64, f64), (right, bottom): (f64, f64), by: f64) -> Self {
        Self { left: left - by, top: top - by, right: right + by, bottom: bottom + by }
    }

    pub(super) fn overlap(&self, other: &Self) -> f64 {
        let width = self.right.min(other.right) - self.left.max(other.left);
        let height = self.bottom.min(other.bottom) - self.top.max(other.top);
        width.max(0.0) * height.max(0.0)
    }

    /// How much of this area is outside the other.
    pub(super) fn outside(&self, other: &Self) -> f64 {
        (self.right - self.left) * (self.bottom - self.top) - self.overlap(other)
    }
}

/// Gaps tried between a point and its label.
const GAPS: [f64; 3] = [9.0, 20.0, 34.0];
const HEIGHT: f64 = 15.0;

/// The area near the point, for a label of `width`, that overlaps least with what is taken.
pub(super) fn place_label(at: (f64, f64), width: f64, taken: &[Area], bounds: &Area) -> Area {
    let areas = GAPS.into_iter().flat_map(|gap| around(at, width, gap));
    // Rounded, so that the first of several equally good areas wins.
    let best = areas.min_by_key(|area| (1e6 * cost(area, taken, bounds)) as u64);
    best.unwrap_or_else(|| around(at, width, GAPS[0])[0])
}

/// The area right beside the point, if there is one that overlaps with nothing.
pub(super) fn place_beside(
    at: (f64, f64),
    width: f64,
    taken: &[Area],
    bounds: &Area,
) -> Option<Area> {
    around(at, width, GAPS[0]).into_iter().find(|area| cost(area, taken, bounds) < 1e-6)
}

/// Areas on all sides of a point.
fn around((x, y): (f64, f64), width: f64, gap: f64) -> [Area; 8] {
    let at = |left: f64, top: f64| Area { left, top, right: left + width, bottom: top + HEIGHT };
    let half = (width / 2.0, HEIGHT / 2.0);
    let diagonal = gap * 0.7;
    [
        at(x + gap, y - half.1),
        at(x - gap - width, y - half.1),
        at(x - half.0, y - gap - HEIGHT),
        at(x - half.0, y + gap),
        at(x + diagonal, y - diagonal - HEIGHT),
        at(x + diagonal, y + diagonal),
        at(x - diagonal - width, y - diagonal - HEIGHT),
        at(x - diagonal - width, y + diagonal),
    ]
}

fn cost(area: &Area, taken: &[Area], bounds: &Area) -> f64 {
    taken.iter().map(|other| area.overlap(other)).sum::<f64>() + 4.0 * area.outside(bounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_avoid_taken_areas_and_stay_within_bounds() {
        let bounds = Area { left: 0.0, top: 0.0, right: 200.0, bottom: 200.0 };
        let first = place_label((100.0, 100.0), 40.0, &[], &bounds);
        let second = place_label((100.0, 104.0), 40.0, &[first], &bounds);
        assert_eq!(first.overlap(&second), 0.0);
        let at_edge = place_label((198.0, 100.0), 40.0, &[], &bounds);
        assert_eq!(at_edge.outside(&bounds), 0.0);
    }

    #[test]
    fn a_label_that_would_touch_something_has_no_place_beside_its_point() {
        let bounds = Area { left: 0.0, top: 0.0, right: 200.0, bottom: 200.0 };
        let beside = place_beside((100.0, 100.0), 40.0, &[], &bounds);
        assert_eq!(beside.map(|area| area.left), Some(109.0));
        let crowd = Area::around((60.0, 60.0), (140.0, 140.0), 0.0);
        assert_eq!(place_beside((100.0, 100.0), 40.0, &[crowd], &bounds), None);
    }
}
