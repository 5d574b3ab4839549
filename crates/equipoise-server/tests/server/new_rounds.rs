//! Rounds that are set up while a server is running on the same data directory.

use std::path::PathBuf;
use std::sync::Arc;

use equipoise_core::{Fairness, Settings};
use equipoise_server::protocol::{RoundState, SubmissionLimits};
use equipoise_server::store::{
    DataFolder, NewRound, RealDisk, Store, StoreError, StoreParts, back_up,
};

use crate::world::{AUDIENCE, CLIENTS, Server, World, key, manifest, name, proxy, request, schema};

fn new_round(world: &World, round: &str) -> NewRound {
    NewRound {
        round: name(round),
        audience: AUDIENCE.into(),
        schema: schema(),
        roster: CLIENTS.iter().map(|client| key(client).public()).collect(),
        roots: world.dir.path().join("roots"),
        settings: Settings::new(Fairness::SP),
        minimum: 2,
        deadline: None,
        limits: SubmissionLimits::default(),
    }
}

/// A second process on the directory.
fn join(world: &World) -> Store {
    let folder = DataFolder::open_or_join(&world.data()).unwrap();
    let clock = Arc::clone(&world.clock);
    Store::open(folder, StoreParts { clock, ..StoreParts::default() }).unwrap()
}

fn set_up(world: &World, round: &str) -> Result<(), StoreError> {
    join(world).set_up_round(new_round(world, round), RoundState::Open, |_| Ok(()))
}

async fn submit_to(server: &Server, round: &str, client: &str, body: String) -> u16 {
    let mut manifest = manifest(client, body.as_bytes());
    manifest.round = name(round);
    server.send(request(&manifest, &key(client), body.into_bytes())).await.status
}

fn entries(folder: PathBuf) -> Vec<String> {
    let found = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        found.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_server_serves_a_new_round_at_once() {
    let world = World::new();
    let server = world.start();
    assert_eq!(server.get("/v1/rounds/autumn").await.status, 404);
    assert_eq!(server.submit("north", proxy(1)).await.status, 201);
    set_up(&world, "autumn").unwrap();
    let info = server.get("/v1/rounds/autumn").await;
    assert_eq!((info.status, info.json["state"].as_str()), (200, Some("open")));
    let listed = server.get("/v1/rounds").await.json;
    assert_eq!(listed["rounds"], serde_json::json!(["autumn", "spring"]));
    let index = server.get("/").await;
    assert!(String::from_utf8_lossy(&index.bytes).contains("autumn"));
    for (i, client) in CLIENTS.iter().enumerate() {
        assert_eq!(submit_to(&server, "autumn", client, proxy(i as u64)).await, 201);
    }
    back_up(&world.data(), &world.dir.path().join("backup")).unwrap();
    // The old round is not affected.
    assert_eq!(server.submit("south", proxy(2)).await.status, 201);
    assert_eq!(server.submit("east", proxy(0)).await.status, 201);
    assert_eq!(server.wait(), RoundState::Published);
    drop(server);
    let server = world.start();
    assert_eq!(server.store.rounds().unwrap(), [name("autumn"), name("spring")]);
}

#[test]
fn of_two_rounds_with_one_name_the_first_wins_and_the_second_leaves_nothing() {
    let world = World::new();
    let server = world.open_store(Arc::new(RealDisk)).unwrap();
    let results: Vec<Result<(), StoreError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| set_up(&world, "autumn"))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    for error in results.into_iter().filter_map(Result::err) {
        assert_eq!(error.to_string(), "round `autumn` already exists");
    }
    assert_eq!(entries(world.data().join("rounds")), ["autumn", "spring"]);
    drop(server);
    world.open_store(Arc::new(RealDisk)).unwrap();
}

#[test]
fn a_failed_setup_leaves_nothing() {
    let world = World::new();
    let server = world.open_store(Arc::new(RealDisk)).unwrap();
    let joined = join(&world);
    let failed = joined.set_up_round(new_round(&world, "autumn"), RoundState::Open, |_| {
        Err(StoreError::Round("no token".into()))
    });
    assert_eq!(failed.unwrap_err().to_string(), "no token");
    std::fs::remove_file(world.dir.path().join("roots/south.csv")).unwrap();
    let failed = joined.create_round(new_round(&world, "autumn")).unwrap_err();
    assert!(failed.to_string().contains("no root for client `south`"), "{failed}");
    assert_eq!(server.rounds().unwrap(), [name("spring")]);
    assert_eq!(entries(world.data().join("rounds")), ["spring"]);
}

#[test]
fn a_start_removes_abandoned_roots_but_not_those_that_are_being_copied() {
    let world = World::new();
    let rounds = world.data().join("rounds");
    for left in [".new-0123456789abcdef/root", "autumn/root"] {
        std::fs::create_dir_all(rounds.join(left)).unwrap();
        std::fs::write(rounds.join(left).join("north.csv"), "rows").unwrap();
    }
    std::fs::write(rounds.join(".notes"), "not ours").unwrap();
    let running = rounds.join(".new-fedcba9876543210");
    std::fs::create_dir(&running).unwrap();
    let lock = std::fs::File::open(&running).unwrap();
    lock.lock().unwrap();
    drop(world.open_store(Arc::new(RealDisk)).unwrap());
    assert_eq!(entries(rounds.clone()), [".new-fedcba9876543210", ".notes", "spring"]);
    drop(lock);
    drop(world.open_store(Arc::new(RealDisk)).unwrap());
    assert_eq!(entries(rounds), [".notes", "spring"]);
}

#[test]
fn a_process_that_joins_with_another_key_is_refused() {
    let world = World::new();
    let _server = world.open_store(Arc::new(RealDisk)).unwrap();
    let path = world.data().join("server.key");
    std::fs::write(&path, key("server").to_line()).unwrap();
    let joined =
        Store::open(DataFolder::open_or_join(&world.data()).unwrap(), StoreParts::default());
    let error = joined.err().unwrap().to_string();
    assert!(error.contains("set up with another key"), "{error}");
}
