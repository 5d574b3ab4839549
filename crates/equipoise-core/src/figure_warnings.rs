//! Warnings about a model that is useless or unfair, or about a root that cannot tell. They follow from the figures of the
//! outcome alone, so an auditor can derive them again.

mod constant;
#[cfg(test)]
mod tests;

pub use constant::warn_if_no_better_than_constant;

use crate::comparison::Comparison;
use crate::fairness::Condition;
use crate::interval::{Count, Estimate, WorstGap, equal_rates_margin};
use crate::outcome::Outcome;
use crate::root::RootWeighting;
use crate::verdict::{Judgement, Requirement, Verdict, about, kind_of_rows, list};
use crate::warning::{Warning, WarningCode};
use constant::no_better_than_constant;

/// The gap above which a model counts as unfair if no other bound is required: what people usually ask for.
const MAX_GAP: f64 = 0.05;

/// The gap that every root must be able to exclude for a fair model. A gap above 0.2 breaks the 80 % rule whatever the
/// rates are, so a root that cannot exclude it says nothing about fairness.
const MAX_UNCERTAINTY: f64 = 0.2;

/// The weight above which one client determines the model.
const NEARLY_ALL: f64 = 0.9;

impl WarningCode {
    /// Whether the warning follows from the figures of an outcome: see [`Outcome::figure_warnings`].
    pub fn follows_from_figures(&self) -> bool {
        matches!(
            self,
            Self::RootTooSmall
                | Self::FairnessNotReached
                | Self::GroupMissing
                | Self::ClientWithoutRoot
                | Self::NoBetterThanConstant
                | Self::PooledNoWorse
                | Self::RootOnlyNoWorse
                | Self::OneClientDominates
        )
    }
}

impl Outcome {
    /// The warnings that follow from the figures of this outcome, the most important first.
    pub fn figure_warnings(&self) -> Vec<Warning> {
        let warnings = [
            self.fairness_not_reached(),
            no_better_than_constant(
                &self.root_metrics,
                self.comparisons.constant.map(|constant| constant.loss),
                "root rows",
            ),
            no_worse(
                WarningCode::PooledNoWorse,
                "the model of all proxies pooled",
                "pooled",
                self.comparisons.pooled.as_ref(),
            ),
            no_worse(
                WarningCode::RootOnlyNoWorse,
                "a fair model of the root alone, measured on rows it was not fitted to,",
                "root-only",
                self.comparisons.root_only.as_ref(),
            ),
            self.root_too_small(),
            self.groups_missing_from_root(),
            self.clients_without_root(),
            self.one_client_dominates(),
        ];
        warnings.into_iter().flatten().collect()
    }

    /// Puts the [`figure_warnings`](Self::figure_warnings) after all others, in place of earlier ones.
    pub fn update_figure_warnings(&mut self) {
        self.warnings.retain(|warning| !warning.code.follows_from_figures());
        self.warnings.extend(self.figure_warnings());
    }

    /// Only where root rows have the weight of their client: otherwise it does not matter whose they are.
    fn clients_without_root(&self) -> Option<Warning> {
        if self.settings.root_weighting == RootWeighting::Pooled {
            return None;
        }
        let without = self.clients.iter().filter(|client| client.root_rows == 0);
        let without: Vec<String> = without.map(|client| client.id.clone()).collect();
        if without.is_empty() {
            return None;
        }
        let message = format!(
            "{} of {} clients have no root rows: {}. The model was not measured on their people",
            without.len(),
            self.clients.len(),
            list(&without)
        );
        Some(Warning::new(WarningCode::ClientWithoutRoot, message))
    }

    /// Groups without rows of a condition that counts.
    fn groups_missing_from_root(&self) -> Option<Warning> {
        let missing = |condition: Condition| {
            let groups = self.root_metrics.groups.iter();
            let missing: Vec<String> = groups
                .filter(|group| group.counts(condition).n == 0)
                .map(|group| group.name.clone())
                .collect();
            let kind = kind_of_rows(&[condition]);
            (!missing.is_empty())
                .then(|| format!("the root has no {kind} of these groups: {}", list(&missing)))
        };
        let missing: Vec<String> = self.conditions().into_iter().filter_map(missing).collect();
        if missing.is_empty() {
            return None;
        }
        let message =
            format!("{}. Whether the model is fair to them is unknown", missing.join(", and "));
        Some(Warning::new(WarningCode::GroupMissing, message))
    }

    /// With a required gap: these rows cannot tell whether it is met. Otherwise: they could not tell a fair model from one
    /// that breaks the 80 % rule.
    fn root_too_small(&self) -> Option<Warning> {
        if let Some(judgement) = self.judgement_of_gap() {
            if judgement.verdict != Verdict::Unknown {
                return None;
            }
            let why = if judgement.rows_needed.is_some() { "is too small to" } else { "cannot" };
            let message = format!("the root {why} tell whether the model is fair: {judgement}");
            return Some(Warning::new(WarningCode::RootTooSmall, message));
        }
        let gap = self.root_metrics.gap(self.settings.fairness)?;
        let Uncertainty { gap: excluded, rows_needed } = self.uncertainty_of_a_fair_model()?;
        if excluded <= MAX_UNCERTAINTY {
            return None;
        }
        let message = format!(
            "the root is too small to tell whether the model is fair: the gap in {} is {}, and with so few rows even a \
             fair model could not be distinguished from one with a gap of {excluded:.2}. About {} {} per group would be \
             needed to exclude a gap of {MAX_UNCERTAINTY}",
            gap.condition.rate_name(),
            signed(&gap.estimate()),
            about(rows_needed?),
            kind_of_rows(&self.conditions()),
        );
        Some(Warning::new(WarningCode::RootTooSmall, message))
    }

    /// The largest gap that the root could not exclude if all groups had the same rate, the one found over all of them. It
    /// depends on how many rows the groups have, and hardly on the gap that this root happens to show.
    fn uncertainty_of_a_fair_model(&self) -> Option<Uncertainty> {
        let uncertainty = |condition: Condition| {
            let groups = self.root_metrics.groups.iter().map(|group| group.counts(condition));
            let counts: Vec<Count> = groups.filter(|count| count.n > 0).collect();
            let (successes, n) = counts.iter().fold((0, 0), |s, c| (s.0 + c.successes, s.1 + c.n));
            // The fewer rows a group has, the wider its intervals, so the two smallest groups have the widest.
            let mut sizes: Vec<usize> = counts.iter().map(|count| count.n).collect();
            sizes.sort_unstable();
            let [first, second, ..] = sizes[..] else { return None };
            let all = Count { successes, n };
            let gap = equal_rates_margin(all, first, second);
            Some(Uncertainty { gap, rows_needed: rows_for_fair_model(all, counts.len()) })
        };
        let all = self.conditions().into_iter().filter_map(uncertainty);
        all.max_by(|a, b| a.gap.total_cmp(&b.gap))
    }

    /// The whole interval of the gap is beyond the required bound, or beyond [`MAX_GAP`].
    fn fairness_not_reached(&self) -> Option<Warning> {
        let bound = self.settings.requirements.gap.unwrap_or(MAX_GAP);
        let gap = self.root_metrics.gap(self.settings.fairness)?;
        if gap.low <= bound && gap.high >= -bound {
            return None;
        }
        let [first, second] = &gap.groups;
        let wanted = match self.settings.requirements.gap {
            Some(_) => format!("at most {bound} is required"),
            None => format!("more than {bound}"),
        };
        let message = format!(
            "the model is unfair on the root: the gap in {} is {} (`{first}` minus `{second}`), {wanted}",
            gap.condition.rate_name(),
            signed(&gap.estimate()),
        );
        Some(Warning::new(WarningCode::FairnessNotReached, message))
    }

    /// One client has nearly all the weight, although the root does not show that using all clients is worse.
    fn one_client_dominates(&self) -> Option<Warning> {
        let largest = self.clients.iter().reduce(|a, b| if b.weight > a.weight { b } else { a })?;
        let pooled = self.comparisons.pooled.as_ref()?;
        if self.clients.len() < 2 || largest.weight < NEARLY_ALL || pooled.is_worse() {
            return None;
        }
        let message = format!(
            "client `{}` has {:.0} % of the weight, although the root does not show that using all {} clients would be \
             worse: {}",
            largest.id,
            100.0 * largest.weight,
            self.clients.len(),
            differences("the pooled model's", pooled),
        );
        Some(Warning::new(WarningCode::OneClientDominates, message))
    }

    /// The conditions that count.
    fn conditions(&self) -> Vec<Condition> {
        self.settings.fairness.conditions().map(|(condition, _)| condition).collect()
    }

    fn judgement_of_gap(&self) -> Option<&Judgement> {
        self.judgements.iter().find(|judgement| judgement.requirement == Requirement::Gap)
    }
}

/// What a root could not exclude for a fair model, and with how many rows of each group it could.
struct Uncertainty {
    gap: f64,
    rows_needed: Option<usize>,
}

/// How many rows each of several groups with the rate of `all` needs to exclude [`MAX_UNCERTAINTY`] in four of five
/// samples; at least so many that the root is not too small any more.
fn rows_for_fair_model(all: Count, n_groups: usize) -> Option<usize> {
    let by_power = WorstGap::rows_per_group(&[vec![all; n_groups]], MAX_UNCERTAINTY)?;
    let suffice = |rows: &usize| equal_rates_margin(all, *rows, *rows) <= MAX_UNCERTAINTY;
    (by_power..).find(suffice)
}

fn no_worse(
    code: WarningCode,
    model: &str,
    defense: &str,
    comparison: Option<&Comparison>,
) -> Option<Warning> {
    let comparison = comparison.filter(|comparison| comparison.is_no_worse())?;
    let message = format!(
        "{model} is provably no worse on the root, and better in at least one figure: {}. Consider the defense \
         `{defense}`",
        differences("its", comparison),
    );
    Some(Warning::new(code, message))
}

/// How loss and gap of the other model, `whose`, differ from those of the published one.
fn differences(whose: &str, comparison: &Comparison) -> String {
    format!(
        "{whose} {}, and its {}",
        difference("loss", &comparison.loss, ["lower", "higher"]),
        difference("gap", &comparison.gap, ["smaller", "larger"]),
    )
}

/// `loss is lower by 0.012 [0.004, 0.020]`, marked if the interval proves the direction.
fn difference(figure: &str, e: &Estimate, [below, above]: [&str; 2]) -> String {
    if (e.value, e.low, e.high) == (0.0, 0.0, 0.0) {
        return format!("{figure} is the same");
    }
    let is_below = e.value < 0.0;
    let size = if is_below { -*e } else { *e };
    let proven = if size.low > 0.0 { "provably " } else { "" };
    format!("{figure} is {proven}{} by {}", if is_below { below } else { above }, plain(&size))
}

fn plain(e: &Estimate) -> String {
    format!("{:.3} [{:.3}, {:.3}]", e.value, e.low, e.high)
}

fn signed(e: &Estimate) -> String {
    format!("{:+.3} [{:+.3}, {:+.3}]", e.value, e.low, e.high)
}
