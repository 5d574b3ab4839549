//! The area between an x and a y axis.

use super::Axis;
use super::canvas::{Anchor, Xy, centred_text, fit, line, text, tick_labels, widest};
use super::scale::Scale;
use crate::markup::Markup;

pub(super) struct Plot {
    pub(super) x: Scale,
    pub(super) y: Scale,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

/// Height of tick labels and title of the x axis.
pub(super) const AXIS_HEIGHT: f64 = 46.0;

impl Plot {
    /// The area begins to the right of the tick labels of the y axis.
    pub(super) fn new(x: Scale, y: Scale, right: f64, top: f64, height: f64) -> Self {
        let left = 12.0 + widest(y.ticks.iter().map(|tick| &*tick.label));
        Self { x, y, left, right, top, bottom: top + height }
    }

    pub(super) fn at_x(&self, value: f64) -> f64 {
        self.left + self.x.fraction(value) * (self.right - self.left)
    }

    pub(super) fn at_y(&self, value: f64) -> f64 {
        self.bottom - self.y.fraction(value) * (self.bottom - self.top)
    }

    pub(super) fn at(&self, (x, y): Xy) -> Xy {
        (self.at_x(x), self.at_y(y))
    }

    pub(super) fn draw_axes(&self, markup: &mut Markup, width: f64, x_axis: &Axis, y_axis: &Axis) {
        for tick in &self.y.ticks {
            let y = self.at_y(tick.value);
            line(markup, (self.left, y), (self.right, y), tick.class());
            text(markup, (self.left - 6.0, y + 4.5), Anchor::End, "tick", &tick.label);
        }
        for tick in &self.x.ticks {
            let x = self.at_x(tick.value);
            line(markup, (x, self.bottom), (x, self.bottom + 5.0), "zero");
        }
        tick_labels(markup, &self.x, |value| self.at_x(value), self.bottom + 19.0);
        line(markup, (self.left, self.bottom), (self.right, self.bottom), "zero");
        let middle = (self.left + self.right) / 2.0;
        centred_text(markup, (middle, self.bottom + 40.0), width, "axis", &x_axis.title);
        // The title of the y axis is horizontal, above the axis, where it is easier to read.
        text(markup, (2.0, 13.0), Anchor::Start, "axis", &fit(&y_axis.title, 0.9 * width));
    }
}
