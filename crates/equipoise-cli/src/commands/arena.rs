//! `equipoise arena`: every defense and every published rival against every attack.

use std::path::PathBuf;
use std::sync::Mutex;

use clap::Args;
use equipoise_core::{Choice, Criterion};
use equipoise_lab::{
    ArenaPage, ArenaSettings, ArenaSummary, Attack, Contender, Context, Distribution, Standing,
    run_arena,
};

use crate::choice_args::{Chosen, choice, choice_or_group, distinct};
use crate::formatting::{count, rate, table};
use crate::invocation;
use crate::output::{Answer, Output};
use crate::progress::Bar;
use crate::shell::command_line;
use crate::source_args::SourceArgs;

/// Compare every defense and published rivals under every attack, on the same rounds
///
/// Splits each dataset among clients, lets some of them attack, and runs every method on the same rounds for several
/// seeds. Clients that do not attack send the proxies that `equipoise proxy` makes. All models are measured on the test
/// rows of the reliable clients.
///
/// Each finished cell (one dataset, criterion, attack, rate and seed) is saved immediately, so the same command resumes
/// an interrupted run. More attacks, rates or seeds can be added to a finished run.
///
/// Writes arena.html (heatmaps, a ranking with intervals, and every loss of the default defense),
/// results.csv (every result, without timings) and results.jsonl (used to resume). docs/ARENA.md defines every figure.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  equipoise data fetch all    # download the two public datasets to data/
  equipoise arena -o arena
  equipoise arena --dataset synthetic --seeds 2 -o quick
  equipoise arena --dataset dutch --fairness sp --attacks flipped-labels \\
      --rates 0.4,0.6 --defenses tilt,pooled,krum -o flipped
  equipoise arena --first-seed 101 --seeds 20 -o fresh
  equipoise arena --dataset csv --data people.csv \\
      --schema schema.toml --root-share 0.02 -o own")]
pub(crate) struct ArenaArgs {
    /// Datasets: law-school, dutch, synthetic (the demo's population) or csv (your own table)
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "NAME,…",
        default_value = "law-school,dutch,synthetic"
    )]
    dataset: Vec<String>,
    /// Fairness criteria for every dataset [default: sp, and for law-school also eo]
    #[arg(long, value_parser = choice::<Criterion>(), value_delimiter = ',')]
    fairness: Vec<Criterion>,
    /// What unreliable clients send
    #[arg(
        long,
        value_parser = choice_or_group(&[("all", Attack::ALL)]),
        value_delimiter = ',',
        default_value = "all"
    )]
    attacks: Vec<Chosen<Attack>>,
    /// Defenses and rivals to compare
    #[arg(
        long,
        value_parser = choice_or_group(&[("all", Contender::ALL)]),
        value_delimiter = ',',
        default_value = "all"
    )]
    defenses: Vec<Chosen<Contender>>,
    /// Shares of unreliable clients, from 0 to 1; at 0 there is no attack
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "SHARE,…",
        default_value = "0,0.2,0.4,0.6,0.8"
    )]
    rates: Vec<f64>,
    /// Number of seeds
    #[arg(long, value_name = "N", default_value_t = 5)]
    seeds: u64,
    /// The first seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    first_seed: u64,
    /// Number of clients that each dataset is split among
    #[arg(long, value_name = "K", default_value_t = 5)]
    clients: usize,
    /// How rows are distributed among clients
    #[arg(long, value_parser = choice::<Distribution>(), default_value = "even")]
    split: Distribution,
    /// Share of each client's training rows to use as root
    #[arg(long, value_name = "SHARE", default_value_t = 0.005)]
    root_share: f64,
    #[command(flatten)]
    sources: SourceArgs,
    /// Folder for the results; resumes a run that was interrupted there
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

pub(crate) fn run(args: &ArenaArgs, output: &Output) -> anyhow::Result<Answer> {
    let settings = args.settings();
    let sources = args.sources.resolve(&args.dataset)?;
    let arena = {
        let bar = Mutex::new(Bar::new(output));
        run_arena(&settings, &sources, &args.output, &|done, total| {
            if let Ok(mut bar) = bar.lock() {
                bar.show_with_time_left(done, total, "cells");
            }
        })?
    };
    let page = ArenaPage { arena: &arena, command: &command_line(invocation::command_line()) };
    let path = page.write(&args.output)?;
    output.note(format!("wrote {}", path.display()));
    let summary = arena.summary();
    output.result(&summary, || describe(&summary))
}

fn describe(summary: &ArenaSummary) -> String {
    let row = |standing: &Standing| {
        let percent = |value: Option<f64>| {
            value.map_or_else(|| "—".to_owned(), |value| format!("{:.1}", 100.0 * value))
        };
        let competes = standing.win_share.is_some();
        let count = |n: usize| if competes { n.to_string() } else { "—".to_owned() };
        vec![
            standing.contender.name().to_owned(),
            percent(standing.win_share.map(|share| share.value)),
            count(standing.useful_wins),
            count(standing.worse_than_pooled),
            count(standing.inaccurate),
            count(standing.failed),
            gap_with_interval(standing),
            percent(standing.accuracy),
            percent(standing.balanced_accuracy),
            percent(standing.unreliable_weight),
        ]
    };
    let header = [
        "method",
        "first or tied %",
        "of useful ones",
        "worse than pooled",
        "inaccurate",
        "failed",
        "gap",
        "accuracy %",
        "balanced %",
        "unreliable weight %",
    ];
    let standings = summary.ranking.iter().chain(&summary.references);
    let table = table(&header, standings.map(row).collect(), &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let matchups = summary.ranking.first().map_or(0, |standing| standing.matchups);
    format!("{table}Over {}, at rates up to 60 %.\n", count(matchups, "matchup"))
}

fn gap_with_interval(standing: &Standing) -> String {
    let Standing { gap, gap_low, gap_high, .. } = standing;
    let text = rate(*gap);
    match gap_low.zip(*gap_high) {
        Some((low, high)) => format!("{text} [{:.3}, {high:.3}]", low.max(0.0)),
        None => text,
    }
}

impl ArenaArgs {
    fn settings(&self) -> ArenaSettings {
        ArenaSettings {
            contexts: self.contexts(),
            attacks: distinct(&self.attacks),
            contenders: distinct(&self.defenses),
            rates: self.rates.clone(),
            seeds: self.seeds,
            first_seed: self.first_seed,
            n_people: self.sources.n_people(&self.dataset),
            n_clients: self.clients,
            distribution: self.split,
            root_share: self.root_share,
            ..ArenaSettings::default()
        }
    }

    /// Every dataset with every criterion. Without criteria: the default arena's, or statistical parity.
    fn contexts(&self) -> Vec<Context> {
        let default = ArenaSettings::default().contexts;
        let contexts = self.dataset.iter().flat_map(|dataset| {
            let usual = default.iter().filter(|context| context.dataset == *dataset);
            let usual: Vec<Criterion> = usual.map(|context| context.fairness).collect();
            let criteria = match (self.fairness.as_slice(), usual.as_slice()) {
                ([], []) => vec![Criterion::Sp],
                ([], usual) => usual.to_vec(),
                (requested, _) => requested.to_vec(),
            };
            let context = |fairness| Context { dataset: dataset.clone(), fairness };
            criteria.into_iter().map(context)
        });
        contexts.collect()
    }
}
