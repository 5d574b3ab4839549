//! A store that differs from what clients and server signed is not served.

use std::path::Path;
use std::sync::Arc;

use equipoise_server::store::{RealDisk, StoreError};

use crate::world::{World, name, proxy};

fn execute(data: &Path, statement: &str) {
    let connection = rusqlite::Connection::open(data.join("equipoise.db")).unwrap();
    assert!(connection.execute(statement, []).unwrap() > 0, "{statement}");
    connection.close().unwrap();
}

async fn damaged_by(what: &str, damage: impl Fn(&Path)) {
    let world = World::new();
    let server = world.start();
    assert_eq!(server.submit("north", proxy(1)).await.status, 201);
    assert_eq!(server.post("clients/south/revoke", &world.token).await.status, 200);
    drop(server);
    drop(world.open_store(Arc::new(RealDisk)).unwrap());
    damage(&world.data());
    let opened = world.open_store(Arc::new(RealDisk)).map(|_| ());
    assert!(matches!(opened, Err(StoreError::Damaged { .. })), "{what}: {opened:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn unsigned_rows_are_detected_at_startup() {
    for statement in [
        // Changes the first character of the base64 text.
        "UPDATE submission SET signature = replace(substr(signature, 1, 1), substr(signature, 1, 1), \
         iif(substr(signature, 1, 1) = 'A', 'B', 'A')) || substr(signature, 2)",
        "UPDATE submission SET manifest = replace(manifest, 'schema-sha256 ', 'schema-sha256 0')",
        "UPDATE submission SET manifest = replace(manifest, 'round.example', 'other.example')",
        "UPDATE client SET revoked_at = NULL WHERE name = 'south'",
        "UPDATE client SET revoked_at = '2027-01-01T00:00:00Z' WHERE name = 'east'",
        // Single-character changes.
        "UPDATE client SET revoked_at = replace(revoked_at, '2027', '2026') WHERE name = 'south'",
        "UPDATE client SET revoked_at = replace(revoked_at, 'Z', '.1Z') WHERE name = 'south'",
        "UPDATE round SET token_sha256 = replace(substr(token_sha256, 1, 1), substr(token_sha256, 1, 1), \
         iif(substr(token_sha256, 1, 1) = 'a', 'b', 'a')) || substr(token_sha256, 2)",
        "UPDATE round SET reason = 'nobody came'",
        "UPDATE round SET spec = replace(spec, '\"minimum\":2', '\"minimum\":1')",
        // The same values in other bytes: the log has the digest of the text.
        "UPDATE round SET spec = spec || ' '",
    ] {
        damaged_by(statement, |data| execute(data, statement)).await;
    }
}

#[test]
fn a_reason_that_differs_from_the_log_is_detected() {
    for change in ["replace(reason, 'few', 'many')", "NULL"] {
        let world = World::new();
        let store = world.open_store(Arc::new(RealDisk)).unwrap();
        store.abort_round(&name("spring"), "too few came").unwrap();
        drop(store);
        drop(world.open_store(Arc::new(RealDisk)).unwrap());
        execute(&world.data(), &format!("UPDATE round SET reason = {change}"));
        let opened = world.open_store(Arc::new(RealDisk)).map(|_| ());
        assert!(matches!(opened, Err(StoreError::Damaged { .. })), "{change}: {opened:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_files_are_detected_at_startup_and_the_key_is_not_replaced() {
    for folder in ["sha256", "canonical", "rounds/spring/root"] {
        let remove = |data: &Path| {
            let first = std::fs::read_dir(data.join(folder)).unwrap().next().unwrap();
            std::fs::remove_file(first.unwrap().path()).unwrap();
        };
        damaged_by(folder, remove).await;
    }
    let world = World::new();
    std::fs::remove_file(world.data().join("server.key")).unwrap();
    let opened = world.open_store(Arc::new(RealDisk)).map(|_| ());
    assert!(matches!(opened, Err(StoreError::Damaged { .. })), "{opened:?}");
    assert!(!world.data().join("server.key").exists());
}
