//! The options that become the settings of a solve.

use clap::Args;
use equipoise_core::{
    CheckedSettings, Choice, Defense, InnerSolver, Profile, Requirements, RootWeighting, Settings,
    Surrogate,
};

use crate::choice_args::choice;
use crate::commands::setting::name_the_option;
use crate::fairness_args::FairnessArgs;

/// Settings given on the command line; the others keep the profile's value.
#[derive(Debug, Args)]
pub(crate) struct SettingsArgs {
    #[command(flatten)]
    fairness: FairnessArgs,
    /// What the model must achieve on the root, such as gap=0.05,accuracy=0.75 [default: nothing]
    ///
    /// gap: the worst gap of the criterion between two groups, at most;
    /// accuracy, balanced-accuracy: at least.
    /// A requirement is met if the whole 95 % interval on the root meets it, and missed if the whole interval is on
    /// the wrong side. Otherwise the verdict is "unknown". A missed requirement gives exit code 1.
    #[arg(long, value_name = "REQUIREMENTS")]
    require: Option<Requirements>,
    /// How to turn proxies and root into a model
    #[arg(
        long,
        value_parser = choice::<Defense>(),
        default_value = Defense::default().name(),
        value_name = "DEFENSE"
    )]
    defense: Defense,
    /// Which settings to start from
    #[arg(
        long,
        value_parser = choice::<Profile>(),
        default_value = Profile::default().name(),
        value_name = "PROFILE"
    )]
    profile: Profile,
    /// The smooth measure of unfairness that bilevel minimises: covariance, soft-rate or soft-rate:SLOPE
    ///
    /// covariance: of group and score, as in the paper;
    /// soft-rate: the rate of soft decisions σ(SLOPE · score), close to the rates that people measure [default slope: 3].
    #[arg(long, value_name = "MEASURE", default_value = "covariance")]
    surrogate: Surrogate,
    /// How root rows are weighted
    #[arg(
        long,
        value_parser = choice::<RootWeighting>(),
        default_value = RootWeighting::default().name(),
        value_name = "HOW"
    )]
    root_weighting: RootWeighting,
    /// Solver that fits the model for given weights
    #[arg(
        long,
        value_parser = choice::<InnerSolver>(),
        default_value = InnerSolver::default().name(),
        value_name = "SOLVER"
    )]
    inner: InnerSolver,
    /// Regularisation strength of the model [default: 1e-4]
    #[arg(long, value_name = "L", allow_negative_numbers = true)]
    lambda: Option<f64>,
    /// Maximum number of solver steps [default: 400; profile paper: 2000]
    #[arg(long, value_name = "N")]
    iterations: Option<usize>,
    /// Adam's learning rate; only with --profile paper [default: 0.1]
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    learning_rate: Option<f64>,
    /// Gradient norm at which a fit counts as converged [default: 1e-11; profile paper: 1e-7]
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    inner_tolerance: Option<f64>,
    /// Initial factor of the fairness penalty; 0 disables it [default: 10]
    #[arg(long, value_name = "RHO", allow_negative_numbers = true)]
    rho_start: Option<f64>,
    /// Final factor of the fairness penalty [default: 1e4]
    #[arg(long, value_name = "RHO", allow_negative_numbers = true)]
    rho_max: Option<f64>,
    /// Keep the clients' model even if the root-only model is clearly better
    #[arg(long)]
    no_fallback: bool,
}

impl SettingsArgs {
    pub(crate) fn resolve(&self) -> anyhow::Result<CheckedSettings> {
        let fairness = self.fairness.fairness;
        if self.profile == Profile::Default {
            anyhow::ensure!(
                self.learning_rate.is_none(),
                "--learning-rate applies only to Adam: use it with --profile paper"
            );
            anyhow::ensure!(
                self.inner == InnerSolver::Newton,
                "--inner lbfgs is not accurate enough for Gauss–Newton steps: use it with --profile paper"
            );
        }
        let mut settings = Settings::of_profile(self.profile, fairness);
        settings.defense = self.defense;
        settings.surrogate = self.surrogate;
        settings.root_weighting = self.root_weighting;
        settings.inner.solver = self.inner;
        settings.fall_back &= !self.no_fallback;
        set(&mut settings.requirements, self.require);
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
