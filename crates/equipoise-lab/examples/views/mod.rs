//! Views of a dataset with other groups than the paper's, or without the group as a feature.

use std::path::PathBuf;

use equipoise_core::{Groups, Layout, Rows};
use equipoise_lab::{Dataset, Preprocessing};

use crate::models::Answer;

/// Which groups a dataset has, and whether the model may use them.
#[derive(Clone, Copy)]
pub(crate) enum GroupView {
    /// Four groups: race × gender for Law School, sex × two age bands for Dutch.
    Four,
    /// The paper's two groups, kept out of the features.
    Blind,
}

impl GroupView {
    /// Its name in tables.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Four => "four groups",
            Self::Blind => "blind",
        }
    }
}

/// A feature that splits each group in two, and the names of the lower and the upper half.
fn second_attribute(dataset: &Dataset) -> (&'static str, [&'static str; 2]) {
    match dataset.name {
        "law-school" => ("male", ["women", "men"]),
        _ => ("age", ["younger", "older"]),
    }
}

/// The encoded rows of a dataset in a view.
pub(crate) fn load_view(
    dataset: &Dataset,
    locations: &[PathBuf],
    preprocessing: Preprocessing,
    view: GroupView,
) -> Answer<Rows> {
    let rows = dataset.load(locations, preprocessing)?;
    match view {
        GroupView::Blind => regroup(&rows, None, None, |_| 0),
        GroupView::Four => {
            // The second attribute is a feature: above its middle or not.
            let (column, names) = second_attribute(dataset);
            let encoded = dataset.schema_for(locations, preprocessing)?.encoded_names();
            let at = encoded.iter().position(|name| name == column).ok_or("no such feature")?;
            let mut values: Vec<f64> = (0..rows.len()).map(|i| rows.x(i)[at]).collect();
            values.sort_unstable_by(f64::total_cmp);
            values.dedup();
            let middle = 0.5 * (values[0] + values[values.len() - 1]);
            // A feature with two values would say nothing beyond the groups.
            let drop = (values.len() == 2).then_some(at);
            regroup(&rows, Some(names), drop, |i| usize::from(rows.x(i)[at] > middle))
        }
    }
}

/// The same rows with other groups: each group split in two by `half`, or the same groups, unknown to the model. A
/// feature may be dropped.
fn regroup(
    rows: &Rows,
    halves: Option<[&str; 2]>,
    drop: Option<usize>,
    half: impl Fn(usize) -> usize,
) -> Answer<Rows> {
    let old = rows.layout();
    let groups = match halves {
        None => old.groups.clone(),
        Some(halves) => {
            let names = old.groups.names().iter();
            let names = names.flat_map(|group| halves.map(|half| format!("{group}, {half}")));
            Groups::new(names.collect(), 2 * old.groups.reference() + 1)?
        }
    };
    let n_halves = if halves.is_some() { 2 } else { 1 };
    let codes: Vec<u8> =
        (0..rows.len()).map(|i| (n_halves * rows.group(i) + half(i)) as u8).collect();
    let features = |i: usize| rows.x(i).iter().enumerate().filter(|(k, _)| Some(*k) != drop);
    let x: Vec<f64> = (0..rows.len()).flat_map(|i| features(i).map(|(_, v)| *v)).collect();
    let n_x = old.n_x - usize::from(drop.is_some());
    let positive: Vec<bool> = (0..rows.len()).map(|i| rows.is_positive(i)).collect();
    let layout = Layout { n_x, groups, as_feature: halves.is_some(), ..old.clone() };
    Ok(Rows::new(layout, &x, &codes, &positive)?)
}
