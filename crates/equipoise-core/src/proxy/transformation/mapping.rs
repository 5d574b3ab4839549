//! The linear program: masses `q(x̂, ŷ; x, y, s)` moved from each cell, label and group to a cell and label.
//!
//! Minimise `Σ q · (bins moved + [ŷ ≠ y])`, such that
//!
//! - every source sends what it has: `Σ q = P(x, y, s)`;
//! - labels do not discriminate: `R_s = r_s` for every group, where `R_s` is the share of its people whose new label is positive;
//! - the data stays useful: the total variation distance between the distributions of `(x̂, ŷ)` and `(x, y)` is at most `u`. If no
//!   mapping comes as close, the excess is made as small as possible.

use microlp::{ComparisonOp, LinearExpr, OptimizationDirection, Problem, Variable};

use crate::error::Error;

/// What a unit of total variation beyond the limit costs: more than any distortion.
const EXCESS_COST: f64 = 100.0;

/// What a unit of a rate beyond its limit costs: more than that.
const UNFAIR_COST: f64 = 10_000.0;

/// A cell, label and group before the mapping.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    pub(super) cell: usize,
    pub(super) positive: bool,
    pub(super) group: usize,
}

impl Source {
    pub(super) fn index(self, n_groups: usize) -> usize {
        (2 * self.cell + usize::from(self.positive)) * n_groups + self.group
    }

    fn at(index: usize, n_groups: usize) -> Self {
        let (both, group) = (index / n_groups, index % n_groups);
        Self { cell: both / 2, positive: both % 2 == 1, group }
    }
}

/// A cell and label after the mapping.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Destination {
    pub(super) cell: usize,
    pub(super) positive: bool,
}

pub(super) struct MappingProblem {
    pub(super) n_groups: usize,
    /// `P(x, y, s)`, by [`Source::index`].
    pub(super) shares: Vec<f64>,
    /// One for each group.
    pub(super) limits: Vec<RateLimit>,
    /// Bins between each two cells.
    pub(super) distances: Vec<usize>,
    /// Bins, in total, by which a row may move.
    pub(super) max_distance: usize,
    /// `u`.
    pub(super) max_shift: f64,
}

/// The rate of a group.
#[derive(Debug, Clone)]
pub(super) struct RateLimit {
    pub(super) group: usize,
    /// `P(x | s)`, by cell.
    pub(super) cells: Vec<f64>,
    /// `r_s`.
    pub(super) rate: f64,
}

/// A solution.
pub(super) struct Mapping {
    n_groups: usize,
    /// For each source, the destinations and their probabilities.
    to: Vec<Vec<(Destination, f64)>>,
    /// The expected distortion.
    #[cfg_attr(not(test), allow(dead_code))] // Only tests compare it.
    pub(super) distortion: f64,
}

/// A mass that may move.
struct Mass {
    source: usize,
    to: Destination,
    distortion: f64,
    variable: Variable,
}

impl MappingProblem {
    fn n_cells(&self) -> usize {
        self.distances.len().isqrt()
    }

    pub(super) fn solve(&self) -> Result<Mapping, Error> {
        let mut program = Problem::new(OptimizationDirection::Minimize);
        let masses = self.add_masses(&mut program);
        self.conserve(&mut program, &masses);
        self.limit_discrimination(&mut program, &masses);
        self.limit_shift(&mut program, &masses);
        let failed = |reason: String| {
            Error::Input(format!(
                "the linear program of the transformation has no solution: {reason}"
            ))
        };
        let solved = program.solve().map_err(|error| failed(error.to_string()))?;
        let solution = solved.into_solution().map_err(|_| failed("interrupted".to_owned()))?;

        let mut to = vec![Vec::new(); self.shares.len()];
        let mut distortion = 0.0;
        for mass in &masses {
            let moved = solution.var_value(mass.variable).max(0.0);
            distortion += moved * mass.distortion;
            if moved > 0.0 {
                to[mass.source].push((mass.to, moved));
            }
        }
        for destinations in &mut to {
            let all: f64 = destinations.iter().map(|(_, moved)| moved).sum();
            destinations.iter_mut().for_each(|(_, moved)| *moved /= all);
        }
        Ok(Mapping { n_groups: self.n_groups, to, distortion })
    }

    /// A variable for each source that has rows and each destination within reach.
    fn add_masses(&self, program: &mut Problem) -> Vec<Mass> {
        let mut masses = Vec::new();
        for source in (0..self.shares.len()).filter(|&source| self.shares[source] > 0.0) {
            let Source { cell, positive, .. } = Source::at(source, self.n_groups);
            for to in 0..self.n_cells() {
                let bins = self.distances[cell * self.n_cells() + to];
                if bins > self.max_distance {
                    continue;
                }
                for label in [false, true] {
                    let distortion = bins as f64 + f64::from(u8::from(label != positive));
                    let variable = program.add_var(distortion, (0.0, f64::INFINITY));
                    let to = Destination { cell: to, positive: label };
                    masses.push(Mass { source, to, distortion, variable });
                }
            }
        }
        masses
    }

    fn conserve(&self, program: &mut Problem, masses: &[Mass]) {
        for of_source in masses.chunk_by(|a, b| a.source == b.source) {
            let all = sum(of_source.iter());
            program.add_constraint(all, ComparisonOp::Eq, self.shares[of_source[0].source]);
        }
    }

    fn limit_discrimination(&self, program: &mut Problem, masses: &[Mass]) {
        for limit in &self.limits {
            let mut rate = LinearExpr::empty();
            for mass in masses.iter().filter(|mass| mass.to.positive) {
                let Source { cell, group, .. } = Source::at(mass.source, self.n_groups);
                if group == limit.group && limit.cells[cell] > 0.0 {
                    rate.add(mass.variable, limit.cells[cell] / self.share_of(cell, group));
                }
            }
            let mut excess = || program.add_var(UNFAIR_COST, (0.0, f64::INFINITY));
            let (above, below) = (excess(), excess());
            let (mut high, mut low) = (rate.clone(), rate);
            high.add(above, -1.0);
            low.add(below, 1.0);
            program.add_constraint(high, ComparisonOp::Le, limit.rate);
            program.add_constraint(low, ComparisonOp::Ge, limit.rate);
        }
    }

    /// `P(x, s)`.
    fn share_of(&self, cell: usize, group: usize) -> f64 {
        let share =
            |positive: bool| self.shares[Source { cell, positive, group }.index(self.n_groups)];
        share(false) + share(true)
    }

    fn limit_shift(&self, program: &mut Problem, masses: &[Mass]) {
        let mut shift = LinearExpr::empty();
        for cell in 0..self.n_cells() {
            for positive in [false, true] {
                let to = Destination { cell, positive };
                let start = Source { cell, positive, group: 0 }.index(self.n_groups);
                let before: f64 = self.shares[start..start + self.n_groups].iter().sum();
                // Twice the total variation is the sum of all changes.
                let change = program.add_var(0.0, (0.0, f64::INFINITY));
                let after = || sum(masses.iter().filter(|mass| mass.to == to));
                let mut above = after();
                above.add(change, -1.0);
                program.add_constraint(above, ComparisonOp::Le, before);
                let mut below = after();
                below.add(change, 1.0);
                program.add_constraint(below, ComparisonOp::Ge, before);
                shift.add(change, 0.5);
            }
        }
        let excess = program.add_var(EXCESS_COST, (0.0, f64::INFINITY));
        shift.add(excess, -1.0);
        program.add_constraint(shift, ComparisonOp::Le, self.max_shift);
    }
}

fn sum<'a>(masses: impl Iterator<Item = &'a Mass>) -> LinearExpr {
    let mut sum = LinearExpr::empty();
    masses.for_each(|mass| sum.add(mass.variable, 1.0));
    sum
}

impl Mapping {
    /// Where `source` goes, given a number drawn from [0, 1). A source that had no rows stays.
    pub(super) fn draw(&self, source: Source, drawn: f64) -> Destination {
        let destinations = &self.to[source.index(self.n_groups)];
        let mut below = 0.0;
        for (to, probability) in destinations {
            below += probability;
            if drawn < below {
                return *to;
            }
        }
        let last = destinations.last().map(|(to, _)| *to);
        last.unwrap_or(Destination { cell: source.cell, positive: source.positive })
    }
}

#[cfg(test)]
mod tests;
