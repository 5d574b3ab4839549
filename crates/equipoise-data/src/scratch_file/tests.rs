//! Blocks written to a scratch file are read back, and failures name the folder.
#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn blocks_are_read_back_and_freed_slots_are_reused() {
    let dir = tempfile::tempdir().unwrap();
    let scratch = ScratchFile::create(dir.path(), 8).unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "the file has no name");
    let (a, b) = (scratch.write(b"12345678").unwrap(), scratch.write(b"abcd").unwrap());
    scratch.forget(a);
    let c = scratch.write(b"ABCDEFGH").unwrap();
    assert_eq!(c, a);
    let mut bytes = [0; 4];
    scratch.read(b, &mut bytes).unwrap();
    assert_eq!(&bytes, b"abcd");
    let mut bytes = [0; 8];
    scratch.read(c, &mut bytes).unwrap();
    assert_eq!(&bytes, b"ABCDEFGH");
}

#[test]
fn names_a_missing_folder() {
    let text = ScratchFile::create(Path::new("no/such/folder"), 8).unwrap_err().to_string();
    assert!(text.contains("no/such/folder") && text.contains("another folder"), "{text}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_with_advice() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let scratch = ScratchFile::of_file(Path::new("/scratch"), full, 8);
    let text = scratch.write(b"12345678").unwrap_err().to_string();
    for part in ["/scratch", "o space left", "another folder"] {
        assert!(text.contains(part), "{text}");
    }
}
