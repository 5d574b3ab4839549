//! The command line: global options and commands.

use clap::{Args, Parser, Subcommand};

use crate::commands::{
    adapt, arena, audit, check, completions, data, defend, demo, evaluate, experiment, export,
    head, keygen, model, predict, privacy, proxy, round, schema, serve, split, status, submit,
    validate_proxy, verify,
};
use crate::output::{Answer, Output};

/// One-shot fair collaborative learning, robust to unreliable clients
///
/// Organisations that cannot share their rows each submit one proxy dataset, once. The coordinator holds a
/// small trusted sample of each organisation's data, the root, and uses it to weight the proxies. The resulting
/// model is accurate and fair even if some clients are unreliable.
#[derive(Debug, Parser)]
#[command(name = "equipoise", version, after_help = EXAMPLES, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// Print one JSON document to stdout instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Number of threads; does not affect results [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = parse_threads)]
    pub(crate) threads: Option<usize>,
    /// Suppress progress and notes; warnings and errors are still printed
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

/// The commands: the demo first, then the steps of a round in order.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(demo::DemoArgs),
    Split(split::SplitArgs),
    #[command(subcommand)]
    Schema(schema::SchemaCommand),
    Proxy(proxy::ProxyArgs),
    Check(check::CheckArgs),
    Privacy(privacy::PrivacyArgs),
    Defend(defend::DefendArgs),
    Evaluate(evaluate::EvaluateArgs),
    Adapt(adapt::AdaptArgs),
    Predict(predict::PredictArgs),
    Export(export::ExportArgs),
    Keygen(keygen::KeygenArgs),
    #[command(subcommand)]
    Round(round::RoundCommand),
    Serve(Box<serve::ServeArgs>),
    Submit(submit::SubmitArgs),
    Status(status::StatusArgs),
    Close(status::CloseArgs),
    Model(model::ModelArgs),
    Verify(verify::VerifyArgs),
    Audit(audit::AuditArgs),
    Head(head::HeadArgs),
    #[command(name = validate_proxy::NAME, hide = true)]
    ValidateProxy(validate_proxy::ValidateProxyArgs),
    #[command(subcommand)]
    Data(data::DataCommand),
    Experiment(experiment::ExperimentArgs),
    Arena(arena::ArenaArgs),
    Completions(completions::CompletionsArgs),
}

impl Command {
    /// Whether a signal removes unfinished files and ends the program. The server handles signals itself, and the
    /// validator's process has no files of its own.
    pub(crate) fn may_be_interrupted(&self) -> bool {
        !matches!(self, Self::Serve(_) | Self::ValidateProxy(_))
    }

    pub(crate) fn run(self, output: &Output) -> anyhow::Result<Answer> {
        match self {
            Self::Demo(args) => demo::run(&args, output),
            Self::Split(args) => split::run(&args, output),
            Self::Schema(command) => schema::run(&command, output),
            Self::Proxy(args) => proxy::run(&args, output),
            Self::Check(args) => check::run(&args, output),
            Self::Privacy(args) => privacy::run(&args, output),
            Self::Defend(args) => defend::run(&args, output),
            Self::Evaluate(args) => evaluate::run(&args, output),
            Self::Adapt(args) => adapt::run(&args, output),
            Self::Predict(args) => predict::run(&args, output),
            Self::Export(args) => export::run(&args, output),
            Self::Keygen(args) => keygen::run(&args, output),
            Self::Round(command) => round::run(&command, output),
            Self::Serve(args) => serve::run(&args, output),
            Self::Submit(args) => submit::run(&args, output),
            Self::Status(args) => status::run(&args, output),
            Self::Close(args) => status::run_close(&args, output),
            Self::Model(args) => model::run(&args, output),
            Self::Verify(args) => verify::run(&args, output),
            Self::Audit(args) => audit::run(&args, output),
            Self::Head(args) => head::run(&args, output),
            Self::ValidateProxy(args) => validate_proxy::run(&args, output),
            Self::Data(command) => data::run(&command, output),
            Self::Experiment(args) => experiment::run(&args, output),
            Self::Arena(args) => arena::run(&args, output),
            Self::Completions(args) => completions::run(&args, output),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  equipoise demo           # start here: a whole round on synthetic data
  equipoise split people.csv --label hired=yes --sensitive sex=male \\
      -o rehearsal         # then: rehearse a round with your own table
  equipoise serve --dev    # a round over the network, on one machine

A whole round, step by step:
  equipoise schema infer north.csv --label passed=1 --sensitive group=A \\
      -o schema.toml
  equipoise proxy north.csv --schema schema.toml --fairness sp \\
      -o proxies/north.parquet
  equipoise defend --proxies proxies --trusted trusted.csv --schema schema.toml \\
      --fairness sp -o outcome
  equipoise evaluate outcome/model.json test.csv

Exit codes:
  0  success
  1  the answer is \"no\": not fair, not converged, not verified, a fork
  2  bad usage or input";

/// More threads than this are surely a typo.
const MAX_THREADS: usize = 1024;

fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=MAX_THREADS) => Ok(threads),
        _ => Err(format!("must be a whole number from 1 to {MAX_THREADS}")),
    }
}
