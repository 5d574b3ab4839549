//! What a model must achieve.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::choice::Choice;
use crate::error::Error;
use crate::settings::in_range;

/// What can be required of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Requirement {
    /// The worst gap between two groups is at most the bound, in either direction.
    Gap,
    /// The accuracy is at least the bound.
    Accuracy,
    /// The balanced accuracy is at least the bound.
    BalancedAccuracy,
}

crate::choices! { Requirement:
    Gap => "gap", "The worst gap between two groups, at most";
    Accuracy => "accuracy", "The accuracy, at least";
    BalancedAccuracy => "balanced-accuracy", "The balanced accuracy, at least";
}

/// The requirements that a model is judged by. Default: none.
///
/// Written as `gap=0.05,accuracy=0.75`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Requirements {
    /// The largest gap allowed, above 0 and at most 1.
    pub gap: Option<f64>,
    /// The smallest accuracy allowed, above 0 and at most 1.
    pub accuracy: Option<f64>,
    /// The smallest balanced accuracy allowed, above 0 and at most 1.
    pub balanced_accuracy: Option<f64>,
}

/// What stands for no requirement.
const NOTHING: &str = "none";

/// The range of every bound. An interval is never so narrow that it shows a gap of at most 0.
const RANGE: &str = "above 0 and at most 1";

impl Requirements {
    /// Whether nothing is required.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The bound of each requirement, in the order of [`Requirement`].
    pub fn iter(&self) -> impl Iterator<Item = (Requirement, f64)> + use<> {
        let bounds = [
            (Requirement::Gap, self.gap),
            (Requirement::Accuracy, self.accuracy),
            (Requirement::BalancedAccuracy, self.balanced_accuracy),
        ];
        bounds.into_iter().filter_map(|(requirement, bound)| Some((requirement, bound?)))
    }

    /// Checks the range of every bound.
    pub(crate) fn validate(&self) -> Result<(), Error> {
        for (requirement, bound) in self.iter() {
            let name = match requirement {
                Requirement::Gap => "requirements.gap",
                Requirement::Accuracy => "requirements.accuracy",
                Requirement::BalancedAccuracy => "requirements.balanced_accuracy",
            };
            in_range(name, bound, is_allowed(bound), RANGE)?;
        }
        Ok(())
    }

    fn slot(&mut self, requirement: Requirement) -> &mut Option<f64> {
        match requirement {
            Requirement::Gap => &mut self.gap,
            Requirement::Accuracy => &mut self.accuracy,
            Requirement::BalancedAccuracy => &mut self.balanced_accuracy,
        }
    }
}

impl FromStr for Requirements {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut requirements = Self::default();
        if text.trim() == NOTHING {
            return Ok(requirements);
        }
        for part in text.split(',').map(str::trim) {
            let (name, bound) = part.split_once('=').ok_or_else(|| {
                invalid(format!("`{part}` is not a requirement such as gap=0.05"))
            })?;
            let (name, bound) = (name.trim().replace('_', "-"), bound.trim());
            let requirement = Requirement::ALL.iter().find(|known| known.name() == name);
            let requirement = *requirement.ok_or_else(|| {
                let names: Vec<&str> = Requirement::ALL.iter().map(Choice::name).collect();
                invalid(format!("`{name}` cannot be required. Use one of {}", names.join(", ")))
            })?;
            let value = bound.parse().ok().filter(|&value| is_allowed(value));
            let value = value.ok_or_else(|| {
                invalid(format!("`{name}` must be {RANGE}, such as 0.05, found `{bound}`"))
            })?;
            if requirements.slot(requirement).replace(value).is_some() {
                return Err(invalid(format!("`{name}` is required twice")));
            }
        }
        Ok(requirements)
    }
}

/// As on the command line.
impl fmt::Display for Requirements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str(NOTHING);
        }
        for (i, (requirement, bound)) in self.iter().enumerate() {
            write!(f, "{}{}={bound}", if i == 0 { "" } else { "," }, requirement.name())?;
        }
        Ok(())
    }
}

impl From<Requirements> for String {
    fn from(requirements: Requirements) -> Self {
        requirements.to_string()
    }
}

impl TryFrom<String> for Requirements {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

/// Written so that NaN is not.
fn is_allowed(bound: f64) -> bool {
    bound > 0.0 && bound <= 1.0
}

fn invalid(message: String) -> Error {
    Error::Input(message)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn requirements_are_written_as_they_are_read() {
        for text in ["gap=0.05", "gap=0.05,accuracy=0.75", "accuracy=0.7,balanced-accuracy=0.6"] {
            let requirements: Requirements = text.parse().unwrap();
            assert_eq!(requirements.to_string(), text);
            let json = serde_json::to_value(requirements).unwrap();
            assert_eq!(json, text);
            assert_eq!(serde_json::from_value::<Requirements>(json).unwrap(), requirements);
        }
        let swapped: Requirements = " balanced_accuracy = 0.6 , gap=0.1 ".parse().unwrap();
        assert_eq!(swapped.to_string(), "gap=0.1,balanced-accuracy=0.6");
        let none: Requirements = "none".parse().unwrap();
        assert!(none.is_empty());
        assert_eq!(none.to_string(), "none");
    }

    #[test]
    fn the_error_names_the_wrong_part() {
        for (wrong, part) in [
            ("", "``"),
            ("gap", "`gap` is not a requirement"),
            ("gap=0.05,", "``"),
            ("gap=0.05;accuracy=0.7", "`0.05;accuracy=0.7`"),
            ("parity=0.05", "`parity`"),
            ("gap=", "`gap`"),
            ("gap=0", "`0`"),
            ("gap=-0.1", "`-0.1`"),
            ("gap=5", "`5`"),
            ("accuracy=75%", "`75%`"),
            ("gap=0.05,accuracy=nan", "`accuracy` must be"),
            ("accuracy=inf", "`inf`"),
            ("gap=0.05,gap=0.05", "`gap` is required twice"),
        ] {
            let message = wrong.parse::<Requirements>().unwrap_err().to_string();
            assert!(message.contains(part), "{wrong}: {message}");
        }
    }

    #[test]
    fn bounds_set_in_code_are_checked_too() {
        for bound in [0.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
            let requirements =
                Requirements { balanced_accuracy: Some(bound), ..Requirements::default() };
            let message = requirements.validate().unwrap_err().to_string();
            assert!(message.contains("requirements.balanced_accuracy"), "{message}");
        }
    }
}
