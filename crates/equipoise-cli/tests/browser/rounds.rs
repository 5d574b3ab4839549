//! The page of a round on the real server, from open to published.
//!
//! `EQUIPOISE_PICTURES=DIR` saves a screenshot of every state.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use crate::page_check::{Expectations, check_url};
use crate::tab::Tab;
use crate::{equipoise, launch};

const EXPECTED: Expectations = Expectations {
    title: "Round spring",
    charts: 0,
    figures: 3,
    requests: &["/assets/page.css", "/assets/round.js", "/v1/rounds/spring/events"],
};

/// A folder with a demo's tables, an open round and its server, which is killed on drop.
struct World {
    folder: TempDir,
    server: Child,
    port: u16,
    clients: Vec<String>,
}

impl World {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        equipoise(folder.path(), "demo --clients 3 --out demo");
        let proxies = std::fs::read_dir(folder.path().join("demo/proxies")).unwrap();
        let stem = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut clients: Vec<String> = proxies.map(|entry| stem(&entry.unwrap().path())).collect();
        clients.sort();
        let mut roster = String::new();
        for client in &clients {
            equipoise(folder.path(), &format!("keygen {client}"));
            roster += &format!("--client {client}={client}.pub ");
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        // The paper's profile takes long enough for the solve to be visible.
        let new = format!(
            "round new spring --data data --audience http://127.0.0.1:{port} --schema demo/schema.toml \
             {roster} --root demo/root --fairness sp --minimum 2 --deadline 2100-01-01T00:00:00Z \
             --profile paper"
        );
        equipoise(folder.path(), &new);
        let mut server = Command::new(env!("CARGO_BIN_EXE_equipoise"))
            .args(format!("serve --data data --listen 127.0.0.1:{port} --plain-http").split(' '))
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut first).unwrap();
        Self { folder, server, port, clients }
    }

    fn submit(&self, client: &str) {
        let at = format!("--server http://127.0.0.1:{} --round spring", self.port);
        let file = format!("demo/proxies/{client}.parquet");
        equipoise(self.folder.path(), &format!("submit {file} --key {client}.key {at}"));
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn wait_for(tab: &mut Tab, js: &str) {
    let started = Instant::now();
    while tab.evaluate(js) != json!(true) {
        let page = tab.evaluate("document.body?.innerText ?? ''");
        assert!(started.elapsed() < Duration::from_secs(120), "never {js}: {page}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn picture(tab: &mut Tab, name: &str) {
    if let Some(folder) = std::env::var_os("EQUIPOISE_PICTURES") {
        tab.screenshot(&Path::new(&folder).join(format!("{name}.png")));
    }
}

fn state(name: &str) -> String {
    format!("document.querySelector('.steps [aria-current] span').textContent === '{name}'")
}

#[test]
fn a_round_is_followed_from_open_to_published_without_a_reload() {
    let Some(mut browser) = launch() else { return };
    let world = World::start();
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
    world.submit(&world.clients[0]);
    wait_for(&mut wide, "(document.body?.innerText ?? '').includes('1 of 3')");

    // The coordinator logs in and closes.
    world.submit(&world.clients[1]);
    let mut plain = browser.open(&world.url("/rounds/spring/coordinator"), 400, 900);
    picture(&mut plain, "login-400");
    let token = std::fs::read_to_string(world.folder.path().join("spring.token")).unwrap();
    let enter = "document.querySelector('input[name=token]').value";
    plain.evaluate(&format!("{enter} = '{}'; document.forms[0].submit()", token.trim()));
    wait_for(&mut plain, "(document.body?.innerText ?? '').includes('not yet')");
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
