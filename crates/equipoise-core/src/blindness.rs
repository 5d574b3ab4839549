//! What it costs that a model does not see the group.
//!
//! Proxies cannot tell: clients made them for a blind model. So two fair models of the root alone are compared, one that
//! sees the group and one that does not, both on root rows that they were not fitted to.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::held_out::held_out_root_scores;
use crate::metrics::Metrics;
use crate::round::Round;
use crate::rows::Rows;
use crate::settings::Settings;

/// Two fair models of the root alone, on root rows that they were not fitted to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blindness {
    /// The model that sees the group.
    pub seeing: Metrics,
    /// The model that does not.
    pub blind: Metrics,
}

/// What blindness costs. `None` if the model sees the group, or if the root is too small to tell.
pub fn cost_of_blindness(round: &Round, settings: &Settings) -> Result<Option<Blindness>, Error> {
    if round.root().layout().as_feature {
        return Ok(None);
    }
    let blind = round.root().all_rows()?;
    let measure = |rows: &Rows| -> Result<Option<Metrics>, Error> {
        let scores = held_out_root_scores(rows, settings)?;
        Ok(scores.map(|scores| Metrics::of_scores(&scores, rows, 0.0)))
    };
    let (seeing, blind) = (measure(&blind.seeing()?)?, measure(&blind)?);
    Ok(seeing.zip(blind).map(|(seeing, blind)| Blindness { seeing, blind }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::fairness::Fairness;
    use crate::test_rows::{layout, random_round_of};

    #[test]
    fn only_a_blind_round_has_a_cost_and_both_models_are_measured_on_all_rows() {
        let settings = Settings::new(Fairness::SP);
        let seeing = random_round_of(&layout(3, 3, true, true), 4, 3, 300);
        assert_eq!(cost_of_blindness(&seeing, &settings).unwrap(), None);
        let blind = random_round_of(&layout(3, 3, false, true), 4, 3, 300);
        let cost = cost_of_blindness(&blind, &settings).unwrap().unwrap();
        let rows = blind.root().all_rows().unwrap().len();
        assert_eq!((cost.seeing.rows, cost.blind.rows), (rows, rows));
        assert_ne!(cost.seeing, cost.blind);
    }
}
