#![allow(clippy::unwrap_used)]

use super::*;

/// `remove_staged` ends all staging in this process, so the tests remove what is listed below one folder.
fn interrupt(below: &Path) {
    let listed = lock(&LISTED).clone();
    for (path, removal) in listed.iter().rev().filter(|(path, _)| path.starts_with(below)) {
        remove(path, *removal);
    }
}

fn n_entries(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn an_interruption_removes_what_is_staged_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("mine"), "").unwrap();
    let file = Staged::create(|| tempfile::NamedTempFile::new_in(dir.path())).unwrap();
    let folder = Staged::create(|| tempfile::tempdir_in(dir.path())).unwrap();
    std::fs::write(folder.path().join("part"), "").unwrap();
    let inner = Staged::create(|| tempfile::NamedTempFile::new_in(folder.path())).unwrap();
    let done = Staged::create(|| tempfile::NamedTempFile::new_in(dir.path())).unwrap();
    done.finish(|file| file.persist(dir.path().join("done"))).unwrap();
    assert_eq!(n_entries(dir.path()), 4);
    interrupt(dir.path());
    assert_eq!(n_entries(dir.path()), 2);
    assert!(dir.path().join("mine").exists() && dir.path().join("done").exists());
    drop((file, inner, folder));
    assert!(lock(&LISTED).keys().all(|path| !path.starts_with(dir.path())));
}

#[test]
fn new_folders_are_removed_only_while_they_are_empty() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("old")).unwrap();
    let folders = NewFolders::create_all(&dir.path().join("old/a/b")).unwrap();
    let kept = NewFolders::create_all(&dir.path().join("c/d")).unwrap();
    std::fs::write(dir.path().join("c/file"), "").unwrap();
    interrupt(dir.path());
    assert_eq!(n_entries(&dir.path().join("old")), 0);
    assert_eq!(n_entries(&dir.path().join("c")), 1);
    drop((folders, kept));
    let one = NewFolders::create(&dir.path().join("one")).unwrap();
    assert!(NewFolders::create(&dir.path().join("one")).is_err());
    assert!(NewFolders::create(&dir.path().join("no/such")).is_err());
    interrupt(dir.path());
    assert!(!dir.path().join("one").exists());
    drop(one);
}

#[test]
fn steps_can_be_nested_and_survive_a_panic() {
    assert_eq!(uninterrupted(|| uninterrupted(|| 7)), 7);
    let panicked =
        std::panic::catch_unwind(|| uninterrupted(|| std::panic::resume_unwind(Box::new(1))));
    assert!(panicked.is_err());
    assert_eq!(uninterrupted(|| 8), 8);
}
