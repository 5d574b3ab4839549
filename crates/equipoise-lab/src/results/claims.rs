//! What the paper finds, checked against what was measured.

use equipoise_core::Criterion;
use equipoise_report::{Block, Cell, Column, Format, Section, Table};

use super::Results;
use super::figures::{FEDASL, FEDNOLOWE, METHOD, POOLED, Place, split_weights};
use super::wording::{at, measure, place_words, variant_words};
use crate::experiment::Variant;
use crate::scenario::ScenarioKind;

/// A finding, and what was measured.
struct Claim {
    place: String,
    says: String,
    found: String,
    verdict: Verdict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Holds,
    Weaker,
    Differs,
}

/// "Far fairer" is at most this share of the other's unfairness.
const FAR: f64 = 0.5;
/// Unreliable clients get "no weight" up to this much in all.
const NO_WEIGHT: f64 = 0.05;
/// Weights are "equal" within this much.
const EQUAL: f64 = 0.02;
/// On Law School the paper's method stays below .041 and FedASL rises to .495.
const LAW_SCHOOL_FAIR: f64 = 0.06;
const LAW_SCHOOL_BROKEN: f64 = 0.4;

impl Results<'_> {
    /// "12 of 15".
    pub(super) fn claims_held(&self) -> String {
        let claims = self.claims();
        let held = claims.iter().filter(|claim| claim.verdict == Verdict::Holds).count();
        format!("{held} of {}", claims.len())
    }

    /// Every finding with its verdict.
    pub(super) fn claims_section(&self) -> Option<Section> {
        let claims = self.claims();
        if claims.is_empty() {
            return None;
        }
        let rows = claims.into_iter().map(|claim| {
            let verdict = Cell::text(match claim.verdict {
                Verdict::Holds => "holds",
                Verdict::Weaker => "weaker",
                Verdict::Differs => "differs",
            });
            vec![
                Cell::text(claim.place),
                Cell::text(claim.says),
                Cell::text(claim.found),
                if claim.verdict == Verdict::Holds { verdict } else { verdict.strong() },
            ]
        });
        let table = Table {
            caption: "Findings of the paper, and whether they hold here".to_owned(),
            columns: ["Where", "The paper finds", "Measured here", "Verdict"]
                .map(Column::text)
                .into(),
            rows: rows.collect(),
        };
        Some(Section {
            heading: "What the paper finds, checked".to_owned(),
            lead: format!(
                "“Far fairer” means at most half the unfairness; “weaker” that the order is the paper's but \
                 not by half; “no weight” is at most {NO_WEIGHT} in all, “equal” within {EQUAL}."
            ),
            blocks: vec![Block::Table(table)],
        })
    }

    fn claims(&self) -> Vec<Claim> {
        let settings = &self.experiment.settings;
        let mut claims = Vec::new();
        for place in settings.combinations() {
            for &unreliable in &settings.unreliable {
                claims.extend(if unreliable < 0.5 {
                    self.minority_claim(place, unreliable)
                } else {
                    self.majority_claim(place, unreliable)
                });
                claims.extend(self.steady_claim(place, unreliable));
                claims.extend(self.weights_claim(place, unreliable));
            }
        }
        claims
    }

    fn fairness(&self, place: Place<'_>, unreliable: f64, variant: Variant) -> Option<f64> {
        let scenario = ScenarioKind::Realistic;
        let figures = self.experiment.figures(place, scenario, unreliable, variant)?;
        Some(figures.fairness.mean)
    }

    fn minority_claim(&self, place: Place<'_>, unreliable: f64) -> Option<Claim> {
        let of = |variant| self.fairness(place, unreliable, variant);
        let (method, fedasl) = (of(METHOD)?, of(FEDASL)?);
        let (pooled, fednolowe) = (of(POOLED)?, of(FEDNOLOWE)?);
        let (worse, better) = (method.max(fedasl), pooled.min(fednolowe));
        Some(Claim {
            place: place_words(place),
            says: format!(
                "{}: the method and FedASL are far fairer than pooling and FedNolowe",
                at(unreliable)
            ),
            found: values(&[
                (METHOD, method),
                (FEDASL, fedasl),
                (POOLED, pooled),
                (FEDNOLOWE, fednolowe),
            ]),
            verdict: if worse <= FAR * better {
                Verdict::Holds
            } else if worse < better {
                Verdict::Weaker
            } else {
                Verdict::Differs
            },
        })
    }

    fn majority_claim(&self, place: Place<'_>, unreliable: f64) -> Option<Claim> {
        let of = |variant| self.fairness(place, unreliable, variant);
        let (method, fedasl) = (of(METHOD)?, of(FEDASL)?);
        let (pooled, fednolowe) = (of(POOLED)?, of(FEDNOLOWE)?);
        let law_school = place == ("law-school", Criterion::Sp);
        let breaks = fedasl > pooled && (!law_school || fedasl > LAW_SCHOOL_BROKEN);
        let others = pooled.min(fedasl).min(fednolowe);
        let beyond =
            if law_school { format!(" and above {LAW_SCHOOL_BROKEN}") } else { String::new() };
        Some(Claim {
            place: place_words(place),
            says: format!(
                "{}: FedASL breaks, less fair than pooling{beyond}; the method is far fairer than all others",
                at(unreliable)
            ),
            found: values(&[
                (METHOD, method),
                (FEDASL, fedasl),
                (POOLED, pooled),
                (FEDNOLOWE, fednolowe),
            ]),
            verdict: if breaks && method <= FAR * others {
                Verdict::Holds
            } else if breaks && method < others {
                Verdict::Weaker
            } else {
                Verdict::Differs
            },
        })
    }

    fn steady_claim(&self, place: Place<'_>, unreliable: f64) -> Option<Claim> {
        if place != ("law-school", Criterion::Sp) {
            return None;
        }
        let method = self.fairness(place, unreliable, METHOD)?;
        Some(Claim {
            place: place_words(place),
            says: format!(
                "{}: the method's {} stays below {LAW_SCHOOL_FAIR}",
                at(unreliable),
                measure(place.1)
            ),
            found: values(&[(METHOD, method)]),
            verdict: if method < LAW_SCHOOL_FAIR { Verdict::Holds } else { Verdict::Differs },
        })
    }

    fn weights_claim(&self, place: Place<'_>, unreliable: f64) -> Option<Claim> {
        let cells = self.experiment.cells_at(place, ScenarioKind::Ideal, unreliable, None);
        let mut held = 0;
        let mut of = 0;
        let mut largest: f64 = 0.0;
        for cell in &cells {
            let result = cell.results.iter().find(|result| result.variant == METHOD)?;
            let (reliable, others) = split_weights(cell, &result.weights);
            let total: f64 = others.iter().sum();
            let most = reliable.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let least = reliable.iter().copied().fold(f64::INFINITY, f64::min);
            of += 1;
            held += usize::from(total <= NO_WEIGHT && most - least <= EQUAL);
            largest = largest.max(total);
        }
        (of > 0).then(|| Claim {
            place: place_words(place),
            says: format!(
                "{}, ideal: the method gives reliable clients equal weights and the others none",
                at(unreliable)
            ),
            found: format!(
                "{held} of {of} seeds; unreliable clients get {} in all at most",
                Format::Fixed(3).write(Some(largest))
            ),
            verdict: match held {
                all if all == of => Verdict::Holds,
                some if 2 * some > of => Verdict::Weaker,
                _ => Verdict::Differs,
            },
        })
    }
}

fn values(figures: &[(Variant, f64)]) -> String {
    let written = figures.iter().map(|&(variant, value)| {
        format!("{} {}", variant_words(variant), Format::Fixed(3).write(Some(value)))
    });
    written.collect::<Vec<_>>().join(", ")
}
