//! The sensitive columns, and the groups that they define.

use std::sync::Arc;

use equipoise_core::Groups;
use serde::{Deserialize, Serialize};

/// The groups that the model must treat fairly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Entry", into = "Entry")]
pub struct Sensitive {
    /// The columns whose values decide a row's group.
    pub columns: Vec<String>,
    /// The groups. A proxy has the index of each row's group.
    pub groups: Vec<Group>,
    /// The index of the group that reports compare the others with.
    pub reference: usize,
    /// Whether the group is a feature. If not, the model is blind: it cannot use the group.
    pub as_feature: bool,
}

/// A group: one or more combinations of values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Its name in reports.
    pub name: String,
    /// Its combinations, each with one value per column. Empty: every combination that no other group has.
    pub members: Vec<Vec<String>>,
}

impl Sensitive {
    /// Two groups: one value against all others.
    pub fn two_groups(column: &str, privileged: &str) -> Self {
        let columns = vec![column.to_owned()];
        let others = Group { name: format!("{column} ≠ {privileged}"), members: Vec::new() };
        let groups = vec![others, Group::of_values(&columns, vec![privileged.to_owned()])];
        Self { columns, groups, reference: 1, as_feature: true }
    }

    /// Two groups whose other values are all known, so that a misspelt value belongs to neither.
    pub(super) fn with_unprivileged(mut self, values: Vec<String>) -> Self {
        self.groups[0].members = values.into_iter().map(|value| vec![value]).collect();
        self
    }

    /// One value against all others, if that is what the groups are.
    pub fn privileged(&self) -> Option<&str> {
        let [column] = &self.columns[..] else { return None };
        let value = self.groups.get(1)?.members.first()?.first()?;
        let two = Self::two_groups(column, value).with_unprivileged(self.unprivileged());
        (*self == Self { as_feature: self.as_feature, ..two }).then_some(value)
    }

    /// The known values of the first group. Empty: every value that no other group has.
    pub fn unprivileged(&self) -> Vec<String> {
        self.groups.first().map_or(Vec::new(), |group| group.members.concat())
    }

    /// The column of a proxy that has the groups.
    pub fn column_name(&self) -> String {
        self.columns.join(" & ")
    }

    /// Names of the groups' entries in θ.
    pub(super) fn theta_names(&self) -> Vec<String> {
        match (self.as_feature, self.privileged()) {
            (false, _) => Vec::new(),
            (true, Some(_)) => self.columns.clone(),
            (true, None) => self.groups[1..].iter().map(|group| group.name.clone()).collect(),
        }
    }

    /// The groups of a checked schema.
    pub fn groups(&self) -> Arc<Groups> {
        let names = self.groups.iter().map(|group| group.name.clone()).collect();
        Groups::new(names, self.reference).expect("a checked schema has valid groups")
    }
}

impl Group {
    /// The group of one combination of values, named after it.
    pub(super) fn of_values(columns: &[String], values: Vec<String>) -> Self {
        let equal =
            columns.iter().zip(&values).map(|(column, value)| format!("{column} = {value}"));
        Self { name: equal.collect::<Vec<_>>().join(", "), members: vec![values] }
    }
}

/// `[sensitive]` in a file: one value against all others, the levels of one column, or a list of groups.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    column: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    columns: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    privileged: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unprivileged: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    levels: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    as_feature: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<Vec<GroupEntry>>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupEntry {
    name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    members: Vec<Member>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged, expecting = "a value, or a list with one value per column")]
enum Member {
    Value(String),
    Values(Vec<String>),
}

impl TryFrom<Entry> for Sensitive {
    type Error = String;

    fn try_from(entry: Entry) -> Result<Self, String> {
        let columns = match (entry.column, entry.columns) {
            (Some(column), None) => vec![column],
            (None, Some(columns)) => columns,
            _ => return Err("`sensitive` needs either `column` or `columns`".to_owned()),
        };
        let as_feature = entry.as_feature.unwrap_or(true);
        let reference = entry.reference;
        let groups: Vec<Group> = match (entry.privileged, entry.levels, entry.group, &columns[..]) {
            (Some(privileged), None, None, [column]) if reference.is_none() => {
                let two = Self::two_groups(column, &privileged);
                return Ok(Self { as_feature, ..two.with_unprivileged(entry.unprivileged) });
            }
            _ if !entry.unprivileged.is_empty() => {
                return Err(
                    "`unprivileged` of `sensitive` needs `column` and `privileged`".to_owned()
                );
            }
            (None, Some(levels), None, [_]) => {
                levels.into_iter().map(|level| Group::of_values(&columns, vec![level])).collect()
            }
            (None, None, Some(groups), _) => groups.into_iter().map(Group::from).collect(),
            _ => {
                return Err("`sensitive` needs one of: `column` and `privileged`; `column`, `levels` and `reference`; \
                            `columns`, `reference` and a list of [[sensitive.group]]"
                    .to_owned());
            }
        };
        let reference = reference
            .ok_or("`sensitive` needs `reference`, the group that reports compare others with")?;
        let is_reference = |group: &Group| match (&columns[..], &group.members[..]) {
            ([_], [values]) if values[..] == [reference.clone()] => true,
            _ => group.name == reference,
        };
        let reference = groups.iter().position(is_reference).ok_or_else(|| {
            format!("the reference group `{reference}` of `sensitive` is not one of its groups")
        })?;
        Ok(Self { columns, groups, reference, as_feature })
    }
}

impl From<Sensitive> for Entry {
    fn from(sensitive: Sensitive) -> Self {
        let privileged = sensitive.privileged().map(str::to_owned);
        let unprivileged = sensitive.unprivileged();
        let Sensitive { columns, groups, reference, as_feature } = sensitive;
        let as_feature = (!as_feature).then_some(false);
        let has_levels = groups.iter().all(|group| {
            group.members.len() == 1
                && *group == Group::of_values(&columns, group.members[0].clone())
        });
        let first_values =
            groups.iter().filter_map(|group| group.members.first()?.first().cloned());
        match (privileged, &columns[..]) {
            (Some(privileged), [column]) => Self {
                column: Some(column.clone()),
                privileged: Some(privileged),
                unprivileged,
                as_feature,
                ..Self::default()
            },
            (None, [column]) if has_levels => {
                let levels: Vec<String> = first_values.collect();
                Self {
                    column: Some(column.clone()),
                    reference: Some(levels[reference].clone()),
                    levels: Some(levels),
                    as_feature,
                    ..Self::default()
                }
            }
            _ => Self {
                reference: Some(groups[reference].name.clone()),
                columns: Some(columns),
                as_feature,
                group: Some(groups.into_iter().map(GroupEntry::from).collect()),
                ..Self::default()
            },
        }
    }
}

impl From<GroupEntry> for Group {
    fn from(entry: GroupEntry) -> Self {
        let values = |member| match member {
            Member::Value(value) => vec![value],
            Member::Values(values) => values,
        };
        Self { name: entry.name, members: entry.members.into_iter().map(values).collect() }
    }
}

impl From<Group> for GroupEntry {
    fn from(group: Group) -> Self {
        let member = |mut values: Vec<String>| match values.len() {
            1 => Member::Value(values.remove(0)),
            _ => Member::Values(values),
        };
        Self { name: group.name, members: group.members.into_iter().map(member).collect() }
    }
}
