#![allow(clippy::unwrap_used)]

use super::*;

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_folder_appears_only_at_the_commit() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("out");
    let folder = OutputFolder::create(&target, false).unwrap();
    fs::write(folder.path().join("outcome.json"), "{}").unwrap();
    assert!(!target.exists());
    assert_eq!(folder.commit().unwrap(), target);
    assert_eq!(names(&target), ["outcome.json"]);
    assert_eq!(names(dir.path()), ["out"]);
}

#[test]
fn leaves_nothing_without_a_commit() {
    let dir = tempfile::tempdir().unwrap();
    let folder = OutputFolder::create(&dir.path().join("out"), false).unwrap();
    fs::write(folder.path().join("outcome.json"), "{}").unwrap();
    drop(folder);
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn replaces_our_own_folder_with_force_and_only_at_the_commit() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("out");
    fs::create_dir(&target).unwrap();
    let text = OutputFolder::create(&target, false).unwrap_err().to_string();
    assert!(text.contains("out") && text.contains("--force"), "{text}");

    fs::write(target.join("demo.json"), "old").unwrap();
    fs::create_dir(target.join("proxies")).unwrap();
    fs::create_dir(target.join("pooled")).unwrap();
    let folder = OutputFolder::create(&target, true).unwrap();
    fs::write(folder.path().join("outcome.json"), "new").unwrap();
    assert_eq!(names(&target), ["demo.json", "pooled", "proxies"]);
    drop(folder);
    assert_eq!(names(&target), ["demo.json", "pooled", "proxies"]);

    let folder = OutputFolder::create(&target, true).unwrap();
    fs::write(folder.path().join("outcome.json"), "new").unwrap();
    folder.commit().unwrap();
    assert_eq!(names(&target), ["outcome.json"]);
    assert_eq!(names(dir.path()), ["out"]);
}

#[test]
fn replaces_an_empty_folder() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("out");
    fs::create_dir(&target).unwrap();
    let folder = OutputFolder::create(&target, true).unwrap();
    fs::write(folder.path().join("a"), "").unwrap();
    folder.commit().unwrap();
    assert_eq!(names(&target), ["a"]);
}

#[test]
fn never_replaces_other_peoples_work() {
    let dir = tempfile::tempdir().unwrap();
    let refuses = |path: &Path| {
        let text = OutputFolder::create(path, true).unwrap_err().to_string();
        assert!(text.contains("is not replaced, even with --force"), "{text}");
    };
    let thesis = dir.path().join("work");
    fs::create_dir(&thesis).unwrap();
    fs::write(thesis.join("thesis.tex"), "").unwrap();
    refuses(&thesis);
    // Our own names next to another file, and a project that only looks like a round.
    let outcome = dir.path().join("outcome");
    fs::create_dir(&outcome).unwrap();
    fs::write(outcome.join("outcome.json"), "").unwrap();
    fs::write(outcome.join("notes.txt"), "").unwrap();
    refuses(&outcome);
    let project = dir.path().join("project");
    fs::create_dir_all(project.join("proxies")).unwrap();
    fs::write(project.join("schema.toml"), "").unwrap();
    refuses(&project);
    let repository = dir.path().join("repository");
    fs::create_dir_all(repository.join(".git")).unwrap();
    fs::write(repository.join("schema.toml"), "").unwrap();
    refuses(&repository);
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    refuses(&file);
    refuses(Path::new("."));
    refuses(Path::new(".."));
    refuses(Path::new("/"));
    #[cfg(unix)]
    {
        let ours = dir.path().join("ours");
        fs::create_dir(&ours).unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&ours, &link).unwrap();
        refuses(&link);
    }
}

#[test]
fn does_not_replace_what_appeared_in_the_meantime() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("out");
    let folder = OutputFolder::create(&target, false).unwrap();
    fs::create_dir(&target).unwrap();
    assert!(matches!(folder.commit(), Err(Error::Exists { .. })));
    assert_eq!(names(dir.path()), ["out"]);

    let folder = OutputFolder::create(&target, true).unwrap();
    fs::write(target.join("thesis.tex"), "").unwrap();
    assert!(matches!(folder.commit(), Err(Error::NotOurFolder { .. })));
    assert_eq!(names(&target), ["thesis.tex"]);
    assert_eq!(names(dir.path()), ["out"]);
}

#[test]
fn the_parent_folder_must_exist() {
    let dir = tempfile::tempdir().unwrap();
    let text = OutputFolder::create(&dir.path().join("no/out"), false).unwrap_err().to_string();
    assert!(text.contains("no does not exist"), "{text}");
}
