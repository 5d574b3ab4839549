//! Published folders and logs that someone has changed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use equipoise_data::Digest;
use equipoise_round::{Document, Event, Kind, Log, Order, Refusal, Statement, verify};

use crate::world::{World, key, name, time};

fn problem(world: &World, folder: &Path) -> String {
    match verify(folder, &world.coordinator.public().fingerprint(), &[]) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn every_change_of_a_published_folder_is_found() {
    let world = World::new(false);
    let (mut round, closed) = world.closed("spring.round");
    let folder = world.publish(&mut round, closed, 200);
    assert_eq!(problem(&world, &folder), "");
    for file in ["invitation", "log.jsonl", "statement", "model.json", "outcome.json"] {
        let path = folder.join(file);
        let bytes = fs::read(&path).unwrap();
        for at in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            fs::write(&path, changed).unwrap();
            assert!(problem(&world, &folder).contains(file), "{file}, byte {at}");
        }
        fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        assert!(problem(&world, &folder).contains(file), "{file} cut off");
        fs::remove_file(&path).unwrap();
        assert!(problem(&world, &folder).contains("is missing"), "{file} removed");
        fs::write(&path, bytes).unwrap();
    }
    assert_eq!(problem(&world, &folder), "");
}

#[test]
fn anything_else_in_a_published_folder_is_found_at_once() {
    let world = World::new(false);
    let (mut round, closed) = world.closed("spring.round");
    let folder = world.publish(&mut round, closed, 200);
    let extra = folder.join("extra");
    let case = |remove: &dyn Fn()| {
        let found = problem(&world, &folder);
        remove();
        found
    };
    let remove_file = || fs::remove_file(&extra).unwrap();
    fs::write(&extra, "x").unwrap();
    assert!(case(&remove_file).contains("not in the statement"));
    // Opening a pipe would wait for a writer, and reading a device would never end.
    assert!(Command::new("mkfifo").arg(&extra).status().unwrap().success());
    assert!(case(&remove_file).contains("not a regular file"));
    symlink("/dev/zero", &extra).unwrap();
    assert!(case(&remove_file).contains("not a regular file"));
    fs::create_dir(&extra).unwrap();
    assert!(case(&|| fs::remove_dir(&extra).unwrap()).contains("not a regular file"));
    let model = folder.join("model.json");
    let bytes = fs::read(&model).unwrap();
    fs::remove_file(&model).unwrap();
    assert!(Command::new("mkfifo").arg(&model).status().unwrap().success());
    assert!(problem(&world, &folder).contains("not a regular file"));
    fs::remove_file(&model).unwrap();
    fs::write(&model, bytes).unwrap();
    let other = key("north").public().fingerprint();
    assert!(verify(&folder, &other, &[]).is_err());
    // A genuine receipt of an event that is not in the log.
    let fork = World::new(false);
    let path = world.path("other.receipt");
    let receipt = fork.closed("fork.round").1.to_string();
    fs::write(&path, receipt).unwrap();
    let receipts = [path];
    assert!(verify(&folder, &world.coordinator.public().fingerprint(), &receipts).is_err());
}

/// The lines of a log again, each with the digest of the one before.
fn chained(lines: &[Event]) -> Vec<String> {
    let mut previous = Digest::ZERO;
    let mut seq = 0;
    let chain = |event: &Event| {
        seq += 1;
        let line = serde_json::to_string(&Event { seq, previous, ..event.clone() }).unwrap();
        previous = Digest::of(line.as_bytes());
        line
    };
    lines.iter().map(chain).collect()
}

#[test]
fn a_log_that_is_chained_anew_breaks_a_rule_or_the_statement() {
    let world = World::new(false);
    let (mut round, closed) = world.closed("spring.round");
    world.publish(&mut round, closed.clone(), 200);
    let lines = round.lines(1).unwrap();
    let events: Vec<Event> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(chained(&events), lines);
    let replay = |events: &[Event]| Log::replay(&chained(events)).map(|_| ()).unwrap_err();
    let without = |at: usize| {
        let mut events = events.clone();
        events.remove(at);
        replay(&events).to_string()
    };
    assert!(without(0).contains("event 1 of the log"));
    assert!(without(3).contains("cannot close before its deadline"), "{}", without(3));
    assert!(without(6).contains("publishing is not possible"), "{}", without(6));
    let mut swapped = events.clone();
    swapped.swap(2, 3);
    assert!(replay(&swapped).to_string().contains("before that of the last event"));
    let mut twice = events.clone();
    twice.insert(3, events[2].clone());
    assert!(replay(&twice).to_string().contains("already delivered"));
    let mut earlier = events.clone();
    earlier[7].at = time(1);
    assert!(replay(&earlier).to_string().contains("before that of the last event"));
    let mut touched = events.clone();
    touched[6].at = time(150);
    assert!(replay(&touched).to_string().contains("continues another log"));
    // A revocation slipped in before the end changes the head that the statement names.
    let order = Order::Revoke { client: name("north"), reason: "x".into() };
    let mut slipped = events.clone();
    slipped.insert(7, Event { document: world.order(&order), ..events[7].clone() });
    assert!(replay(&slipped).to_string().contains("continues another log"));
}

#[test]
fn a_statement_must_follow_from_the_log() {
    let world = World::new(false);
    let (mut round, closed) = world.closed("spring.round");
    let honest = Statement {
        head: round.log().head(),
        closed,
        files: Default::default(),
        submissions: round.log().sealed_digests(),
    };
    let sign = |statement: &Statement| {
        Document::sign(Kind::Statement, world.invitation.digest, statement, &world.coordinator)
    };
    let case = |change: &dyn Fn(&mut Statement)| {
        let mut forged = honest.clone();
        change(&mut forged);
        round.log().next_line(sign(&forged), time(200)).unwrap_err().to_string()
    };
    assert!(case(&|s| s.head = Digest::ZERO).contains("another log"));
    let leave_out = |s: &mut Statement| _ = s.submissions.remove(&name("north"));
    assert!(case(&leave_out).contains("files that count"));
    let forge_content = |s: &mut Statement| {
        s.submissions.get_mut(&name("north")).unwrap().content = Digest::ZERO;
    };
    assert!(case(&forge_content).contains("files that count"));
    let receipt = round.receipt(3, &world.coordinator).unwrap();
    assert!(case(&|s| s.closed = receipt.clone()).contains("not of the event that closed"));
    let file = equipoise_round::order::FileDigest { length: 1, sha256: Digest::ZERO };
    for bad in ["../model.json", "log.jsonl", "statement", "", "a/b"] {
        let found = case(&|s| _ = s.files.insert(bad.to_owned(), file));
        assert!(found.contains("name that is not allowed"), "{bad}: {found}");
    }
    let by_client =
        Document::sign(Kind::Statement, world.invitation.digest, &honest, &key("north"));
    let refused = round.log().next_line(by_client, time(200)).unwrap_err();
    assert_eq!(refused, Refusal::BadSignature("statement"));
    round.append(sign(&honest), Vec::new(), time(200), &world.coordinator).unwrap();
    let again = round.log().next_line(sign(&honest), time(300)).unwrap_err();
    assert_eq!(again.code(), "not_possible");
}

#[test]
fn an_event_that_a_stranger_wrote_is_refused() {
    let world = World::new(false);
    let round = world.create("spring.round");
    let order = Order::Abort { reason: "because".into() };
    let forged = order.sign(&world.invitation, &key("north"));
    let refused = round.log().next_line(forged, time(10)).unwrap_err();
    assert_eq!(refused, Refusal::BadSignature("order"));
    let other = World::new(true);
    let refused = round.log().next_line(other.order(&order), time(10)).unwrap_err();
    assert_eq!(refused.code(), "other_round");
    let receipt = round.receipt(1, &world.coordinator).unwrap();
    assert_eq!(round.log().next_line(receipt, time(10)).unwrap_err().code(), "other_kind");
    let long = world.order(&Order::Abort { reason: "x".repeat(201) });
    assert_eq!(round.log().next_line(long, time(10)).unwrap_err(), Refusal::Reason);
}
