//! Command-line values of settings that are one of a few named values.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use equipoise_core::Choice;

/// Parses one of all choices by its name. The help lists them with their descriptions.
pub(crate) fn choice<T: Choice>() -> impl TypedValueParser<Value = T> {
    choice_among(T::ALL)
}

/// Parses one of some choices by its name.
pub(crate) fn choice_among<T: Choice>(among: &'static [T]) -> impl TypedValueParser<Value = T> {
    let values = among.iter().map(possible_value);
    PossibleValuesParser::new(values)
        .try_map(move |name| find(among, &name).ok_or("is not one of the possible values"))
}

/// One choice, or several that share a name such as `all`.
#[derive(Debug, Clone)]
pub(crate) struct Chosen<T>(Vec<T>);

/// Parses a choice by its name, or the name of one of `groups`.
pub(crate) fn choice_or_group<T: Choice>(
    groups: &'static [(&'static str, &'static [T])],
) -> impl TypedValueParser<Value = Chosen<T>> {
    let names = groups.iter().map(|(name, _)| PossibleValue::new(*name));
    PossibleValuesParser::new(names.chain(T::ALL.iter().map(possible_value))).map(move |name| {
        match groups.iter().find(|(group, _)| *group == name) {
            Some((_, members)) => Chosen(members.to_vec()),
            None => Chosen(find(T::ALL, &name).into_iter().collect()),
        }
    })
}

/// All chosen values without repetition, in the order of their first appearance.
pub(crate) fn distinct<T: Copy + PartialEq>(chosen: &[Chosen<T>]) -> Vec<T> {
    let mut distinct = Vec::new();
    for &item in chosen.iter().flat_map(|chosen| &chosen.0) {
        if !distinct.contains(&item) {
            distinct.push(item);
        }
    }
    distinct
}

fn possible_value<T: Choice>(choice: &T) -> PossibleValue {
    PossibleValue::new(choice.name()).help(choice.description())
}

fn find<T: Choice>(among: &[T], name: &str) -> Option<T> {
    among.iter().copied().find(|choice| choice.name() == name)
}
