//! The server-wide log covers every event of every round, and its signed head can be checked by anyone.

use std::sync::Arc;

use equipoise_server::protocol::{
    Digest, ServerLogEntry, ServerLogFile, SignedServerHead, verify_server_log,
};
use equipoise_server::store::{RealDisk, StoreError};

use crate::world::{CLIENTS, Server, World, name, proxy};

async fn fetch(server: &Server) -> ServerLogFile {
    let head = server.get("/v1/head").await;
    assert_eq!(head.status, 200);
    let head: SignedServerHead = serde_json::from_value(head.json).unwrap();
    ServerLogFile::new(head, entries(server, "/v1/log").await).unwrap()
}

async fn entries(server: &Server, path: &str) -> Vec<ServerLogEntry> {
    let log = server.get(path).await;
    assert_eq!(log.status, 200, "{path}: {}", log.json);
    let text = String::from_utf8(log.bytes).unwrap();
    for client in CLIENTS {
        assert!(!text.contains(client), "names a client: {text}");
    }
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_head_covers_the_events_of_all_rounds() {
    let world = World::new();
    world.add_round("autumn", |_| {});
    world.add_draft("winter", |_| {});
    let server = world.start();
    let before = fetch(&server).await;
    assert_eq!(before.head.n, 5);
    assert_eq!(before.server_key, server.store.key().public());
    world.clock.advance(10);
    assert_eq!(server.submit("north", proxy(1)).await.status, 201);
    assert_eq!(server.post("clients/south/revoke", &world.token).await.status, 200);
    let after = fetch(&server).await;
    assert_eq!(after.head.n, 7);
    assert!(after.head.at > before.head.at);
    assert_eq!(after.log[..5], before.log);
    for round in ["autumn", "spring", "winter"] {
        let listed = after.head.rounds.iter().find(|r| r.round == name(round)).unwrap();
        let found = server.store.chain_head(&name(round)).unwrap();
        assert_eq!((listed.seq, listed.chain_head), found);
        let digests: Vec<Digest> =
            after.log.iter().filter(|e| e.round == name(round)).map(|e| e.event).collect();
        let lines = server.store.audit_lines(&name(round)).unwrap();
        let expected: Vec<Digest> = lines.iter().map(|line| Digest::of(line.as_bytes())).collect();
        assert_eq!(digests, expected);
    }

    assert_eq!(entries(&server, "/v1/log?after=5").await, after.log[5..]);
    assert_eq!(entries(&server, "/v1/log?after=18446744073709551615").await, []);
    for query in ["after", "after=-1", "after=x", "from=1"] {
        assert_eq!(server.get(&format!("/v1/log?{query}")).await.status, 400, "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn any_change_of_a_head_or_its_log_is_detected() {
    let world = World::new();
    world.add_round("autumn", |_| {});
    let server = world.start();
    let file = fetch(&server).await;
    type Change = fn(&mut ServerLogFile);
    let changes: [Change; 10] = [
        |f| f.head.n += 1,
        |f| f.head.head = Digest::ZERO,
        |f| f.head.at = "2027-01-01T00:00:00Z".parse().unwrap(),
        |f| f.head.rounds[0].seq += 1,
        |f| f.head.rounds[0].chain_head = Digest::ZERO,
        |f| drop(f.head.rounds.pop()),
        |f| drop(f.log.pop()),
        |f| f.log[1].event = Digest::ZERO,
        |f| f.log[1].round = "winter".parse().unwrap(),
        |f| f.log.swap(0, 1),
    ];
    for (i, change) in changes.iter().enumerate() {
        let mut changed = file.clone();
        change(&mut changed);
        assert!(changed.check().is_err(), "change {i}");
    }
}

#[test]
fn the_events_of_a_round_are_in_order_without_gaps() {
    let mut entries = Vec::new();
    for (round, seq) in [("spring", 1), ("autumn", 1), ("spring", 2), ("spring", 4)] {
        let previous = entries.last().map_or(Digest::ZERO, ServerLogEntry::digest);
        let n = entries.len() as u64 + 1;
        entries.push(ServerLogEntry { n, previous, round: name(round), seq, event: Digest::ZERO });
    }
    assert!(verify_server_log(&entries[..3]).is_ok());
    let error = verify_server_log(&entries).unwrap_err().to_string();
    assert_eq!(error, "line 4 of the server-wide log is event 4 of round `spring`, not 3");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_log_that_differs_from_the_rounds_is_detected_at_startup() {
    let zeros = "0".repeat(64);
    for damage in [
        format!("UPDATE server_log SET event = '{zeros}' WHERE n = 2"),
        format!("UPDATE server_log SET head = '{zeros}' WHERE n = 3"),
        format!("UPDATE server_log SET head = '{zeros}' WHERE n = 2"),
        "UPDATE server_log SET n = 9 WHERE n = 3".into(),
        "DELETE FROM server_log WHERE n = 3".into(),
        "DELETE FROM server_log".into(),
    ] {
        let world = World::new();
        let server = world.start();
        assert_eq!(server.submit("north", proxy(1)).await.status, 201);
        drop(server);
        drop(world.open_store(Arc::new(RealDisk)).unwrap());
        let connection = rusqlite::Connection::open(world.data().join("equipoise.db")).unwrap();
        assert!(connection.execute(&damage, []).unwrap() > 0, "{damage}");
        connection.close().unwrap();
        let opened = world.open_store(Arc::new(RealDisk)).map(|_| ());
        assert!(matches!(opened, Err(StoreError::Damaged { .. })), "{damage}: {opened:?}");
    }
}
