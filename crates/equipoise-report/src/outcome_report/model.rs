//! The model: what each feature adds to a score.

use super::{MAX_BARS, OutcomePage};
use crate::block::Block;
use crate::chart::{Axis, Bar, Bars, Chart, ChartKind};
use crate::format::{Format, count, counted};
use crate::page::Section;
use crate::table::{Cell, Column, Table};

impl OutcomePage<'_> {
    pub(super) fn model_section(&self) -> Section {
        let lead = "A row is selected if the sum of its encoded values times these coefficients, intercept included, is \
                    above 0. Encoded, a number is measured from its centre in units of its scale, both of which are in the schema; \
                    “column=value”, and the name of a group, is 1 for rows with that value or in that group and 0 for all \
                    others. Only coefficients of values on the same scale can be compared.";
        Section::new("Model", lead, vec![Block::Chart(self.coefficients_chart())])
    }

    fn coefficients_chart(&self) -> Chart {
        let all = self.coefficients();
        let size = |value: f64| value.abs();
        let mut shown: Vec<&(String, f64)> = all.iter().collect();
        if all.len() > MAX_BARS {
            shown.sort_by(|a, b| size(b.1).total_cmp(&size(a.1)));
            shown.truncate(MAX_BARS);
        }
        let mut sentence = match all.iter().max_by(|a, b| size(a.1).total_cmp(&size(b.1))) {
            Some((name, value)) => format!(
                "{}; the largest in absolute value is “{name}” with {}. Bars to the right favour selection, \
                 bars to the left count against it.",
                counted(all.len(), "coefficient", "coefficients"),
                Format::Auto.write(Some(*value))
            ),
            None => "The model has no coefficients.".to_owned(),
        };
        if all.len() > MAX_BARS {
            sentence += &format!(
                " The chart shows the {MAX_BARS} largest of {} in absolute value; the table lists all.",
                count(all.len())
            );
        }
        Chart {
            title: "Coefficients".to_owned(),
            sentence,
            kind: ChartKind::Bars(Bars {
                axis: Axis::new("Coefficient", Format::Fixed(3)),
                bars: shown.into_iter().map(|(name, value)| Bar::new(name, *value)).collect(),
                reference: None,
            }),
            table: Table {
                caption: "All coefficients of the model".to_owned(),
                columns: vec![Column::text("Feature"), Column::number("Coefficient")],
                rows: all
                    .iter()
                    .map(|(name, value)| {
                        vec![Cell::text(name), Cell::number(*value, Format::Fixed(6))]
                    })
                    .collect(),
            },
        }
    }

    /// Names and values.
    fn coefficients(&self) -> Vec<(String, f64)> {
        let theta = self.outcome.theta.iter().enumerate();
        theta.map(|(i, &value)| (self.feature(i), value)).collect()
    }
}
