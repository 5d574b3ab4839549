//! What the solve was told, and what it took.

use super::{OutcomeReport, wording};
use crate::block::Block;
use crate::format::{Format, count};
use crate::page::Section;
use crate::table::{Cell, Column, Table};

impl OutcomeReport<'_> {
    pub(super) fn settings_section(&self) -> Section {
        Section {
            heading: "Settings and effort".to_owned(),
            lead: "With the same proxies, root and settings, anyone can repeat this result."
                .to_owned(),
            blocks: vec![Block::Table(self.settings_table()), Block::Table(self.effort_table())],
        }
    }

    fn settings_table(&self) -> Table {
        let settings = &self.outcome.settings;
        let (inner, outer) = (&settings.inner, &settings.outer);
        let number = |value: f64| Format::Auto.write(Some(value));
        let rho = if outer.rho.max == 0.0 {
            "0: fairness was not asked for".to_owned()
        } else {
            format!(
                "from {}, times {} after at most {} steps, up to {}",
                number(outer.rho.start),
                number(outer.rho.factor),
                count(outer.rho.every),
                number(outer.rho.max)
            )
        };
        let stop = match outer.gap_tolerance {
            Some(tolerance) => format!("when at most {} of it can be gained", number(tolerance)),
            None => "after the last step, without a test".to_owned(),
        };
        let rows = [
            ("Defense", settings.defense.name().to_owned()),
            ("Fairness asked for", wording::fairness(settings.fairness)),
            ("Root rows", wording::root_weighting(settings.root_weighting).to_owned()),
            ("Regulariser λ", number(settings.lambda)),
            ("Penalty ρ", rho),
            ("Weights are sought by", wording::outer_solver(outer.solver).to_owned()),
            ("Steps at most", count(outer.iterations)),
            ("Step size (Adam only)", number(outer.learning_rate)),
            ("The search stops", stop),
            ("Models are fitted by", wording::inner_solver(inner.solver).to_owned()),
            ("Tolerance of a fit", number(inner.tolerance)),
            ("Iterations of a fit at most", count(inner.max_iterations)),
        ];
        table("Settings used", "Setting", Column::text("Value"), rows)
    }

    fn effort_table(&self) -> Table {
        let (outcome, counts) = (self.outcome, &self.outcome.counts);
        let number = |value: f64| Format::Auto.write(Some(value));
        let rows = [
            ("Seconds", Format::Auto.write(self.seconds)),
            ("Objective of the result", number(outcome.objective)),
            ("Mean loss on the root", number(outcome.root_loss)),
            ("Violation on the root", number(outcome.violation)),
            ("Violation of statistical parity, signed", number(outcome.violations.sp)),
            ("Violation of equal opportunity, signed", number(outcome.violations.eo)),
            ("ρ of the result", number(outcome.rho)),
            ("Evaluations of the objective", count(counts.evaluations)),
            ("Passes over all proxy rows", count(counts.passes)),
            ("Model fits", count(counts.inner_fits)),
            ("Iterations of all fits", count(counts.inner_iterations)),
            ("Fits that ended above their tolerance", count(counts.inner_not_converged)),
            ("Gradient left at the model", number(counts.final_inner_gradient_norm)),
            ("Largest residual of a linear solve", number(counts.largest_residual)),
            ("Factorisations that needed help", count(counts.diagonals_raised)),
        ];
        table("What the solve took and gave", "Count", Column::number("Value"), rows)
    }
}

fn table<const N: usize>(
    caption: &str,
    first: &str,
    second: Column,
    rows: [(&str, String); N],
) -> Table {
    Table {
        caption: caption.to_owned(),
        columns: vec![Column::text(first), second],
        rows: rows.map(|(name, value)| vec![Cell::text(name), Cell::text(value)]).to_vec(),
    }
}
