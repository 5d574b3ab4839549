//! Fairness criteria, and mixtures of them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::choice::Choice;
use crate::error::Error;

/// A fairness criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// Statistical parity: equal selection rates.
    Sp,
    /// Equal opportunity: equal true positive rates.
    Eo,
    /// Equalised odds: equal true positive rates and equal false positive rates.
    EqualizedOdds,
    /// Predictive equality: equal false positive rates.
    Fpr,
}

/// The rows among which the groups' rates of selection are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// All rows: the selection rate.
    All,
    /// Rows with a positive label: the true positive rate.
    Positives,
    /// Rows with a negative label: the false positive rate.
    Negatives,
}

/// The fairness requested: a weight for each condition, in total 1. One criterion, or a mixture.
///
/// Written as `sp`, `eo`, `equalized-odds`, `fpr`, or with weights: `sp:0.5,eo:0.5`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fairness {
    /// In the order of [`Condition::ALL`].
    weights: [f64; 3],
}

impl Condition {
    /// All conditions.
    pub const ALL: [Self; 3] = [Self::All, Self::Positives, Self::Negatives];

    /// Whether a row with this label counts.
    pub fn includes(&self, is_positive: bool) -> bool {
        match self {
            Self::All => true,
            Self::Positives => is_positive,
            Self::Negatives => !is_positive,
        }
    }

    /// How many rows count, of so many with each label (negative, positive).
    pub(crate) fn count(&self, [negative, positive]: [usize; 2]) -> usize {
        let of = |label: bool, n: usize| if self.includes(label) { n } else { 0 };
        of(false, negative) + of(true, positive)
    }

    /// The rate among these rows, in running text.
    pub fn rate_name(&self) -> &'static str {
        match self {
            Self::All => "selection rate",
            Self::Positives => "true positive rate",
            Self::Negatives => "false positive rate",
        }
    }
}

impl Criterion {
    /// Its name in running text.
    pub fn title(&self) -> &'static str {
        match self {
            Self::Sp => "statistical parity",
            Self::Eo => "equal opportunity",
            Self::EqualizedOdds => "equalised odds",
            Self::Fpr => "predictive equality",
        }
    }

    fn weights(&self) -> [f64; 3] {
        match self {
            Self::Sp => [1.0, 0.0, 0.0],
            Self::Eo => [0.0, 1.0, 0.0],
            Self::EqualizedOdds => [0.0, 0.5, 0.5],
            Self::Fpr => [0.0, 0.0, 1.0],
        }
    }
}

impl Fairness {
    /// Statistical parity.
    pub const SP: Self = Self { weights: [1.0, 0.0, 0.0] };
    /// Equal opportunity.
    pub const EO: Self = Self { weights: [0.0, 1.0, 0.0] };

    /// A mixture of criteria with weights above 0, which are divided by their sum unless that is 1.
    pub fn mixture(terms: &[(Criterion, f64)]) -> Result<Self, Error> {
        let sum: f64 = terms.iter().map(|term| term.1).sum();
        let mut weights = [0.0; 3];
        for (criterion, weight) in terms {
            if !(weight.is_finite() && *weight > 0.0 && sum.is_finite()) {
                let name = criterion.name();
                return Err(Error::Input(format!(
                    "the weight of `{name}` is {weight}: it must be a number above 0"
                )));
            }
            let share = if (sum - 1.0).abs() < 1e-12 { *weight } else { weight / sum };
            weights.iter_mut().zip(criterion.weights()).for_each(|(w, c)| *w += share * c);
        }
        if terms.is_empty() {
            return Err(Error::Input("no fairness criterion is given".to_owned()));
        }
        Ok(Self { weights })
    }

    /// The conditions that count, with their weights.
    pub fn conditions(&self) -> impl Iterator<Item = (Condition, f64)> + use<> {
        Condition::ALL.into_iter().zip(self.weights).filter(|(_, weight)| *weight > 0.0)
    }

    /// The weight of a condition.
    pub fn weight(&self, condition: Condition) -> f64 {
        self.weights[condition as usize]
    }

    /// The criterion, unless this is a mixture.
    pub fn criterion(&self) -> Option<Criterion> {
        Criterion::ALL.iter().find(|criterion| criterion.weights() == self.weights).copied()
    }

    /// The criteria that count, with their weights: one, or the parts of a mixture.
    fn terms(&self) -> Vec<(Criterion, f64)> {
        let of = |condition| match condition {
            Condition::All => Criterion::Sp,
            Condition::Positives => Criterion::Eo,
            Condition::Negatives => Criterion::Fpr,
        };
        match self.criterion() {
            Some(criterion) => vec![(criterion, 1.0)],
            None => self.conditions().map(|(c, weight)| (of(c), weight)).collect(),
        }
    }

    /// As on the command line: `sp`, `sp:0.5,eo:0.5`.
    pub fn name(&self) -> String {
        match self.criterion() {
            Some(criterion) => criterion.name().to_owned(),
            None => {
                let terms = self.terms().into_iter();
                terms.map(|(c, w)| format!("{}:{w}", c.name())).collect::<Vec<_>>().join(",")
            }
        }
    }
}

impl From<Criterion> for Fairness {
    fn from(criterion: Criterion) -> Self {
        Self { weights: criterion.weights() }
    }
}

impl From<Fairness> for String {
    fn from(fairness: Fairness) -> Self {
        fairness.name()
    }
}

impl TryFrom<String> for Fairness {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl FromStr for Fairness {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let term = |part: &str| {
            let (name, weight) = part.split_once(':').unwrap_or((part, "1"));
            let criterion = Criterion::ALL.iter().find(|c| c.name() == name.trim());
            let weight = weight.trim().parse().ok();
            criterion.copied().zip(weight).ok_or_else(|| {
                let names: Vec<&str> = Criterion::ALL.iter().map(Choice::name).collect();
                Error::Input(format!(
                    "`{part}` is not a fairness criterion. Use one of {}, or a mixture such as sp:0.5,eo:0.5",
                    names.join(", ")
                ))
            })
        };
        Self::mixture(&text.split(',').map(term).collect::<Result<Vec<_>, _>>()?)
    }
}

/// In running text.
impl fmt::Display for Fairness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(criterion) = self.criterion() {
            return f.write_str(criterion.title());
        }
        let terms = self.terms();
        for (i, (criterion, weight)) in terms.iter().enumerate() {
            let separator = match i {
                0 => "",
                _ if i + 1 == terms.len() => " and ",
                _ => ", ",
            };
            write!(f, "{separator}{} (weight {weight})", criterion.title())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_criterion_or_a_mixture_is_written_as_it_is_read() {
        for name in ["sp", "eo", "equalized-odds", "fpr", "sp:0.5,eo:0.5", "sp:0.2,eo:0.3,fpr:0.5"]
        {
            assert_eq!(name.parse::<Fairness>().unwrap().name(), name);
        }
        assert_eq!("sp".parse::<Fairness>().unwrap(), Fairness::SP);
        assert_eq!("eo:1,fpr:1".parse::<Fairness>().unwrap(), Criterion::EqualizedOdds.into());
        assert_eq!("eo:3, sp:1".parse::<Fairness>().unwrap().name(), "sp:0.25,eo:0.75");
        let text = "sp:0.5,eo:0.5".parse::<Fairness>().unwrap().to_string();
        assert_eq!(text, "statistical parity (weight 0.5) and equal opportunity (weight 0.5)");
    }

    #[test]
    fn a_wrong_criterion_or_weight_is_named() {
        for wrong in
            ["", "both", "sp:", "sp:-1", "sp:0", "sp:nan", "sp:inf", "sp;eo", "sp:1e308,eo:1e308"]
        {
            let message = wrong.parse::<Fairness>().unwrap_err().to_string();
            assert!(message.contains("sp") || message.contains("criterion"), "{wrong}: {message}");
        }
    }
}
