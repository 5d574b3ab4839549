#![allow(clippy::unwrap_used)]

use super::*;

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn an_existing_file_is_replaced_only_with_force() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.txt");
    let put =
        |text: &str, force| write_atomically(&path, force, |out| out.write_all(text.as_bytes()));
    put("one", false).unwrap();
    let text = put("two", false).unwrap_err().to_string();
    assert!(text.contains("a.txt") && text.contains("--force"), "{text}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "one");
    put("two", true).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
    assert_eq!(names(dir.path()), ["a.txt"]);
}

#[test]
fn a_failure_leaves_the_old_file_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.txt");
    std::fs::write(&path, "old").unwrap();
    let result: Result<(), Error> = write_atomically(&path, true, |out| {
        out.write_all(&[b'x'; 100_000])?;
        assert_eq!(names(dir.path()).len(), 2);
        Err(io::Error::other("the disk is full"))
    });
    let text = result.unwrap_err().to_string();
    assert!(text.contains("a.txt") && text.contains("the disk is full"), "{text}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(dir.path()), ["a.txt"]);
}

#[test]
fn does_not_overwrite_a_file_created_meanwhile() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.txt");
    let result = write_atomically(&path, false, |out| {
        std::fs::write(&path, "somebody else's")?;
        out.write_all(b"ours")
    });
    assert!(matches!(result, Err(Error::Exists { .. })));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "somebody else's");
    assert_eq!(names(dir.path()), ["a.txt"]);
}

#[test]
fn folders_are_neither_created_nor_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("no/such/a.txt");
    let text = write_atomically(&missing, false, |_| Ok(())).unwrap_err().to_string();
    assert!(text.contains("a.txt") && text.contains("no/such does not exist"), "{text}");
    let folder = dir.path().join("folder");
    std::fs::create_dir(&folder).unwrap();
    let text = write_atomically(&folder, true, |_| Ok(())).unwrap_err().to_string();
    assert!(text.contains("not a regular file"), "{text}");
}

#[test]
fn json_is_indented_and_ends_with_a_line_break() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.json");
    write_json(&path, &vec![1, 2], false).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "[\n  1,\n  2\n]\n");
}

#[cfg(unix)]
#[test]
fn outputs_have_the_usual_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let (ours, plain) = (dir.path().join("ours"), dir.path().join("plain"));
    write_atomically(&ours, false, |_| Ok(())).unwrap();
    std::fs::write(&plain, "").unwrap();
    assert_eq!(mode(&ours), mode(&plain));
}
