//! Attackers who know the defense and search for the proxies that hurt it most.
//!
//! They collude, and want the published model to have the largest possible gap. Each forges its proxy by one common
//! plan (`plan`), and they rehearse the round with each plan that the search suggests (`search`, `rehearsal`). They
//! expect the default defense, and know how large the root is. Of the rest they know:
//!
//! - [`Knowledge::Defense`]: only their own rows. They take samples of them for the root, and of their own honest
//!   proxies for the other clients' proxies;
//! - [`Knowledge::DefenseAndRoot`]: the root and all proxies.
//!
//! The gap is measured on their own training rows, because nobody knows the test rows.

mod plan;
mod rehearsal;
mod search;

use equipoise_core::Rows;

use super::Attackers;
use crate::error::Error;
use plan::Forger;
use rehearsal::Rehearsal;
use search::search;

/// What the attackers know besides the defense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Knowledge {
    /// Only their own rows.
    Defense,
    /// The root and all proxies.
    DefenseAndRoot,
}

pub(super) fn forge(attackers: &Attackers<'_>, knowledge: Knowledge) -> Result<Vec<Rows>, Error> {
    let rehearsal = match knowledge {
        Knowledge::Defense => Rehearsal::guessed(attackers)?,
        Knowledge::DefenseAndRoot => Rehearsal::exact(attackers)?,
    };
    let plan = search(|plan| rehearsal.gap(plan));
    attackers.each(|member| {
        Forger::new(&member.client.train, member.honest, attackers.lambda)?.forge(&plan)
    })
}

#[cfg(test)]
mod tests;
