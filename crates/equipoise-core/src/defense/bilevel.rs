//! The method: weights learnt by bilevel optimisation.

use super::Defended;
use super::fallback::fall_back;
use crate::bilevel::Bilevel;
use crate::error::Error;
use crate::observer::Observer;
use crate::outer;
use crate::round::Round;
use crate::settings::Settings;

pub(super) fn defend(
    round: &Round,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Defended, Error> {
    let mut problem = Bilevel::new(round, settings);
    let defended = outer::minimise(&mut problem, round.n_clients(), settings, observer)?;
    if settings.fall_back { fall_back(round, settings, defended) } else { Ok(defended) }
}
