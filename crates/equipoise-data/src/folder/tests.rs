#![allow(clippy::unwrap_used)]

use tempfile::TempDir;

use super::*;
use crate::table::open_table;

fn schema() -> Schema {
    let text = r#"
        version = 1
        intercept = false
        label = { column = "pass", positive = "1" }
        sensitive = { column = "race", privileged = "White" }
        feature = [{ column = "lsat", kind = "numeric", center = 1, scale = 2 }]"#;
    Schema::from_toml(text, Path::new("schema.toml")).unwrap()
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(dir.path().join(name), content).unwrap();
    }
    dir
}

const RAW: &str = "lsat,race,pass\n3,White,1\n5,Black,0\n";

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

fn tables(dir: &Path) -> impl Iterator<Item = Result<(String, Table), Error>> {
    let files = read_folder(dir).unwrap().into_iter();
    files.map(|(id, path)| Ok((id, open_table(&path)?)))
}

#[test]
fn roots_are_encoded_and_warnings_name_the_client() {
    let dir = folder(&[("b.csv", RAW), ("a.csv", "lsat,race,pass\n3,Black,0\n")]);
    let roots = read_roots(tables(dir.path()), &schema()).unwrap();
    assert_eq!(roots.iter().map(|c| c.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(roots[1].rows.values(), [1.0, 1.0, 2.0, 0.0]);
    assert_eq!(roots[1].warnings, []);
    let text: Vec<String> = roots[0].warnings.iter().map(Warning::to_string).collect();
    assert_eq!(text.len(), 2);
    assert!(text[0].starts_with("client `a` ("), "{}", text[0]);
    assert!(text[0].contains("negative label") && text[1].contains("`race ≠ White`"), "{text:?}");
    let bad = folder(&[("a.csv", RAW), ("b.csv", "lsat,race,pass\n")]);
    let text = read_roots(tables(bad.path()), &schema()).unwrap_err().to_string();
    assert!(text.contains("b.csv") && text.contains("A root needs"), "{text}");
}

#[test]
fn proxies_are_matched_with_roots() {
    let of = |ids: &[&str]| -> Vec<(String, PathBuf)> {
        ids.iter().map(|id| (id.to_string(), PathBuf::from(id))).collect()
    };
    let text = match_clients(&of(&["a", "c"]), &of(&["a", "b"])).unwrap_err().to_string();
    assert!(text.contains("Without a root: `c`."), "{text}");
    assert!(text.contains("Without a proxy: `b`."), "{text}");
    assert!(match_clients(&of(&["a", "b"]), &of(&["a", "b"])).is_ok());
    let text = match_clients(&of(&["a"]), &of(&["a", "b"])).unwrap_err().to_string();
    assert!(!text.contains("Without a root"), "{text}");
}
