//! What a proxy says about its origin.

use std::path::Path;

use anyhow::ensure;
use equipoise_core::{Fairness, GeneratedProxy, ProxyGenerator, ProxySettings};
use equipoise_data::{ProxyOrigin, Schema, TableKind, client_of};

use super::ProxyArgs;

/// The client, the schema and the criterion, to be stored in the proxy.
pub(super) fn of(args: &ProxyArgs, schema: &Schema) -> anyhow::Result<ProxyOrigin> {
    let is_parquet = TableKind::of(&args.output)? == TableKind::Parquet;
    if let Some(name) = &args.client {
        ensure!(
            is_parquet,
            "--client: {} is a CSV file, which has no place for a name. Write a .parquet file, or leave the option out",
            args.output.display()
        );
        ensure!(
            ProxyOrigin::is_valid_name(name),
            "--client: a name has 1 to 200 bytes and no control characters"
        );
    }
    let origin = at(&args.output, schema, Some(args.fairness.fairness));
    Ok(ProxyOrigin { client: args.client.clone().or(origin.client), ..origin })
}

/// The origin of a finished proxy: with its privacy, or as raw rows.
pub(crate) fn with(
    origin: ProxyOrigin,
    made: &GeneratedProxy,
    settings: &ProxySettings,
) -> ProxyOrigin {
    let raw_rows = settings.generator == ProxyGenerator::Raw;
    let fairness = origin.fairness.filter(|_| !raw_rows);
    ProxyOrigin { privacy: made.privacy.clone(), raw_rows, fairness, ..origin }
}

/// The origin of a proxy in a file that is named after its client. Raw rows meet no criterion.
pub(crate) fn at(path: &Path, schema: &Schema, fairness: Option<Fairness>) -> ProxyOrigin {
    ProxyOrigin {
        client: client_of(path).filter(|name| ProxyOrigin::is_valid_name(name)),
        schema_sha256: Some(schema.digest()),
        fairness,
        raw_rows: fairness.is_none(),
        privacy: None,
    }
}
