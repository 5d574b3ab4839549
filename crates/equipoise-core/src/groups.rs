//! The groups that a model must treat fairly.

use std::sync::Arc;

use crate::error::Error;

/// The largest number of groups: a group is stored in a byte, and rates of so many groups are noise on any table.
pub const MAX_GROUPS: usize = 100;

/// The groups of all rows: their names, and the one that reports compare the others with.
///
/// A group is known by its index. If the group is a feature, group 0 is the baseline and every other group has an
/// indicator in each row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    names: Vec<String>,
    reference: usize,
}

impl Groups {
    /// Between 2 and [`MAX_GROUPS`] groups with different names. `reference` is the index of the reference group.
    pub fn new(names: Vec<String>, reference: usize) -> Result<Arc<Self>, Error> {
        let n = names.len();
        if !(2..=MAX_GROUPS).contains(&n) {
            return Err(Error::Input(format!(
                "there must be from 2 to {MAX_GROUPS} groups, found {n}"
            )));
        }
        if reference >= n {
            return Err(Error::Input(format!("the reference group is {reference} of {n} groups")));
        }
        if let Some(name) = (1..n).find(|&i| names[..i].contains(&names[i])).map(|i| &names[i]) {
            return Err(Error::Input(format!("two groups are called `{name}`")));
        }
        Ok(Arc::new(Self { names, reference }))
    }

    /// The paper's two groups: 0 is everyone else, 1 is the privileged group and the reference.
    pub fn two() -> Arc<Self> {
        let names = vec!["others".to_owned(), "privileged".to_owned()];
        Arc::new(Self { names, reference: 1 })
    }

    /// Number of groups, at least 2.
    #[allow(clippy::len_without_is_empty)] // There are always groups.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// All names, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The name of a group.
    pub fn name(&self, group: usize) -> &str {
        &self.names[group]
    }

    /// The index of the reference group.
    pub fn reference(&self) -> usize {
        self.reference
    }
}
