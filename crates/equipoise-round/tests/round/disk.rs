//! (g) A full disk, a read-only one, two processes, and files that are not rounds.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use equipoise_round::{Error, RoundFile};

use crate::world::{World, time};

#[test]
fn what_is_not_a_round_is_refused_with_its_name() {
    let world = World::new(false);
    let path = world.path("spring.round");
    drop(world.create("spring.round"));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let exists = RoundFile::create(&path, &world.invitation).unwrap_err().to_string();
    assert!(exists.contains("exists already"), "{exists}");
    let link = world.path("link.round");
    symlink(&path, &link).unwrap();
    assert!(RoundFile::open(&link).unwrap_err().to_string().contains("not a regular file"));
    fs::write(world.path("text.round"), "hello, this is no database at all".repeat(99)).unwrap();
    assert!(matches!(RoundFile::open(&world.path("text.round")), Err(Error::Damaged { .. })));
    fs::write(world.path("empty.round"), "").unwrap();
    assert!(matches!(RoundFile::open(&world.path("empty.round")), Err(Error::Damaged { .. })));
    assert!(matches!(RoundFile::open(&world.path("none.round")), Err(Error::Io { .. })));
}

#[test]
fn nothing_but_the_two_tables_may_be_in_a_round() {
    let world = World::new(false);
    for (n, sql) in [
        "CREATE TABLE extra (x)",
        "CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM event; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE INDEX i ON event (line)",
        "INSERT INTO blob VALUES ('x', x'00')",
        "INSERT INTO event VALUES (3, 'x')",
        "UPDATE event SET line = line || ' '",
        "DELETE FROM event",
    ]
    .into_iter()
    .enumerate()
    {
        let file = format!("{n}.round");
        drop(world.create(&file));
        let database = rusqlite::Connection::open(world.path(&file)).unwrap();
        database.execute_batch(sql).unwrap();
        drop(database);
        let opened = RoundFile::open(&world.path(&file));
        assert!(matches!(opened, Err(Error::Damaged { .. })), "{sql}: {opened:?}");
    }
}

#[test]
fn a_process_that_holds_the_file_makes_others_wait_and_then_give_up() {
    let world = World::new(false);
    let mut round = world.create("spring.round");
    let file = world.sealed("north", 20, 10);
    let other = rusqlite::Connection::open(world.path("spring.round")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    std::thread::scope(|scope| {
        let deliver = scope.spawn(|| world.deliver(&mut round, &file, 20));
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert!(!deliver.is_finished());
        other.execute_batch("COMMIT").unwrap();
        deliver.join().unwrap().unwrap();
    });
}

/// A file system of 1 MiB, if this process may mount one.
struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    fn mount(path: std::path::PathBuf) -> Option<Self> {
        fs::create_dir(&path).unwrap();
        let options = ["-t", "tmpfs", "-o", "size=1m", "tmpfs"];
        let mount = Command::new("mount").args(options).arg(&path).output().ok()?;
        mount.status.success().then_some(Self(path))
    }

    fn remount(&self, options: &str) {
        let mut mount = Command::new("mount");
        assert!(mount.args(["-o", options]).arg(&self.0).status().unwrap().success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_or_read_only_disk_accepts_nothing_and_loses_nothing() {
    let world = World::new(false);
    let Some(disk) = SmallDisk::mount(world.path("disk")) else {
        eprintln!("skipped: cannot mount a small disk");
        return;
    };
    let path = disk.0.join("spring.round");
    let mut round = RoundFile::create(&path, &world.invitation).unwrap();
    let receipt = world.deliver(&mut round, &world.sealed("north", 20, 10), 20).unwrap();
    let large = world.sealed_bytes("east", &vec![7; 700 << 10], 10);
    let full = world.deliver(&mut round, &large, 20).unwrap_err();
    assert!(matches!(full, Error::DiskFull(_)), "{full}");
    assert_eq!(round.log().seq(), 2);
    world.deliver(&mut round, &world.sealed("west", 20, 10), 30).unwrap();
    drop(round);
    disk.remount("remount,ro");
    let file = world.sealed("south", 20, 10);
    let refused = RoundFile::open(&path).and_then(|mut round| world.deliver(&mut round, &file, 40));
    assert!(matches!(refused, Err(Error::Io { .. } | Error::File { .. })), "{refused:?}");
    disk.remount("remount,rw");
    let round = RoundFile::open(&path).unwrap();
    assert_eq!(round.log().seq(), 3);
    round.log().check_receipt(&receipt).unwrap();
    assert_eq!(round.log().at, time(30));
}
