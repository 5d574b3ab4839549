//! What is stored is what clients and server signed, or nothing is served.

use std::path::Path;
use std::sync::Arc;

use equipoise_server::protocol::Digest;
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
async fn rows_that_nobody_signed_are_found_at_start() {
    for statement in [
        // The first letter of the base64 form, to another one.
        "UPDATE submission SET signature = replace(substr(signature, 1, 1), substr(signature, 1, 1), \
         iif(substr(signature, 1, 1) = 'A', 'B', 'A')) || substr(signature, 2)",
        "UPDATE submission SET manifest = replace(manifest, 'schema-sha256 ', 'schema-sha256 0')",
        "UPDATE submission SET manifest = replace(manifest, 'round.example', 'other.example')",
        "UPDATE client SET revoked_at = NULL WHERE name = 'south'",
        "UPDATE client SET revoked_at = '2027-01-01T00:00:00Z' WHERE name = 'east'",
        // One character of each.
        "UPDATE client SET revoked_at = replace(revoked_at, '2027', '2026') WHERE name = 'south'",
        "UPDATE client SET revoked_at = replace(revoked_at, 'Z', '.1Z') WHERE name = 'south'",
        "UPDATE round SET token_sha256 = replace(substr(token_sha256, 1, 1), substr(token_sha256, 1, 1), \
         iif(substr(token_sha256, 1, 1) = 'a', 'b', 'a')) || substr(token_sha256, 2)",
        "UPDATE round SET reason = 'nobody came'",
    ] {
        damaged_by(statement, |data| execute(data, statement)).await;
    }
}

#[test]
fn the_reason_of_an_end_is_the_one_of_the_log() {
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

#[test]
fn data_of_a_version_that_told_no_digest_of_the_token_still_opens() {
    let world = World::new();
    let store = world.open_store(Arc::new(RealDisk)).unwrap();
    store.revoke_key(&name("spring"), &name("south")).unwrap();
    let lines = store.audit_lines(&name("spring")).unwrap();
    drop(store);
    // The log as it was written then: without that digest, each line with the digest of the one before it.
    let mut previous = Digest::ZERO;
    for (seq, line) in (1..).zip(lines) {
        let (before, rest) = line.split_once("\"previous\":\"").unwrap();
        let mut line = format!("{before}\"previous\":\"{previous}{}", &rest[64..]);
        if let Some((before, check)) = line.split_once(",\"token_check\":\"") {
            line = format!("{before}{}", &check[65..]);
        }
        assert_eq!(seq == 1, line.contains("created"));
        previous = Digest::of(line.as_bytes());
        execute(&world.data(), &format!("UPDATE event SET line = '{line}' WHERE seq = {seq}"));
    }
    let set = |change: &str| {
        execute(
            &world.data(),
            &format!("UPDATE client SET revoked_at = {change} WHERE name = 'south'"),
        );
    };
    drop(world.open_store(Arc::new(RealDisk)).unwrap());
    // Such versions asked the clock once for the row, and then for the event.
    set("'2027-01-15T07:59:59.999991Z'");
    drop(world.open_store(Arc::new(RealDisk)).unwrap());
    for wrong in ["'2027-01-15T07:58:59Z'", "'2027-01-15T08:00:01Z'", "'2027'"] {
        set(wrong);
        let opened = world.open_store(Arc::new(RealDisk)).map(|_| ());
        assert!(matches!(opened, Err(StoreError::Damaged { .. })), "{wrong}: {opened:?}");
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
