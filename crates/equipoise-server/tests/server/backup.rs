//! Backup of a running server, and restore.

use std::path::{Path, PathBuf};

use equipoise_server::protocol::{Digest, RoundState};
use equipoise_server::store::{StoreError, back_up, restore};

use crate::world::{CLIENTS, Server, World, name, proxy};

fn all_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(all_files(&path)),
            false => files.push(path),
        }
    }
    files.sort();
    files
}

fn receipts(server: &Server) -> Vec<String> {
    let found = server.store.submissions(&name("spring")).unwrap();
    found.iter().map(|found| serde_json::to_string(&found.receipt).unwrap()).collect()
}

/// Replaces the world's data directory with a restored one.
fn replace_data(world: &World, restored: &Path) {
    std::fs::remove_dir_all(world.data()).unwrap();
    std::fs::rename(restored, world.data()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_round_has_the_same_receipts_and_continues() {
    let world = World::new();
    let (backup, restored) = (world.dir.path().join("backup"), world.dir.path().join("restored"));
    let server = world.start();
    assert_eq!(server.submit("north", proxy(1)).await.status, 201);
    assert_eq!(server.submit("east", proxy(0)).await.status, 201);
    let (made, digest) = back_up(&world.data(), &backup).unwrap();
    assert_eq!(made.rounds, [name("spring")]);
    // Database, two keys, three roots, two client files and two canonical tables.
    assert_eq!(made.files.len(), 10, "{:?}", made.files);
    let before = receipts(&server);
    // The round continues after the backup.
    assert_eq!(server.submit("south", proxy(2)).await.status, 201);
    assert_eq!(server.wait(), RoundState::Published);
    let model = server.get("/v1/rounds/spring/files/model.json").await.bytes;
    drop(server);

    restore(&backup, &restored, Some(digest)).unwrap();
    replace_data(&world, &restored);
    let server = world.start();
    assert_eq!(receipts(&server), before);
    assert_eq!(server.submit("north", proxy(1)).await.status, 200);
    assert_eq!(server.submit("north", proxy(7)).await.status, 409);
    assert_eq!(server.submit("south", proxy(2)).await.status, 201);
    assert_eq!(server.wait(), RoundState::Published);
    assert_eq!(server.get("/v1/rounds/spring/files/model.json").await.bytes, model);

    // The same for a published round.
    let (again, third) = (world.dir.path().join("again"), world.dir.path().join("third"));
    back_up(&world.data(), &again).unwrap();
    restore(&again, &third, None).unwrap();
    drop(server);
    replace_data(&world, &third);
    let server = world.start();
    assert_eq!(server.get("/v1/rounds/spring/files/model.json").await.bytes, model);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_during_submissions_is_consistent() {
    let world = World::new();
    let server = world.start();
    for (i, client) in CLIENTS.iter().enumerate() {
        let (data, backup) = (world.data(), world.dir.path().join(format!("backup{i}")));
        let copying = tokio::task::spawn_blocking(move || back_up(&data, &backup).map(|_| backup));
        assert_eq!(server.submit(client, proxy(i as u64)).await.status, 201);
        let backup = copying.await.unwrap().unwrap();
        restore(&backup, &world.dir.path().join(format!("restored{i}")), None).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_modified_backup_is_refused_and_nothing_is_restored() {
    let world = World::new();
    let (backup, restored) = (world.dir.path().join("backup"), world.dir.path().join("restored"));
    let server = world.start();
    assert_eq!(server.submit("north", proxy(1)).await.status, 201);
    let (_, digest) = back_up(&world.data(), &backup).unwrap();
    for file in all_files(&backup) {
        let original = std::fs::read(&file).unwrap();
        let mut changed = original.clone();
        let middle = changed.len() / 2;
        changed[middle] ^= 1;
        std::fs::write(&file, &changed).unwrap();
        assert!(restore(&backup, &restored, Some(digest)).is_err(), "{}", file.display());
        std::fs::write(&file, &original).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert!(restore(&backup, &restored, None).is_err(), "without {}", file.display());
        std::fs::write(&file, &original).unwrap();
    }
    // A modified receipt with an adjusted list still breaks the chain of the log.
    let database = backup.join("equipoise.db");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection.execute("UPDATE submission SET rows = rows + 1", []).unwrap();
    connection
        .execute(
            "UPDATE submission SET receipt = replace(receipt, '\"rows\":40', '\"rows\":41')",
            [],
        )
        .unwrap();
    connection.close().unwrap();
    let list = backup.join("backup.json");
    let mut listing: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&list).unwrap()).unwrap();
    let entry = listing["files"].as_array_mut().unwrap().iter_mut();
    let entry = entry.into_iter().find(|file| file["path"] == "equipoise.db").unwrap();
    entry["sha256"] = Digest::of(&std::fs::read(&database).unwrap()).to_string().into();
    std::fs::write(&list, listing.to_string()).unwrap();
    let refused = restore(&backup, &restored, None);
    assert!(matches!(refused, Err(StoreError::Damaged { .. })), "{refused:?}");

    // A path outside the backup.
    listing["files"][0]["path"] = "../server.key".into();
    std::fs::write(&list, listing.to_string()).unwrap();
    let refused = restore(&backup, &restored, None);
    assert!(matches!(refused, Err(StoreError::Backup { .. })), "{refused:?}");

    assert!(!restored.exists());
    let left = std::fs::read_dir(world.dir.path()).unwrap();
    let hidden =
        left.filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().starts_with('.'));
    assert_eq!(hidden.count(), 0);
}

#[test]
fn existing_folders_are_never_overwritten() {
    let world = World::new();
    let backup = world.dir.path().join("backup");
    back_up(&world.data(), &backup).unwrap();
    assert!(back_up(&world.data(), &backup).is_err());
    assert!(restore(&backup, &world.data(), None).is_err());
    assert!(back_up(&world.dir.path().join("roots"), &world.dir.path().join("b2")).is_err());
    let empty = world.dir.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    restore(&backup, &empty, None).unwrap();
    use std::os::unix::fs::PermissionsExt as _;
    let key = backup.join("server.key").metadata().unwrap().permissions();
    assert_eq!(key.mode() & 0o777, 0o600);
}
