//! What a client is told about its finished proxy.

use std::path::Path;

use equipoise_core::{
    Closeness, Distances, FairProxyTest, Fairness, GeneratedProxy, ProxySettings, Separation,
    Violation,
};
use equipoise_data::{Digest, Schema};
use serde::Serialize;

use crate::commands::check::separation_in_words;
use crate::fairness_args;
use crate::figures::{number, table};
use crate::output::Output;

/// The summary, as JSON and in words.
#[derive(Serialize)]
pub(super) struct Summary<'a> {
    path: &'a Path,
    rows: usize,
    schema_digest: Digest,
    fairness: Fairness,
    epsilon: Option<f64>,
    epsilon_met: Option<bool>,
    loss: f64,
    start_loss: f64,
    violation: f64,
    start_violation: f64,
    violations: Violation,
    rho: f64,
    steps: usize,
    converged: bool,
    closeness: Closeness,
    definition_1: Definition1,
    theta: &'a [f64],
}

/// The test that anybody who has the data can do: a model of the proxy alone, without regulariser.
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
        generated: &'a GeneratedProxy,
        test: &FairProxyTest,
        settings: &ProxySettings,
        schema: &Schema,
    ) -> Self {
        let summary = &generated.summary;
        Self {
            path,
            rows: generated.rows.len(),
            schema_digest: schema.digest(),
            fairness: settings.fairness,
            epsilon: settings.epsilon,
            epsilon_met: summary.epsilon_met,
            loss: summary.loss,
            start_loss: summary.start_loss,
            violation: summary.violation,
            start_violation: summary.start_violation,
            violations: summary.violations,
            rho: summary.rho,
            steps: summary.steps,
            converged: summary.converged,
            closeness: summary.closeness,
            definition_1: Definition1 {
                fair: settings.epsilon.map(|_| test.fair),
                violation: test.violation,
                violations: test.violations,
                separation: test.separation,
            },
            theta: &summary.theta,
        }
    }

    /// Whether the proxy is fair to the tolerance, by both fits; unknown without one.
    pub(super) fn is_fair(&self) -> Option<bool> {
        Some(self.epsilon_met? && self.definition_1.fair?)
    }

    pub(super) fn warn(&self, output: &Output) {
        if self.closeness.copies > 0 {
            let copies = self.closeness.copies;
            output.warn(format!("{copies} proxy row(s) are exact copies of rows of the data"));
        }
        if self.definition_1.separation != Separation::None {
            output.warn(format!(
                "no fairness can be measured of the proxy: {}. Use more rows.",
                separation_in_words(self.definition_1.separation)
            ));
        }
        let with_model = self.definition_1.separation == Separation::None;
        if with_model && self.epsilon_met == Some(true) && self.definition_1.fair == Some(false) {
            output.note(
                "ε is met with the regulariser but not without it: a smaller --lambda brings the two \
                 models together, a smaller --epsilon leaves some room",
            );
        }
        let (proxy, data) =
            (self.closeness.proxy_to_data.median, self.closeness.data_to_data.median);
        if proxy > 10.0 * data && data > 0.0 {
            output.warn(format!(
                "proxy rows lie {} from the nearest row of the data at the median, where rows of the \
                 data lie {} from each other: the proxy is fair, but does not look like the data",
                number(proxy),
                number(data)
            ));
        }
        if !self.converged {
            output.warn("the steps ran out before the proxy was as good as it gets");
        }
    }

    pub(super) fn in_words(&self) -> String {
        let line =
            |name: &str, start: f64, end: f64| vec![name.to_string(), number(start), number(end)];
        let quality = table(
            &["on the client's data", "start", "proxy"],
            vec![
                line("loss", self.start_loss, self.loss),
                line("violation", self.start_violation, self.violation),
            ],
            &[1, 2],
        );
        let distances = |name: &str, from: Distances| {
            vec![name.to_string(), distance(from.median), distance(from.minimum)]
        };
        let closeness = table(
            &["distance to the closest record", "median", "minimum"],
            vec![
                distances("from proxy rows to the data", self.closeness.proxy_to_data),
                distances("from the data to the rest of it", self.closeness.data_to_data),
            ],
            &[1, 2],
        );
        format!(
            "{} proxy rows for {}\n\n{quality}\n{closeness}\n{}",
            self.rows,
            fairness_args::in_words(self.fairness),
            self.verdict()
        )
    }

    /// The tolerance against the model that the generator worked with and against that of Definition 1.
    fn verdict(&self) -> String {
        let test = &self.definition_1;
        let measured = match test.separation {
            Separation::None => number(test.violation),
            other => separation_in_words(other).to_string(),
        };
        let line = |model: &str, violation: String, met: Option<bool>| {
            vec![model.to_string(), violation, met.map_or("", met_in_words).to_string()]
        };
        let heading = match self.epsilon {
            Some(epsilon) => format!("against ε = {epsilon}"),
            None => "no ε given".to_string(),
        };
        table(
            &["violation of the proxy's model", "", &heading],
            vec![
                line("with its regulariser", number(self.violation), self.epsilon_met),
                line("without it (Definition 1)", measured, test.fair),
            ],
            &[],
        )
    }
}

/// Four decimals, so that small distances line up; a proxy that ran away has a large one.
fn distance(value: f64) -> String {
    if value < 1e4 { format!("{value:.4}") } else { number(value) }
}

fn met_in_words(met: bool) -> &'static str {
    if met { "met" } else { "NOT met" }
}
