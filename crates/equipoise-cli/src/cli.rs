//! What can be typed.

use clap::{Args, Parser, Subcommand};

use crate::answer::Answer;
use crate::commands::{
    check, completions, data, defend, demo, evaluate, experiment, keygen, predict, proxy, round,
    schema, serve, status, submit, validate_proxy, verify,
};
use crate::output::Output;

/// One-shot fair collaborative learning with a server that defends itself.
///
/// Organisations that may not share rows each send one proxy dataset, once. A coordinator that holds a
/// small trusted root sample of each weighs the proxies, so that the one model they give is accurate
/// and fair although some of them are not to be relied on.
#[derive(Debug, Parser)]
#[command(name = "equipoise", version, after_help = EXAMPLE, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct GlobalArgs {
    /// Print one JSON document on stdout, and nothing else there
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Threads to compute with; the result never depends on it [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = parse_threads)]
    pub(crate) threads: Option<usize>,
    /// No progress and no notes on stderr; warnings and errors stay
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

/// The commands: the demo, then those of a round in their order.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(demo::DemoArgs),
    #[command(subcommand)]
    Schema(schema::SchemaCommand),
    Proxy(proxy::ProxyArgs),
    Check(check::CheckArgs),
    Defend(defend::DefendArgs),
    Evaluate(evaluate::EvaluateArgs),
    Predict(predict::PredictArgs),
    Keygen(keygen::KeygenArgs),
    #[command(subcommand)]
    Round(round::RoundCommand),
    Serve(Box<serve::ServeArgs>),
    Submit(submit::SubmitArgs),
    Status(status::StatusArgs),
    Close(status::CloseArgs),
    Model(verify::ModelArgs),
    Verify(verify::VerifyArgs),
    Audit(verify::AuditArgs),
    #[command(name = validate_proxy::NAME, hide = true)]
    ValidateProxy(validate_proxy::ValidateProxyArgs),
    #[command(subcommand)]
    Data(data::DataCommand),
    Experiment(experiment::ExperimentArgs),
    Completions(completions::CompletionsArgs),
}

impl Command {
    /// Runs the command.
    pub(crate) fn run(self, output: &Output) -> anyhow::Result<Answer> {
        match self {
            Self::Demo(args) => demo::run(&args, output),
            Self::Schema(command) => schema::run(&command, output),
            Self::Proxy(args) => proxy::run(&args, output),
            Self::Check(args) => check::run(&args, output),
            Self::Defend(args) => defend::run(&args, output),
            Self::Evaluate(args) => evaluate::run(&args, output),
            Self::Predict(args) => predict::run(&args, output),
            Self::Keygen(args) => keygen::run(&args, output),
            Self::Round(command) => round::run(&command, output),
            Self::Serve(args) => serve::run(&args, output),
            Self::Submit(args) => submit::run(&args, output),
            Self::Status(args) => status::run(&args, output),
            Self::Close(args) => status::run_close(&args, output),
            Self::Model(args) => verify::run_model(&args, output),
            Self::Verify(args) => verify::run_verify(&args, output),
            Self::Audit(args) => verify::run_audit(&args, output),
            Self::ValidateProxy(args) => validate_proxy::run(&args, output),
            Self::Data(command) => data::run(&command, output),
            Self::Experiment(args) => experiment::run(&args, output),
            Self::Completions(args) => completions::run(&args, output),
        }
    }
}

const EXAMPLE: &str = "\
Start here:
  equipoise demo

Example, a whole round:
  equipoise schema infer north.csv --label passed=1 --sensitive group=A -o schema.toml
  equipoise proxy north.csv --schema schema.toml --fairness sp -o proxies/north.parquet
  equipoise defend --proxies proxies --root roots --schema schema.toml --fairness sp -o outcome
  equipoise evaluate outcome/model.json test.csv

The same over the network, to try on one machine:
  equipoise serve --dev

Exit codes: 0 done; 1 ran, but the answer is \"no\" (not fair, not converged); 2 bad usage or input.";

/// More threads than this are a slip of the finger.
const MAX_THREADS: usize = 1024;

fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=MAX_THREADS) => Ok(threads),
        _ => Err(format!("a number from 1 to {MAX_THREADS} is needed")),
    }
}
