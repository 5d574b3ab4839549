//! The paper's findings, checked against our figures.

use equipoise_core::Criterion;
use equipoise_report::{Block, Cell, Column, Section, Table};

use super::Results;
use super::figures::{Combination, FEDASL, FEDNOLOWE, METHOD, POOLED};
use super::wording::{number, share, variant_name};
use crate::experiment::{Variant, split_weights};
use crate::scenario::ScenarioKind;

/// Whether our figures agree with a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Holds,
    Weaker,
    Differs,
}

/// The defenses that the paper compares.
const FOUR: [Variant; 4] = [METHOD, FEDASL, POOLED, FEDNOLOWE];
/// "Far fairer" means at most this share of the other's unfairness.
const FAR: f64 = 0.5;
/// Unreliable clients count as having no weight up to this total.
const NO_WEIGHT: f64 = 0.05;
/// Weights count as equal within this difference.
const EQUAL: f64 = 0.02;
/// On Law School the paper's method stays below .041 and FedASL rises to .495.
const LAW_SCHOOL_FAIR: f64 = 0.06;
const LAW_SCHOOL_BROKEN: f64 = 0.4;

/// The findings for one combination and one share of unreliable clients.
struct Findings {
    unreliable: f64,
    /// Unfairness of [`FOUR`].
    fairness: Option<[f64; 4]>,
    order: Option<Verdict>,
    /// The verdict on the order from the paper's own figures.
    papers_order: Option<Verdict>,
    bound: Option<Verdict>,
    weights: Option<WeightsFinding>,
}

/// Ideal rounds: for how many seeds the weights are right.
struct WeightsFinding {
    held: usize,
    of: usize,
    /// The largest total weight of unreliable clients.
    largest: f64,
}

impl Results<'_> {
    /// "12 of 15".
    pub(super) fn claims_held(&self) -> Option<String> {
        if !self.checks_the_paper() {
            return None;
        }
        let combinations = self.experiment.settings.combinations().into_iter();
        let verdicts: Vec<Verdict> = combinations
            .flat_map(|combination| self.findings(combination))
            .flat_map(|found| [found.order, found.bound, found.weights.map(|w| w.verdict())])
            .flatten()
            .collect();
        let held = verdicts.iter().filter(|verdict| **verdict == Verdict::Holds).count();
        (!verdicts.is_empty()).then(|| format!("{held} of {}", verdicts.len()))
    }

    /// The paper's findings are about its own method on its own datasets.
    fn checks_the_paper(&self) -> bool {
        let settings = &self.experiment.settings;
        settings.method() == METHOD && settings.has_papers_datasets()
    }

    /// The findings, and a table of verdicts per combination.
    pub(super) fn claims_section(&self) -> Option<Section> {
        if !self.checks_the_paper() {
            return None;
        }
        let mut section = self.section(
            "Findings of the paper, checked",
            "Three findings, by share of unreliable clients. The four figures are |SPD| or |EOD| in realistic rounds.",
            |combination| {
                let findings = self.findings(combination);
                let any = findings.iter().any(|found| {
                    found.order.is_some() || found.bound.is_some() || found.weights.is_some()
                });
                any.then(|| Block::Table(findings_table(self.title(combination), &findings)))
            },
        )?;
        let findings = [
            format!(
                "Order. If a minority of clients is unreliable, the paper's method (bilevel) and FedASL are far fairer than pooling and \
                 FedNolowe. If a majority is, FedASL fails (it is less fair than pooling, and on Law School its |SPD| \
                 exceeds {LAW_SCHOOL_BROKEN}) and the method is far fairer than all others. “Far” means at most half \
                 the unfairness. “Weaker” means that the order agrees but the margin is smaller. “Paper's own” applies \
                 the same test to the paper's figures."
            ),
            format!("Bound. On Law School the method's |SPD| stays below {LAW_SCHOOL_FAIR}."),
            format!(
                "Weights. In ideal rounds the method gives reliable clients equal weights (within {EQUAL}) and \
                 unreliable clients none (at most {NO_WEIGHT} in total). “Seeds” counts the seeds for which this \
                 holds, and “Largest” is the largest total weight of unreliable clients. “Weaker” means most seeds \
                 but not all."
            ),
        ];
        section.blocks.splice(0..0, findings.map(Block::Paragraph));
        Some(section)
    }

    fn findings(&self, combination: Combination<'_>) -> Vec<Findings> {
        let law_school = combination == ("law-school", Criterion::Sp);
        let shares = self.experiment.settings.unreliable.iter();
        let at = |&unreliable: &f64| {
            let fairness = self.four(combination, unreliable);
            // Shares are rounded to whole clients, so their number decides who has the majority.
            let settings = &self.experiment.settings;
            let share = settings.n_unreliable(unreliable) as f64 / settings.n_clients as f64;
            let order = fairness.and_then(|four| order_verdict(share, law_school, four));
            let papers = FOUR.map(|variant| self.published(combination, unreliable, variant));
            let papers_order = match papers {
                [Some(method), Some(fedasl), Some(pooled), Some(fednolowe)] => {
                    let four = [method, fedasl, pooled, fednolowe].map(|paper| paper.fairness);
                    order_verdict(share, law_school, four)
                }
                _ => None,
            };
            let bound = fairness.filter(|_| law_school).map(|[method, ..]| {
                if method < LAW_SCHOOL_FAIR { Verdict::Holds } else { Verdict::Differs }
            });
            let weights = self.weights_finding(combination, unreliable);
            Findings { unreliable, fairness, order, papers_order, bound, weights }
        };
        shares.map(at).collect()
    }

    fn four(&self, combination: Combination<'_>, unreliable: f64) -> Option<[f64; 4]> {
        let [method, fedasl, pooled, fednolowe] = FOUR.map(|variant| {
            let figures = self.experiment.realistic(combination, unreliable, variant)?;
            Some(figures.gap.mean)
        });
        Some([method?, fedasl?, pooled?, fednolowe?])
    }

    fn weights_finding(
        &self,
        combination: Combination<'_>,
        unreliable: f64,
    ) -> Option<WeightsFinding> {
        let cells = self.experiment.cells_at(combination, ScenarioKind::Ideal, unreliable);
        let mut finding = WeightsFinding { held: 0, of: 0, largest: 0.0 };
        for cell in cells.iter().filter(|cell| cell.problem.is_none()) {
            let result = cell.results.iter().find(|result| result.variant == METHOD)?;
            let (reliable, others) = split_weights(cell, &result.weights);
            let total: f64 = others.iter().sum();
            let largest = reliable.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let smallest = reliable.iter().copied().fold(f64::INFINITY, f64::min);
            finding.of += 1;
            finding.held += usize::from(total <= NO_WEIGHT && largest - smallest <= EQUAL);
            finding.largest = finding.largest.max(total);
        }
        (finding.of > 0).then_some(finding)
    }
}

impl WeightsFinding {
    fn verdict(&self) -> Verdict {
        match self.held {
            all if all == self.of => Verdict::Holds,
            most if 2 * most > self.of => Verdict::Weaker,
            _ => Verdict::Differs,
        }
    }
}

impl Verdict {
    fn cell(self) -> Cell {
        match self {
            Self::Holds => Cell::text("holds"),
            Self::Weaker => Cell::text("weaker").strong(),
            Self::Differs => Cell::text("differs").strong(),
        }
    }
}

/// `None` if no client, or exactly half of them, is unreliable.
fn order_verdict(
    unreliable: f64,
    law_school: bool,
    [method, fedasl, pooled, fednolowe]: [f64; 4],
) -> Option<Verdict> {
    if [method, fedasl, pooled, fednolowe].iter().any(|value| value.is_nan()) {
        return None;
    }
    let judge = |fairer: f64, others: f64| {
        if fairer <= FAR * others {
            Verdict::Holds
        } else if fairer < others {
            Verdict::Weaker
        } else {
            Verdict::Differs
        }
    };
    if unreliable > 0.5 {
        let breaks = fedasl > pooled && (!law_school || fedasl > LAW_SCHOOL_BROKEN);
        let others = pooled.min(fedasl).min(fednolowe);
        Some(if breaks { judge(method, others) } else { Verdict::Differs })
    } else {
        let minority = unreliable > 0.0 && unreliable < 0.5;
        minority.then(|| judge(method.max(fedasl), pooled.min(fednolowe)))
    }
}

fn findings_table(caption: String, findings: &[Findings]) -> Table {
    let published = findings.iter().any(|found| found.papers_order.is_some());
    let bounded = findings.iter().any(|found| found.bound.is_some());
    let verdict = |verdict: Option<Verdict>| verdict.map_or_else(|| number(None, 0), Verdict::cell);
    let row = |found: &Findings| {
        let mut row = vec![Cell::text(share(found.unreliable))];
        row.extend((0..FOUR.len()).map(|i| number(found.fairness.map(|four| four[i]), 3)));
        row.push(verdict(found.order));
        row.extend(published.then(|| verdict(found.papers_order)));
        row.extend(bounded.then(|| verdict(found.bound)));
        let weights = found.weights.as_ref();
        row.push(verdict(weights.map(WeightsFinding::verdict)));
        let seeds = weights.map(|w| Cell::text(format!("{}\u{a0}of\u{a0}{}", w.held, w.of)));
        row.push(seeds.unwrap_or_else(|| number(None, 0)));
        row.push(number(weights.map(|w| w.largest), 3));
        row
    };
    let mut columns = vec![Column::text("Unreliable")];
    columns.extend(FOUR.map(|variant| Column::number(variant_name(variant))));
    columns.push(Column::text("Order"));
    columns.extend(published.then(|| Column::text("Paper's own")));
    columns.extend(bounded.then(|| Column::text("Bound")));
    columns.extend(["Weights", "Seeds"].map(Column::text));
    columns.push(Column::number("Largest"));
    Table { caption, columns, rows: findings.iter().map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_figures_agree_with_its_findings() {
        // Law School, |SPD|, at 20, 40 and 60 %.
        let four = [
            (0.2, [0.0369, 0.0397, 0.1465, 0.0867]),
            (0.4, [0.0382, 0.0567, 0.2254, 0.1534]),
            (0.6, [0.0403, 0.4948, 0.3133, 0.2574]),
        ];
        for (unreliable, four) in four {
            assert_eq!(order_verdict(unreliable, true, four), Some(Verdict::Holds), "{unreliable}");
        }
        // Dutch at 20 %: fairer, but not by half.
        let dutch = [0.0519, 0.0606, 0.0802, 0.0786];
        assert_eq!(order_verdict(0.2, false, dutch), Some(Verdict::Weaker));
        // If FedASL withstood a majority, that would contradict the paper.
        assert_eq!(order_verdict(0.6, false, [0.01, 0.1, 0.3, 0.3]), Some(Verdict::Differs));
        assert_eq!(order_verdict(0.0, false, dutch), None);
    }
}
