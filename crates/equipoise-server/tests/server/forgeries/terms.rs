//! Terms, roots and rosters changed after the round was created.

use equipoise_core::WarningCode;
use equipoise_server::protocol::EventKind;

use super::{Published, rejected};
use crate::forger::Forger;
use crate::world::{key, name};

#[tokio::test(flavor = "multi_thread")]
async fn changed_terms_roots_and_rosters_are_rejected() {
    let round = Published::new().await;
    let spec = "spec.json is the specification that the round was created with";
    type Change = fn(&mut Forger);
    let changes: [(&str, Change); 4] = [
        ("another deadline", |f| f.spec.deadline = None),
        ("another minimum", |f| f.spec.minimum = 1),
        ("higher limits", |f| f.spec.limits.rows *= 2),
        ("a root swapped", |f| {
            let south = f.spec.roots[&name("south")].sha256;
            f.spec.roots.get_mut(&name("east")).unwrap().sha256 = south;
        }),
    ];
    for (forgery, change) in changes {
        let mut forger = round.forger();
        change(&mut forger);
        rejected(&round.verify(&forger.republish()), forgery, &[spec, "but the log has"]);
    }
    // A root swapped in a rewritten log: the auditor's roots do not fit.
    let mut forger = round.forger();
    changes[3].1(&mut forger);
    let files = forger.rewrite();
    let error = round.solve_from(&files, &round.inputs.join("proxies")).unwrap_err().to_string();
    assert!(error.contains("the root of client `east`"), "{error}");
    rejected(
        &round.verify_with_receipt(&files),
        "a root swapped in a rewritten log",
        &["receipt kept by `north`", "was changed"],
    );
    let mut forger = round.forger();
    forger.spec.roots.get_mut(&name("east")).unwrap().file = "../../../etc/passwd".into();
    let parts = ["its own name, key and root", "file name `../../../etc/passwd`"];
    rejected(&round.verify(&forger.rewrite()), "a root outside its folder", &parts);
    let mut forger = round.forger();
    forger.spec.limits.rows = 39;
    let parts = ["submission of `east`", "40 rows exceed the limit of 39"];
    rejected(&round.verify(&forger.rewrite()), "a submission beyond the limits", &parts);
    let mut forger = round.forger();
    if let EventKind::Created { roster, .. } = &mut forger.events[0].kind {
        roster[2] = key("north").public().named(name("south"));
    }
    let parts = ["possible history", "client `south` or its key twice"];
    rejected(&round.verify(&forger.rewrite()), "one client with two names", &parts);
    let mut forger = round.forger();
    forger.outcome.warnings.retain(|warning| warning.code != WarningCode::NoSubmission);
    let parts = ["warns about absent clients", "client `south` is on the roster"];
    rejected(&round.verify(&forger.republish()), "an absent client hidden", &parts);
}
