//! Warnings about a proxy: what its owner should know before submitting it.

use equipoise_core::{
    Condition, FEW_DATA_ROWS, FairProxyTest, Privacy, ProxyModels, ProxySettings, ProxyStart,
    ProxySummary, Rows, Separation, Warning, WarningCode,
};

use super::closeness::Finding;
use crate::commands::check::describe_separation;
use crate::formatting::number;

/// The gap that people usually accept.
const USUAL_MAX_GAP: f64 = 0.05;

/// Warnings that follow from the data and the settings alone.
pub(super) fn about_data(data: &Rows, settings: &ProxySettings) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if settings.start == ProxyStart::Data {
        warnings.push(Warning::new(
            WarningCode::StartsFromData,
            "--init data starts from the private rows, so the proxy is nearly a copy of them. \
             Use it for experiments only, and do not submit it.",
        ));
    }
    if let Some(privacy) = settings.privacy {
        warnings.extend(about_privacy(data, privacy));
    } else if data.len() < FEW_DATA_ROWS {
        let text = format!(
            "the data has {} rows. With fewer than {FEW_DATA_ROWS}, a proxy says more about each of them: \
             someone who knows a person's values may guess whether that person is in the data.",
            data.len()
        );
        warnings.push(Warning::new(WarningCode::FewDataRows, text));
    }
    warnings
}

/// Warnings about the promise of differential privacy.
fn about_privacy(data: &Rows, privacy: Privacy) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if privacy.test_seed.is_some() {
        let text =
            "--dp-test-seed makes the noise known, so the proxy is not private. Do not submit it.";
        warnings.push(Warning::new(WarningCode::NotPrivate, text));
    }
    if privacy.delta * data.len() as f64 > 0.1 {
        let text = format!(
            "δ = {:e} is more than a tenth of 1 over the number of rows, {}. With such a δ, a mechanism may publish someone's row \
             and still keep its promise. Choose a smaller --dp-delta.",
            privacy.delta,
            data.len()
        );
        warnings.push(Warning::new(WarningCode::LargeDelta, text));
    }
    warnings
}

/// Warnings about the finished proxy.
pub(super) fn about_proxy(
    generated: &ProxySummary,
    test: &FairProxyTest,
    models: &ProxyModels,
    settings: &ProxySettings,
    is_blind: bool,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let closeness = &generated.closeness;
    let finding = Finding::of(closeness);
    if closeness.copies > 0 {
        let text = format!("exact copies of data rows in the proxy: {}", closeness.copies);
        warnings.push(Warning::new(WarningCode::CopiedRows, text));
    }
    if test.separation != Separation::None {
        let reason = describe_separation(test.separation);
        let text = format!("cannot measure the fairness of the proxy: {reason}. Use more rows.");
        warnings.push(Warning::new(WarningCode::SeparableProxy, text));
    }
    if finding == Finding::UnlikeData {
        let text = format!(
            "the proxy does not look like the data: the median distance from a proxy row to the \
             nearest row of the data is {}, but two rows of the data are typically only {} apart",
            number(closeness.proxy_to_data.median),
            number(closeness.between_rows)
        );
        warnings.push(Warning::new(WarningCode::UnlikeData, text));
    }
    if let Some(text) = describe_remaining_gap(models, settings, is_blind) {
        warnings.push(Warning::new(WarningCode::GapRemains, text));
    }
    if !generated.converged {
        let text = "the generator did not converge within the maximum number of steps";
        warnings.push(Warning::new(WarningCode::GeneratorNotConverged, text));
    }
    warnings
}

/// Why `check` would call the proxy unfair, if it would. With ε, another figure was asked for.
fn describe_remaining_gap(
    models: &ProxyModels,
    settings: &ProxySettings,
    is_blind: bool,
) -> Option<String> {
    let worst = models.worst_gap(settings.fairness);
    if settings.epsilon.is_some() || !worst.is_finite() || worst <= USUAL_MAX_GAP {
        return None;
    }
    let gap = models.proxy.gap(settings.fairness)?;
    let rows = gap.groups.iter().filter_map(|name| {
        let group = models.proxy.groups.iter().find(|group| group.name == *name)?;
        Some(match gap.condition {
            Condition::All => group.rows,
            Condition::Positives => group.positives,
            Condition::Negatives => group.rows - group.positives,
        })
    });
    let why = if settings.privacy.is_some() {
        "Noise hides how far each group's threshold must move; a larger --dp-epsilon or data of more people would help"
    } else if is_blind {
        "A model that does not see the group cannot always do better with these features"
    } else {
        "A rate of so few people cannot be adjusted more finely, or several rates cannot be equal at once"
    };
    let [first, second] = &gap.groups;
    Some(format!(
        "the proxy's model still has a gap of {worst:.3} in {} on your data ({first} and {second}; the smaller of them \
         has {} rows that count), so `check --max-gap {USUAL_MAX_GAP}` calls it unfair. {why}. The server may give the \
         proxy little weight.",
        gap.condition.rate_name(),
        rows.min().unwrap_or(0),
    ))
}
