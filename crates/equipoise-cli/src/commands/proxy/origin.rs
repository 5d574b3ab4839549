//! What a proxy says about its origin.

use std::path::Path;

use anyhow::ensure;
use equipoise_core::Fairness;
use equipoise_data::{ProxyOrigin, Schema, TableKind, client_of};

use super::ProxyArgs;

/// The client, the schema and the criterion, to be stored in the proxy.
pub(super) fn of(args: &ProxyArgs, path: &Path, schema: &Schema) -> anyhow::Result<ProxyOrigin> {
    if let Some(name) = &args.client {
        ensure!(
            TableKind::of(path)? == TableKind::Parquet,
            "--client: {} is a CSV file, which has no place for a name. Write a .parquet file, or leave the option out",
            path.display()
        );
        ensure!(
            ProxyOrigin::is_valid_name(name),
            "--client: a name has 1 to 200 bytes and no control characters"
        );
    }
    let origin = at(path, schema, args.fairness);
    Ok(ProxyOrigin { client: args.client.clone().or(origin.client), ..origin })
}

/// The origin of a proxy in a file that is named after its client. Raw rows meet no criterion.
pub(crate) fn at(path: &Path, schema: &Schema, fairness: Option<Fairness>) -> ProxyOrigin {
    let raw_rows = fairness.is_none();
    let client = client_of(path).map(|name| match name.strip_suffix(".raw") {
        Some(client) if raw_rows => client.to_owned(),
        _ => name,
    });
    ProxyOrigin {
        client: client.filter(|name| ProxyOrigin::is_valid_name(name)),
        schema_sha256: Some(schema.digest()),
        fairness,
        raw_rows,
        privacy: None,
    }
}
