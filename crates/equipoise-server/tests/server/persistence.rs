//! Only what is on disk is accepted, and a problem with one upload's files is not a problem of the server.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use equipoise_server::Limits;
use equipoise_server::protocol::{Digest, Refusal, Validated};
use equipoise_server::store::{Disk, RealDisk, Store, StoreError};

use crate::world::{World, proxy};

/// A disk on which something happens to a part just before the canonical table is synced, after validation.
struct Interference(fn(&Path));

impl Disk for Interference {
    fn open(&self, path: &Path, keep: u64) -> io::Result<File> {
        RealDisk.open(path, keep)
    }

    fn write(&self, path: &Path, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        RealDisk.write(path, file, bytes)
    }

    fn sync_file(&self, path: &Path, file: &File) -> io::Result<()> {
        if path.to_string_lossy().ends_with(".canonical.parquet") {
            let folder = path.parent().unwrap();
            for entry in std::fs::read_dir(folder).unwrap() {
                let other = entry.unwrap().path();
                if other != path {
                    self.0(&other);
                }
            }
        }
        RealDisk.sync_file(path, file)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        RealDisk.sync_folder(folder)
    }

    fn free_bytes(&self, folder: &Path) -> io::Result<u64> {
        RealDisk.free_bytes(folder)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_changes_after_its_validation_is_refused() {
    let truncate: fn(&Path) = |part| {
        File::options().write(true).open(part).unwrap().set_len(7).unwrap();
    };
    let replace: fn(&Path) = |part| std::fs::write(part, proxy(9)).unwrap();
    for (interference, status) in [(truncate, 400), (replace, 400)] {
        let world = World::new();
        let server = world.start_with(Arc::new(Interference(interference)), Limits::default());
        let answer = server.submit("north", proxy(1)).await;
        assert_eq!(answer.status, status, "{}", answer.json);
        assert_eq!(server.n_submissions(), 0);
        drop(server);
        // Another server starts, and the client can submit again.
        let server = world.start();
        assert_eq!(server.submit("north", proxy(1)).await.status, 201);
    }
}

/// Two files as they are after validation, and what they should contain.
fn validated_files(world: &World) -> (PathBuf, PathBuf, Digest, Validated) {
    let folder = world.data().join("uploads/spring");
    std::fs::create_dir_all(&folder).unwrap();
    let (part, canonical) = (folder.join("north.part.csv"), folder.join("north.canonical.parquet"));
    std::fs::write(&part, "body").unwrap();
    std::fs::write(&canonical, "table").unwrap();
    let canonical_sha256 = Digest::of(b"table");
    let validated = Validated { canonical_sha256, rows: 1, distinct_rows: 1 };
    (part, canonical, Digest::of(b"body"), validated)
}

fn stored_files(world: &World) -> usize {
    let count = |folder| std::fs::read_dir(world.data().join(folder)).unwrap().count();
    count("sha256") + count("canonical")
}

#[test]
fn only_files_with_the_expected_digests_are_stored() {
    let world = World::new();
    let store = world.open_store(Arc::new(RealDisk)).unwrap();
    let persist = |store: &Store, change: &dyn Fn(&Path, &Path)| {
        let (part, canonical, sha256, validated) = validated_files(&world);
        change(&part, &canonical);
        store.persist(&part, &canonical, sha256, validated)
    };
    let refused = persist(&store, &|part, _| std::fs::write(part, "bodY").unwrap());
    let found = Digest::of(b"bodY");
    assert!(
        matches!(&refused, Err(StoreError::Refused(Refusal::DigestMismatch(digest))) if *digest == found),
        "{refused:?}"
    );
    let refused = persist(&store, &|_, canonical| std::fs::write(canonical, "").unwrap());
    assert!(matches!(refused, Err(StoreError::Refused(Refusal::Internal))), "{refused:?}");
    // A missing file is an error of this upload. A failing disk would panic in this test.
    for missing in [0, 1] {
        let gone = persist(&store, &|part, canonical| {
            std::fs::remove_file([part, canonical][missing]).unwrap();
        });
        assert!(matches!(gone, Err(StoreError::File(..))), "{gone:?}");
    }
    let linked = persist(&store, &|part, _| {
        std::fs::remove_file(part).unwrap();
        let elsewhere = world.dir.path().join("elsewhere");
        std::fs::write(&elsewhere, "body").unwrap();
        std::os::unix::fs::symlink(&elsewhere, part).unwrap();
    });
    assert!(matches!(linked, Err(StoreError::File(..))), "{linked:?}");
    assert_eq!(stored_files(&world), 0);
    let (part, ..) = validated_files(&world);
    std::fs::remove_file(part).unwrap();
    persist(&store, &|_, _| {}).unwrap();
    assert_eq!(stored_files(&world), 2);
}
