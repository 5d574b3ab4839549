//! The paper's scenarios (its Section IV): a population split among clients, some of them unreliable.
//!
//! Rows are split evenly and at random, or otherwise ([`Distribution`]), and each client keeps a part for testing. Clients are ranked by the unfairness
//! of a model trained on their own training rows and measured on their own test rows. The most unfair clients are
//! unreliable and send their training rows unchanged. The others send fair proxies. A small random part of each
//! client's training rows is the root. Defenses are evaluated on the test rows of the reliable clients only.

mod distribution;

pub use distribution::Distribution;

use equipoise_core::{
    Client, Error, Fairness, Gap, InnerSettings, Metrics, NoopObserver, ProxyGenerator,
    ProxySettings, ProxySolver, ProxyStart, ProxySummary, Round, Rows, fit_logistic,
    generate_proxy,
};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// What the reliable clients send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScenarioKind {
    /// Each client sends a fair proxy of its own rows.
    Realistic,
    /// All send the fair proxy of the fairest client, so that equal weights are the right answer.
    Ideal,
}

/// How fair proxies are generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Generator {
    /// Rows of a smoothed model with labels drawn from a fair target model, as `proxy` does.
    #[default]
    Target,
    /// Rows of a smoothed model, moved no further than the paper's covariance requires, as `proxy --generator paper` does.
    Smoothed,
    /// The client's own rows, moved by Adam. The losses behind the paper's weights suggest that its experiments
    /// used something similar. Such proxies are easier to classify than the data.
    Adam,
}

/// How a population becomes a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScenarioSettings {
    /// What the reliable clients send.
    pub kind: ScenarioKind,
    /// The fairness that ranks clients and shapes proxies.
    pub fairness: Fairness,
    /// How many people of the population take part, drawn by the seed; `None`: all.
    pub n_people: Option<usize>,
    /// K, the number of clients.
    pub n_clients: usize,
    /// How rows are distributed among clients.
    pub distribution: Distribution,
    /// Share of clients that are unreliable, between 0 and 1; rounded to whole clients.
    pub unreliable_share: f64,
    /// Share of a client's rows kept for testing.
    pub test_share: f64,
    /// Share of a client's training rows that the server holds as root; at least one row.
    pub root_share: f64,
    /// How fair proxies are generated.
    pub generator: Generator,
    /// λ of the local models and of the generator.
    pub lambda: f64,
    /// Seed of everything random.
    pub seed: u64,
}

impl ScenarioSettings {
    /// The paper's settings: 5 clients, 20 % for testing, a root of 0.5 %, proxies as large as the training rows.
    pub fn new(kind: ScenarioKind, fairness: Fairness, unreliable_share: f64, seed: u64) -> Self {
        Self {
            kind,
            fairness,
            n_people: None,
            n_clients: 5,
            distribution: Distribution::Even,
            unreliable_share,
            test_share: 0.2,
            root_share: 0.005,
            generator: Generator::Smoothed,
            lambda: 1e-4,
            seed,
        }
    }

    /// Number of unreliable clients.
    pub fn n_unreliable(&self) -> usize {
        (self.unreliable_share * self.n_clients as f64).round() as usize
    }
}

/// One client of a scenario.
#[derive(Debug, Clone)]
pub struct ScenarioClient {
    /// Its name: c1, c2, …
    pub id: String,
    /// Its training, test and root rows in the population.
    pub members: Members,
    /// Its training rows.
    pub train: Rows,
    /// Its test rows.
    pub test: Rows,
    /// The part of its training rows that the server holds.
    pub root: Rows,
    /// The proxy it sends.
    pub proxy: Rows,
    /// |SPD| or |EOD| of a model trained on its training rows, on its test rows.
    pub unfairness: f64,
    /// Whether it sends a fair proxy.
    pub reliable: bool,
    /// How its proxy was generated, without its closeness; `None` for an unreliable client.
    pub summary: Option<ProxySummary>,
}

/// Row indices in the population.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Members {
    /// Training rows.
    pub train: Vec<usize>,
    /// Test rows.
    pub test: Vec<usize>,
    /// Root rows: in a scenario a part of the training rows, in a rehearsal none of them.
    pub root: Vec<usize>,
}

/// A split population with proxies.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The clients, sorted by id.
    pub clients: Vec<ScenarioClient>,
}

/// Rows of the proxy from which the central fair model is read.
const CENTRAL_PROXY_ROWS: usize = 5_000;

/// Called for each proxy with the number done and the total.
pub type OnClient<'a> = dyn FnMut(usize, usize) + 'a;

/// A population split among ranked clients, before unreliable clients are chosen. Fair proxies are generated once,
/// when a scenario first needs them.
#[derive(Debug, Clone)]
pub struct Split {
    settings: ScenarioSettings,
    clients: Vec<ScenarioClient>,
    /// Clients from the most unfair to the fairest.
    by_unfairness: Vec<usize>,
    fair: Vec<OnceLock<(Rows, ProxySummary)>>,
}

impl Split {
    /// Splits `population` and ranks the clients. Kind and unreliable share of the settings are ignored.
    pub fn new(population: &Rows, settings: &ScenarioSettings) -> Result<Self, Error> {
        let mut rng = ChaCha8Rng::seed_from_u64(settings.seed);
        let mut order: Vec<usize> = (0..population.len()).collect();
        order.shuffle(&mut rng);
        order.truncate(settings.n_people.unwrap_or(usize::MAX));
        let parts = settings.distribution.parts(&order, settings.n_clients);
        let mut clients = Vec::with_capacity(settings.n_clients);
        for (id, own) in client_ids(settings.n_clients).zip(&parts) {
            clients.push(split_client(id, population, own, settings, &mut rng)?);
        }
        let by_unfairness = most_unfair_first(clients.iter().map(|client| client.unfairness));
        let fair = vec![OnceLock::new(); clients.len()];
        Ok(Self { settings: *settings, clients, by_unfairness, fair })
    }

    /// Generates the fair proxies that these scenarios (kind and unreliable share) need, in parallel.
    pub fn make_proxies(&self, scenarios: &[(ScenarioKind, f64)]) -> Result<(), Error> {
        let mut sources: Vec<usize> =
            scenarios.iter().flat_map(|&(kind, share)| self.proxy_sources(kind, share)).collect();
        sources.sort_unstable();
        sources.dedup();
        sources.into_par_iter().try_for_each(|client| self.fair_proxy(client).map(|_| ()))
    }

    /// The scenario in which this share of the clients, the most unfair ones, is unreliable.
    pub fn scenario(
        &self,
        kind: ScenarioKind,
        unreliable_share: f64,
        on_client: &mut OnClient<'_>,
    ) -> Result<Scenario, Error> {
        let mut clients = self.clients.clone();
        let (unreliable, reliable) =
            self.by_unfairness.split_at(self.n_unreliable(unreliable_share));
        unreliable.iter().for_each(|&client| clients[client].reliable = false);
        let sources = self.proxy_sources(kind, unreliable_share);
        for (done, (&client, source)) in reliable.iter().zip(sources).enumerate() {
            on_client(done, reliable.len());
            let (proxy, summary) = self.fair_proxy(source)?;
            (clients[client].proxy, clients[client].summary) = (proxy, Some(summary));
        }
        on_client(reliable.len(), reliable.len());
        Ok(Scenario { clients })
    }

    /// A fair model of all clients' training rows together: the target of the default generator.
    pub fn central_fair_model(&self) -> Result<Vec<f64>, Error> {
        let train: Vec<&Rows> = self.clients.iter().map(|client| &client.train).collect();
        let train = Rows::concat(&train)?;
        // The target does not depend on the number of rows of the proxy, so a short one is enough.
        let settings = ProxySettings {
            lambda: self.settings.lambda,
            rows: Some(train.len().min(CENTRAL_PROXY_ROWS)),
            closeness_rows: 0,
            ..ProxySettings::new(self.settings.fairness)
        };
        Ok(generate_proxy(&train, &settings, &mut NoopObserver)?.summary.theta)
    }

    /// The fair proxies that the unreliable clients would send if they were honest, in the order of the clients.
    pub fn honest_proxies(&self, unreliable_share: f64) -> Result<Vec<Rows>, Error> {
        let mut unreliable = self.by_unfairness[..self.n_unreliable(unreliable_share)].to_vec();
        unreliable.sort_unstable();
        unreliable
            .into_par_iter()
            .map(|client| Ok(self.fair_proxy(client)?.0))
            .collect::<Result<Vec<_>, _>>()
    }

    fn n_unreliable(&self, unreliable_share: f64) -> usize {
        ScenarioSettings { unreliable_share, ..self.settings }.n_unreliable()
    }

    /// For each reliable client, the client whose fair proxy it sends.
    fn proxy_sources(&self, kind: ScenarioKind, unreliable_share: f64) -> Vec<usize> {
        let reliable = &self.by_unfairness[self.n_unreliable(unreliable_share)..];
        match kind {
            ScenarioKind::Realistic => reliable.to_vec(),
            ScenarioKind::Ideal => vec![self.by_unfairness[self.clients.len() - 1]; reliable.len()],
        }
    }

    /// Two concurrent threads may both generate the proxy, which depends only on the seed.
    fn fair_proxy(&self, client: usize) -> Result<(Rows, ProxySummary), Error> {
        if let Some(proxy) = self.fair[client].get() {
            return Ok(proxy.clone());
        }
        let proxy = make_fair_proxy(&self.clients[client], &self.settings)?;
        Ok(self.fair[client].get_or_init(|| proxy).clone())
    }
}

impl Scenario {
    /// Splits `population` and generates the proxies.
    pub fn build(
        population: &Rows,
        settings: &ScenarioSettings,
        on_client: &mut OnClient<'_>,
    ) -> Result<Self, Error> {
        let split = Split::new(population, settings)?;
        split.scenario(settings.kind, settings.unreliable_share, on_client)
    }

    /// The round that the server sees.
    pub fn round(&self) -> Result<Round, Error> {
        let clients = self.clients.iter().map(|client| Client {
            id: client.id.clone(),
            proxy: client.proxy.clone(),
            root: client.root.clone(),
        });
        Round::new(clients.collect())
    }

    /// The clients whose test rows count: the reliable ones, or all if none is reliable.
    pub fn judged_clients(&self) -> impl Iterator<Item = &ScenarioClient> {
        let any = self.clients.iter().any(|client| client.reliable);
        self.clients.iter().filter(move |client| client.reliable || !any)
    }

    /// The test rows that count, client after client.
    pub fn test_rows(&self) -> Result<Rows, Error> {
        Rows::concat(&self.judged_clients().map(|client| &client.test).collect::<Vec<_>>())
    }

    /// The sum of the weights of unreliable clients.
    pub fn unreliable_weight(&self, weights: &[f64]) -> f64 {
        let unreliable = self.clients.iter().zip(weights).filter(|(client, _)| !client.reliable);
        // An empty sum is −0, which would be printed as such.
        unreliable.map(|(_, w)| w).sum::<f64>() + 0.0
    }
}

/// c1, c2, …, of equal length, so that they sort by number.
pub(crate) fn client_ids(n_clients: usize) -> impl Iterator<Item = String> {
    let width = n_clients.to_string().len();
    (1..=n_clients).map(move |number| format!("c{number:0width$}"))
}

/// The positions of clients from the most unfair to the fairest. Equal clients keep their order.
pub(crate) fn most_unfair_first(unfairness: impl Iterator<Item = f64>) -> Vec<usize> {
    let unfairness: Vec<f64> = unfairness.collect();
    let mut order: Vec<usize> = (0..unfairness.len()).collect();
    order.sort_by(|&a, &b| unfairness[b].total_cmp(&unfairness[a]));
    order
}

/// The [`unfairness`] on `test` of a model trained on `train`.
pub(crate) fn own_unfairness(
    train: &Rows,
    test: &Rows,
    lambda: f64,
    fairness: Fairness,
) -> Result<f64, Error> {
    let model = fit_logistic(train, lambda, &InnerSettings::default())?;
    Ok(unfairness(&Metrics::of(&model, test)?, fairness))
}

fn split_client(
    id: String,
    population: &Rows,
    own: &[usize],
    settings: &ScenarioSettings,
    rng: &mut ChaCha8Rng,
) -> Result<ScenarioClient, Error> {
    let n_test = (settings.test_share * own.len() as f64).round() as usize;
    let (test, train) = own.split_at(n_test);
    let n_root = ((settings.root_share * train.len() as f64).round() as usize).max(1);
    let mut shuffled = train.to_vec();
    let (root, _) = shuffled.partial_shuffle(rng, n_root);
    let members = Members { train: train.to_vec(), test: test.to_vec(), root: root.to_vec() };
    let (train, test) = (population.select(train), population.select(test));
    let root = population.select(&members.root);
    let unfairness = own_unfairness(&train, &test, settings.lambda, settings.fairness)?;
    let proxy = train.clone();
    Ok(ScenarioClient {
        id,
        members,
        train,
        test,
        root,
        proxy,
        unfairness,
        reliable: true,
        summary: None,
    })
}

fn make_fair_proxy(
    client: &ScenarioClient,
    settings: &ScenarioSettings,
) -> Result<(Rows, ProxySummary), Error> {
    let number: u64 = client.id.bytes().fold(0, |sum, byte| sum * 31 + u64::from(byte));
    let (generator, start, solver) = match settings.generator {
        Generator::Target => {
            (ProxyGenerator::Thresholds, ProxyStart::Smoothed, ProxySolver::SmallestMove)
        }
        Generator::Smoothed => {
            (ProxyGenerator::Paper, ProxyStart::Smoothed, ProxySolver::SmallestMove)
        }
        Generator::Adam => (ProxyGenerator::Paper, ProxyStart::Data, ProxySolver::Adam),
    };
    let proxy_settings = ProxySettings {
        generator,
        start,
        solver,
        rows: Some(client.train.len()),
        lambda: settings.lambda,
        closeness_rows: 0,
        seed: settings.seed.wrapping_mul(1_000_003).wrapping_add(number),
        ..ProxySettings::new(settings.fairness)
    };
    let generated = generate_proxy(&client.train, &proxy_settings, &mut NoopObserver)?;
    Ok((generated.rows, generated.summary))
}

/// The size of the worst gap, or the mean of the sizes for a mixture, by weight. A gap that cannot be measured counts
/// as 0.
pub fn unfairness(metrics: &Metrics, fairness: Fairness) -> f64 {
    let size = |condition| metrics.gaps.of(condition).map_or(0.0, Gap::size);
    fairness.conditions().map(|(condition, weight)| weight * size(condition)).sum()
}
