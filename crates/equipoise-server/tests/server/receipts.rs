//! What a receipt says, and that lateness is judged by the time at which the last byte arrived.

use std::sync::Arc;

use equipoise_server::protocol::{
    Digest, EventKind, Manifest, Refusal, SignedReceipt, Validated, verify_chain,
};
use equipoise_server::store::{Acceptance, RealDisk, Store, StoreError};
use jiff::Timestamp;

use crate::world::{AUDIENCE, CLIENTS, World, key, manifest, name, proxy};

fn time(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

fn accept(store: &Store, client: &str, received_at: Timestamp) -> Result<Acceptance, StoreError> {
    let manifest: Manifest = manifest(client, proxy(1).as_bytes());
    let canonical_sha256 = Digest::of(b"canonical");
    let validated = Validated { canonical_sha256, rows: 40, distinct_rows: 40 };
    store.accept(&manifest, &manifest.sign(&key(client)), validated, received_at)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receipt_binds_audience_time_digests_and_position() {
    let world = World::new();
    let server = world.start();
    world.clock.advance(7);
    let answer = server.submit("north", proxy(1)).await;
    assert_eq!(answer.status, 201);
    let signed: SignedReceipt = serde_json::from_value(answer.json).unwrap();
    let receipt = &signed.receipt;
    assert!(signed.has_valid_signature() && signed.server_key == server.store.key().public());
    assert_eq!(receipt.audience, AUDIENCE);
    assert_eq!(receipt.received_at, time(7));
    assert_eq!(receipt.sha256, Digest::of(proxy(1).as_bytes()));
    let table = server.store.folder().canonical(receipt.canonical_sha256);
    assert_eq!(receipt.canonical_sha256, Digest::of(&std::fs::read(table).unwrap()));
    let lines = server.store.audit_lines(&name("spring")).unwrap();
    let events = verify_chain(lines.iter().map(String::as_str)).unwrap();
    let (event, digest) = &events[receipt.seq as usize - 1];
    assert!(receipt.is_for(event, *digest));
    assert!(!receipt.is_for(event, Digest::ZERO));
    assert!(!receipt.is_for(&events[0].0, *digest));
}

#[test]
fn lateness_depends_on_when_the_last_byte_arrived_not_on_when_it_was_accepted() {
    let world = World::with(|new| new.deadline = Some(time(100)));
    let store = world.open_store(Arc::new(RealDisk)).unwrap();
    // Validation ends long after the deadline.
    world.clock.advance(160);
    let Acceptance::New(receipt) = accept(&store, "north", time(99)).unwrap() else { panic!() };
    assert_eq!(receipt.receipt.received_at, time(99));
    for late in [100, 101] {
        let refused = accept(&store, "south", time(late));
        assert!(matches!(refused, Err(StoreError::Refused(Refusal::TooLate))), "{refused:?}");
    }
    let lines = store.audit_lines(&name("spring")).unwrap();
    let events = verify_chain(lines.iter().map(String::as_str)).unwrap();
    let (last, _) = events.last().unwrap();
    assert_eq!((last.at, last.seq), (time(160), 3));
}

#[test]
fn times_in_the_log_never_go_back_even_if_the_clock_does() {
    let world = World::new();
    let store = world.open_store(Arc::new(RealDisk)).unwrap();
    world.clock.advance(-3600);
    accept(&store, "north", time(-3600)).unwrap();
    world.clock.advance(7200);
    // The clock is set back while a file is validated.
    accept(&store, "east", time(7200)).unwrap();
    store.revoke_key(&name("spring"), &name("south")).unwrap();
    let lines = store.audit_lines(&name("spring")).unwrap();
    let events = verify_chain(lines.iter().map(String::as_str)).unwrap();
    let times: Vec<Timestamp> = events.iter().map(|(event, _)| event.at).collect();
    assert_eq!(times, [time(0), time(0), time(0), time(7200), time(7200)]);
    let EventKind::Accepted { received_at, .. } = events[2].0.kind else { panic!() };
    assert_eq!(received_at, time(0), "not before the round opened");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_cannot_be_revoked_once_the_round_has_closed() {
    let world = World::new();
    let server = world.start();
    for (i, client) in CLIENTS.iter().enumerate() {
        assert_eq!(server.submit(client, proxy(i as u64)).await.status, 201);
    }
    server.wait();
    let before = server.store.audit_lines(&name("spring")).unwrap();
    let refused = server.post("clients/south/revoke", &world.token).await;
    assert_eq!((refused.status, refused.json["code"].as_str()), (409, Some("not_possible")));
    assert_eq!(server.store.audit_lines(&name("spring")).unwrap(), before);
    drop(server);
    drop(world.start());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_revoked_once_and_only_for_clients_on_the_roster() {
    let world = World::new();
    let server = world.start();
    assert_eq!(server.post("clients/south/revoke", &world.token).await.status, 200);
    for client in ["south", "nobody"] {
        let refused = server.post(&format!("clients/{client}/revoke"), &world.token).await;
        assert_eq!((refused.status, refused.json["code"].as_str()), (404, Some("not_found")));
    }
    let refused = accept(&server.store, "south", time(0));
    assert!(matches!(refused, Err(StoreError::Refused(Refusal::KeyRevoked(_)))), "{refused:?}");
}
