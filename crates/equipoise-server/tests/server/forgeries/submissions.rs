//! Submissions dropped, swapped or altered.

use equipoise_core::WarningCode;
use equipoise_server::protocol::{Digest, EventKind};
use equipoise_server::verification::{Trusted, verify};

use super::{Published, needs_solve, rejected};
use crate::forger::Forger;
use crate::world::name;

#[tokio::test(flavor = "multi_thread")]
async fn dropped_swapped_and_altered_submissions_are_rejected() {
    let round = Published::new().await;
    let drop_north = |forger: &mut Forger| {
        forger.list.submissions.retain(|entry| entry.client != name("north"));
        forger.list.absent.insert(0, name("north"));
    };
    let mut forger = round.forger();
    drop_north(&mut forger);
    let parts = ["contains every accepted submission", "it lacks the submission of `north`"];
    rejected(&round.verify(&forger.clone().republish()), "a client is dropped", &parts);
    let of_north = |kind: &EventKind| matches!(kind, EventKind::Accepted { client, .. } if *client == name("north"));
    forger.events.retain(|event| !of_north(&event.kind));
    forger.spec.minimum = 1;
    let parts = ["the receipt kept by `north` matches the audit log"];
    let files = forger.rewrite();
    rejected(&round.verify_with_receipt(&files), "dropped from the log as well", &parts);

    let mut forger = round.forger();
    let [east, north] = [0, 1].map(|i| forger.list.submissions[i].clone());
    forger.list.submissions[0] = north;
    forger.list.submissions[1] = east;
    forger.list.submissions[0].client = name("east");
    forger.list.submissions[1].client = name("north");
    let parts = ["the submission of `east` is what the client signed", "not signed with"];
    rejected(&round.verify(&forger.republish()), "two clients' submissions swapped", &parts);

    let mut forger = round.forger();
    for event in &mut forger.events {
        if let EventKind::Accepted { client, sha256, .. } = &mut event.kind
            && *client == name("north")
        {
            *sha256 = Digest::of(b"other");
        }
    }
    let parts = ["submission of `north`", "the client signed a file with SHA-256"];
    rejected(&round.verify(&forger.rewrite()), "another file in a client's name", &parts);

    let mut forger = round.forger();
    for event in &mut forger.events {
        if let EventKind::Accepted { rows, distinct_rows, .. } = &mut event.kind {
            (*rows, *distinct_rows) = (4000, 4000);
        }
    }
    forger.outcome.clients.iter_mut().for_each(|client| client.proxy_rows = 4000);
    let files = forger.rewrite();
    needs_solve(&round.verify(&files), "a hundred times as many rows");
    let parts = ["the receipt kept by `north`", "was changed"];
    rejected(&round.verify_with_receipt(&files), "a hundred times as many rows", &parts);
    let parts = ["the table of `east` has the recorded rows", "it has 40 rows, not 4000"];
    rejected(&round.solve(&files), "a hundred times as many rows", &parts);
    let mut forger = round.forger();
    forger.outcome.clients[1].proxy_rows = 41;
    let parts = ["covers exactly the listed submissions", "`north` submitted 40 rows"];
    rejected(&round.verify(&forger.republish()), "one more row in the outcome", &parts);
    let mut forger = round.forger();
    forger.list.submissions[0].distinct_rows = 7;
    let parts = ["the receipt of `east` matches the audit log", "the entry differs"];
    rejected(&round.verify(&forger.republish()), "distinct rows in the list", &parts);

    // The solver read the table of `east` twice.
    let mut forger = round.forger();
    let table = forger.list.submissions[0].canonical_sha256;
    for event in &mut forger.events {
        if let EventKind::Accepted { canonical_sha256, .. } = &mut event.kind {
            *canonical_sha256 = table;
        }
    }
    let files = forger.clone().rewrite();
    let parts = ["it is wrong about clients that sent the same table as `north`"];
    rejected(&round.verify(&files), "a canonical table swapped", &parts);
    forger.list.submissions[1].same_table_as = Some(name("east"));
    let warnings = &forger.outcome.warnings;
    let absent = warnings.iter().position(|w| w.code == WarningCode::NoSubmission).unwrap();
    let mut warning = warnings[absent].clone();
    (warning.code, warning.client) = (WarningCode::SameTable, Some("north".into()));
    warning.message = "client `north` sent the same rows as client `east`".into();
    forger.outcome.warnings.insert(absent + 1, warning);
    let files = forger.rewrite();
    needs_solve(&round.verify(&files), "a canonical table swapped, and said so");
    let submitted = vec![round.submitted.clone()];
    let verification = verify(&files, &Trusted { submitted, ..round.trusted() }, None).unwrap();
    let parts = ["the solver read exactly the rows that `north` submitted", "the log records"];
    rejected(&verification, "a canonical table swapped, and said so", &parts);
}
