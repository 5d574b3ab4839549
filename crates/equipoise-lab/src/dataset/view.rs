//! Views of a dataset with other groups than the paper's, or without the group as a feature.

use equipoise_core::{Groups, Layout, Rows};
use std::path::PathBuf;

use super::{Dataset, Preprocessing};
use crate::error::Error;

/// Which groups a dataset has, and whether the model may use them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GroupView {
    /// The paper's two groups.
    #[default]
    Two,
    /// Four groups: race × gender for Law School, sex × two age bands for Dutch.
    Four,
    /// The paper's two groups, kept out of the features.
    Blind,
}

impl GroupView {
    /// All views.
    pub const ALL: [Self; 3] = [Self::Two, Self::Four, Self::Blind];

    /// Its name in tables.
    pub fn title(&self) -> &'static str {
        match self {
            Self::Two => "two groups",
            Self::Four => "four groups",
            Self::Blind => "blind",
        }
    }
}

impl Dataset {
    /// Its encoded rows in a view.
    pub fn load_view(
        &self,
        locations: &[PathBuf],
        preprocessing: Preprocessing,
        view: GroupView,
    ) -> Result<Rows, Error> {
        let rows = self.load(locations, preprocessing)?;
        match view {
            GroupView::Two => Ok(rows),
            GroupView::Blind => regroup(&rows, None, None, |_| 0),
            GroupView::Four => {
                // The second attribute is a feature: above its middle or not.
                let (column, names) = self.second_attribute;
                let at = self.feature_index(locations, preprocessing, column)?;
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
}

/// The same rows with other groups: each group split in two by `half`, or the same groups, unknown to the model. A
/// feature may be dropped.
fn regroup(
    rows: &Rows,
    halves: Option<[&str; 2]>,
    drop: Option<usize>,
    half: impl Fn(usize) -> usize,
) -> Result<Rows, Error> {
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
