//! Other statements, other versions, and files that two readers could read differently.

use equipoise_server::protocol::{Digest, EventKind, PROGRAM, Subject};
use equipoise_server::verification::{CheckResult, Trusted, verify};

use super::{Published, failures, rejected};
use crate::forger::Forger;
use crate::world::{key, name};

#[tokio::test(flavor = "multi_thread")]
async fn files_that_two_readers_could_read_differently_are_rejected() {
    let round = Published::new().await;
    type Change = fn(&str) -> String;
    let changes: [(&str, &str, Change, &[&str]); 12] = [
        (
            "a repeated key",
            "outcome.json",
            |t| t.replacen("\"theta\"", "\"rho\": 1.0,\n  \"theta\"", 1),
            &["outcome.json"],
        ),
        (
            "a repeated key",
            "spec.json",
            |t| t.replacen("{\"round\"", "{\"minimum\":1,\"round\"", 1),
            &["spec.json", "occurs twice"],
        ),
        (
            "a repeated key",
            "statement.json",
            |t| {
                t.replacen(
                    "\"audience\"",
                    "\"audience\": \"https://other.example\",\n \"audience\"",
                    1,
                )
            },
            &["statement.json", "occurs twice"],
        ),
        (
            "a repeated key",
            "settings.json",
            |t| t.replacen("\"lambda\"", "\"lambda\": 1.0,\n  \"lambda\"", 1),
            &["settings.json", "occurs twice"],
        ),
        (
            "an extra key",
            "spec.json",
            |t| t.replacen("{\"round\"", "{\"note\":1,\"round\"", 1),
            &["spec.json", "unknown field"],
        ),
        (
            "extra spaces",
            "submissions.json",
            |t| t.replacen("{", "{ ", 1),
            &["the one that the round was closed with"],
        ),
        (
            "extra spaces",
            "settings.json",
            |t| format!("{t} "),
            &["settings.json is written as the server writes it"],
        ),
        ("trailing data", "model.json", |t| format!("{t}{{}}"), &["model.json shows exactly"]),
        (
            "another line",
            "weights.csv",
            |t| format!("{t}south,0,0\n"),
            &["weights.csv shows exactly", "does not end after line"],
        ),
        (
            "a script",
            "report.html",
            |t| t.replacen("</body>", "<script>alert(1)</script></body>", 1),
            &["report.html shows exactly"],
        ),
        (
            "NaN",
            "outcome.json",
            |t| t.replacen("\"rho\": 10000.0", "\"rho\": NaN", 1),
            &["outcome.json is readable"],
        ),
        (
            "infinity",
            "outcome.json",
            |t| t.replacen("\"rho\": 10000.0", "\"rho\": 1e999", 1),
            &["outcome.json is readable"],
        ),
    ];
    for (what, file, change, parts) in changes {
        let mut forger = round.forger();
        forger.replace(file, change);
        let files = if file == "spec.json" { forger.rewrite() } else { forger.republish() };
        rejected(&round.verify(&files), &format!("{what} in {file}"), parts);
    }
    let mut files = round.files.clone();
    let log = files.get_mut("audit.jsonl").unwrap();
    let text = String::from_utf8(log.clone()).unwrap();
    // The last line is not linked by another one, and its signature is over its digest, so sign it again.
    let line = text.lines().last().unwrap();
    let changed = line.replacen('{', "{\"note\":\"x\",", 1);
    *log = text.replace(line, &changed).into_bytes();
    let mut head = round.forger().head.head;
    head.chain_head = Digest::of(changed.as_bytes());
    let head = serde_json::to_vec(&head.sign(&round.key)).unwrap();
    files.insert("audit-head.json".into(), head);
    let parts = ["audit.jsonl is readable", "not in the form in which the server writes events"];
    rejected(&round.verify(&files), "an extra key in an event", &parts);
}

#[tokio::test(flavor = "multi_thread")]
async fn other_statements_are_rejected_and_another_version_is_undecided() {
    let round = Published::new().await;
    let mut forger = round.forger();
    forger.statement.statement.subjects.retain(|subject| subject.name != "spec.json");
    let parts = ["lists exactly the files of a published round"];
    rejected(&round.verify(&forger.republish()), "a statement without spec.json", &parts);
    let mut forger = round.forger();
    let extra = Subject { name: "extra.json".into(), sha256: Digest::of(b"") };
    forger.statement.statement.subjects.push(extra);
    rejected(&round.verify(&forger.republish()), "a statement about another file", &parts);
    let mut forger = round.forger();
    forger.statement.statement.round = name("autumn");
    forger.head.head.round = name("autumn");
    let parts = ["are for the same round", "the specification is for round `spring`"];
    rejected(&round.verify(&forger.republish()), "the statement of another round", &parts);
    let mut forger = round.forger();
    forger.statement.statement.audience = "https://other.example".into();
    let parts = ["are for the same round", "the statement for https://other.example"];
    rejected(&round.verify(&forger.republish()), "the statement of another server", &parts);
    // A complete set of files, but of another round than the user asked for.
    let trusted = Trusted { round: Some(name("autumn")), ..round.trusted() };
    let parts = ["the statement is for round `autumn`", "it is for round `spring`"];
    rejected(&verify(&round.files, &trusted, None).unwrap(), "another round's files", &parts);
    let mut forger = Forger::new(&round.files, key("east"));
    forger.outcome.theta[0] += 1.0;
    let parts = ["the statement is signed with the key you trust"];
    rejected(&round.verify(&forger.republish()), "a statement by somebody else", &parts);

    // A version that does not exist hides no forgery: the check is undecided, and nothing is verified.
    let mut forger = round.forger();
    forger.statement.statement.program = "equipoise 9.9.9".into();
    let honest = round.verify(&forger.clone().republish());
    assert!(honest.is_verified(), "the same bytes are fine, whichever version wrote them");
    forger.replace("report.html", |page| page.replacen("Accuracy", "Perfect accuracy", 1));
    let verification = round.verify(&forger.republish());
    assert!(!verification.is_verified());
    assert_eq!(failures(&verification), Vec::<String>::new());
    let undecided =
        verification.checks.iter().find(|check| check.result == CheckResult::Undecided).unwrap();
    assert!(undecided.claim.starts_with("report.html"), "{undecided:?}");
    assert!(undecided.detail.contains("Verify it with equipoise 9.9.9"), "{undecided:?}");
    assert!(verification.conclusion().contains("could not be decided"));
    let mut forger = round.forger();
    forger.statement.statement.program = "equipoise 9.9.9".into();
    forger.replace("spec.json", |text| text.replacen("{\"round\"", "{\"new\":1,\"round\"", 1));
    let verification = round.verify(&forger.rewrite());
    assert!(!verification.is_verified());
    assert_eq!(failures(&verification), Vec::<String>::new(), "a newer format is not a forgery");
    assert!(verification.checks.iter().any(|check| check.result == CheckResult::Undecided
        && check.claim == "spec.json is readable"
        && check.detail.contains("Verify it with equipoise 9.9.9")));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_canonical_table_of_another_version_is_undecided() {
    let round = Published::new().await;
    let north = |kind: &mut EventKind, change: &dyn Fn(&mut Digest, &mut u64)| match kind {
        EventKind::Accepted { client, canonical_sha256, rows, .. } if *client == name("north") => {
            change(canonical_sha256, rows);
        }
        _ => {}
    };
    let claim = "the solver read exactly the rows that `north` submitted";
    let submitted = vec![round.submitted.clone()];
    let trusted = Trusted { submitted, ..round.trusted() };
    let result = |program: &str, change: &dyn Fn(&mut Digest, &mut u64)| {
        let mut forger = round.forger();
        forger.statement.statement.program = program.into();
        forger.events.iter_mut().for_each(|event| north(&mut event.kind, change));
        let verification = verify(&forger.rewrite(), &trusted, None).unwrap();
        assert!(!verification.is_verified());
        verification.checks.into_iter().find(|check| check.claim == claim).unwrap()
    };
    let other_bytes = |digest: &mut Digest, _: &mut u64| *digest = Digest::of(b"other bytes");
    let check = result("equipoise 9.9.9", &other_bytes);
    assert_eq!(check.result, CheckResult::Undecided, "{check:?}");
    assert!(check.detail.contains("equipoise 9.9.9"), "{check:?}");
    assert_eq!(result(PROGRAM, &other_bytes).result, CheckResult::Fails);
    // A row is a row in every version.
    let more_rows = |digest: &mut Digest, rows: &mut u64| {
        *digest = Digest::of(b"other bytes");
        *rows += 1;
    };
    let check = result("equipoise 9.9.9", &more_rows);
    assert_eq!(check.result, CheckResult::Fails, "{check:?}");
    assert!(check.detail.contains("it has 40 rows, not 41"), "{check:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_beyond_the_limits_of_the_round_are_rejected() {
    let round = Published::new().await;
    let mut forger = round.forger();
    // 40 rows of 3 cells.
    forger.spec.limits.decoded_bytes = 40 * 3 * 8 - 1;
    let parts = ["the table of `east` has the recorded rows", "959"];
    rejected(&round.solve(&forger.rewrite()), "more bytes than the limit", &parts);
    let mut forger = round.forger();
    forger.spec.limits.columns = 2;
    let parts = ["the table of `east` has the recorded rows", "at most 2"];
    rejected(&round.solve(&forger.rewrite()), "more columns than the limit", &parts);
}
