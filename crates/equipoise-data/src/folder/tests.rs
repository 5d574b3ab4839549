#![allow(clippy::unwrap_used)]

use tempfile::TempDir;

use super::*;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(dir.path().join(name), content).unwrap();
    }
    dir
}

#[test]
fn clients_are_named_by_their_files_and_sorted() {
    let dir = folder(&[
        ("north.east.csv.gz", ""),
        ("bank.parquet", ""),
        ("alpha.csv", ""),
        (".hidden", ""),
        ("README.md", ""),
        ("README", ""),
    ]);
    let clients = read_folder(dir.path()).unwrap();
    let ids: Vec<&str> = clients.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["alpha", "bank", "north.east"]);
    assert!(clients[2].1.ends_with("north.east.csv.gz"));
}

#[test]
fn rejects_a_folder_with_other_files() {
    let fails = |dir: &Path, parts: &[&str]| {
        let text = read_folder(dir).unwrap_err().to_string();
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
    };
    fails(folder(&[("a.csv", ""), ("notes.txt", "")]).path(), &["notes.txt", "does not belong"]);
    fails(
        folder(&[("a.csv", ""), ("a.parquet", "")]).path(),
        &["client `a`", "a.csv", "a.parquet"],
    );
    fails(folder(&[("README.md", "")]).path(), &["contains no clients"]);
    fails(Path::new("nowhere/at/all"), &["nowhere/at/all", "cannot be read"]);
    let nested = folder(&[("a.csv", "")]);
    std::fs::create_dir(nested.path().join("b.csv")).unwrap();
    fails(nested.path(), &["b.csv", "does not belong"]);
}
