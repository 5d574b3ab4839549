//! The statement's signature, the key that made it, and the digest of every file.

use super::Trusted;
use super::check::Checks;
use super::documents::Files;
use crate::protocol::{Digest, PUBLISHED_FILES, SignedStatement};

pub(super) fn check(
    signed: &SignedStatement,
    files: &Files,
    trusted: &Trusted,
    checks: &mut Checks,
) {
    checks.add_plain("the statement's signature is valid", signed.has_valid_signature());
    if let Some(key) = &trusted.server_key {
        let found = &signed.server_key;
        let problem = (!key.same_key(found)).then(|| format!("it is signed with {found}"));
        checks.add("the statement is signed with the key you trust", problem);
    }
    if let Some(round) = &trusted.round {
        let found = &signed.statement.round;
        let problem = (found != round).then(|| format!("it is for round `{found}`"));
        checks.add(format!("the statement is for round `{round}`"), problem);
    }
    let subjects = &signed.statement.subjects;
    let names: Vec<&str> = subjects.iter().map(|subject| subject.name.as_str()).collect();
    let problem = (names != PUBLISHED_FILES).then(|| format!("it lists {}", names.join(", ")));
    checks.add("the statement lists exactly the files of a published round", problem);
    for subject in subjects {
        let problem = match files.get(&subject.name).map(|content| Digest::of(content)) {
            None => Some("the file is missing".to_owned()),
            Some(found) if found != subject.sha256 => Some(format!("its SHA-256 is {found}")),
            Some(_) => None,
        };
        checks.add(format!("{} matches the statement", subject.name), problem);
    }
}
