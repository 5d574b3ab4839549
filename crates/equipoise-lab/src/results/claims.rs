//! What the paper finds, checked against what was measured.

use equipoise_core::Criterion;
use equipoise_report::{Block, Cell, Column, Format, Section, Table};

use super::Results;
use super::figures::{FEDASL, FEDNOLOWE, METHOD, POOLED, Place};
use super::wording::{place_words, share, variant_words};
use crate::experiment::{Variant, split_weights};
use crate::scenario::ScenarioKind;

/// What the measured figures say of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Holds,
    Weaker,
    Differs,
}

/// The defenses that the paper compares.
const FOUR: [Variant; 4] = [METHOD, FEDASL, POOLED, FEDNOLOWE];
/// "Far fairer" is at most this share of the other's unfairness.
const FAR: f64 = 0.5;
/// Unreliable clients get "no weight" up to this much in all.
const NO_WEIGHT: f64 = 0.05;
/// Weights are "equal" within this much.
const EQUAL: f64 = 0.02;
/// On Law School the paper's method stays below .041 and FedASL rises to .495.
const LAW_SCHOOL_FAIR: f64 = 0.06;
const LAW_SCHOOL_BROKEN: f64 = 0.4;

/// What was measured at a place and a share of unreliable clients.
struct Findings {
    unreliable: f64,
    /// Unfairness of [`FOUR`].
    fairness: Option<[f64; 4]>,
    order: Option<Verdict>,
    /// What the paper's own figures say of the order.
    papers_order: Option<Verdict>,
    bound: Option<Verdict>,
    weights: Option<WeightsFinding>,
}

/// Ideal rounds: in how many of the seeds the weights are right.
struct WeightsFinding {
    held: usize,
    of: usize,
    /// What unreliable clients get in all, at most.
    largest: f64,
}

impl Results<'_> {
    /// "12 of 15".
    pub(super) fn claims_held(&self) -> Option<String> {
        let mut verdicts = Vec::new();
        for place in self.experiment.settings.combinations() {
            for findings in self.findings(place) {
                let weights = findings.weights.map(|weights| weights.verdict());
                verdicts.extend([findings.order, findings.bound, weights].into_iter().flatten());
            }
        }
        let held = verdicts.iter().filter(|verdict| **verdict == Verdict::Holds).count();
        (!verdicts.is_empty()).then(|| format!("{held} of {}", verdicts.len()))
    }

    /// The findings, and a table of verdicts per dataset and fairness.
    pub(super) fn claims_section(&self) -> Option<Section> {
        let places = self.experiment.settings.combinations();
        let tables: Vec<Block> = places
            .into_iter()
            .map(|place| (place, self.findings(place)))
            .filter(|(_, findings)| findings.iter().any(Findings::is_any))
            .map(|(place, findings)| Block::Table(findings_table(place, &findings)))
            .collect();
        if tables.is_empty() {
            return None;
        }
        let findings = [
            format!(
                "Order: where a minority of clients is unreliable, the method and FedASL are far fairer than \
                 pooling and FedNolowe; where a majority is, FedASL breaks (it is less fair than pooling, \
                 on Law School with |SPD| above {LAW_SCHOOL_BROKEN}) and the method is far fairer than all \
                 others. “Far” means at most half the unfairness; “weaker” that only the order is the paper's. \
                 “Paper's own” is what the paper's figures say by the same yardstick."
            ),
            format!("Bound: on Law School the method's |SPD| stays below {LAW_SCHOOL_FAIR}."),
            format!(
                "Weights: in ideal rounds the method gives reliable clients equal weights (within {EQUAL}) and \
                 the others none (at most {NO_WEIGHT} in all). Seeds for which that is so are counted; \
                 “most” is the most that unreliable clients get in all; “weaker” means most seeds, not all."
            ),
        ];
        let blocks = findings.into_iter().map(Block::Paragraph).chain(tables).collect();
        Some(Section {
            heading: "What the paper finds, checked".to_owned(),
            lead: "Three findings, by share of unreliable clients. The four figures are |SPD| or |EOD| in \
                   realistic rounds."
                .to_owned(),
            blocks,
        })
    }

    fn findings(&self, place: Place<'_>) -> Vec<Findings> {
        let law_school = place == ("law-school", Criterion::Sp);
        let shares = self.experiment.settings.unreliable.iter();
        let at = |&unreliable: &f64| {
            let fairness = self.four(place, unreliable);
            // Shares are rounded to whole clients: their number tells who is the majority.
            let settings = &self.experiment.settings;
            let share = settings.n_unreliable(unreliable) as f64 / settings.n_clients as f64;
            let order = fairness.and_then(|four| order_verdict(share, law_school, four));
            let papers = FOUR.map(|variant| self.published(place, unreliable, variant));
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
            let weights = self.weights_finding(place, unreliable);
            Findings { unreliable, fairness, order, papers_order, bound, weights }
        };
        shares.map(at).collect()
    }

    fn four(&self, place: Place<'_>, unreliable: f64) -> Option<[f64; 4]> {
        let scenario = ScenarioKind::Realistic;
        let [method, fedasl, pooled, fednolowe] = FOUR.map(|variant| {
            let figures = self.experiment.figures(place, scenario, unreliable, variant)?;
            Some(figures.fairness.mean)
        });
        Some([method?, fedasl?, pooled?, fednolowe?])
    }

    fn weights_finding(&self, place: Place<'_>, unreliable: f64) -> Option<WeightsFinding> {
        let cells = self.experiment.cells_at(place, ScenarioKind::Ideal, unreliable, None);
        let mut finding = WeightsFinding { held: 0, of: 0, largest: 0.0 };
        for cell in &cells {
            let result = cell.results.iter().find(|result| result.variant == METHOD)?;
            let (reliable, others) = split_weights(cell, &result.weights);
            let total: f64 = others.iter().sum();
            let most = reliable.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let least = reliable.iter().copied().fold(f64::INFINITY, f64::min);
            finding.of += 1;
            finding.held += usize::from(total <= NO_WEIGHT && most - least <= EQUAL);
            finding.largest = finding.largest.max(total);
        }
        (finding.of > 0).then_some(finding)
    }
}

impl Findings {
    fn is_any(&self) -> bool {
        self.order.is_some() || self.bound.is_some() || self.weights.is_some()
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
        let word = match self {
            Self::Holds => "holds",
            Self::Weaker => "weaker",
            Self::Differs => "differs",
        };
        let cell = Cell::text(word);
        if self == Self::Holds { cell } else { cell.strong() }
    }
}

/// None where nobody, or just half of the clients, is unreliable.
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

fn findings_table(place: Place<'_>, findings: &[Findings]) -> Table {
    let none = || Cell::number(None, Format::Auto);
    let published = findings.iter().any(|findings| findings.papers_order.is_some());
    let bounded = findings.iter().any(|findings| findings.bound.is_some());
    let row = |findings: &Findings| {
        let mut row = vec![Cell::text(share(findings.unreliable))];
        let fairness = (0..FOUR.len()).map(|i| findings.fairness.map(|four| four[i]));
        row.extend(fairness.map(|value| Cell::number(value, Format::Fixed(3))));
        row.push(findings.order.map_or_else(none, Verdict::cell));
        if published {
            row.push(findings.papers_order.map_or_else(none, Verdict::cell));
        }
        if bounded {
            row.push(findings.bound.map_or_else(none, Verdict::cell));
        }
        row.extend(match &findings.weights {
            None => [none(), none(), none()],
            Some(weights) => [
                weights.verdict().cell(),
                Cell::text(format!("{}\u{a0}of\u{a0}{}", weights.held, weights.of)),
                Cell::number(weights.largest, Format::Fixed(3)),
            ],
        });
        row
    };
    let numbers = FOUR.map(|variant| Column::number(variant_words(variant)));
    let verdicts =
        [("Order", true), ("Paper's own", published), ("Bound", bounded), ("Weights", true)];
    let counts = [Column::text("Seeds"), Column::number("Most")];
    Table {
        caption: place_words(place),
        columns: [Column::text("Unreliable")]
            .into_iter()
            .chain(numbers)
            .chain(
                verdicts
                    .into_iter()
                    .filter(|(_, shown)| *shown)
                    .map(|(name, _)| Column::text(name)),
            )
            .chain(counts)
            .collect(),
        rows: findings.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_own_figures_pass_where_it_says_so() {
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
        // A majority that FedASL withstands would contradict the paper.
        assert_eq!(order_verdict(0.6, false, [0.01, 0.1, 0.3, 0.3]), Some(Verdict::Differs));
        assert_eq!(order_verdict(0.0, false, dutch), None);
    }
}
