//! Training rows as they are, with all the bias of their labels.

use equipoise_core::Rows;

use super::Attackers;
use crate::error::Error;

pub(super) fn forge(attackers: &Attackers<'_>) -> Result<Vec<Rows>, Error> {
    Ok(attackers.members().map(|(client, _)| client.train.clone()).collect())
}
