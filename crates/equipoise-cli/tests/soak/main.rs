//! A soak test: the real server under a seeded random mix of operations and faults.
//!
//! `EQUIPOISE_SOAK_SECONDS=600 EQUIPOISE_SEED=1 cargo test --release -p equipoise-cli --test soak -- --nocapture`
//!
//! Time is divided into epochs. Each epoch creates three rounds, plays a list of operations on them from several threads,
//! ends the rounds and checks them. Lists depend on the seed alone ([`plan`]), so a seed repeats the same operations in
//! the same order, though not with the same timing. Odd seeds use TLS.
//!
//! Operations: honest uploads in all formats, resumed and duplicate uploads, disconnects at every stage, second files,
//! hostile files, replayed and forged headers, abandoned requests that race an upload, unread replies, event streams,
//! slow headers, pages, the coordinator's actions with right and wrong tokens, backups, new rounds. Rounds end by command,
//! at a deadline, with a full roster, or are aborted, with uploads in flight.
//!
//! Faults: kill -9 and SIGTERM at any moment, each followed by a restart.
//!
//! Invariants, checked on every reply, after every epoch and at the end:
//! - Every 200 or 201 is a signed receipt for the file in the request, and the server holds that file.
//! - A client gets the same receipt again, also after a kill; no second file is accepted from it.
//! - A file that is invalid, or signed by someone else, is never accepted; an honest file is never rejected.
//! - Refusals match the round's state: an open round is not closed, a key is not revoked by itself.
//! - There is no 5xx other than the documented 503 and 507, and an honest upload succeeds within a minute.
//! - `submissions.json` lists exactly the receipts, and every other client as absent.
//! - Every closed round is published (or failed, with too few submissions) and passes `verify` with all receipts.
//! - A closed round leaves no partial upload behind.
//! - The server never ends by itself, stays below 300 MiB, and closes its file descriptors.
//! - Every restart succeeds; SIGTERM ends the process with code 0; backups can be made and restored.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod coordinator;
mod epoch;
mod faults;
mod files;
mod hostile;
mod impostor;
mod invariants;
#[path = "../cli/many_rows.rs"]
mod many_rows;
#[path = "../shared/mutant.rs"]
mod mutant;
mod nuisance;
mod plan;
#[path = "../shared/random.rs"]
mod random;
mod report;
mod requests;
mod round;
mod server;
mod site;
#[path = "../shared/stored_files.rs"]
mod stored_files;
mod uploads;
// Not all of its features are used here.
#[allow(dead_code)]
#[path = "../shared/wire.rs"]
mod wire;

use std::time::{Duration, Instant};

use report::Report;
use site::Site;

#[test]
fn the_server_keeps_its_promises() {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
    };
    let seconds = number("EQUIPOISE_SOAK_SECONDS", 20);
    let report = Report::new(number("EQUIPOISE_SEED", 1));
    let site = Site::new(&report);
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut rounds = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| invariants::watch(&site));
        let mut n = 0;
        while Instant::now() < until && !report.has_failed() {
            rounds.extend(epoch::run(&site, n, until));
            n += 1;
        }
        if !report.has_failed() {
            invariants::check_at_the_end(&site, &rounds);
        }
        site.stop_watching();
    });
    report.print_table(rounds.len(), &site);
    if report.has_failed() {
        let kept = site.keep();
        panic!("{}\nThe data directory is kept in {}", report.failure(), kept.display());
    }
}
