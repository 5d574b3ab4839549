//! Settings with a few named values: the single source of command-line values, names in files and descriptions.

use crate::adapt::HomeModel;
use crate::fairness::Criterion;
use crate::inner_fit::InnerSolver;
use crate::proxy::{ProxyGenerator, ProxyStart};
use crate::root::RootWeighting;
use crate::settings::{OuterSolver, Profile};

/// A setting that is one of a few named values.
pub trait Choice: Copy + Send + Sync + 'static {
    /// Every value, in the order in which they are listed.
    const ALL: &'static [Self];

    /// Its name, as in files and on the command line, and a one-line description.
    fn describe(&self) -> (&'static str, &'static str);

    /// Its name, as in files and on the command line.
    fn name(&self) -> &'static str {
        self.describe().0
    }

    /// A one-line description.
    fn description(&self) -> &'static str {
        self.describe().1
    }
}

/// Implements [`Choice`] for an enum from its values in the order in which they are listed, each with its name and
/// description.
#[macro_export]
macro_rules! choices {
    ($type:ty: $($value:ident => $name:literal, $description:literal;)*) => {
        impl $crate::Choice for $type {
            const ALL: &'static [Self] = &[$(Self::$value),*];

            fn describe(&self) -> (&'static str, &'static str) {
                match self {
                    $(Self::$value => ($name, $description),)*
                }
            }
        }
    };
}

choices! { Profile:
    Default => "default", "This project's choices: the defense tilt; bilevel by Gauss–Newton until stationary";
    Paper => "paper", "The paper's experiments: bilevel with all 2000 Adam steps, no convergence test";
}

choices! { HomeModel:
    Global => "global", "The published model as it is";
    Adapted => "adapted", "The published model with thresholds from your rows";
    Own => "own", "Your own fair model, without the other clients";
}

choices! { OuterSolver:
    GaussNewton => "gauss-newton", "Gauss–Newton on the simplex";
    Adam => "adam", "Adam with projection onto the simplex";
}

choices! { InnerSolver:
    Newton => "newton", "Newton's method";
    Lbfgs => "lbfgs", "L-BFGS, as in the paper; only with the paper profile";
}

choices! { RootWeighting:
    Pooled => "pooled", "Every root row counts the same";
    Client => "client", "Root rows are weighted by their client's weight";
}

choices! { Criterion:
    Sp => "sp", "Statistical parity: equal selection rates";
    Eo => "eo", "Equal opportunity: equal true positive rates";
    EqualizedOdds => "equalized-odds", "Equalised odds: equal true and equal false positive rates";
    Fpr => "fpr", "Predictive equality: equal false positive rates";
}

choices! { ProxyGenerator:
    Thresholds => "thresholds", "For a fair model that is chosen first; labels are drawn from it";
    Paper => "paper", "The paper's Algorithm 1: labels are kept, the covariance is minimised";
    Transformation => "transformation", "Calmon et al. (2017): labels and bins are changed at random, for sp alone";
    Raw => "raw", "The data itself, only encoded: neither fair nor private";
}

choices! { ProxyStart:
    Smoothed => "smoothed", "A sample from a smoothed model of the data";
    Data => "data", "The data itself: for experiments only";
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde::Serialize;

    use super::*;
    use crate::defense::Defense;
    use crate::outcome::Termination::*;
    use crate::verdict::{Requirement, Verdict};

    fn names_are_those_in_json<T: Choice + Serialize>() {
        for choice in T::ALL {
            assert_eq!(serde_json::to_value(choice).unwrap(), choice.name());
            assert!(!choice.description().is_empty());
        }
    }

    #[test]
    fn names_in_files_and_on_the_command_line_are_the_same() {
        names_are_those_in_json::<Defense>();
        names_are_those_in_json::<Profile>();
        names_are_those_in_json::<OuterSolver>();
        names_are_those_in_json::<InnerSolver>();
        names_are_those_in_json::<RootWeighting>();
        names_are_those_in_json::<Criterion>();
        names_are_those_in_json::<ProxyGenerator>();
        names_are_those_in_json::<ProxyStart>();
        names_are_those_in_json::<Requirement>();
        names_are_those_in_json::<Verdict>();
        for termination in [Converged, ScheduleCompleted, IterationLimit, Direct, FellBack] {
            assert_eq!(serde_json::to_value(termination).unwrap(), termination.name());
        }
    }
}
