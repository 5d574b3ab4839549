//! The round as the attackers imagine it.

use equipoise_core::{
    Client, Defense, Fairness, Metrics, NoopObserver, Round, Rows, Settings, solve,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::super::Attackers;
use super::super::table::sample;
use super::plan::{Forger, Plan};
use crate::error::Error;
use crate::scenario::unfairness;

/// Roots that attackers imagine if they do not know it. A plan that fits one root need not fit the real one.
const GUESSED_ROOTS: usize = 3;
/// Rows of a guessed proxy, at most. More would say little beyond them, and cost time.
const GUESSED_ROWS: usize = 3000;
/// Own rows on which a gap is measured, at most.
const MEASURED_ROWS: usize = 10_000;

/// All that is needed to run the defense on forged proxies.
pub(super) struct Rehearsal {
    forgers: Vec<Forger>,
    /// Proxies of the other clients.
    others: Vec<Rows>,
    /// One root or several, of which each could be the real one.
    roots: Vec<Rows>,
    measured_on: Rows,
    fairness: Fairness,
    lambda: f64,
}

impl Rehearsal {
    /// With the real root and the real proxies of the other clients.
    pub(super) fn exact(attackers: &Attackers<'_>) -> Result<Self, Error> {
        let clients = &attackers.scenario.clients;
        let roots: Vec<&Rows> = clients.iter().map(|client| &client.root).collect();
        let reliable = clients.iter().filter(|client| client.reliable);
        let forgers = attackers
            .members()
            .map(|member| Forger::new(&member.client.train, member.honest, attackers.lambda));
        Ok(Self {
            forgers: forgers.collect::<Result<_, _>>()?,
            others: reliable.map(|client| client.proxy.clone()).collect(),
            roots: vec![Rows::concat(&roots)?],
            measured_on: own_rows(attackers)?,
            fairness: attackers.fairness,
            lambda: attackers.lambda,
        })
    }

    /// With roots drawn from the attackers' training rows, and other proxies drawn from their honest ones.
    pub(super) fn guessed(attackers: &Attackers<'_>) -> Result<Self, Error> {
        let mut rng = ChaCha8Rng::seed_from_u64(attackers.seed);
        // Stream 0 split the population.
        rng.set_stream(1);
        let clients = &attackers.scenario.clients;
        let root_rows: usize = clients.iter().map(|client| client.root.len()).sum();
        let own = own_rows(attackers)?;
        let roots = (0..GUESSED_ROOTS).map(|_| own.select(&sample(own.len(), root_rows, &mut rng)));
        let roots = roots.collect();
        let n_others = clients.iter().filter(|client| client.reliable).count();
        // With replacement, so that the guessed clients differ as much as real ones.
        let others = (0..n_others).map(|k| {
            let honest = &attackers.honest[k % attackers.honest.len()];
            let n_rows = honest.len().min(GUESSED_ROWS);
            let draw = |_| rng.random_range(0..honest.len());
            honest.select(&(0..n_rows).map(draw).collect::<Vec<_>>())
        });
        let others = others.collect();
        let forgers = attackers.members().map(|member| {
            Forger::new(
                &member.client.train,
                &thinned(member.honest, GUESSED_ROWS),
                attackers.lambda,
            )
        });
        let forgers = forgers.collect::<Result<_, _>>()?;
        Ok(Self {
            forgers,
            others,
            roots,
            measured_on: own,
            fairness: attackers.fairness,
            lambda: attackers.lambda,
        })
    }

    /// The mean gap of the published model over the roots. A plan that the server refuses achieves nothing.
    pub(super) fn gap(&self, plan: &Plan) -> f64 {
        let forged: Result<Vec<Rows>, Error> =
            self.forgers.iter().map(|forger| forger.forge(plan)).collect();
        let Ok(mut proxies) = forged else { return 0.0 };
        proxies.extend(self.others.iter().cloned());
        let gaps: Vec<f64> = self
            .roots
            .par_iter()
            .map(|root| self.published_gap(&proxies, root).unwrap_or(0.0))
            .collect();
        gaps.iter().sum::<f64>() / gaps.len() as f64
    }

    fn published_gap(&self, proxies: &[Rows], root: &Rows) -> Result<f64, Error> {
        let clients = proxies.iter().enumerate().map(|(number, proxy)| Client {
            id: format!("{number:06}"),
            proxy: proxy.clone(),
            root: root.select(&(number..root.len()).step_by(proxies.len()).collect::<Vec<_>>()),
        });
        let round = Round::new(clients.collect())?;
        let settings = Settings {
            defense: Defense::default(),
            lambda: self.lambda,
            ..Settings::new(self.fairness)
        };
        let outcome = solve(&round, &settings.validate()?, &mut NoopObserver)?;
        Ok(unfairness(&Metrics::of(&outcome.theta, &self.measured_on)?, self.fairness))
    }
}

/// Training rows of all attackers, evenly thinned.
fn own_rows(attackers: &Attackers<'_>) -> Result<Rows, Error> {
    let own: Vec<&Rows> = attackers.members().map(|member| &member.client.train).collect();
    Ok(thinned(&Rows::concat(&own)?, MEASURED_ROWS))
}

/// Evenly spaced rows, at most `n_rows`.
fn thinned(rows: &Rows, n_rows: usize) -> Rows {
    if rows.len() <= n_rows {
        return rows.clone();
    }
    rows.select(&(0..n_rows).map(|i| i * rows.len() / n_rows).collect::<Vec<_>>())
}
