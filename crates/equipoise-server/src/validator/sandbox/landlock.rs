//! Landlock: access rights to files, TCP ports and other processes. The rulesets grant nothing, because the files are
//! open already. Each is enforced by itself, so that an older kernel enforces those that it knows.

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, Ruleset, RulesetAttr as _, RulesetError, RulesetStatus,
    Scope,
};

use super::Restriction;

/// Denies all file access, TCP connections, and signals and abstract sockets to other processes.
pub(super) fn restrict() -> [Restriction; 3] {
    [
        ("landlock_files", enforce(|new| new.handle_access(AccessFs::from_all(ABI::V5)))),
        ("landlock_tcp", enforce(|new| new.handle_access(AccessNet::from_all(ABI::V4)))),
        ("landlock_scopes", enforce(|new| new.scope(Scope::from_all(ABI::V6)))),
    ]
    .map(|(name, result)| Restriction::new(name, result))
}

fn enforce(handle: impl FnOnce(Ruleset) -> Result<Ruleset, RulesetError>) -> Result<(), String> {
    let status = handle(Ruleset::default())
        .and_then(Ruleset::create)
        .and_then(|ruleset| ruleset.restrict_self())
        .map_err(|error| error.to_string())?;
    match status.ruleset {
        RulesetStatus::FullyEnforced => Ok(()),
        RulesetStatus::PartiallyEnforced => Err("the kernel supports only a part of it".into()),
        RulesetStatus::NotEnforced => Err("the kernel does not support it".into()),
    }
}
