//! A table split among clients, to rehearse a round with it.
//!
//! Rows are stratified by group and label: every client gets an equal part of each such stratum, and so does each of its
//! three tables, to within a row. Every row is in exactly one table. In the paper's scenarios (see [`Split`](crate::Split))
//! the root is a part of the training rows. Here it is apart from them, so that what a root says about a model holds for
//! rows that no proxy was made from, and its intervals can be taken at face value.

mod shares;

use equipoise_core::{Fairness, Rows};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::error::Error;
use crate::scenario::{Members, client_ids, most_unfair_first, own_unfairness};
use shares::Shares;

/// λ of the clients' own models, as in the paper.
const LAMBDA: f64 = 1e-4;

/// How a table becomes a rehearsal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RehearsalSettings {
    /// Number of clients; at least 2.
    pub n_clients: usize,
    /// Share of each client's rows to test models on; above 0.
    pub test_share: f64,
    /// Share of each client's rows that the server holds as root; above 0.
    pub root_share: f64,
    /// Number of unreliable clients: those whose own models are the most unfair.
    pub n_unreliable: usize,
    /// The fairness that ranks clients.
    pub fairness: Fairness,
    /// Seed of the split.
    pub seed: u64,
}

/// A client of a rehearsal.
#[derive(Debug, Clone, PartialEq)]
pub struct RehearsalClient {
    /// Its name: c1, c2, …
    pub id: String,
    /// Its rows in the table, in ascending order.
    pub members: Members,
    /// Strata of the table (group, and whether the label is positive) that its root lacks.
    pub missing_in_root: Vec<(usize, bool)>,
    /// |SPD| or |EOD| of a model trained on its training rows, on its test rows.
    pub unfairness: f64,
    /// Whether it is to send a fair proxy.
    pub reliable: bool,
}

/// A table split among clients.
#[derive(Debug, Clone, PartialEq)]
pub struct Rehearsal {
    /// The clients, sorted by id.
    pub clients: Vec<RehearsalClient>,
}

impl RehearsalSettings {
    /// Checks the ranges, which need no table.
    pub fn check(&self) -> Result<(), Error> {
        let refuse = |name, range, found| Err(Error::Setting { name, range, found });
        if self.n_clients < 2 {
            return refuse("clients", "at least 2", self.n_clients as f64);
        }
        let is_share = |share: f64| share > 0.0 && share < 1.0;
        for (name, share) in [("test", self.test_share), ("trusted", self.root_share)] {
            if !is_share(share) {
                return refuse(name, "above 0 and below 1, a share of each client's rows", share);
            }
        }
        if self.test_share + self.root_share >= 1.0 {
            let range = "below 1 together with --test, so that rows to train on are left";
            return refuse("trusted", range, self.root_share);
        }
        if self.n_unreliable >= self.n_clients {
            let range = "below --clients, so that at least one client is reliable";
            return refuse("unreliable", range, self.n_unreliable as f64);
        }
        Ok(())
    }
}

impl Rehearsal {
    /// Splits a table. The result depends only on the groups and labels of the rows, and on the settings.
    pub fn new(table: &Rows, settings: &RehearsalSettings) -> Result<Self, Error> {
        settings.check()?;
        let (n_rows, n_clients) = (table.len(), settings.n_clients);
        if n_rows / n_clients < 3 {
            return Err(Error::TooManyClients { n_rows, n_clients });
        }
        let ids: Vec<String> = client_ids(n_clients).collect();
        let clients = deal(table, settings).into_par_iter().zip(ids).enumerate();
        let mut clients = clients
            .map(|(number, (strata, id))| split_client(id, number, &strata, table, settings))
            .collect::<Result<Vec<_>, _>>()?;
        let order = most_unfair_first(clients.iter().map(|client| client.unfairness));
        for &client in &order[..settings.n_unreliable] {
            clients[client].reliable = false;
        }
        Ok(Self { clients })
    }
}

/// Deals the rows of each stratum to the clients in turn, in random order. Each client gets its rows by stratum.
fn deal(table: &Rows, settings: &RehearsalSettings) -> Vec<Vec<Vec<usize>>> {
    let n_strata = 2 * table.layout().groups.len();
    let mut strata = vec![Vec::new(); n_strata];
    for row in 0..table.len() {
        strata[2 * table.group(row) + usize::from(table.is_positive(row))].push(row);
    }
    let mut rng = ChaCha8Rng::seed_from_u64(settings.seed);
    let mut clients = vec![vec![Vec::new(); n_strata]; settings.n_clients];
    let mut next = 0;
    for (stratum, mut rows) in strata.into_iter().enumerate() {
        rows.shuffle(&mut rng);
        for row in rows {
            clients[next][stratum].push(row);
            next = (next + 1) % settings.n_clients;
        }
    }
    clients
}

fn split_client(
    id: String,
    number: usize,
    strata: &[Vec<usize>],
    table: &Rows,
    settings: &RehearsalSettings,
) -> Result<RehearsalClient, Error> {
    let sizes: Vec<usize> = strata.iter().map(Vec::len).collect();
    let roots = Shares { share: settings.root_share, first: number }.of(&sizes);
    let left: Vec<usize> = sizes.iter().zip(&roots).map(|(size, root)| size - root).collect();
    // The test share is one of all rows, not of those that are left.
    let n_left: usize = left.iter().sum();
    let n_rows: usize = sizes.iter().sum();
    let share = settings.test_share * n_rows as f64 / n_left as f64;
    let tests = Shares { share, first: number }.of(&left);

    let mut members = Members { train: Vec::new(), test: Vec::new(), root: Vec::new() };
    for ((rows, &n_root), &n_test) in strata.iter().zip(&roots).zip(&tests) {
        members.root.extend(&rows[..n_root]);
        members.test.extend(&rows[n_root..n_root + n_test]);
        members.train.extend(&rows[n_root + n_test..]);
    }
    for part in [&mut members.train, &mut members.test, &mut members.root] {
        if part.is_empty() {
            let (n_rows, n_clients) = (table.len(), settings.n_clients);
            return Err(Error::TooManyClients { n_rows, n_clients });
        }
        part.sort_unstable();
    }
    let occurs = |stratum: &usize| table.cell_counts()[stratum / 2][stratum % 2] > 0;
    let is_missing = |stratum: &usize| roots[*stratum] == 0 && occurs(stratum);
    let missing = (0..strata.len()).filter(is_missing);
    let missing_in_root = missing.map(|stratum| (stratum / 2, stratum % 2 == 1)).collect();
    let train = table.select(&members.train);
    if let Some(which) = one_sided(&train) {
        return Err(Error::OneSidedClient { client: id, which });
    }
    let test = table.select(&members.test);
    let unfairness = own_unfairness(&train, &test, LAMBDA, settings.fairness)?;
    Ok(RehearsalClient { id, members, missing_in_root, unfairness, reliable: true })
}

/// What all rows have in common, if it is a label or a group.
fn one_sided(rows: &Rows) -> Option<String> {
    let n_positive = (0..rows.len()).filter(|&i| rows.is_positive(i)).count();
    if n_positive == 0 || n_positive == rows.len() {
        let label = if n_positive == 0 { "negative" } else { "positive" };
        return Some(format!("with a {label} label"));
    }
    let group = rows.only_group()?;
    Some(format!("of the group `{}`", rows.layout().groups.names()[group]))
}

#[cfg(test)]
mod tests;
