//! A 201 means durable: tests with a disk that loses data, fills up or fails.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use equipoise_server::Limits;
use equipoise_server::protocol::{Digest, RoundState};
use equipoise_server::store::{Disk, RealDisk, Store};

use crate::world::{CLIENTS, World, name, proxy, scaled};

/// A disk that tracks what was synced, so that a simulated power cut can lose the rest.
#[derive(Default)]
struct FakeDisk {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Content of each file at its last sync.
    synced: BTreeMap<PathBuf, Vec<u8>>,
    /// Files written or renamed, synced or not.
    touched: Vec<PathBuf>,
    /// Renames in folders that were not synced: from, to.
    renames: Vec<(PathBuf, PathBuf)>,
    fail: Option<(&'static str, io::ErrorKind)>,
}

impl FakeDisk {
    fn failing(operation: &'static str, kind: io::ErrorKind) -> Arc<Self> {
        let disk = Self::default();
        disk.state.lock().unwrap().fail = Some((operation, kind));
        Arc::new(disk)
    }

    fn check(&self, operation: &str) -> io::Result<()> {
        match self.state.lock().unwrap().fail {
            Some((failing, kind)) if failing == operation => Err(kind.into()),
            _ => Ok(()),
        }
    }

    /// Loses everything that was not synced, both contents and names.
    fn power_cut(&self) {
        let mut state = self.state.lock().unwrap();
        for (from, to) in std::mem::take(&mut state.renames).into_iter().rev() {
            let _ = std::fs::rename(&to, &from);
            if let Some(content) = state.synced.remove(&to) {
                state.synced.insert(from.clone(), content);
            }
            state.touched.push(from);
        }
        for path in &state.touched {
            if path.is_file() {
                // A torn write: half of the unsynced content.
                let lost = std::fs::read(path).unwrap();
                let torn = lost[..lost.len() / 2].to_vec();
                std::fs::write(path, state.synced.get(path).unwrap_or(&torn)).unwrap();
            }
        }
    }
}

impl Disk for FakeDisk {
    fn open(&self, path: &Path, keep: u64) -> io::Result<File> {
        self.check("open")?;
        self.state.lock().unwrap().touched.push(path.to_path_buf());
        RealDisk.open(path, keep)
    }

    fn write(&self, path: &Path, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        self.check("write")?;
        RealDisk.write(path, file, bytes)
    }

    fn sync_file(&self, path: &Path, _: &File) -> io::Result<()> {
        self.check("sync_file")?;
        let content = std::fs::read(path)?;
        self.state.lock().unwrap().synced.insert(path.to_path_buf(), content);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.check("rename")?;
        RealDisk.rename(from, to)?;
        let mut state = self.state.lock().unwrap();
        if let Some(content) = state.synced.remove(from) {
            state.synced.insert(to.to_path_buf(), content);
        }
        state.touched.push(to.to_path_buf());
        state.renames.push((from.to_path_buf(), to.to_path_buf()));
        Ok(())
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.check("sync_folder")?;
        self.state.lock().unwrap().renames.retain(|(_, to)| to.parent() != Some(folder));
        Ok(())
    }

    fn free_bytes(&self, folder: &Path) -> io::Result<u64> {
        match self.check("free_bytes") {
            Ok(()) => RealDisk.free_bytes(folder),
            Err(_) => Ok(100),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn accepted_submissions_survive_a_power_cut() {
    let world = World::new();
    let disk = Arc::new(FakeDisk::default());
    let server = world.start_with(Arc::clone(&disk) as Arc<dyn Disk>, Limits::default());
    let first = server.submit("north", proxy(1)).await;
    assert_eq!(first.status, 201);
    drop(server);
    disk.power_cut();
    // Opening checks every digest.
    let server = world.start();
    let again = server.submit("north", proxy(1)).await;
    assert_eq!((again.status, again.json), (200, first.json));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_accepted_on_a_failing_or_full_disk() {
    let full = io::ErrorKind::StorageFull;
    let broken = io::ErrorKind::Other;
    let read_only = io::ErrorKind::ReadOnlyFilesystem;
    for (operation, kind, status) in [
        ("free_bytes", full, 507),
        ("open", full, 507),
        ("write", full, 507),
        ("rename", full, 507),
        ("open", read_only, 500),
        ("write", broken, 500),
        ("rename", broken, 500),
        ("sync_file", full, 507),
        ("sync_file", io::ErrorKind::NotFound, 500),
        // In these tests, the process panics instead of aborting.
        ("sync_file", broken, 500),
        ("sync_folder", broken, 500),
    ] {
        let world = World::new();
        let disk = FakeDisk::failing(operation, kind);
        let server = world.start_with(Arc::clone(&disk) as Arc<dyn Disk>, Limits::default());
        let answer = server.submit("north", proxy(1)).await;
        assert_eq!(answer.status, status, "{operation}, {kind:?}: {}", answer.json);
        assert_eq!(server.n_submissions(), 0, "{operation}");
        drop(server);
        disk.power_cut();
        let server = world.start();
        assert_eq!(server.submit("north", proxy(1)).await.status, 201, "{operation}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_byte_in_the_store_is_detected_at_startup() {
    let world = World::new();
    let server = world.start();
    assert_eq!(server.submit("north", proxy(1)).await.status, 201);
    drop(server);
    for folder in ["sha256", "canonical", "rounds/spring/root"] {
        let entry = std::fs::read_dir(world.data().join(folder)).unwrap().next();
        let path = entry.unwrap().unwrap().path();
        let whole = std::fs::read(&path).unwrap();
        let mut changed = whole.clone();
        changed[whole.len() / 2] ^= 1;
        std::fs::write(&path, changed).unwrap();
        let error = world.open_store(Arc::new(RealDisk)).err().unwrap().to_string();
        assert!(error.contains("does not match"), "{folder}: {error}");
        std::fs::write(&path, whole).unwrap();
    }
    let database = rusqlite::Connection::open(world.data().join("equipoise.db")).unwrap();
    for (change, undo) in [
        (
            "UPDATE event SET line = replace(line, 'opened', 'opaned')",
            "UPDATE event SET line = replace(line, 'opaned', 'opened')",
        ),
        ("UPDATE round SET state = 'closed'", "UPDATE round SET state = 'open'"),
        (
            "UPDATE round SET spec = replace(spec, '\"minimum\":2', '\"minimum\":1')",
            "UPDATE round SET spec = replace(spec, '\"minimum\":1', '\"minimum\":2')",
        ),
        (
            "UPDATE submission SET rows = rows, receipt = replace(receipt, '\"rows\":40', '\"rows\":41')",
            "UPDATE submission SET receipt = replace(receipt, '\"rows\":41', '\"rows\":40')",
        ),
    ] {
        assert!(database.execute(change, []).unwrap() > 0, "{change}");
        assert!(world.open_store(Arc::new(RealDisk)).is_err(), "{change}");
        database.execute(undo, []).unwrap();
        assert!(world.open_store(Arc::new(RealDisk)).is_ok(), "{undo}");
    }
}

#[test]
fn a_data_directory_is_locked_by_one_process() {
    let world = World::new();
    let _store = world.open_store(Arc::new(RealDisk)).unwrap();
    let error = world.open_store(Arc::new(RealDisk)).err().unwrap().to_string();
    assert!(error.contains("in use"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn unreferenced_files_are_removed_at_startup() {
    let world = World::new();
    let server = world.start();
    assert_eq!(server.submit("north", proxy(1)).await.status, 201);
    drop(server);
    let named = |folder: &str, ending: &str| {
        let name = format!("{}{ending}", Digest::of(b"orphan"));
        world.data().join(folder).join(name)
    };
    let orphans = [named("sha256", ""), named("canonical", ".parquet")];
    orphans.iter().for_each(|path| std::fs::write(path, "orphan").unwrap());
    let foreign = world.data().join("sha256").join("README");
    std::fs::write(&foreign, "not ours").unwrap();
    // Damage is detected first, and then nothing is removed.
    let root = world.data().join("rounds/spring/root").join("north.csv");
    let whole = std::fs::read(&root).unwrap();
    std::fs::write(&root, "changed").unwrap();
    assert!(world.open_store(Arc::new(RealDisk)).is_err());
    assert!(orphans.iter().all(|path| path.exists()));
    std::fs::write(&root, whole).unwrap();

    let server = world.start();
    assert!(orphans.iter().all(|path| !path.exists()));
    assert!(foreign.exists());
    assert_eq!(server.submit("north", proxy(1)).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_byte_in_the_database_is_detected_or_harmless() {
    let world = World::new();
    let server = world.start();
    assert_eq!(server.submit("north", proxy(1)).await.status, 201);
    drop(server);
    let round = name("spring");
    let content = |store: &Store| {
        let list = store.submissions(&round).unwrap();
        let receipts: Vec<_> = list.into_iter().map(|found| found.receipt).collect();
        (store.audit_lines(&round).unwrap(), receipts, store.round(&round).unwrap().state)
    };
    let before = content(&world.open_store(Arc::new(RealDisk)).unwrap());
    let path = world.data().join("equipoise.db");
    let whole = std::fs::read(&path).unwrap();
    let mut n_detected = 0;
    let times = scaled(60, 2000);
    for i in 0..times {
        let mut changed = whole.clone();
        changed[(i * 7919 + 13) % whole.len()] ^= 1 << (i % 8);
        for ending in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(world.data().join(format!("equipoise.db{ending}")));
        }
        std::fs::write(&path, changed).unwrap();
        match world.open_store(Arc::new(RealDisk)) {
            Ok(store) => assert_eq!(content(&store), before, "change {i}"),
            Err(_) => n_detected += 1,
        }
    }
    assert!(n_detected > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_byte_in_a_published_model_is_detected_at_startup() {
    let world = World::new();
    let server = world.start();
    for (i, client) in CLIENTS.iter().enumerate() {
        assert_eq!(server.submit(client, proxy(i as u64)).await.status, 201);
    }
    assert_eq!(server.wait(), RoundState::Published);
    drop(server);
    let path = world.data().join("published/spring/model.json");
    let mut content = std::fs::read(&path).unwrap();
    let middle = content.len() / 2;
    content[middle] ^= 1;
    std::fs::write(&path, content).unwrap();
    let error = world.open_store(Arc::new(RealDisk)).err().unwrap().to_string();
    assert!(error.contains("model.json"), "{error}");
}
