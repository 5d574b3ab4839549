//! What is stored is what clients and server signed, or nothing is served.

use std::path::Path;
use std::sync::Arc;

use equipoise_server::store::{RealDisk, StoreError};

use crate::world::{World, proxy};

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
async fn rows_that_nobody_signed_are_found_at_start() {
    for statement in [
        // The first letter of the base64 form, to another one.
        "UPDATE submission SET signature = replace(substr(signature, 1, 1), substr(signature, 1, 1), \
         iif(substr(signature, 1, 1) = 'A', 'B', 'A')) || substr(signature, 2)",
        "UPDATE submission SET manifest = replace(manifest, 'schema-sha256 ', 'schema-sha256 0')",
        "UPDATE submission SET manifest = replace(manifest, 'round.example', 'other.example')",
        "UPDATE client SET revoked_at = NULL WHERE name = 'south'",
        "UPDATE client SET revoked_at = '2027-01-01T00:00:00Z' WHERE name = 'east'",
    ] {
        damaged_by(statement, |data| execute(data, statement)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_gone_are_found_at_start_and_no_new_key_is_made() {
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
