//! The settings of the solve.

use equipoise_core::{Choice, Defense};

use super::OutcomePage;
use crate::format::{Format, count};
use crate::table::{Cell, Column, Table};

impl OutcomePage<'_> {
    /// The same proxies, root and settings reproduce the result.
    pub(super) fn settings_table(&self) -> Table {
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
        let row = |(name, value): (&str, String)| vec![Cell::text(name), Cell::text(value)];
        Table {
            caption: "Settings used; with the same proxies and root they reproduce this result"
                .to_owned(),
            columns: ["Setting", "Value"].map(Column::text).to_vec(),
            rows: rows.into_iter().map(row).collect(),
        }
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
