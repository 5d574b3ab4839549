//! Listing datasets, and downloading them from a loopback server that may misbehave.

use std::path::{Path, PathBuf};

use equipoise_lab::DATASETS;

use crate::https_server::{HttpsServer, Reply};
use crate::world::World;

/// The paper's datasets, if available.
fn datasets() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    folder.exists().then_some(folder)
}

/// A world with the server's certificate in `server.pem`, and a server that gives this reply for `/a.csv`.
fn world_with(reply: Reply) -> (World, HttpsServer) {
    let (world, server) = (World::new(), HttpsServer::start());
    server.write_certificate(&world.path("server.pem"));
    server.answer("/a.csv", reply);
    (world, server)
}

/// The command that fetches law-school from `/a.csv`.
fn fetch(server: &HttpsServer, more: &str) -> String {
    format!("data fetch law-school --url {} {more}", server.url("/a.csv"))
}

#[test]
fn list_prints_every_property_of_each_dataset() {
    let world = World::new();
    let text = world.run("data list").expect(0).stdout;
    let document = world.run("data list --json").expect(0).json();
    for (dataset, entry) in DATASETS.iter().zip(document["datasets"].as_array().unwrap()) {
        for (key, value) in [
            ("name", dataset.name),
            ("file", dataset.file),
            ("sha256", dataset.sha256),
            ("home", dataset.home),
        ] {
            assert!(text.contains(value), "no {value} in {text}");
            assert_eq!(entry[key], value);
        }
        assert_eq!(entry["rows"], dataset.rows);
        assert_eq!(entry["label"]["column"], dataset.label.0);
        assert_eq!(entry["sensitive"]["value"], dataset.sensitive.1);
        assert!(text.contains(&dataset.rows.to_string()), "{text}");
        assert!(dataset.home.starts_with("https://"));
    }
    assert!(text.contains("race = White"), "{text}");
}

#[test]
fn a_dataset_is_downloaded_only_once() {
    let Some(folder) = datasets() else {
        println!("SKIPPED: ../shared/data does not exist");
        return;
    };
    for dataset in DATASETS {
        let content = std::fs::read(folder.join(dataset.file)).unwrap();
        // One line per row, and a header.
        assert_eq!(content.iter().filter(|&&byte| byte == b'\n').count(), dataset.rows + 1);
        let bytes = content.len();
        let (world, server) = world_with(Reply::Redirect("/moved.csv".to_owned()));
        server.answer("/moved.csv", Reply::Content(content));
        let (name, url) = (dataset.name, server.url("/a.csv"));
        let fetch = format!("data fetch {name} --url {url} --ca-file server.pem");

        let run = world.run(&fetch).expect(0);
        assert!(run.stdout.contains("downloaded") && run.stderr.is_empty(), "{}", run.stdout);
        let again = world.run(&fetch).expect(0).stdout;
        assert!(again.contains("already there"), "{again}");
        let document = world.run(&format!("{fetch} --to other/ --json")).expect(0).json();
        let entry = &document["files"][0];
        assert_eq!(document["files"].as_array().unwrap().len(), 1);
        assert_eq!(entry["name"], name);
        assert_eq!(entry["file"], format!("other/{}", dataset.file));
        assert_eq!(entry["sha256"], dataset.sha256);
        assert_eq!((&entry["bytes"], &entry["downloaded"]), (&bytes.into(), &true.into()));
        // Two downloads, each after a redirect.
        assert_eq!(server.requests(), 4);
        let fetched = std::fs::read(world.path("data").join(dataset.file)).unwrap();
        assert_eq!(fetched.len(), bytes);
    }
}

#[test]
fn fetch_all_checks_every_dataset() {
    let Some(folder) = datasets() else {
        println!("SKIPPED: ../shared/data does not exist");
        return;
    };
    let world = World::new();
    let folder = folder.to_str().unwrap();
    let document =
        world.run(&format!("data fetch all dutch --to {folder} --json")).expect(0).json();
    let files = document["files"].as_array().unwrap();
    assert_eq!(files.len(), DATASETS.len());
    assert!(files.iter().all(|file| file["downloaded"] == false), "{document}");
}

#[test]
fn refuses_a_file_that_is_not_the_dataset_and_leaves_nothing() {
    let digests =
        [DATASETS[0].sha256, "ae448ac86c4e8e4dec645729708ef41873ae79c6dff84eff73360989487f08e5"];
    let cases: [(Reply, &[&str]); 7] = [
        (Reply::Content(b"another".to_vec()), &digests),
        (
            Reply::Redirect("http://localhost/a.csv".to_owned()),
            &["only https:// URLs are allowed, not http://localhost/a.csv"],
        ),
        (Reply::Status(404), &["HTTP status 404"]),
        (Reply::Status(503), &["HTTP status 503"]),
        (Reply::Announce(1 << 40), &["larger than 64000000 bytes"]),
        (Reply::Endless, &["larger than 64000000 bytes"]),
        (Reply::Cut(b"half".to_vec()), &["the download stopped after 4 bytes"]),
    ];
    for (reply, says) in cases {
        let (world, server) = world_with(reply);
        let before = world.names();
        let url = server.url("/a.csv");
        let run = world.run(&fetch(&server, "--ca-file server.pem")).expect(2);
        assert_eq!(run.stdout, "");
        run.says(&["error: ", &url]).says(says);
        assert_eq!(world.names(), before);
    }
}

#[test]
fn refuses_an_untrusted_certificate_with_a_hint() {
    let (world, server) = world_with(Reply::Content(b"another".to_vec()));
    let before = world.names();
    let run = world.run(&fetch(&server, "--json")).expect(2);
    assert!(run.json()["hint"].as_str().unwrap().contains("--ca-file"), "{}", run.stdout);
    run.says(&["certificate is not trusted", "hint: ", "--ca-file"]);
    world.run(&fetch(&server, "--ca-file schema.toml")).expect(2).says(&["schema.toml", "PEM"]);
    assert_eq!(server.requests(), 0);
    assert_eq!(world.names(), before);
}

#[test]
fn does_not_overwrite_a_different_file() {
    let (world, server) = world_with(Reply::Content(b"another".to_vec()));
    std::fs::create_dir(world.path("data")).unwrap();
    world.write("data/law_school.csv", "mine");
    let run = world.run(&fetch(&server, "--ca-file server.pem")).expect(2);
    run.says(&["data/law_school.csv is a different file", DATASETS[0].sha256])
        .says(&["hint: ", "equipoise data fetch law-school --to data --force"]);
    assert_eq!(server.requests(), 0);
    // --force would replace it, but the server does not send the dataset either.
    world.run(&fetch(&server, "--ca-file server.pem --force")).expect(2).says(&["SHA-256"]);
    assert_eq!(world.read("data/law_school.csv"), "mine");
}

#[test]
fn refuses_contradictory_arguments() {
    let world = World::new();
    let before = world.names();
    let cases: [(&str, &[&str]); 8] = [
        ("", &["<NAME>"]),
        ("adult", &["adult", "law-school", "dutch", "all"]),
        ("all --url https://localhost/a.csv", &["--url", "one dataset"]),
        ("law-school dutch --url https://localhost/a.csv", &["--url", "one dataset"]),
        (
            "dutch --url http://localhost/a.csv",
            &["only https:// URLs are allowed, not http://localhost/a.csv"],
        ),
        ("dutch --to schema.toml --url https://localhost:1/a", &["schema.toml", "folder"]),
        ("dutch --to no/such --url https://localhost:1/a", &["no/such", "folder"]),
        ("dutch --url https://localhost:1/a", &["https://localhost:1/a", "refused"]),
    ];
    for (arguments, says) in cases {
        let run = world.run(&format!("data fetch {arguments}")).expect(2);
        assert_eq!(run.stdout, "", "{arguments}");
        run.says(&["error: "]).says(says);
        assert_eq!(world.names(), before, "{arguments}");
    }
}

#[test]
fn uses_the_proxy_from_the_environment() {
    let (world, server) = world_with(Reply::Content(b"another".to_vec()));
    let fetch = fetch(&server, "--ca-file server.pem");
    // Nothing listens on port 1.
    let proxy = ("HTTPS_PROXY", "http://user:secret@localhost:1");
    let refused = world.run_with(&fetch, &[proxy]).expect(2);
    assert!(!refused.stderr.contains("secret"), "{}", refused.stderr);
    refused.says(&["refused", "HTTPS_PROXY"]);
    assert_eq!(server.requests(), 0);
    world.run_with(&fetch, &[proxy, ("NO_PROXY", "localhost")]).expect(2).says(&["SHA-256"]);
    assert_eq!(server.requests(), 1);
}

#[test]
fn an_experiment_without_its_data_suggests_how_to_get_it() {
    let world = World::new();
    world.run("experiment --dataset dutch --data nowhere -o results").expect(2).says(&[
        "nowhere/dutch.csv",
        "hint: ",
        "equipoise data fetch dutch --to nowhere\n",
    ]);
    std::fs::create_dir(world.path("nowhere")).unwrap();
    world.write("nowhere/dutch.csv", "a,b\n1,2\n");
    world
        .run("experiment --dataset dutch --data nowhere -o results")
        .expect(2)
        .says(&["a different file", "equipoise data fetch dutch --to nowhere --force"]);
}
