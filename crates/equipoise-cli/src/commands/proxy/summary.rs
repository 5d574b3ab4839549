//! The summary of a finished proxy.

use std::path::Path;

use equipoise_core::{
    Condition, Distances, FairProxyTest, Fairness, GeneratedProxy, Metrics, ProxyMethod,
    ProxyModels, ProxySettings, ProxySummary, Separation, Violation,
};
use equipoise_data::{Digest, Schema};
use serde::Serialize;

use crate::commands::check::describe_separation;
use crate::figures::{Headline, compare_with_data};
use crate::formatting::{count, number, table};
use crate::output::Output;

/// The gap that people usually accept.
const USUAL_MAX_GAP: f64 = 0.05;

/// Rows that are closer than this are near neighbours in any table: encoded values are about 1.
const SMALL_DISTANCE: f64 = 0.1;

/// The summary, for JSON and as text.
#[derive(Serialize)]
pub(super) struct Summary<'a> {
    path: &'a Path,
    rows: usize,
    schema_digest: Digest,
    fairness: Fairness,
    method: ProxyMethod,
    epsilon: Option<f64>,
    #[serde(flatten)]
    headline: Headline,
    /// On the client's data: the proxy's model, and the model of the data.
    proxy_model: &'a Metrics,
    data_model: &'a Metrics,
    #[serde(skip)]
    models: &'a ProxyModels,
    #[serde(skip)]
    is_blind: bool,
    #[serde(flatten)]
    generated: &'a ProxySummary,
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
        proxy: &'a GeneratedProxy,
        test: &FairProxyTest,
        models: &'a ProxyModels,
        settings: &ProxySettings,
        schema: &Schema,
    ) -> Self {
        Self {
            path,
            rows: proxy.rows.len(),
            schema_digest: schema.digest(),
            fairness: settings.fairness,
            method: settings.method,
            epsilon: settings.epsilon,
            headline: Headline::of(&models.proxy, settings.fairness),
            proxy_model: &models.proxy,
            data_model: &models.data,
            models,
            is_blind: !schema.sensitive.as_feature,
            generated: &proxy.summary,
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

    pub(super) fn warn(&self, output: &Output) {
        let (generated, test) = (self.generated, &self.definition_1);
        let closeness = &generated.closeness;
        if closeness.copies > 0 {
            output.warn(format!("exact copies of data rows in the proxy: {}", closeness.copies));
        }
        if test.separation != Separation::None {
            let reason = describe_separation(test.separation);
            output.warn(format!(
                "cannot measure the fairness of the proxy: {reason}. Use more rows."
            ));
        } else if generated.epsilon_met == Some(true) && test.fair == Some(false) {
            output.note(
                "ε is met with regularisation but not without it. A smaller --lambda brings the two models \
                 closer; a smaller --epsilon leaves a margin.",
            );
        }
        let (proxy, data) = (closeness.proxy_to_data.median, closeness.data_to_data.median);
        if proxy > 10.0 * data.max(SMALL_DISTANCE) {
            output.warn(format!(
                "the proxy does not look like the data: the median distance from a proxy row to the \
                 nearest row of the data is {}, but between rows of the data it is {}",
                number(proxy),
                number(data)
            ));
        }
        if let Some(text) = self.describe_remaining_gap() {
            output.warn(text);
        }
        if !generated.converged {
            output.warn("the generator did not converge within the maximum number of steps");
        }
    }

    /// Why `check` would call the proxy unfair, if it would. With ε, another figure was asked for.
    fn describe_remaining_gap(&self) -> Option<String> {
        let worst = self.models.worst_gap(self.fairness);
        if self.epsilon.is_some() || !worst.is_finite() || worst <= USUAL_MAX_GAP {
            return None;
        }
        let gap = self.models.proxy.gap(self.fairness)?;
        let rows = gap.groups.iter().filter_map(|name| {
            let group = self.models.proxy.groups.iter().find(|group| group.name == *name)?;
            Some(match gap.condition {
                Condition::All => group.rows,
                Condition::Positives => group.positives,
                Condition::Negatives => group.rows - group.positives,
            })
        });
        let why = if self.is_blind {
            "A model that does not see the group cannot always do better with these features"
        } else {
            "A rate of so few people cannot be adjusted more finely, or several rates cannot be equal at once"
        };
        let [first, second] = &gap.groups;
        Some(format!(
            "the proxy's model still has a gap of {worst:.3} in {} on your data ({first} and {second}; the smaller of them \
             has {} rows that count), so `check --max-gap {USUAL_MAX_GAP}` calls it unfair. {why}. The server may give \
             the proxy little weight.",
            gap.condition.rate_name(),
            rows.min().unwrap_or(0),
        ))
    }

    pub(super) fn describe(&self) -> String {
        let (generated, test, models) = (self.generated, &self.definition_1, self.models);
        let line = |name: &str, start: f64, end: f64| vec![name.into(), number(start), number(end)];
        let start = match self.method {
            ProxyMethod::Target => "model of the data",
            ProxyMethod::Paper => "model of the initial rows",
        };
        let quality = table(
            &["measured on the client's data", start, "model of the proxy"],
            vec![
                line("loss", generated.start_loss, generated.loss),
                line("violation", generated.start_violation, generated.violation),
            ],
            &[1, 2],
        );
        let distances = |name: &str, from: Distances| {
            vec![name.into(), distance(from.median), distance(from.minimum)]
        };
        let closeness = table(
            &["distance to the nearest row of the data", "median", "minimum"],
            vec![
                distances("from a proxy row", generated.closeness.proxy_to_data),
                distances("from another row of the data", generated.closeness.data_to_data),
            ],
            &[1, 2],
        );
        let line = |model: &str, violation: String, met: Option<bool>| {
            let verdict = met.map_or("", |met| if met { "met" } else { "NOT met" });
            vec![model.into(), violation, verdict.into()]
        };
        let test_violation = match test.separation {
            Separation::None => number(test.violation),
            separation => describe_separation(separation).to_owned(),
        };
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
            "{} for {}\n\n{}[ ] is a 95 % interval\n\n{quality}\n{closeness}\n{verdict}",
            count(self.rows, "proxy row"),
            self.fairness,
            compare_with_data(self.fairness, &models.labels, &models.data, &models.proxy),
        )
    }
}

/// Four decimals, so that small distances line up; scientific notation for very large distances.
fn distance(value: f64) -> String {
    if value < 1e4 { format!("{value:.4}") } else { number(value) }
}
