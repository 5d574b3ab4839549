//! The data directory belongs to one user, contains no links, and nobody else can read it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use equipoise_server::store::{DataFolder, RealDisk, StoreError, back_up, restore};

use crate::world::{World, proxy};

/// A folder and everything in it.
fn tree(path: &Path) -> Vec<PathBuf> {
    let mut found = vec![path.to_path_buf()];
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).unwrap() {
            found.extend(tree(&entry.unwrap().path()));
        }
    }
    found
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn assert_private(path: &Path) {
    for path in tree(path) {
        let mode = path.symlink_metadata().unwrap().permissions().mode() & 0o777;
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode, expected, "{}: {mode:o}", path.display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_get_private_modes_whatever_the_umask() {
    let world = World::published().await;
    assert_private(&world.data());
    let (backup, restored) = (world.dir.path().join("backup"), world.dir.path().join("restored"));
    back_up(&world.data(), &backup).unwrap();
    assert_private(&backup);
    restore(&backup, &restored, None).unwrap();
    assert_private(&restored);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_directory_is_restricted_at_startup() {
    let world = World::published().await;
    for path in tree(&world.data()) {
        if path.file_name().unwrap() != "server.key" {
            set_mode(&path, if path.is_dir() { 0o755 } else { 0o644 });
        }
    }
    drop(world.open_store(Arc::new(RealDisk)).unwrap());
    assert_private(&world.data());
}

#[test]
fn a_server_key_that_others_can_read_is_refused() {
    let world = World::new();
    let key = world.data().join("server.key");
    for mode in [0o640, 0o604, 0o644, 0o660] {
        set_mode(&key, mode);
        let error = world.open_store(Arc::new(RealDisk)).err().unwrap();
        assert!(matches!(error, StoreError::ReadableKey(_)), "{error}");
        assert!(error.to_string().contains(&format!("chmod 600 {}", key.display())), "{error}");
    }
    set_mode(&key, 0o600);
    world.open_store(Arc::new(RealDisk)).unwrap();
}

#[test]
fn a_directory_or_file_of_another_user_is_refused() {
    let world = World::new();
    let probe = world.dir.path().join("probe");
    fs::write(&probe, "").unwrap();
    if chown(&probe, Some(12345), None).is_err() {
        eprintln!("SKIPPED: only root can give a file to another user");
        return;
    }
    for path in ["", "server.key", "sha256", "rounds/spring/root/north.csv"] {
        let path = world.data().join(path);
        chown(&path, Some(12345), None).unwrap();
        let error = world.open_store(Arc::new(RealDisk)).err().unwrap();
        assert!(matches!(error, StoreError::OtherOwner { uid: 12345, .. }), "{error}");
        chown(&path, Some(0), None).unwrap();
    }
    world.open_store(Arc::new(RealDisk)).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_is_refused_and_nothing_is_removed_through_it() {
    let world = World::published().await;
    let elsewhere = world.dir.path().join("elsewhere");
    for name in [
        "uploads",
        "sha256",
        "canonical",
        "rounds",
        "published",
        "rounds/spring",
        "rounds/spring/root",
        "rounds/spring/root/north.csv",
        "published/spring/model.json",
        "server.key",
        "server.pub",
        "equipoise.db",
        "lock",
        "setup.lock",
    ] {
        let path = world.data().join(name);
        fs::rename(&path, &elsewhere).unwrap();
        if elsewhere.is_dir() {
            // What the server would remove from its own folder.
            fs::create_dir_all(elsewhere.join("spring")).unwrap();
            fs::write(elsewhere.join("spring/precious"), "").unwrap();
            fs::write(elsewhere.join(".precious"), "").unwrap();
        }
        symlink(&elsewhere, &path).unwrap();
        let error = world.open_store(Arc::new(RealDisk)).err().unwrap();
        assert!(matches!(&error, StoreError::SymbolicLink(found) if *found == path), "{error}");
        for precious in ["spring/precious", ".precious"].map(|name| elsewhere.join(name)) {
            if elsewhere.is_dir() {
                fs::remove_file(precious).unwrap();
            }
        }
        fs::remove_file(&path).unwrap();
        if name == "uploads" {
            fs::remove_dir_all(elsewhere.join("spring")).unwrap();
        }
        fs::rename(&elsewhere, &path).unwrap();
    }
    let pipe = world.data().join("sha256/pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let error = world.open_store(Arc::new(RealDisk)).err().unwrap();
    assert!(matches!(error, StoreError::SpecialFile(_)), "{error}");
    fs::remove_file(pipe).unwrap();

    // The directory itself may be a link.
    let link = world.dir.path().join("link");
    symlink(world.data(), &link).unwrap();
    DataFolder::open(&link).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_does_not_follow_a_link_that_appears_while_the_server_runs() {
    let world = World::new();
    let server = world.start();
    let elsewhere = world.dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let uploads = world.data().join("uploads/spring");
    symlink(&elsewhere, &uploads).unwrap();
    assert_eq!(server.submit("north", proxy(1)).await.status, 500);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    fs::remove_file(&uploads).unwrap();
    assert_eq!(server.submit("north", proxy(1)).await.status, 201);
}
