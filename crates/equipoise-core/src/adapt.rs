//! What a client does with the published model at home: one threshold per group, chosen on its own rows, and a test on
//! held-out rows of whether that, or its own fair model, is better.
//!
//! The thresholds give all groups the same rate of the model's criterion, at the overall rate with the most correct
//! decisions (`cuts`). They become part of the model: its intercept and the coefficients of the groups move. For the
//! test, the rows are dealt to [`FOLDS`] folds. Thresholds and own model that decide a fold are made of the others; the rule that recommends one of the three models is in `recommend`.

mod cuts;
mod recommend;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::comparison::scores;
use crate::error::Error;
use crate::fairness::Fairness;
use crate::folds::{FOLDS, Folds};
use crate::inner_fit::{InnerSettings, fit_logistic};
use crate::metrics::Metrics;
use crate::proxy::{check_fairness_is_measurable, fit_own, move_cuts};
use crate::rows::{Layout, Rows};
use crate::warning::{Warning, WarningCode};
use cuts::choose_cuts;
use recommend::recommend;

/// λ of the model of a proxy, as a server fits it by default.
const PROXY_LAMBDA: f64 = 1e-4;

/// A model that a client can use on its own people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HomeModel {
    /// The published model.
    Global,
    /// The published model with the client's thresholds.
    Adapted,
    /// The client's own fair model.
    Own,
}

/// The three models of a client, and what its rows say about them.
#[derive(Debug, Clone, PartialEq)]
pub struct Adaptation {
    /// θ of each model, made of all rows, in the order of [`HomeModel`].
    pub theta: [Vec<f64>; 3],
    /// Figures of each model on rows that thresholds and own model were not made of. A model of a proxy is an exception,
    /// because its proxy was made of these rows.
    pub metrics: [Metrics; 3],
    /// The model that the client should use.
    pub recommended: HomeModel,
    /// Why, as a sentence without its subject.
    pub reason: String,
    /// Groups that share a threshold.
    pub warnings: Vec<Warning>,
}

/// Adapts the published model `theta` to a client's rows. The client's own fair model is that of its `proxy`, or else a
/// model of the rows with thresholds chosen in the same way.
pub fn adapt(
    theta: &[f64],
    rows: &Rows,
    proxy: Option<&Rows>,
    fairness: Fairness,
) -> Result<Adaptation, Error> {
    check(theta, rows, fairness)?;
    let own_fixed = proxy.map(|proxy| model_of_proxy(proxy, rows.layout())).transpose()?;
    let own = |rows: &Rows| match &own_fixed {
        Some(own) => Ok(own.clone()),
        None => own_fair_model(rows, fairness),
    };
    let adapted = with_cuts(theta, rows, fairness)?;
    let held_out = Folds::of(rows).decide(|train| {
        Ok([theta.to_vec(), with_cuts(theta, train, fairness)?.theta, own(train)?])
    })?;
    let (recommended, reason) = recommend(&held_out, rows, fairness);
    Ok(Adaptation {
        theta: [theta.to_vec(), adapted.theta, own(rows)?],
        metrics: held_out.map(|scores| Metrics::of_scores(&scores, rows, 0.0)),
        recommended,
        reason,
        warnings: warn_of_shared(rows.layout(), &adapted.sharing).into_iter().collect(),
    })
}

/// A model with thresholds of its own, and the groups that share one.
struct WithCuts {
    theta: Vec<f64>,
    sharing: Vec<usize>,
}

fn with_cuts(theta: &[f64], rows: &Rows, fairness: Fairness) -> Result<WithCuts, Error> {
    let scores = scores(theta, rows);
    if scores.iter().any(|score| !score.is_finite()) {
        return Err(Error::Input(
            "the model's scores of these rows are not finite numbers: its coefficients are too large".to_owned(),
        ));
    }
    let cuts = choose_cuts(&scores, rows, fairness);
    let theta = move_cuts(theta, rows.layout(), &cuts.by_group);
    Ok(WithCuts { theta, sharing: cuts.sharing })
}

/// A model of the rows, regularised as the target of a proxy, with thresholds.
fn own_fair_model(rows: &Rows, fairness: Fairness) -> Result<Vec<f64>, Error> {
    Ok(with_cuts(&fit_own(rows)?, rows, fairness)?.theta)
}

fn model_of_proxy(proxy: &Rows, layout: &Layout) -> Result<Vec<f64>, Error> {
    if proxy.layout() != layout {
        return Err(Error::layouts(layout, proxy.layout()));
    }
    fit_logistic(proxy, PROXY_LAMBDA, &InnerSettings::default())
}

fn check(theta: &[f64], rows: &Rows, fairness: Fairness) -> Result<(), Error> {
    let layout = rows.layout();
    if theta.len() != layout.n() {
        return Err(Error::Features { expected: layout.n(), found: theta.len() });
    }
    if !layout.intercept {
        return Err(Error::Input(
            "the model has no intercept, so its threshold cannot be moved. Run the round with a schema that has \
             `intercept = true`, or use the model as it is"
                .to_owned(),
        ));
    }
    let positive = (0..rows.len()).filter(|&i| rows.is_positive(i)).count();
    let negative = rows.len() - positive;
    if positive == 0 || negative == 0 {
        return Err(Error::OneClass { rows: rows.len(), positive });
    }
    check_fairness_is_measurable(rows, fairness)?;
    if positive.min(negative) < FOLDS {
        return Err(Error::Input(format!(
            "testing a model at home needs at least {FOLDS} rows of each label; found {positive} positive and \
             {negative} negative. Use the published model as it is"
        )));
    }
    Ok(())
}

/// A warning about the groups that share a threshold.
fn warn_of_shared(layout: &Layout, sharing: &[usize]) -> Option<Warning> {
    let message = match sharing {
        [] => return None,
        _ if !layout.as_feature => {
            "the model is blind, so all groups share one threshold and their rates are not made equal".to_owned()
        }
        _ => {
            let names: Vec<String> =
                sharing.iter().map(|&group| format!("`{}`", layout.groups.name(group))).collect();
            format!(
                "a threshold needs {} rows that the criterion counts. These groups have too few, or share one with a \
                 group that has too few, and their rates are not made equal: {}",
                cuts::MIN_ROWS,
                names.join(", ")
            )
        }
    };
    Some(Warning::new(WarningCode::SharedThreshold, message))
}
