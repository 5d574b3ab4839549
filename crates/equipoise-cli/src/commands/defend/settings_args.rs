//! The options that become the settings of a solve.

use clap::{Args, ValueEnum};
use equipoise_core::{CheckedSettings, Defense, InnerSolver, RootWeighting, Settings};

use crate::commands::setting::name_the_option;
use crate::fairness_args::FairnessArgs;

/// What was typed; what was not keeps the profile's value.
#[derive(Debug, Args)]
pub(crate) struct SettingsArgs {
    #[command(flatten)]
    fairness: FairnessArgs,
    /// How to get from proxies and root to a model
    #[arg(long, value_enum, default_value_t = DefenseArg::Bilevel, value_name = "DEFENSE")]
    defense: DefenseArg,
    /// Which settings to begin with
    #[arg(long, value_enum, default_value_t = ProfileArg::Default, value_name = "PROFILE")]
    profile: ProfileArg,
    /// How the clients' root rows count
    #[arg(long, value_enum, default_value_t = RootWeightingArg::Pooled, value_name = "HOW")]
    root_weighting: RootWeightingArg,
    /// How the model at given weights is fitted
    #[arg(long, value_enum, default_value_t = InnerArg::Newton, value_name = "SOLVER")]
    inner: InnerArg,
    /// Regularisation of the model [default: 1e-4]
    #[arg(long, value_name = "L", allow_negative_numbers = true)]
    lambda: Option<f64>,
    /// Most steps of the weights [default: 400; profile paper: 2000]
    #[arg(long, value_name = "N")]
    iterations: Option<usize>,
    /// Size of Adam's steps; only with --profile paper [default: 0.1]
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    learning_rate: Option<f64>,
    /// Gradient norm at which a fit is done [default: 1e-11; profile paper: 1e-7]
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    inner_tolerance: Option<f64>,
    /// First factor of the fairness penalty; 0 switches it off for good [default: 10]
    #[arg(long, value_name = "RHO", allow_negative_numbers = true)]
    rho_start: Option<f64>,
    /// Last factor of the fairness penalty [default: 1e4]
    #[arg(long, value_name = "RHO", allow_negative_numbers = true)]
    rho_max: Option<f64>,
    /// Keep the clients' model even where the root alone gives a clearly better one
    #[arg(long)]
    no_fallback: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DefenseArg {
    /// Weights that make the model accurate and fair on the root
    Bilevel,
    /// All proxies in one pot: no defense
    Pooled,
    /// Local models, averaged by how near their loss is to the median
    Fedasl,
    /// Local models, averaged by how low their loss is
    Fednolowe,
    /// The root alone, no proxy
    RootOnly,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProfileArg {
    /// Gauss–Newton steps, until the weights are stationary
    Default,
    /// The paper's experiments: all 2000 Adam steps; keep the last
    Paper,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RootWeightingArg {
    /// Every root row counts the same
    Pooled,
    /// Root rows count as their client's weight
    Client,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum InnerArg {
    /// Newton's method
    Newton,
    /// Limited-memory BFGS, the paper's; only with --profile paper
    Lbfgs,
}

impl SettingsArgs {
    /// The checked settings.
    pub(crate) fn resolve(&self) -> anyhow::Result<CheckedSettings> {
        let fairness = self.fairness.resolve()?;
        if self.profile == ProfileArg::Default {
            anyhow::ensure!(
                self.learning_rate.is_none(),
                "--learning-rate is the size of Adam's steps: use it with --profile paper"
            );
            anyhow::ensure!(
                self.inner == InnerArg::Newton,
                "--inner lbfgs is not accurate enough for Gauss–Newton steps: use it with --profile paper"
            );
        }
        let mut settings = match self.profile {
            ProfileArg::Default => Settings::new(fairness),
            ProfileArg::Paper => Settings::paper(fairness),
        };
        settings.defense = match self.defense {
            DefenseArg::Bilevel => Defense::Bilevel,
            DefenseArg::Pooled => Defense::Pooled,
            DefenseArg::Fedasl => Defense::Fedasl,
            DefenseArg::Fednolowe => Defense::Fednolowe,
            DefenseArg::RootOnly => Defense::RootOnly,
        };
        settings.root_weighting = match self.root_weighting {
            RootWeightingArg::Pooled => RootWeighting::Pooled,
            RootWeightingArg::Client => RootWeighting::Client,
        };
        settings.inner.solver = match self.inner {
            InnerArg::Newton => InnerSolver::Newton,
            InnerArg::Lbfgs => InnerSolver::Lbfgs,
        };
        settings.fall_back &= !self.no_fallback;
        set(&mut settings.lambda, self.lambda);
        set(&mut settings.inner.tolerance, self.inner_tolerance);
        set(&mut settings.outer.iterations, self.iterations);
        set(&mut settings.outer.learning_rate, self.learning_rate);
        set(&mut settings.outer.rho.start, self.rho_start);
        set(&mut settings.outer.rho.max, self.rho_max);
        settings.validate().map_err(name_the_option)
    }
}

fn set<T>(setting: &mut T, typed: Option<T>) {
    if let Some(value) = typed {
        *setting = value;
    }
}
