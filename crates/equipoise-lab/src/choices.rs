//! Names and descriptions of the experiment's choices.

use equipoise_core::{Choice, Defense, choices};

use crate::dataset::Preprocessing;
use crate::experiment::Variant;
use crate::scenario::{Distribution, Generator, ScenarioKind};

/// Number of variants: every defense, and bilevel without its penalty.
const N_VARIANTS: usize = Defense::ALL.len() + 1;

impl Choice for Variant {
    /// Every defense; bilevel without its penalty is last.
    const ALL: &'static [Self] = &{
        let mut all = [Self::BilevelWithoutPenalty; N_VARIANTS];
        let mut i = 0;
        while i < Defense::ALL.len() {
            all[i] = Self::Defense(Defense::ALL[i]);
            i += 1;
        }
        all
    };

    fn describe(&self) -> (&'static str, &'static str) {
        match self {
            Self::Defense(defense) => defense.describe(),
            Self::BilevelWithoutPenalty => {
                ("bilevel-rho0", "bilevel without its fairness penalty, ρ = 0")
            }
        }
    }
}

choices! { ScenarioKind:
    Realistic => "realistic", "Each reliable client sends its own fair proxy";
    Ideal => "ideal", "All reliable clients send the same fair proxy";
}

choices! { Distribution:
    Even => "even", "At random, and as many for each client";
    Sizes => "sizes", "At random, in geometric progression: the last client has 20 times the rows of the first";
}

choices! { Generator:
    Adam => "adam", "Moves the client's own rows with Adam, as the paper's figures suggest";
    Target => "target", "As `proxy` does: labels drawn from a fair target model";
    Smoothed => "smoothed", "As `proxy --generator paper` does, from a smoothed model of the data";
}

choices! { Preprocessing:
    Paper => "paper", "Category codes used as numbers, no intercept, as in the paper";
    Intercept => "intercept", "The same with an intercept";
    OneHot => "one-hot", "Category codes as one-hot columns, with an intercept";
    Inferred => "inferred", "As `schema infer` proposes: 3 to 12 integers as one-hot columns, with an intercept";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_defense_is_a_variant_and_no_variant_is_repeated() {
        let without = Variant::ALL.iter().filter(|v| **v == Variant::BilevelWithoutPenalty);
        assert_eq!(without.count(), 1);
        for &defense in Defense::ALL {
            assert!(Variant::ALL.contains(&Variant::Defense(defense)), "{defense}");
        }
    }
}
