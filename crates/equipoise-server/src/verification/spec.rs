//! What the coordinator fixed when the round was created: the specification against the digest in the log, and schema,
//! settings, roster and roots against the specification. `log` and `submissions` check deadline, minimum and limits.

use std::collections::BTreeSet;
use std::path::Path;

use equipoise_data::TableKind;

use super::check::{Checks, Problems};
use super::documents::{Created, Documents, pretty};
use crate::protocol::{ClientId, Digest, PublicKey, RootFile, RoundSpec};

pub(super) fn check(documents: &Documents<'_>, checks: &mut Checks) {
    let (spec, statement) = (&documents.spec, &documents.statement.statement);
    let Some(created) = documents.created() else {
        return checks.add_plain("the audit log starts with the creation of the round", false);
    };
    let found = Digest::of(documents.file("spec.json"));
    let problem = (found != created.spec_sha256)
        .then(|| format!("its SHA-256 is {found}, but the log has {}", created.spec_sha256));
    checks.add("spec.json is the specification that the round was created with", problem);

    let mut problems = Problems::default();
    problems.require(spec.round == statement.round, || {
        format!("the specification is for round `{}`", spec.round)
    });
    problems.require(spec.audience == statement.audience, || {
        format!(
            "the specification is for {}, the statement for {}",
            spec.audience, statement.audience
        )
    });
    let claim = "specification and statement are for the same round of the same server";
    checks.add(claim, problems.into_option());

    let same_schema = documents.file("schema.toml") == spec.schema_toml.as_bytes();
    let problem = schema_problem(documents, &created);
    let problem =
        problem.or((!same_schema).then(|| "the file differs from the specification's".to_owned()));
    checks.add("schema.toml is the schema of the specification", problem);

    let same_settings = documents.settings == spec.settings;
    let problem = (!same_settings).then(|| "the values differ".to_owned());
    checks.add("settings.json has the settings of the specification", problem);
    if same_settings {
        let claim = "settings.json is written as the server writes it".to_owned();
        documents.compare(claim, "settings.json", &pretty(&spec.settings), checks);
    }
    let claim = "every client on the roster has its own name, key and root";
    checks.add(claim, roster_problem(created.roster, spec));
}

fn schema_problem(documents: &Documents<'_>, created: &Created<'_>) -> Option<String> {
    let digest = documents.schema.digest();
    let recorded =
        [("spec.json", documents.spec.schema_sha256), ("the log", created.schema_sha256)];
    let (source, other) = recorded.into_iter().find(|(_, recorded)| *recorded != digest)?;
    Some(format!("the schema has digest {digest}, but {source} records {other}"))
}

fn roster_problem(roster: &[PublicKey], spec: &RoundSpec) -> Option<String> {
    let mut problems = Problems::default();
    let n_clients = roster.len() as u64;
    problems.require((1..=n_clients).contains(&spec.minimum), || {
        format!("a minimum of {} submissions does not fit {n_clients} clients", spec.minimum)
    });
    let names: BTreeSet<&ClientId> = roster.iter().map(PublicKey::name).collect();
    let sorted = roster.windows(2).all(|pair| pair[0].name() < pair[1].name());
    problems.require(sorted, || "the roster is not sorted, or has a name twice".to_owned());
    for (i, key) in roster.iter().enumerate() {
        if let Some(twin) = roster[..i].iter().find(|other| other.same_key(key)) {
            problems.require(false, || {
                format!("clients `{}` and `{}` have the same key", twin.name(), key.name())
            });
        }
    }
    for client in names.iter().filter(|name| !spec.roots.contains_key(**name)) {
        problems.require(false, || format!("client `{client}` has no root"));
    }
    for (client, root) in &spec.roots {
        problems.require(names.contains(client), || {
            format!("the specification has a root for `{client}`, who is not on the roster")
        });
        problems.require(is_file_of(client, root), || {
            format!("the root of client `{client}` has the file name `{}`", root.file)
        });
    }
    problems.into_option()
}

/// Whether a root's file is named after its client. Only such a name is ever joined to a path.
fn is_file_of(client: &ClientId, root: &RootFile) -> bool {
    let extension = root.file.strip_prefix(client.as_str()).unwrap_or_default();
    let is_known = |kind: TableKind| kind.extension().eq_ignore_ascii_case(extension);
    TableKind::ALL.into_iter().any(is_known) && Path::new(&root.file).file_name().is_some()
}
