//! Warnings about a proxy: what its owner should know before submitting it.

use equipoise_core::{
    FEW_DATA_ROWS, FairProxyTest, ProxySettings, ProxyStart, ProxySummary, Rows, Separation,
    Warning, WarningCode,
};

use crate::commands::check::describe_separation;
use crate::formatting::number;

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
    if data.len() < FEW_DATA_ROWS {
        let text = format!(
            "the data has {} rows. With fewer than {FEW_DATA_ROWS}, a proxy says more about each of them: \
             someone who knows a person's values may guess whether that person is in the data.",
            data.len()
        );
        warnings.push(Warning::new(WarningCode::FewDataRows, text));
    }
    warnings
}

/// Warnings about the finished proxy.
pub(super) fn about_proxy(generated: &ProxySummary, test: &FairProxyTest) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let closeness = &generated.closeness;
    if closeness.copies > 0 {
        let text = format!("exact copies of data rows in the proxy: {}", closeness.copies);
        warnings.push(Warning::new(WarningCode::CopiedRows, text));
    }
    if test.separation != Separation::None {
        let reason = describe_separation(test.separation);
        let text = format!("cannot measure the fairness of the proxy: {reason}. Use more rows.");
        warnings.push(Warning::new(WarningCode::SeparableProxy, text));
    }
    let (proxy, data) = (closeness.proxy_to_data.median, closeness.data_to_data.median);
    if proxy > 10.0 * data && data > 0.0 {
        let text = format!(
            "the proxy does not look like the data: the median distance from a proxy row to the \
             nearest row of the data is {}, but between rows of the data it is {}",
            number(proxy),
            number(data)
        );
        warnings.push(Warning::new(WarningCode::UnlikeData, text));
    }
    if !generated.converged {
        let text = "the generator did not converge within the maximum number of steps";
        warnings.push(Warning::new(WarningCode::GeneratorNotConverged, text));
    }
    warnings
}
