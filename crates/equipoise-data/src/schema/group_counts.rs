//! Proposes the groups of a schema from how often each combination of sensitive values occurs.

use std::collections::{HashMap, HashSet};

use equipoise_core::MAX_GROUPS;

use super::infer::InferOptions;
use super::sensitive::{Group, Sensitive};
use crate::error::list;
use crate::table::Cell;
use crate::value::Value;

/// A group with fewer rows than this, or than [`MIN_SHARE`] of all rows, is pooled with others like it: its rates on a
/// root of usual size would be noise.
const MIN_ROWS: usize = 50;
const MIN_SHARE: f64 = 0.01;

/// A sensitive column with more numbers than this holds amounts, such as ages, rather than codes.
const MAX_NUMBERS: usize = 12;

/// The name of the group of all small groups.
const POOLED: &str = "all other groups";

/// Combinations are counted up to this many.
const MAX_COMBINATIONS: usize = 1000;

/// How often each combination of the sensitive columns' values occurs.
pub(super) struct GroupCounts {
    columns: Vec<String>,
    /// Where the sensitive columns are among the cells.
    positions: Vec<usize>,
    /// By the values' texts, in which equal values are spelled the same.
    counts: HashMap<Vec<String>, u64>,
    /// Rows whose combinations descriptions withhold.
    n_withheld: u64,
}

impl GroupCounts {
    /// Counts the sensitive columns among `columns`, which are the cells to come.
    pub(super) fn new(columns: &[String], sensitive: &[(String, Option<String>)]) -> Self {
        let named = sensitive.iter().map(|(column, _)| column);
        let positions = named.clone().filter_map(|name| columns.iter().position(|c| c == name));
        Self {
            positions: positions.collect(),
            columns: named.cloned().collect(),
            counts: HashMap::new(),
            n_withheld: 0,
        }
    }

    pub(super) fn add(&mut self, cells: &[Cell<'_>]) {
        let values = self.positions.iter().map(|&at| Value::of_cell(cells[at]));
        let values = values.map(|value| Some(value?.to_string())).collect::<Option<Vec<_>>>();
        values.into_iter().for_each(|values| self.add_count(values, 1));
    }

    /// Adds a combination that occurs `n` times.
    pub(super) fn add_count(&mut self, values: Vec<String>, n: u64) {
        if let Some(count) = self.counts.get_mut(&values) {
            *count += n;
        } else if self.counts.len() < MAX_COMBINATIONS {
            self.counts.insert(values, n);
        }
    }

    pub(super) fn add_withheld(&mut self, n: u64) {
        self.n_withheld += n;
    }

    /// All combinations and their counts, in order.
    pub(super) fn counts(&self) -> impl Iterator<Item = (&Vec<String>, u64)> {
        self.sorted().into_iter().map(|values| (values, self.counts[values]))
    }

    pub(super) fn check_number(&self) -> Result<(), String> {
        if self.counts.len() < MAX_COMBINATIONS {
            return Ok(());
        }
        Err(self.too_many())
    }

    fn too_many(&self) -> String {
        format!(
            "the sensitive columns {} have too many combinations of values for groups. Use columns with fewer values.",
            list(&self.columns)
        )
    }

    /// The groups to propose, and notes on them.
    pub(super) fn propose(
        &self,
        options: &InferOptions,
        notes: &mut Vec<String>,
    ) -> Result<Sensitive, String> {
        let reference = self.reference(options)?;
        notes.extend(self.note_many_numbers(&reference));
        if let ([column], [value]) = (&self.columns[..], &reference[..])
            && (self.counts.len() <= 2 || options.two_groups)
        {
            return Ok(self.two_groups(column, value, options, notes));
        }
        let (large, small) = if options.two_groups {
            // The reference group against everyone else.
            self.sorted().into_iter().partition(|values| **values == reference)
        } else {
            self.by_size(&reference)
        };
        self.check_number()?;
        if large.len() >= MAX_GROUPS {
            return Err(self.too_many());
        }
        let mut groups: Vec<Group> =
            large.iter().map(|values| Group::of_values(&self.columns, values.to_vec())).collect();
        if options.two_groups {
            let name = format!("not ({})", groups[0].name);
            groups.insert(0, Group { name, members: Vec::new() });
        } else if let ([only], 0) = (&small[..], self.n_withheld) {
            // There is nothing to pool it with.
            let group = Group::of_values(&self.columns, only.to_vec());
            notes.push(format!(
                "the group `{}` has only {} rows: its figures on a root will be noise",
                group.name, self.counts[*only]
            ));
            groups.push(group);
        } else if !small.is_empty() {
            let names: Vec<String> = small
                .iter()
                .map(|values| Group::of_values(&self.columns, values.to_vec()).name)
                .collect();
            notes.push(format!(
                "groups with fewer than {MIN_ROWS} rows or {:.0} % of all rows are pooled into the group `{POOLED}`: {}",
                100.0 * MIN_SHARE,
                list(&names)
            ));
            groups.push(Group { name: POOLED.to_owned(), members: Vec::new() });
        }
        if groups.len() < 2 {
            groups.insert(0, Group { name: POOLED.to_owned(), members: Vec::new() });
        }
        notes.extend(self.note_withheld(&groups));
        let is_reference = |group: &Group| group.members.first() == Some(&reference);
        let reference = groups.iter().position(is_reference).unwrap_or(0);
        let as_feature = !options.blind;
        Ok(Sensitive { columns: self.columns.clone(), groups, reference, as_feature })
    }

    /// A note on rows that may belong to no group, because descriptions withhold their values.
    fn note_withheld(&self, groups: &[Group]) -> Option<String> {
        let has_rest = groups.iter().any(|group| group.members.is_empty());
        (self.n_withheld > 0 && !has_rest).then(|| {
            format!(
                "the descriptions withhold the groups of {} rows. If these are not among the groups here, the rows will be \
                 refused: nobody else's group can stand for them. Describe the tables with a lower --min-rows, or use --two-groups",
                self.n_withheld
            )
        })
    }

    /// Notes on columns of many numbers, in which no single number makes a sensible group.
    fn note_many_numbers(&self, reference: &[String]) -> Vec<String> {
        let note = |(at, column): (usize, &String)| {
            let values: HashSet<&String> = self.counts.keys().map(|values| &values[at]).collect();
            let are_numbers =
                values.iter().all(|value| matches!(Value::of_text(value), Value::Number(_)));
            (are_numbers && values.len() > MAX_NUMBERS).then(|| {
                format!(
                    "sensitive column `{column}` holds {} different numbers, and a group is a single number: the reference \
                     group is `{column} = {}`. To compare bands such as 18 to 29, add a column with the band of each row \
                     to the table, and name that column",
                    values.len(),
                    reference[at]
                )
            })
        };
        self.columns.iter().enumerate().filter_map(note).collect()
    }

    fn two_groups(
        &self,
        column: &str,
        value: &str,
        options: &InferOptions,
        notes: &mut Vec<String>,
    ) -> Sensitive {
        if self.counts.len() > 2 {
            let values: Vec<String> =
                self.sorted().iter().map(|values| values[0].clone()).collect();
            notes.push(format!(
                "sensitive column `{column}` has {} values: {}. Every value except `{value}` counts as unprivileged",
                values.len(),
                list(&values)
            ));
        }
        // As the user spelled it.
        let given = options.sensitive.first().and_then(|(_, value)| value.as_deref());
        let value = given.map_or(value, str::trim);
        let two = Sensitive::two_groups(column, value);
        Sensitive { as_feature: !options.blind, ..two.with_unprivileged(self.other_value(value)) }
    }

    /// The other one of two values. None if there are more, or some that descriptions withhold.
    fn other_value(&self, value: &str) -> Vec<String> {
        let is_same = |other: &str| Value::of_text(other) == Value::of_text(value);
        let others = self.sorted().into_iter().map(|values| &values[0]).filter(|v| !is_same(v));
        match (&others.collect::<Vec<_>>()[..], self.n_withheld) {
            ([other], 0) => vec![(*other).clone()],
            _ => Vec::new(),
        }
    }

    /// The values of the reference group.
    fn reference(&self, options: &InferOptions) -> Result<Vec<String>, String> {
        let given: Vec<Option<String>> = options
            .sensitive
            .iter()
            .map(|(_, value)| value.as_ref().map(|value| Value::of_text(value).to_string()))
            .collect();
        let fits = |values: &&Vec<String>| {
            given
                .iter()
                .zip(values.iter())
                .all(|(given, value)| given.as_ref().is_none_or(|g| g == value))
        };
        let candidates = self.sorted().into_iter().filter(fits);
        // The first of the most frequent.
        let most = candidates
            .reduce(|most, next| if self.counts[next] > self.counts[most] { next } else { most });
        most.cloned().ok_or_else(|| {
            let given: Vec<String> = given.into_iter().flatten().collect();
            format!("no row has the reference values {} together. Choose others.", list(&given))
        })
    }

    /// Combinations that are groups of their own, and those that are too small. The reference group always is one.
    fn by_size(&self, reference: &[String]) -> (Vec<&Vec<String>>, Vec<&Vec<String>>) {
        let all: u64 = self.counts.values().sum::<u64>() + self.n_withheld;
        let minimum = (MIN_ROWS as f64).max(MIN_SHARE * all as f64);
        self.sorted()
            .into_iter()
            .partition(|values| self.counts[*values] as f64 >= minimum || values[..] == *reference)
    }

    /// All combinations: numbers in ascending order, then texts in alphabetical order.
    fn sorted(&self) -> Vec<&Vec<String>> {
        let mut all: Vec<&Vec<String>> = self.counts.keys().collect();
        let key = |values: &Vec<String>| {
            values.iter().map(|value| Value::of_text(value)).collect::<Vec<_>>()
        };
        all.sort_by(|a, b| {
            let pairs = key(a).into_iter().zip(key(b));
            pairs
                .map(|(a, b)| a.order(&b))
                .find(|order| order.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        all
    }
}
