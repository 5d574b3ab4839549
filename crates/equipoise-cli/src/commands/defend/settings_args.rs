//! The options that become the settings of a solve.

use clap::Args;
use equipoise_core::{
    CheckedSettings, Choice, Defense, InnerSolver, Profile, Requirements, RootWeighting, Settings,
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
    /// How to turn proxies and root into a model [default: tilt; profile paper: bilevel]
    #[arg(long, value_parser = choice::<Defense>(), value_name = "DEFENSE")]
    defense: Option<Defense>,
    /// Which settings to start from
    #[arg(
        long,
        value_parser = choice::<Profile>(),
        default_value = Profile::default().name(),
        value_name = "PROFILE"
    )]
    profile: Profile,
    /// How bilevel weights root rows [default: pooled]
    #[arg(long, value_parser = choice::<RootWeighting>(), value_name = "HOW")]
    root_weighting: Option<RootWeighting>,
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
    /// Maximum number of steps of bilevel [default: 400; profile paper: 2000]
    #[arg(long, value_name = "N")]
    iterations: Option<usize>,
    /// Adam's learning rate; only with --profile paper [default: 0.1]
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    learning_rate: Option<f64>,
    /// Gradient norm at which a fit counts as converged [default: 1e-11; profile paper: 1e-7]
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    inner_tolerance: Option<f64>,
    /// Initial factor of bilevel's fairness penalty; 0 disables it [default: 10]
    #[arg(long, value_name = "RHO", allow_negative_numbers = true)]
    rho_start: Option<f64>,
    /// Final factor of bilevel's fairness penalty [default: 1e4]
    #[arg(long, value_name = "RHO", allow_negative_numbers = true)]
    rho_max: Option<f64>,
    /// Keep the clients' model even if the root-only model is provably better (tilt only)
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
        set(&mut settings.defense, self.defense);
        self.check_bilevel_options(settings.defense)?;
        set(&mut settings.root_weighting, self.root_weighting);
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

    /// Options that only bilevel has must not be ignored in silence.
    fn check_bilevel_options(&self, defense: Defense) -> anyhow::Result<()> {
        let given = [
            ("--root-weighting", self.root_weighting.is_some()),
            ("--iterations", self.iterations.is_some()),
            ("--learning-rate", self.learning_rate.is_some()),
            ("--rho-start", self.rho_start.is_some()),
            ("--rho-max", self.rho_max.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) if defense != Defense::Bilevel => anyhow::bail!(
                "{option} applies only to the defense bilevel, not to {defense}: add --defense bilevel, or omit {option}"
            ),
            _ => Ok(()),
        }
    }
}

fn set<T>(setting: &mut T, typed: Option<T>) {
    if let Some(value) = typed {
        *setting = value;
    }
}
