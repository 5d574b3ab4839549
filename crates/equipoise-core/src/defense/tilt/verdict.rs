//! From a decision to what is published: reasons, warnings, the guard.

use super::guard::{RootOnly, better_root_only, root_only};
use super::level::{Figure, SPREADS};
use super::measure::Contrast;
use super::scale::Scaled;
use super::{
    ClientGap, ClientTilt, Counted, Decision, Input, Judged, Tilt, TiltContrast, TiltReason,
    TiltSummary, USELESS,
};
use crate::defense::Solution;
use crate::error::Error;
use crate::groups::Groups;
use crate::outcome::{Counts, Termination};
use crate::round::Round;
use crate::warning::{Warning, WarningCode};

/// A client with less than this share of an equal weight is not counted.
const NOT_COUNTED: f64 = 0.1;
/// The error of a level, or trusted rows of a side, with which one cannot tell.
const LARGE_ERROR: f64 = 0.05;
const FEW_ROWS: usize = 5;
/// The share of hardly counted clients above which clients differ.
const MANY_UNFAIR: f64 = 0.25;
/// The effective number of clients, as a share of all, below which few are used.
const FEW_USED: f64 = 1.0 / 3.0;

/// The reason for each client's weight, and the summary.
pub(super) fn explain(
    ids: &[String],
    groups: &Groups,
    scaled: &Scaled,
    decision: &Decision,
) -> Tilt {
    let weights = decision.weights_of_all(ids.len());
    let clients: Vec<ClientTilt> = (0..ids.len())
        .map(|client| {
            let at = decision.clients.iter().position(|&c| c == client);
            let reason = match at {
                _ if !scaled.read[client] => TiltReason::NotRead,
                None => useless(scaled, client, &ids[scaled.best]),
                Some(at) => decision.reason(at, scaled.useful[client], groups),
            };
            let of_client = |(_, other): &&(usize, usize)| *other == client;
            let limited = decision.limited.iter().filter(of_client).map(|(column, _)| *column);
            ClientTilt {
                counted: counted(weights[client], ids.len(), &reason),
                reason,
                useful: scaled.useful[client],
                gaps: at.map_or_else(Vec::new, |at| decision.gaps(at)),
                shift: scaled.shifts[client],
                limited: limited.collect(),
            }
        })
        .collect();
    let number = |counted| clients.iter().filter(|client| client.counted == counted).count();
    let summary = TiltSummary {
        contrasts: decision.judged.iter().map(|of| of.summary(groups)).collect(),
        unmeasured: decision.unmeasured.iter().map(|of| (of.condition, name(of, groups))).collect(),
        counted: [Counted::Full, Counted::Less, Counted::Not].map(number),
        best: Some(ids[scaled.best].clone()),
        best_loss: scaled.losses[scaled.best],
        constant_loss: scaled.constant,
        came_back: decision.came_back.is_some(),
    };
    Tilt { clients, summary }
}

fn useless(scaled: &Scaled, client: usize, best: &str) -> TiltReason {
    TiltReason::Useless {
        best: best.to_owned(),
        loss: scaled.losses[client],
        best_loss: scaled.losses[scaled.best],
        constant_loss: scaled.constant,
    }
}

fn counted(weight: f64, n_clients: usize, reason: &TiltReason) -> Counted {
    match reason {
        _ if weight < NOT_COUNTED / n_clients as f64 => Counted::Not,
        TiltReason::Full => Counted::Full,
        _ => Counted::Less,
    }
}

fn name(of: &Contrast, groups: &Groups) -> String {
    groups.name(of.group).to_owned()
}

/// The groups that a gap of this sign favours.
fn favoured(of: &Contrast, gap: f64, groups: &Groups) -> String {
    match (gap < 0.0, groups.len()) {
        (false, _) => format!("`{}`", groups.name(of.group)),
        (true, 2) => format!("`{}`", groups.name(1 - of.group)),
        (true, _) => format!("everybody but `{}`", groups.name(of.group)),
    }
}

impl Judged {
    fn gap(&self, at: usize) -> ClientGap {
        let Figure { value, error } = self.evidence.offsets[at];
        ClientGap { gap: value + self.posterior.level.value, error, fair: self.posterior.fair[at] }
    }

    fn likely_spread(&self) -> f64 {
        let both = SPREADS.iter().zip(self.posterior.spreads);
        both.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(SPREADS[0], |(spread, _)| *spread)
    }

    fn rows_honest(&self) -> f64 {
        Figure::honest_rows(self.evidence.root, self.evidence.rows)
    }

    fn summary(&self, groups: &Groups) -> TiltContrast {
        let Figure { value: level, error: level_error } = self.posterior.level;
        TiltContrast {
            condition: self.contrast.condition,
            group: name(&self.contrast, groups),
            level,
            level_error,
            root_gap: self.evidence.root.value,
            root_error: self.evidence.root.error,
            rows_gap: self.evidence.rows.value,
            rows_error: self.evidence.rows.error,
            rows_honest: self.rows_honest(),
            spread: self.likely_spread(),
            wide: self.posterior.spreads[2],
            biased: self.posterior.biased,
            expected_gap: self.expected[0],
            fewest_rows: self.contrast.fewest_rows(),
        }
    }
}

impl Decision {
    fn gaps(&self, at: usize) -> Vec<ClientGap> {
        self.judged.iter().map(|of| of.gap(at)).collect()
    }

    /// The first reason that applies to the client at this place.
    fn reason(&self, at: usize, useful: f64, groups: &Groups) -> TiltReason {
        let fair = |of: &&Judged| of.posterior.fair[at];
        let worst = self.judged.iter().min_by(|a, b| fair(a).total_cmp(&fair(b)));
        let equal_share = 1.0 / self.clients.len() as f64;
        match (worst, self.came_back) {
            (_, Some(Figure { value: gap, error })) if useful < USELESS => {
                TiltReason::CameBack { gap, error }
            }
            (Some(worst), _) if fair(&worst) < 0.5 => unfair(worst, at, groups),
            (Some(_), _) if self.weights[at] < 0.5 * self.prior[at] => self.tilted(groups),
            _ if useful < 0.5 => TiltReason::Doubtful,
            (Some(worst), _) if self.prior[at] < 0.5 * equal_share => {
                TiltReason::Imprecise { error: worst.gap(at).error }
            }
            _ => TiltReason::Full,
        }
    }

    /// The average of the prior would favour somebody: along the contrast where that is clearest.
    fn tilted(&self, groups: &Groups) -> TiltReason {
        let size = |of: &&Judged| of.expected[1].abs() / of.variance().sqrt();
        let clearest = self.judged.iter().max_by(|a, b| size(a).total_cmp(&size(b)));
        let favours = clearest.map(|of| favoured(&of.contrast, of.expected[1], groups));
        TiltReason::Tilted { favours: favours.unwrap_or_default() }
    }

    fn hardly_counted(&self) -> usize {
        let is_unfair = |at: &usize| self.judged.iter().any(|of| of.posterior.fair[*at] < 0.5);
        (0..self.clients.len()).filter(is_unfair).count()
    }
}

fn unfair(of: &Judged, at: usize, groups: &Groups) -> TiltReason {
    let ClientGap { gap, error, .. } = of.gap(at);
    if error >= super::UNKNOWN {
        return TiltReason::NoRows { group: favoured(&of.contrast, 1.0, groups) };
    }
    let favours = favoured(&of.contrast, gap, groups);
    TiltReason::Unfair { favours, gap, error, spread: of.likely_spread() }
}

/// What the reader must know.
pub(super) fn warnings(decision: &Decision, explained: &Tilt) -> Vec<Warning> {
    let contrasts = &explained.summary.contrasts;
    let mut warnings = Vec::new();
    let mut warn = |code, message: String| warnings.push(Warning::new(code, message));
    let (unfair, n) = (decision.hardly_counted(), decision.clients.len());
    let wide = contrasts.iter().map(|of| of.wide).fold(0.0, f64::max);
    if wide > 0.5 || unfair as f64 > MANY_UNFAIR * n as f64 {
        warn(
            WarningCode::ClientsDiffer,
            format!(
                "the clients differ more than honest clients of one population do: {unfair} of {n} are hardly \
                 counted. If they are honest and serve different people, no single model is right for all of them: \
                 look at the figures of each client"
            ),
        );
    }
    if let Some(message) = cannot_tell(explained) {
        warn(WarningCode::CannotTell, message);
    }
    if let Some(of) = contrasts.iter().find(|of| of.rows_honest < 0.5) {
        warn(
            WarningCode::RowsDisagree,
            format!(
                "on the clients' rows, the gap of `{}` is {:+.3} ± {:.3}, but on the root it is {:+.3} ± {:.3}: many \
                 proxies may be dishonest, or the root is not a sample of the same people",
                of.group, of.rows_gap, of.rows_error, of.root_gap, of.root_error
            ),
        );
    }
    let effective = 1.0 / decision.weights.iter().map(|w| w * w).sum::<f64>();
    let all = explained.clients.len();
    if effective < FEW_USED * all as f64 {
        warn(
            WarningCode::FewClientsUsed,
            format!("the model rests on about {effective:.1} of {all} clients"),
        );
    }
    if let Some(gap) = decision.came_back {
        warn(
            WarningCode::FairButWeak,
            format!(
                "the clients whose models know most are unfair together by {:+.3} ± {:.3}, so clients whose models \
                 know little are counted too: the model is fairer but may know little",
                gap.value, gap.error
            ),
        );
    }
    warnings
}

fn cannot_tell(explained: &Tilt) -> Option<String> {
    let TiltSummary { contrasts, unmeasured, .. } = &explained.summary;
    let unclear = |of: &&TiltContrast| of.level_error > LARGE_ERROR || of.fewest_rows < FEW_ROWS;
    if contrasts.is_empty() {
        let message =
            "too few trusted rows to measure any gap: the weights say only how much clients know";
        return Some(message.to_owned());
    }
    if let Some((condition, group)) = unmeasured.first() {
        return Some(format!(
            "the {} of `{group}` cannot be measured: there are fewer than two such trusted rows",
            condition.rate_name()
        ));
    }
    contrasts.iter().find(unclear).map(|of| {
        format!(
            "the {} of `{}` is known only to ± {:.3} (with {} trusted rows on the smaller side): unfair clients may \
             count",
            of.condition.rate_name(),
            of.group,
            of.level_error,
            of.fewest_rows
        )
    })
}

/// Publishes the root-only model if it is provably better.
pub(super) fn guard(
    input: &Input,
    decision: &Decision,
    solution: Solution,
) -> Result<Solution, Error> {
    let rows = &input.trusted.rows;
    let contrasts: Vec<Contrast> = decision.judged.iter().map(|of| of.contrast.clone()).collect();
    let better = better_root_only(rows, &solution.theta, &contrasts, input.fairness)?;
    let Some(RootOnly { theta, by_group, accuracy, gap }) = better else { return Ok(solution) };
    let message = format!(
        "no client has any weight: on held-out trusted rows, a model of the {} trusted rows alone{} is more accurate by \
         {:+.3} ± {:.3} and its largest gap is smaller by {:+.3} ± {:.3}. It is used instead",
        rows.len(),
        form(by_group),
        accuracy.value,
        accuracy.error,
        gap.value,
        gap.error
    );
    Ok(fallen_back(solution, theta, message))
}

/// The root-only model, if no client's model is better than a constant.
pub(super) fn without_clients(
    round: &Round,
    input: &Input,
    scaled: Option<&Scaled>,
    counts: Counts,
) -> Result<Solution, Error> {
    let (theta, by_group) = root_only(&input.trusted.rows, input.fairness)?;
    let message = format!(
        "no client has any weight: on the trusted rows, no client's model is better than a constant. A model of the {} \
         trusted rows alone{} is used instead",
        input.trusted.rows.len(),
        form(by_group)
    );
    let mut solution = Solution::direct(vec![0.0; round.n_clients()], Vec::new(), counts);
    solution.tilt = scaled.map(|scaled| all_useless(scaled, round.client_ids()));
    Ok(fallen_back(solution, theta, message))
}

fn all_useless(scaled: &Scaled, ids: &[String]) -> Tilt {
    let constant_loss = scaled.constant;
    let client = |client: usize| ClientTilt {
        counted: Counted::Not,
        reason: match scaled.read[client] {
            true => TiltReason::NoBetter { loss: scaled.losses[client], constant_loss },
            false => TiltReason::NotRead,
        },
        useful: scaled.useful[client],
        gaps: Vec::new(),
        shift: scaled.shifts[client],
        limited: Vec::new(),
    };
    let summary = TiltSummary {
        contrasts: Vec::new(),
        unmeasured: Vec::new(),
        counted: [0, 0, ids.len()],
        best: Some(ids[scaled.best].clone()),
        best_loss: scaled.losses[scaled.best],
        constant_loss,
        came_back: false,
    };
    Tilt { clients: (0..ids.len()).map(client).collect(), summary }
}

fn form(by_group: bool) -> &'static str {
    if by_group { ", with one threshold per group," } else { "" }
}

fn fallen_back(mut solution: Solution, theta: Vec<f64>, message: String) -> Solution {
    solution.warnings.push(Warning::new(WarningCode::FellBack, message));
    solution.weights.fill(0.0);
    if let Some(tilt) = &mut solution.tilt {
        tilt.clients.iter_mut().for_each(|client| client.counted = Counted::Not);
        tilt.summary.counted = [0, 0, tilt.clients.len()];
    }
    Solution { theta, termination: Termination::FellBack, ..solution }
}
