//! A worked example of a signed request, for whoever writes a client: made by the code that checks them.

use serde_json::{Value, json};

use equipoise_data::TableKind;

use crate::protocol::{Digest, Manifest, Name, PrivateKey};

/// The seed of the example's key. Everyone knows it: a round whose roster has it is open to all.
const SEED: [u8; 32] = [1; 32];

/// Everything from file and seed to headers; nothing if the names of the example were no names.
pub(super) fn example() -> Option<Value> {
    let file = "score,group,passed\n0.5,1,1\n";
    let client: Name = "north".parse().ok()?;
    let manifest = Manifest {
        audience: "https://round.example.org:8443".into(),
        round: "spring".parse().ok()?,
        client: client.clone(),
        media_type: TableKind::Csv,
        length: file.len() as u64,
        sha256: Digest::of(file.as_bytes()),
        schema_sha256: Digest::of(b"the schema"),
    };
    let key = PrivateKey::from_seed(client, SEED);
    Some(json!({
        "file": file,
        "seed_hex": "01".repeat(32),
        "public_key": key.public().to_string(),
        "manifest": String::from_utf8_lossy(&manifest.to_bytes()),
        "equipoise-manifest": manifest.to_header(),
        "signed_bytes": "`equipoise signature over equipoise-manifest 1`, a byte 0, then the manifest",
        "equipoise-signature": manifest.sign(&key).to_string(),
    }))
}
