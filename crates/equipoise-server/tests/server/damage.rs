//! A store that differs from what clients and server signed is not served.

use std::path::Path;
use std::sync::Arc;

use equipoise_server::protocol::{Digest, PrivateKey, SignedReceipt};
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

/// Changes the database without its own checks.
fn change(data: &Path, statements: &str) {
    let connection = rusqlite::Connection::open(data.join("equipoise.db")).unwrap();
    connection
        .execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
        .unwrap();
    connection.execute_batch(statements).unwrap();
    connection.close().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_that_nothing_signs_are_compared_with_the_log() {
    let list = r#"{"round":"spring","submissions":[],"absent":[]}"#;
    for statements in [
        "UPDATE submission SET rows = rows + 1",
        "UPDATE submission SET distinct_rows = distinct_rows - 1",
        // The order of the clients stays the same.
        "UPDATE client SET name = 'earth' WHERE name = 'east'",
        "UPDATE round SET spec = spec || ' '",
        // No receipt and no later event contains the digest of the last one.
        "UPDATE event SET line = replace(line, '\"at\":\"2027', '\"at\":\"2028') WHERE seq = 4",
        &format!("UPDATE round SET submissions = '{list}'"),
        &format!("INSERT INTO artefact VALUES ('spring', 'model.json', '{}')", "0".repeat(64)),
        // Rows of a round that does not exist would become part of it when it is created.
        "INSERT INTO event VALUES ('ghost', 1, '{}')",
        "INSERT INTO server_log VALUES (99, 'ghost', 1, 'x', 'x')",
        "INSERT INTO client VALUES ('ghost', 'north', 'x', NULL)",
        "INSERT INTO artefact VALUES ('ghost', 'model.json', 'x')",
        "INSERT INTO submission SELECT 'ghost', client, sha256, canonical_sha256, rows, distinct_rows,
             manifest, signature, receipt FROM submission",
        // Objects that could change rows later.
        "CREATE TRIGGER t AFTER INSERT ON client BEGIN DELETE FROM client; END",
        "CREATE VIEW v AS SELECT * FROM client",
        "CREATE TABLE t (a)",
    ] {
        damaged_by(statements, |data| change(data, statements)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_cannot_take_the_place_of_another() {
    let rename = |data: &Path| {
        let tables = [
            ("round", "id"),
            ("client", "round"),
            ("submission", "round"),
            ("event", "round"),
            ("server_log", "round"),
        ];
        for (table, column) in tables {
            change(data, &format!("UPDATE {table} SET {column} = 'autumn'"));
        }
        std::fs::rename(data.join("rounds/spring"), data.join("rounds/autumn")).unwrap();
    };
    damaged_by("another name", rename).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receipt_or_key_of_another_server_is_detected() {
    let sign_again = |data: &Path| {
        let connection = rusqlite::Connection::open(data.join("equipoise.db")).unwrap();
        let receipt: String =
            connection.query_row("SELECT receipt FROM submission", [], |row| row.get(0)).unwrap();
        let signed: SignedReceipt = serde_json::from_str(&receipt).unwrap();
        let other = PrivateKey::from_seed(name("server"), [9; 32]);
        let signed = serde_json::to_string(&signed.receipt.sign(&other)).unwrap();
        connection.execute("UPDATE submission SET receipt = ?1", [signed]).unwrap();
        connection.close().unwrap();
    };
    damaged_by("a receipt of another server", sign_again).await;
    let other = PrivateKey::from_seed(name("server"), [9; 32]);
    damaged_by("another server.pub", |data| {
        std::fs::write(data.join("server.pub"), format!("{}\n", other.public())).unwrap();
    })
    .await;
    damaged_by("no server.pub", |data| std::fs::remove_file(data.join("server.pub")).unwrap())
        .await;
    damaged_by("another server.key", |data| {
        std::fs::write(data.join("server.key"), other.to_line()).unwrap();
        std::fs::write(data.join("server.pub"), format!("{}\n", other.public())).unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_published_files_must_match_the_statement() {
    let zeros = "0".repeat(64);
    for statements in [
        format!("INSERT INTO artefact VALUES ('spring', '../../server.key', '{zeros}')"),
        format!("INSERT INTO artefact VALUES ('spring', 'extra.json', '{zeros}')"),
        format!("UPDATE artefact SET sha256 = '{zeros}' WHERE name = 'model.json'"),
        "UPDATE artefact SET name = 'Model.json' WHERE name = 'model.json'".into(),
        "DELETE FROM artefact WHERE name = 'weights.csv'".into(),
        "DELETE FROM artefact".into(),
        "UPDATE round SET submissions = NULL".into(),
        "UPDATE round SET submissions = replace(submissions, '\"rows\":40', '\"rows\":41')".into(),
    ] {
        let world = World::published().await;
        change(&world.data(), &statements);
        let opened = world.open_store(Arc::new(RealDisk)).map(|_| ());
        assert!(matches!(opened, Err(StoreError::Damaged { .. })), "{statements}: {opened:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn published_files_that_changed_are_detected_at_startup_and_never_served() {
    let world = World::published().await;
    let folder = world.data().join("published/spring");
    let key = Digest::of(&std::fs::read(world.data().join("server.key")).unwrap());
    let server = world.start();
    // The digest is right, so only the name is wrong.
    change(
        &world.data(),
        &format!("INSERT INTO artefact VALUES ('spring', '../../server.key', '{key}')"),
    );
    for path in ["..%2F..%2Fserver.key", "../../server.key", "..%2f..%2fserver.key", ".", "%2e%2e"]
    {
        let answer = server.get(&format!("/v1/rounds/spring/files/{path}")).await;
        assert!(answer.status >= 400, "{path}: {}", answer.status);
        assert!(!String::from_utf8_lossy(&answer.bytes).contains("PRIVATE"), "{path}");
    }
    change(&world.data(), "DELETE FROM artefact WHERE name LIKE '%server.key'");
    let model = std::fs::read(folder.join("model.json")).unwrap();
    let elsewhere = world.dir.path().join("elsewhere");
    std::fs::rename(folder.join("model.json"), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, folder.join("model.json")).unwrap();
    assert_eq!(server.get("/v1/rounds/spring/files/model.json").await.status, 500);
    std::fs::rename(&elsewhere, folder.join("model.json")).unwrap();
    assert_eq!(server.get("/v1/rounds/spring/files/model.json").await.bytes, model);
    drop(server);
    for file in ["statement.json", "outcome.json", "report.html", "weights.csv"] {
        let path = folder.join(file);
        let whole = std::fs::read(&path).unwrap();
        for content in [b"{}".to_vec(), [&whole[..], b" "].concat()] {
            std::fs::write(&path, content).unwrap();
            let opened = world.open_store(Arc::new(RealDisk)).map(|_| ());
            assert!(matches!(opened, Err(StoreError::Damaged { .. })), "{file}: {opened:?}");
        }
        std::fs::write(&path, whole).unwrap();
    }
    world.open_store(Arc::new(RealDisk)).unwrap();
}
