//! The settings of the solve, its result and its cost.

use equipoise_core::{Choice, Defense};

use super::OutcomePage;
use crate::block::Block;
use crate::format::{Format, count};
use crate::table::{Cell, Column, Table};

impl OutcomePage<'_> {
    /// The same proxies, root and settings reproduce the result.
    pub(super) fn settings_blocks(&self) -> [Block; 2] {
        [Block::Table(self.settings_table()), Block::Table(self.effort_table())]
    }

    fn settings_table(&self) -> Table {
        let settings = &self.outcome.settings;
        let (inner, outer) = (&settings.inner, &settings.outer);
        let number = |value: f64| Format::Auto.write(Some(value));
        let rho = if outer.rho.max == 0.0 {
            "0: no penalty on unfairness".to_owned()
        } else {
            format!(
                "starts at {}, multiplied by {} after at most {} steps, up to {}",
                number(outer.rho.start),
                number(outer.rho.factor),
                count(outer.rho.every),
                number(outer.rho.max)
            )
        };
        let stop = match outer.gap_tolerance {
            Some(tolerance) => format!("when the relative gap is at most {}", number(tolerance)),
            None => "after the last step, without a convergence test".to_owned(),
        };
        let mut rows = vec![
            ("Defense", settings.defense.name().to_owned()),
            ("Fairness", settings.fairness.to_string()),
            ("Root rows", settings.root_weighting.description().to_owned()),
            ("Regulariser λ", number(settings.lambda)),
            ("Penalty ρ", rho),
            ("Outer solver", outer.solver.description().to_owned()),
            ("Maximum number of steps", count(outer.iterations)),
            ("Step size (Adam only)", number(outer.learning_rate)),
            ("The solver stops", stop),
            ("Inner solver", inner.solver.description().to_owned()),
            ("Tolerance of an inner fit", number(inner.tolerance)),
            ("Maximum iterations of an inner fit", count(inner.max_iterations)),
        ];
        if settings.defense != Defense::Bilevel {
            rows.retain(|(name, _)| !OF_OUTER_SOLVER.contains(name));
        }
        table(
            "Settings used; with the same proxies and root they reproduce this result",
            "Setting",
            Column::text("Value"),
            rows,
        )
    }

    fn effort_table(&self) -> Table {
        let (outcome, counts) = (self.outcome, &self.outcome.counts);
        let number = |value: f64| Format::Auto.write(Some(value));
        let mut rows = vec![
            (OBJECTIVE, number(outcome.objective)),
            ("Mean loss on the root", number(outcome.root_loss)),
            ("Violation on the root", number(outcome.violation)),
            ("Violation of statistical parity, signed", number(outcome.violations.sp)),
            ("Violation of equal opportunity, signed", number(outcome.violations.eo)),
            (RHO, number(outcome.rho)),
            ("Evaluations of the objective", count(counts.evaluations)),
            ("Passes over all proxy rows", count(counts.passes)),
            ("Inner fits", count(counts.inner_fits)),
            ("Iterations of all inner fits", count(counts.inner_iterations)),
            ("Inner fits that did not converge", count(counts.inner_not_converged)),
            ("Gradient norm at the final model", number(counts.final_inner_gradient_norm)),
            ("Largest residual of a linear solve", number(counts.largest_residual)),
            ("Factorisations with a shifted diagonal", count(counts.diagonals_raised)),
        ];
        if outcome.settings.defense != Defense::Bilevel {
            // The others minimise no objective.
            rows.retain(|(name, _)| !matches!(*name, OBJECTIVE | RHO));
        }
        table("Result and cost of the solve", "Quantity", Column::number("Value"), rows)
    }
}

/// Settings that only bilevel uses.
const OF_OUTER_SOLVER: [&str; 5] = [
    "Penalty ρ",
    "Outer solver",
    "Maximum number of steps",
    "Step size (Adam only)",
    "The solver stops",
];
const OBJECTIVE: &str = "Objective of the result";
const RHO: &str = "ρ of the result";

fn table(caption: &str, first: &str, second: Column, rows: Vec<(&str, String)>) -> Table {
    Table {
        caption: caption.to_owned(),
        columns: vec![Column::text(first), second],
        rows: rows
            .into_iter()
            .map(|(name, value)| vec![Cell::text(name), Cell::text(value)])
            .collect(),
    }
}
