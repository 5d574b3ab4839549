//! What the coordinator does: open, end, revoke, back up; and someone with a wrong token.

use std::time::{Duration, Instant};

use crate::plan::Ending;
use crate::random::Random;
use crate::round::Round;
use crate::site::Site;
use crate::uploads::{Upload, sleep_ms};
use crate::wire::Reply;

/// How long a round may take to reach its end, including a deadline and the solve.
const PATIENCE: Duration = Duration::from_secs(120);
/// After this, a round that cannot end as planned is aborted.
const ABORT_AFTER: Duration = Duration::from_secs(40);

fn post(site: &Site<'_>, round: &Round, action: &str) -> Reply {
    let path = format!("/v1/rounds/{}/{action}", round.name());
    let reply = site.as_coordinator("POST", &path, &round.token);
    if !matches!(reply.status, 0 | 200 | 404 | 409 | 503) {
        site.report.violation(format!("{action} got {}", reply.outcome()));
    }
    reply
}

pub(crate) fn open(site: &Site<'_>, round: &Round) -> String {
    let reply = post(site, round, "open");
    if reply.status == 200 {
        round.has_opened();
    }
    reply.outcome()
}

/// Ends a round as planned, if that is possible yet.
pub(crate) fn end(site: &Site<'_>, round: &Round) -> String {
    match round.plan.ending {
        Ending::Deadline(_) => "waits for the deadline".to_owned(),
        Ending::Command => {
            round.is_ending();
            post(site, round, "close").outcome()
        }
        Ending::Abort => {
            round.is_ending();
            post(site, round, "abort").outcome()
        }
        Ending::FullRoster => {
            submit_as(site, round, 0..round.plan.n_clients);
            "all submitted".to_owned()
        }
    }
}

/// Submits as several clients at once.
fn submit_as(site: &Site<'_>, round: &Round, clients: std::ops::Range<usize>) {
    std::thread::scope(|scope| {
        for client in clients {
            scope.spawn(move || Upload::honest(site, round, client, 0).submit());
        }
    });
}

pub(crate) fn revoke(site: &Site<'_>, round: &Round, client: usize) -> String {
    round.is_revoking(client);
    let reply = post(site, round, &format!("clients/{}/revoke", site.keys[client].name()));
    if reply.status == 200 {
        round.has_revoked(client);
    }
    reply.outcome()
}

pub(crate) fn try_wrong_token(site: &Site<'_>, round: &Round, random: &mut Random) -> String {
    let action = random.pick(&["open", "close", "abort", "clients/org-00/revoke"]);
    let path = format!("/v1/rounds/{}/{action}", round.name());
    let token = random.pick(&["", "wrong", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]);
    let reply = site.as_coordinator("POST", &path, token);
    if !matches!(reply.status, 0 | 401 | 429 | 503) {
        site.report.violation(format!("{action} with a wrong token got {}", reply.outcome()));
    }
    reply.outcome()
}

/// Backs up the data directory, whatever the server is doing, and restores the backup.
pub(crate) fn back_up(site: &Site<'_>, random: &mut Random) -> String {
    let number = random.next();
    let (backup, restored) = (format!("backup-{number}"), format!("restored-{number}"));
    let (done, text) = site.run(&["round", "backup", "data", "-o", &backup]);
    if !done {
        site.report.violation(format!("the backup failed: {text}"));
    }
    let (done, text) = site.run(&["round", "restore", &backup, "--data", &restored]);
    if !done {
        site.report.violation(format!("the restore failed: {text}"));
    }
    for folder in [backup, restored] {
        let _ = std::fs::remove_dir_all(site.path(&folder));
    }
    "done".to_owned()
}

/// Brings a round to its end and returns its final state, which is empty after a failure.
pub(crate) fn settle(site: &Site<'_>, round: &Round) -> String {
    let started = Instant::now();
    loop {
        let info = site.round_info(round.name());
        let state = info["state"].as_str().unwrap_or_default();
        match state {
            "published" | "failed" | "aborted" => return state.to_owned(),
            "draft" => drop(open(site, round)),
            "open" if started.elapsed() > ABORT_AFTER => {
                round.is_ending();
                post(site, round, "abort");
            }
            "open" => {
                if info["n_submissions"].as_u64() < Some(round.plan.minimum as u64) {
                    submit_as(site, round, 0..round.plan.minimum + 1);
                }
                end(site, round);
            }
            _ => {}
        }
        if started.elapsed() > PATIENCE {
            site.report.violation(format!("round {} does not end: {info}", round.name()));
        }
        if site.report.has_failed() {
            return String::new();
        }
        sleep_ms(50);
    }
}
