//! The summary of a finished proxy.

use std::path::Path;

use equipoise_core::{
    Fairness, Metrics, PrivacyStatement, ProxyGenerator, ProxyModels, ProxySettings, ProxyStart,
    ProxySummary, Separation, Violation, Warning,
};
use equipoise_data::{Digest, Schema};
use serde::Serialize;

use super::closeness::{self, Finding};
use super::{MadeProxy, privacy};
use crate::commands::check::describe_separation;
use crate::figures::{Headline, compare_with_data};
use crate::formatting::{count, number, table};

/// The summary, for JSON and as text.
#[derive(Serialize)]
pub(crate) struct Summary<'a> {
    path: &'a Path,
    rows: usize,
    schema_digest: Digest,
    fairness: Fairness,
    generator: ProxyGenerator,
    epsilon: Option<f64>,
    towards_label_rate: f64,
    warnings: &'a [Warning],
    #[serde(flatten)]
    headline: Headline,
    /// On the client's data: the proxy's model, and the model of the data.
    proxy_model: &'a Metrics,
    data_model: &'a Metrics,
    #[serde(skip)]
    models: &'a ProxyModels,
    #[serde(skip)]
    held_out: Option<&'a Metrics>,
    /// Of models made like the proxy's, on rows of the client that they were not made of.
    cross_validated_accuracy: Option<f64>,
    #[serde(flatten)]
    generated: &'a ProxySummary,
    /// The differential privacy of the proxy, as its file says.
    #[serde(skip_serializing_if = "Option::is_none")]
    privacy: Option<&'a PrivacyStatement>,
    /// Whether the distances in `closeness` are a problem.
    closeness_finding: Finding,
    #[serde(skip)]
    start: ProxyStart,
    definition_1: Definition1,
}

/// The result of `equipoise check`, which fits an unregularised model to the proxy alone.
#[derive(Serialize)]
struct Definition1 {
    /// Unknown without ε.
    fair: Option<bool>,
    violation: f64,
    violations: Violation,
    separation: Separation,
}

impl<'a> Summary<'a> {
    pub(super) fn new(
        path: &'a Path,
        made: &MadeProxy<'a>,
        settings: &ProxySettings,
        schema: &Schema,
        warnings: &'a [Warning],
    ) -> Self {
        let MadeProxy { generated: proxy, test, models, held_out } = *made;
        let cross_validated = held_out.and_then(|metrics| metrics.accuracy);
        Self {
            path,
            rows: proxy.rows.len(),
            schema_digest: schema.digest(),
            fairness: settings.fairness,
            generator: settings.generator,
            epsilon: settings.epsilon,
            towards_label_rate: settings.towards_label_rate,
            warnings,
            headline: Headline::of(&models.proxy, settings.fairness),
            proxy_model: &models.proxy,
            data_model: &models.data,
            models,
            held_out,
            cross_validated_accuracy: cross_validated.map(|accuracy| accuracy.value),
            generated: &proxy.summary,
            privacy: proxy.privacy.as_ref(),
            closeness_finding: Finding::of(&proxy.summary.closeness),
            start: settings.start,
            definition_1: Definition1 {
                fair: settings.epsilon.map(|_| test.fair),
                violation: test.violation,
                violations: test.violations,
                separation: test.separation,
            },
        }
    }

    /// Whether both models are fair within ε; unknown without ε.
    pub(super) fn is_fair(&self) -> Option<bool> {
        Some(self.generated.epsilon_met? && self.definition_1.fair?)
    }

    pub(super) fn describe(&self) -> String {
        let (generated, test, models) = (self.generated, &self.definition_1, self.models);
        let line = |name: &str, start: f64, end: f64| vec![name.into(), number(start), number(end)];
        let start = match self.generator {
            _ if self.privacy.is_some() => "model before fairness",
            ProxyGenerator::Paper => "model of the initial rows",
            _ => "model of the data",
        };
        let quality = table(
            &["measured on the client's data", start, "model of the proxy"],
            vec![
                line("loss", generated.start_loss, generated.loss),
                line("violation", generated.start_violation, generated.violation),
            ],
            &[1, 2],
        );
        let closeness = closeness::describe(&generated.closeness, self.start);
        let line = |model: &str, violation: String, met: Option<bool>| {
            let verdict = met.map_or("", |met| if met { "met" } else { "NOT met" });
            vec![model.into(), violation, verdict.into()]
        };
        let test_violation = match test.separation {
            Separation::None => number(test.violation),
            separation => describe_separation(separation).to_owned(),
        };
        let regularised = generated.strength.map_or(String::new(), |strength| {
            let strength = number(strength);
            format!("regularisation of the proxy's model, chosen by cross-validation: {strength}\n")
        });
        let tolerance = self.epsilon.map_or(String::new(), |e| format!("ε = {e}"));
        let verdict = table(
            &["covariance of group and score, model of the proxy", "", &tolerance],
            vec![
                line("regularised", number(generated.violation), generated.epsilon_met),
                line("unregularised (Definition 1)", test_violation, test.fair),
            ],
            &[],
        );
        format!(
            "{} for {}{}\n\n{}[ ] is a 95 % interval\n{regularised}\n{quality}\n{closeness}\n{verdict}",
            count(self.rows, "proxy row"),
            self.fairness,
            self.privacy.map(privacy::describe).unwrap_or_default(),
            compare_with_data(
                self.fairness,
                &models.labels,
                &models.data,
                &models.proxy,
                self.held_out
            ),
        )
    }
}
