//! What clients agree to by taking part.

use equipoise_core::{Choice, Fairness};
use equipoise_report::{Markup, groups_text, requirement_text};

use super::frame::section;
use super::view::RoundView;

pub(super) fn write_terms(markup: &mut Markup, view: &RoundView) {
    let (info, settings) = (&view.info, &view.spec.settings);
    let (criterion, rates) = fairness(settings.fairness);
    let required: Vec<String> =
        settings.requirements.iter().map(|(what, bound)| requirement_text(what, bound)).collect();
    let required = match required.is_empty() {
        true => "none: the report only states the figures".to_owned(),
        false => required.join("; "),
    };
    let minimum = format!(
        "at least {} of {} clients, otherwise there is no model",
        info.minimum, info.n_clients
    );
    let mut terms = vec![
        ("Fairness criterion", format!("{criterion}: {rates}")),
        ("Requirements", required),
        ("Defense", format!("{}: {}", settings.defense.name(), settings.defense.description())),
        ("Submissions", minimum),
    ];
    // A schema that the server cannot read has stopped it before.
    if let Ok(schema) = view.spec.schema() {
        let sees = match schema.sensitive.as_feature {
            true => "sees the group of a person",
            false => "is blind: it does not see the group of a person",
        };
        let label = format!("{} = {}", schema.label.column, schema.label.positive);
        terms.splice(
            0..0,
            [
                ("The model predicts", label),
                ("Groups compared", groups_text(&schema.sensitive)),
                ("The model", sees.to_owned()),
            ],
        );
    }
    section(markup, "What clients agree to", |markup| {
        markup.element("dl", &[("class", &"pairs")], |markup| {
            for (name, value) in terms {
                markup.element("div", &[], |markup| {
                    markup.leaf("dt", &[], name);
                    markup.leaf("dd", &[], &value);
                });
            }
        });
    });
}

/// The name of a criterion and what it asks for.
pub(super) fn fairness(fairness: Fairness) -> (String, String) {
    let rates: Vec<String> = fairness
        .conditions()
        .map(|(condition, _)| format!("equal {}s", condition.rate_name()))
        .collect();
    (capitalised(&fairness.to_string()), format!("{} in all groups", rates.join(" and ")))
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}
