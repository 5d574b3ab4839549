//! The page of a round on the real server, from open to published.
//!
//! `EQUIPOISE_PICTURES=DIR` saves a screenshot of every state.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::launch;
use crate::page_check::{Expectations, check_url};
use crate::round_server::World;
use crate::tab::Tab;

pub(crate) const EXPECTED: Expectations = Expectations {
    title: "Round spring",
    charts: 0,
    figures: 3,
    requests: &["/assets/page.css", "/assets/round.js", "/v1/rounds/spring/events"],
};

pub(crate) fn wait_for(tab: &mut Tab, js: &str) {
    let started = Instant::now();
    // A page that reloads itself can end an evaluation.
    while tab.try_evaluate(js) != Ok(json!(true)) {
        let page = tab.try_evaluate("document.body?.innerText ?? ''");
        assert!(started.elapsed() < Duration::from_secs(120), "never {js}: {page:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Fills in the coordinator's login form.
pub(crate) fn log_in(tab: &mut Tab, token: &str) {
    let enter = "document.querySelector('input[name=token]').value";
    tab.evaluate(&format!("{enter} = '{token}'; document.forms[0].submit()"));
}

fn picture(tab: &mut Tab, name: &str) {
    if let Some(folder) = std::env::var_os("EQUIPOISE_PICTURES") {
        tab.screenshot(&Path::new(&folder).join(format!("{name}.png")));
    }
}

/// Holds back the pages that the tab's script requests until `release()`, and notes how many submissions the event
/// stream announced.
const HOLD_BACK_PAGES: &str = "
    window.heard = [];
    const events = new EventSource(document.querySelector('main').dataset.events);
    events.addEventListener('round', event => {
        window.heard.push(JSON.parse(event.data).n_submissions);
    });
    window.realFetch = window.fetch;
    window.fetch = async (...request) => {
        const answer = await window.realFetch(...request);
        await new Promise(release => { window.release = release; });
        return answer;
    };";

fn shows(text: &str) -> String {
    format!("(document.body?.innerText ?? '').includes('{text}')")
}

fn state(name: &str) -> String {
    format!("document.querySelector('.steps [aria-current] span').textContent === '{name}'")
}

#[test]
fn a_round_is_followed_from_open_to_published_without_a_reload() {
    let Some(mut browser) = launch() else { return };
    // The paper's profile takes long enough for the solve to be visible.
    let options = "--minimum 2 --deadline 2100-01-01T00:00:00Z --profile paper";
    let world = World::start(&[("spring", options)]);
    let url = world.url("/rounds/spring");
    assert_eq!(check_url(&mut browser, &url, EXPECTED), [""; 0]);
    let index = Expectations { title: "Rounds", figures: 0, ..EXPECTED };
    assert_eq!(check_url(&mut browser, &world.url("/"), index), [""; 0]);

    let mut wide = browser.open(&url, 1400, 900);
    let mut narrow = browser.open(&url, 400, 900);
    wide.evaluate("window.neverReloaded = true");
    wait_for(&mut wide, "!document.getElementById('live').hidden");
    picture(&mut wide, "open-1400");
    picture(&mut narrow, "open-400");
    // The second submission arrives while the page with the first is on its way to the wide tab.
    wide.evaluate(HOLD_BACK_PAGES);
    world.submit("spring", &world.clients[0]);
    wait_for(&mut wide, "'release' in window");
    world.submit("spring", &world.clients[1]);
    wait_for(&mut wide, "window.heard.includes(2)");
    wait_for(&mut narrow, &shows("2 of 3"));
    assert_eq!(wide.evaluate(&shows("0 of 3")), json!(true));
    wide.evaluate("window.fetch = window.realFetch; window.release()");
    wait_for(&mut wide, &shows("2 of 3"));

    // The coordinator logs in and closes.
    let mut plain = browser.open(&world.url("/rounds/spring/coordinator"), 400, 900);
    picture(&mut plain, "login-400");
    log_in(&mut plain, &world.token("spring"));
    wait_for(&mut plain, &shows("not yet"));
    picture(&mut plain, "coordinator-400");
    plain.go_to(&world.url("/rounds/spring/coordinator/close"));
    picture(&mut plain, "close-400");
    plain.evaluate("document.forms[0].submit()");

    wait_for(&mut wide, &format!("{} || {}", state("solving"), state("published")));
    picture(&mut wide, "solving-1400");
    picture(&mut narrow, "solving-400");
    wait_for(&mut wide, &state("published"));
    wait_for(&mut narrow, &state("published"));
    assert_eq!(wide.evaluate("window.neverReloaded"), json!(true));
    picture(&mut wide, "published-1400");
    picture(&mut narrow, "published-400");
    let published = Expectations { figures: 7, ..EXPECTED };
    assert_eq!(check_url(&mut browser, &url, published), [""; 0]);
    plain.reload(false);
    picture(&mut plain, "coordinator-published-400");
}
