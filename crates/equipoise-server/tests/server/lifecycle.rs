//! A round from open to published, failed or aborted.

use std::collections::BTreeSet;
use std::sync::Arc;

use equipoise_core::{About, Fairness, NoopObserver, Settings, WarningCode};
use equipoise_data::{Model, load_round, outcome};
use equipoise_report::defend::defend;
use equipoise_server::Limits;
use equipoise_server::protocol::{PublicKey, Refusal, RoundState};
use equipoise_server::store::RealDisk;
use equipoise_server::validator::{ClientKey, InProcess, Job, Pending, Restriction, Validator};
use equipoise_server::verification::{CheckResult, Trusted, verify};
use jiff::Timestamp;
use tokio::sync::Notify;

use crate::forger::Files;
use crate::forgeries::published_files;
use crate::world::{CLIENTS, Server, World, key, name, proxy, scaled, schema};

async fn published(server: &Server) -> Files {
    published_files(server, "spring").await
}

fn problems(files: &Files, trusted: &Trusted) -> Vec<String> {
    let checks = verify(files, trusted, None).unwrap().checks;
    let failed = checks.into_iter().filter(|check| check.result != CheckResult::Holds);
    failed.map(|check| check.claim).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_roster_closes_the_round_and_gives_the_model_of_defend() {
    let world = World::new();
    let server = world.start();
    let hidden = server.get("/v1/rounds/spring/files/model.json").await;
    assert_eq!((hidden.status, hidden.json["code"].as_str()), (404, Some("not_published")));
    for (i, client) in CLIENTS.iter().enumerate().rev() {
        assert_eq!(server.submit(client, proxy(i as u64)).await.status, 201);
    }
    assert_eq!(server.wait(), RoundState::Published);
    let files = published(&server).await;

    let proxies = world.dir.path().join("proxies");
    std::fs::create_dir(&proxies).unwrap();
    for (i, client) in CLIENTS.iter().enumerate() {
        std::fs::write(proxies.join(format!("{client}.csv")), proxy(i as u64)).unwrap();
    }
    let loaded = load_round(&proxies, &world.dir.path().join("roots"), &schema()).unwrap();
    let settings = Settings::new(Fairness::SP).validate().unwrap();
    let mut own = defend(&schema(), &loaded, &settings, &mut NoopObserver).unwrap();
    own.about = About {
        round: Some("spring".to_owned()),
        run_by: Some("https://round.example.org".to_owned()),
        date: None,
    };
    let model = Model::of(&own, &schema()).unwrap();
    assert_eq!(String::from_utf8_lossy(&files["model.json"]), model.to_json());
    let outcome = String::from_utf8_lossy(&files["outcome.json"]).into_owned();
    let outcome = outcome::from_json(&outcome, "outcome.json".as_ref()).unwrap();
    assert_eq!(outcome, own);
    assert_eq!(outcome.overlaps, [], "random proxies have no notable overlap");

    let trusted = Trusted { server_key: Some(server.store.key().public()), ..Trusted::default() };
    assert_eq!(problems(&files, &trusted), Vec::<String>::new());
    let other: PublicKey = key("east").public();
    let trusted = Trusted { server_key: Some(other), ..Trusted::default() };
    assert_eq!(problems(&files, &trusted), ["the statement is signed with the key you trust"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_copied_rows_are_published_and_the_outcome_is_reproducible() {
    let mut published_twice = Vec::new();
    for _ in 0..2 {
        let world = World::new();
        let server = world.start();
        // Not the same table: 30 of 40 rows are copied.
        let (north, own) = (proxy(1), proxy(7));
        let copied = north.lines().take(31).chain(own.lines().skip(31));
        let copied = copied.collect::<Vec<_>>().join("\n") + "\n";
        assert_eq!(server.submit("east", proxy(0)).await.status, 201);
        assert_eq!(server.submit("north", north).await.status, 201);
        assert_eq!(server.submit("south", copied).await.status, 201);
        assert_eq!(server.wait(), RoundState::Published);
        let files = published(&server).await;
        let outcome = String::from_utf8(files["outcome.json"].clone()).unwrap();
        let outcome = outcome::from_json(&outcome, "outcome.json".as_ref()).unwrap();
        let [overlap] = &outcome.overlaps[..] else { panic!("{:?}", outcome.overlaps) };
        assert_eq!(overlap.clients, ["north", "south"]);
        assert_eq!((overlap.shared_rows, overlap.share, overlap.estimated), (30, 0.75, false));
        assert!(String::from_utf8_lossy(&files["report.html"]).contains("north and south"));
        published_twice.push((files["outcome.json"].clone(), files["report.html"].clone()));
    }
    assert_eq!(published_twice[0], published_twice[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn any_changed_byte_in_published_files_is_detected() {
    let world = World::new();
    let server = world.start();
    for (i, client) in CLIENTS.iter().enumerate() {
        server.submit(client, proxy(i as u64)).await;
    }
    assert_eq!(server.wait(), RoundState::Published);
    let files = published(&server).await;
    for name in files.keys() {
        let content = &files[name];
        for at in (0..content.len()).step_by(content.len() / scaled(8, 200) + 1) {
            let mut changed = files.clone();
            changed.get_mut(name).unwrap()[at] ^= 1;
            let trusted =
                Trusted { server_key: Some(server.store.key().public()), ..Trusted::default() };
            assert!(!problems(&changed, &trusted).is_empty(), "{name}, byte {at}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_requires_the_minimum_and_names_absent_clients() {
    let world = World::new();
    let server = world.start();
    assert_eq!(server.submit("east", proxy(1)).await.status, 201);
    let few = server.post("close", &world.token).await;
    assert_eq!((few.status, few.json["code"].as_str()), (409, Some("too_few_submissions")));
    assert_eq!(server.submit("north", proxy(2)).await.status, 201);
    assert_eq!(server.post("close", &world.token).await.status, 200);
    assert_eq!(server.wait(), RoundState::Published);
    let files = published(&server).await;
    let outcome = String::from_utf8(files["outcome.json"].clone()).unwrap();
    let outcome = outcome::from_json(&outcome, "outcome.json".as_ref()).unwrap();
    assert_eq!(outcome.clients.len(), 2);
    let code = WarningCode::NoSubmission;
    let absent: Vec<_> = outcome.warnings.iter().filter(|w| w.code == code).collect();
    assert_eq!(absent[0].client.as_deref(), Some("south"));
    assert!(String::from_utf8_lossy(&files["report.html"]).contains("did not submit"));
    assert_eq!(problems(&files, &Trusted::default()), Vec::<String>::new());
    let again = server.post("close", &world.token).await;
    assert_eq!((again.status, again.json["code"].as_str()), (409, Some("not_possible")));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_deadline_closes_or_fails_the_round() {
    // A fraction of a second is dropped, because the server's clock has none.
    let deadline = Timestamp::from_millisecond((1_800_000_000 + 3600) * 1000 + 500).unwrap();
    for n in [1, 2] {
        let world = World::with(|new| new.deadline = Some(deadline));
        let server = world.start();
        for (i, client) in CLIENTS.iter().take(n).enumerate() {
            assert_eq!(server.submit(client, proxy(i as u64)).await.status, 201);
        }
        world.clock.advance(3599);
        server.rounds.close_due_rounds().unwrap();
        assert_eq!(server.state(), RoundState::Open);
        world.clock.advance(1);
        let late = server.submit("south", proxy(9)).await;
        assert_eq!((late.status, late.json["code"].as_str()), (409, Some("too_late")));
        server.rounds.close_due_rounds().unwrap();
        let expected = if n == 1 { RoundState::Failed } else { RoundState::Published };
        assert_eq!(server.wait(), expected);
        let info = server.get("/v1/rounds/spring").await.json;
        assert_eq!(info["reason"].is_string(), n == 1, "{info}");
    }
}

/// A validator that waits until it is released.
#[derive(Default)]
struct SlowValidator {
    started: Notify,
    release: Arc<Notify>,
}

impl Validator for SlowValidator {
    fn validate(&self, job: Job) -> Pending {
        self.started.notify_one();
        let release = Arc::clone(&self.release);
        Box::pin(async move {
            release.notified().await;
            InProcess.validate(job).await
        })
    }

    fn admit(&self, _: &ClientKey) -> Result<(), Refusal> {
        Ok(())
    }

    fn self_test(&self) -> Result<Vec<Restriction>, String> {
        Ok(Vec::new())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_arrived_before_the_deadline_is_accepted_after_it() {
    let deadline = Timestamp::from_second(1_800_000_000 + 3600).unwrap();
    let world = World::with(|new| {
        new.deadline = Some(deadline);
        new.minimum = 1;
    });
    let validator = Arc::new(SlowValidator::default());
    let server =
        world.start_with_validator(Arc::new(RealDisk), Limits::default(), validator.clone());
    let server = Arc::new(server);
    world.clock.advance(3599);
    let upload = tokio::spawn({
        let server = Arc::clone(&server);
        async move { server.submit("north", proxy(1)).await }
    });
    validator.started.notified().await;
    world.clock.advance(2);
    server.rounds.close_due_rounds().unwrap();
    assert_eq!(server.state(), RoundState::Open, "the round waits for the file");
    let late = server.submit("south", proxy(9)).await;
    assert_eq!((late.status, late.json["code"].as_str()), (409, Some("too_late")));
    validator.release.notify_one();
    let accepted = upload.await.unwrap();
    assert_eq!(accepted.status, 201, "{}", accepted.json);
    server.rounds.close_due_rounds().unwrap();
    assert_eq!(server.wait(), RoundState::Published);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_aborted_round_accepts_and_publishes_nothing() {
    let world = World::new();
    let server = world.start();
    assert_eq!(server.post("abort", &world.token).await.status, 200);
    assert_eq!(server.submit("east", proxy(1)).await.status, 409);
    assert_eq!(server.state(), RoundState::Aborted);
    drop(server);
    assert_eq!(world.start().state(), RoundState::Aborted);
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_racing_a_close_are_listed_or_refused() {
    for run in 0..scaled(4, 20) {
        let clients: Vec<String> = (0..scaled(12, 300)).map(|i| format!("client-{i:03}")).collect();
        let world = World::with(|_| {});
        let roots = world.dir.path().join("roots");
        let text = std::fs::read_to_string(roots.join("east.csv")).unwrap();
        for client in &clients {
            std::fs::write(roots.join(format!("{client}.csv")), &text).unwrap();
        }
        let keys: Vec<_> =
            clients.iter().enumerate().map(|(i, client)| numbered(client, i)).collect();
        let token = world.add_round("race", |new| {
            new.roster = keys.iter().map(|key| key.public()).collect();
            new.minimum = 1;
        });
        let server = Arc::new(world.start());
        let mut tasks = Vec::new();
        for (i, key) in keys.iter().enumerate() {
            let (server, key) = (Arc::clone(&server), key.clone());
            tasks.push(tokio::spawn(async move {
                let body = proxy(i as u64).into_bytes();
                let mut manifest = crate::world::manifest(key.name().as_str(), &body);
                manifest.round = name("race");
                let answer = server.send(crate::world::request(&manifest, &key, body)).await;
                (key.name().to_string(), answer.status)
            }));
        }
        let close = async {
            loop {
                tokio::time::sleep(std::time::Duration::from_millis(5 + run as u64 * 3)).await;
                let request = axum::http::Request::post("/v1/rounds/race/close")
                    .header("authorization", format!("Bearer {token}"));
                let answer = server.send(request.body(axum::body::Body::empty()).unwrap()).await;
                if answer.json["code"] != "too_few_submissions" {
                    break;
                }
            }
        };
        close.await;
        let mut accepted = BTreeSet::new();
        for task in tasks {
            let (client, status) = task.await.unwrap();
            assert!(status == 201 || status == 409 || status == 503, "{status}");
            if status == 201 {
                accepted.insert(client);
            }
        }
        let list = server.store.submission_list(&name("race")).unwrap();
        let listed: BTreeSet<String> =
            list.submissions.iter().map(|s| s.client.to_string()).collect();
        assert_eq!(listed, accepted);
    }
}

fn numbered(client: &str, i: usize) -> equipoise_server::protocol::PrivateKey {
    let mut seed = [9; 32];
    seed[0] = i as u8;
    seed[1] = (i / 256) as u8;
    equipoise_server::protocol::PrivateKey::from_seed(name(client), seed)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_resumes_the_round_in_any_state() {
    let world = World::new();
    let server = world.start();
    let first = server.submit("east", proxy(1)).await;
    drop(server);
    let server = world.start();
    let again = server.submit("east", proxy(1)).await;
    assert_eq!((again.status, &again.json), (200, &first.json));
    server.submit("north", proxy(2)).await;
    // Left in state solving by a process that ended there.
    server
        .store
        .close_round(&name("spring"), equipoise_server::store::CloseReason::Command)
        .unwrap();
    server.store.begin_solving(&name("spring")).unwrap();
    drop(server);
    let server = world.start();
    assert_eq!(server.wait(), RoundState::Published);
    let files = published(&server).await;
    drop(server);
    let server = world.start();
    assert_eq!(published(&server).await, files);
}
