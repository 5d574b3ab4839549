//! The pages of a round in every lasting state, the coordinator's pages and refusals.

use crate::page_check::{Expectations, check_url};
use crate::round_server::World;
use crate::rounds::{EXPECTED, log_in, wait_for};
use crate::{equipoise, launch};

const PAGES: Expectations = Expectations {
    title: "Equipoise",
    figures: 0,
    requests: &["/assets/page.css", "/assets/round.js", "/v1/rounds/"],
    ..EXPECTED
};

#[test]
fn every_page_of_every_state_passes_all_checks() {
    let Some(mut browser) = launch() else { return };
    let world = World::start(&[
        ("open", "--minimum 2 --deadline 2100-01-01T00:00:00Z"),
        ("draft", "--draft"),
        ("aborted", ""),
        ("published", "--require gap=0.1,accuracy=0.7"),
    ]);
    let [first, second, third] = [0, 1, 2].map(|i| world.clients[i].clone());
    world.submit("open", &first);
    // Refused, and listed: the client submitted another file before.
    let twin =
        format!("submit demo/proxies/{second}.parquet --key {first}.key {}", world.at("open"));
    assert!(!crate::run(world.folder.path(), &twin).success());
    let abort = format!("close {} --token-file aborted.token --abort", world.at("aborted"));
    equipoise(world.folder.path(), &abort);
    for client in [&first, &second, &third] {
        world.submit("published", client);
    }
    let mut tab = browser.open(&world.url("/rounds/published"), 1000, 900);
    wait_for(&mut tab, "(document.body?.innerText ?? '').includes('Read the report')");

    let mut faults = Vec::new();
    let mut check = |browser: &mut _, path: &str, figures: usize| {
        let expected = Expectations { figures, ..PAGES };
        let found = check_url(browser, &world.url(path), expected).into_iter();
        // A browser reports the status of a refusal, although its page is there.
        let found = found.filter(|fault| !fault.contains("the server responded with a status of"));
        faults.extend(found.map(|fault| format!("{path}, {fault}")));
    };
    check(&mut browser, "/", 0);
    for (round, figures) in [("open", 3), ("draft", 3), ("aborted", 3), ("published", 7)] {
        check(&mut browser, &format!("/rounds/{round}"), figures);
        check(&mut browser, &format!("/rounds/{round}/coordinator"), 0);
        tab.go_to(&world.url(&format!("/rounds/{round}/coordinator")));
        log_in(&mut tab, &world.token(round));
        wait_for(&mut tab, "(document.body?.innerText ?? '').includes('Log out')");
        check(&mut browser, &format!("/rounds/{round}/coordinator"), 3);
    }
    check(&mut browser, "/rounds/open/coordinator/close", 0);
    check(&mut browser, &format!("/rounds/open/coordinator/clients/{second}/revoke"), 0);
    check(&mut browser, "/rounds/nosuch", 0);
    check(&mut browser, "/nowhere", 0);
    let report = Expectations { title: "Outcome", charts: 4, figures: 5, requests: &[] };
    let url = world.url("/v1/rounds/published/files/report.html");
    faults.extend(check_url(&mut browser, &url, report));
    assert!(faults.is_empty(), "{faults:#?}");
}
