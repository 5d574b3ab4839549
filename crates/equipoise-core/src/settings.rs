//! The settings of a solve: plain values with visible defaults. [`Settings::validate`] turns them into the checked
//! type that [`solve`](crate::solve()) takes.

use serde::{Deserialize, Serialize};

use crate::defense::Defense;
use crate::error::Error;
use crate::fairness::Fairness;
use crate::inner_fit::InnerSettings;
use crate::root::RootWeighting;
use crate::verdict::Requirements;

/// All settings of a solve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The defense. Default: tilt; profile `paper`: the bilevel method.
    pub defense: Defense,
    /// The fairness requested. No default: it is the coordinator's choice.
    pub fairness: Fairness,
    /// How the clients' root rows are weighted. Default: pooled.
    pub root_weighting: RootWeighting,
    /// λ of the regulariser `(λ/2n²)‖θ‖²`. Above 0, so that every model is unique. Default: 1e-4.
    pub lambda: f64,
    /// The inner problem, `θ(w)`. Default: Newton to 1e-11, because Gauss–Newton compares values of `P` in which a
    /// large ρ magnifies errors; profile `paper`: 1e-7.
    pub inner: InnerSettings,
    /// The outer problem, `w`.
    pub outer: OuterSettings,
    /// Whether the defense `tilt` publishes a root-only model if that is provably better, on held-out root rows, than the
    /// clients' model. Default: true.
    pub fall_back: bool,
    /// What the model must achieve on the root. They decide the verdict, and nothing else. Default: nothing.
    #[serde(default, skip_serializing_if = "Requirements::is_empty")]
    pub requirements: Requirements,
}

/// How the solver finds the weights.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OuterSettings {
    /// The method. Default: Gauss–Newton.
    pub solver: OuterSolver,
    /// Maximum number of steps of a descent, over all stages of the schedule. Gauss–Newton may repeat the last stage
    /// from other starts. At least 1. Default: 400; the paper's: 2000.
    pub iterations: usize,
    /// Adam's step size; Gauss–Newton finds its own. Above 0. Default: 0.1.
    pub learning_rate: f64,
    /// The penalty parameter over the iterations.
    pub rho: RhoSchedule,
    /// Weights are stationary when the Frank–Wolfe gap is at most this share of `max(1, P)`. At least 0. Adam ends a
    /// stage of the schedule there. Gauss–Newton ends earlier stages at 1e-3, and continues the last one until the
    /// predicted decrease falls below 1e-9. `None`: Adam does every step of the schedule. Default: 1e-5.
    pub gap_tolerance: Option<f64>,
}

/// The methods that optimise the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OuterSolver {
    /// Gauss–Newton steps on the simplex, with damping.
    #[default]
    GaussNewton,
    /// Adam steps, each projected onto the simplex: the paper's Algorithm 2.
    Adam,
}

/// ρ, the factor of the fairness penalty: from `start`, times `factor` every `every` steps, up to `max`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RhoSchedule {
    /// The first value; 0 disables the penalty. Default: 10.
    pub start: f64,
    /// Above 1. Default: 10.
    pub factor: f64,
    /// Steps between two increases, at most. At least 1. Default: 80; the paper's: 400.
    pub every: usize,
    /// The last value, at least `start`. Default: 1e4.
    pub max: f64,
}

/// Which settings to start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// [`Settings::new`].
    #[default]
    Default,
    /// [`Settings::paper`].
    Paper,
}

/// Steps taken at one ρ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stage {
    pub(crate) rho: f64,
    pub(crate) iterations: usize,
}

impl Settings {
    /// The default profile: the defense `tilt`. The bilevel method, if chosen instead, solves the paper's problem by
    /// Gauss–Newton until the weights are stationary.
    pub fn new(fairness: Fairness) -> Self {
        Self {
            defense: Defense::default(),
            fairness,
            root_weighting: RootWeighting::Pooled,
            lambda: 1e-4,
            inner: InnerSettings { tolerance: 1e-11, ..InnerSettings::default() },
            outer: OuterSettings::default(),
            fall_back: true,
            requirements: Requirements::default(),
        }
    }

    /// The bilevel method with the other settings of the default profile.
    pub fn bilevel(fairness: Fairness) -> Self {
        Self { defense: Defense::Bilevel, ..Self::new(fairness) }
    }

    /// The profile `paper`: the bilevel method with the constants of the paper's experiments, all 2000 Adam steps, and the weights after the
    /// last one. The inner problem is solved to the paper's tolerance, by Newton's method unless L-BFGS is requested:
    /// the minimiser is unique, so the choice affects only speed.
    pub fn paper(fairness: Fairness) -> Self {
        let outer = OuterSettings {
            solver: OuterSolver::Adam,
            iterations: 2000,
            learning_rate: 0.1,
            rho: RhoSchedule { every: 400, ..RhoSchedule::default() },
            gap_tolerance: None,
        };
        Self { inner: InnerSettings::default(), outer, ..Self::bilevel(fairness) }
    }

    /// The settings of a profile.
    pub fn of_profile(profile: Profile, fairness: Fairness) -> Self {
        match profile {
            Profile::Default => Self::new(fairness),
            Profile::Paper => Self::paper(fairness),
        }
    }

    /// Checks the range of every setting.
    pub fn validate(self) -> Result<CheckedSettings, Error> {
        let outer = &self.outer;
        above_zero("lambda", self.lambda)?;
        above_zero("inner.tolerance", self.inner.tolerance)?;
        at_least_one("inner.max_iterations", self.inner.max_iterations)?;
        at_least_one("outer.iterations", outer.iterations)?;
        above_zero("outer.learning_rate", outer.learning_rate)?;
        if let Some(tolerance) = outer.gap_tolerance {
            in_range("outer.gap_tolerance", tolerance, tolerance >= 0.0, "at least 0")?;
        }
        let rho = &outer.rho;
        in_range("outer.rho.start", rho.start, rho.start >= 0.0, "at least 0")?;
        in_range("outer.rho.factor", rho.factor, rho.factor > 1.0, "above 1")?;
        at_least_one("outer.rho.every", rho.every)?;
        in_range("outer.rho.max", rho.max, rho.max >= rho.start, "at least outer.rho.start")?;
        self.requirements.validate()?;
        Ok(CheckedSettings(self))
    }
}

impl Default for OuterSettings {
    fn default() -> Self {
        Self {
            solver: OuterSolver::GaussNewton,
            iterations: 400,
            learning_rate: 0.1,
            rho: RhoSchedule::default(),
            gap_tolerance: Some(1e-5),
        }
    }
}

impl Default for RhoSchedule {
    fn default() -> Self {
        Self { start: 10.0, factor: 10.0, every: 80, max: 1e4 }
    }
}

impl RhoSchedule {
    /// ρ = 0 throughout: only accuracy on the root counts.
    pub fn off() -> Self {
        Self { start: 0.0, max: 0.0, ..Self::default() }
    }

    /// The stages of a schedule of `iterations` steps, one per ρ.
    pub(crate) fn stages(&self, iterations: usize) -> Vec<Stage> {
        let mut stages: Vec<Stage> = Vec::new();
        let mut rho = self.start;
        let mut left = iterations;
        while left > 0 {
            let last = rho >= self.max || rho == 0.0;
            let steps = if last { left } else { self.every.min(left) };
            stages.push(Stage { rho, iterations: steps });
            left -= steps;
            rho = (rho * self.factor).min(self.max);
        }
        stages
    }

    /// ρ at the last of `iterations` steps, at which objectives are compared.
    pub fn last(&self, iterations: usize) -> f64 {
        self.stages(iterations).last().map_or(self.start, |stage| stage.rho)
    }
}

/// Settings whose ranges have been checked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CheckedSettings(Settings);

impl std::ops::Deref for CheckedSettings {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.0
    }
}

fn above_zero(name: &'static str, value: f64) -> Result<(), Error> {
    in_range(name, value, value > 0.0, "above 0")
}

fn at_least_one(name: &'static str, value: usize) -> Result<(), Error> {
    in_range(name, value as f64, value >= 1, "at least 1")
}

/// NaN and infinity are out of every range.
pub(crate) fn in_range(
    name: &'static str,
    found: f64,
    holds: bool,
    range: &'static str,
) -> Result<(), Error> {
    if holds && found.is_finite() { Ok(()) } else { Err(Error::Setting { name, found, range }) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_papers_schedule_has_four_values_and_two_thousand_steps() {
        let stages = Settings::paper(Fairness::SP).outer.rho.stages(2000);
        let expected = [(10.0, 400), (100.0, 400), (1e3, 400), (1e4, 800)];
        assert_eq!(stages, expected.map(|(rho, iterations)| Stage { rho, iterations }));
    }

    #[test]
    fn a_disabled_or_shortened_schedule_keeps_its_number_of_steps() {
        assert_eq!(RhoSchedule::off().stages(7), [Stage { rho: 0.0, iterations: 7 }]);
        let short = RhoSchedule::default().stages(100);
        assert_eq!(short.iter().map(|stage| stage.iterations).sum::<usize>(), 100);
        assert_eq!(short.len(), 2);
    }

    #[test]
    fn the_error_names_the_setting_that_is_out_of_range() {
        type Change = fn(&mut Settings);
        let changes: [(&str, Change); 9] = [
            ("lambda", |s| s.lambda = 0.0),
            ("inner.tolerance", |s| s.inner.tolerance = f64::NAN),
            ("inner.max_iterations", |s| s.inner.max_iterations = 0),
            ("outer.iterations", |s| s.outer.iterations = 0),
            ("outer.learning_rate", |s| s.outer.learning_rate = -1.0),
            ("outer.gap_tolerance", |s| s.outer.gap_tolerance = Some(-1.0)),
            ("outer.rho.factor", |s| s.outer.rho.factor = 1.0),
            ("requirements.gap", |s| s.requirements.gap = Some(0.0)),
            ("outer.rho.max", |s| s.outer.rho.max = f64::INFINITY),
        ];
        for (name, change) in changes {
            let mut settings = Settings::new(Fairness::SP);
            change(&mut settings);
            let message = settings.validate().unwrap_err().to_string();
            assert!(message.contains(name), "{message}");
        }
    }

    #[test]
    fn rejects_an_unknown_key() {
        let mut json = serde_json::to_value(Settings::new(Fairness::EO)).unwrap();
        assert_eq!(
            serde_json::from_value::<Settings>(json.clone()).unwrap(),
            Settings::new(Fairness::EO)
        );
        assert!(json.get("requirements").is_none(), "{json}");
        json["requirements"] = "gap=0.05".into();
        let required: Settings = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(required.requirements.gap, Some(0.05));
        assert_eq!(serde_json::to_value(required).unwrap(), json);
        json["lamda"] = 1.0.into();
        assert!(serde_json::from_value::<Settings>(json).is_err());
    }
}
