//! The invariants that are not checked on a single reply.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use equipoise_server::protocol::{Digest, SubmissionList};
use serde_json::Value;

use crate::plan::Ending;
use crate::round::Round;
use crate::site::Site;
use crate::uploads::{Upload, sleep_ms};
use crate::{coordinator, faults};

const MAX_MIB: f64 = 300.0;
/// Descriptors that an idle server may have more than after its start.
const MAX_EXTRA_DESCRIPTORS: usize = 8;
/// Time for a server to notice that its peers are gone.
const PATIENCE: Duration = Duration::from_secs(25);

/// Watches the process: it never ends by itself, and its memory is limited.
pub(crate) fn watch(site: &Site<'_>) {
    while site.is_watching() {
        if let Some(server) = site.server().as_mut() {
            if let Some(status) = server.ended() {
                site.report.violation(format!("the server ended by itself: {status}"));
                return;
            }
            let mib = site.sample(server);
            if mib > MAX_MIB {
                site.report.violation(format!("the server uses {mib:.0} MiB"));
                return;
            }
        }
        sleep_ms(100);
    }
}

/// Checks a round that has reached its end.
pub(crate) fn check_round(site: &Site<'_>, round: &Round, state: &str) {
    let result = check_submissions(site, round)
        .and_then(|()| check_state(site, round, state))
        .and_then(|()| check_parts(site, round));
    if let Err(problem) = result {
        site.report.violation(format!("round {}, {state}: {problem}", round.name()));
    }
}

/// The server's submissions are those for which clients have receipts. A client whose receipt was lost gets it now.
fn check_submissions(site: &Site<'_>, round: &Round) -> Result<(), String> {
    let path = format!("/v1/rounds/{}/clients", round.name());
    let reply = site.as_coordinator("GET", &path, &round.token);
    let rows = reply.json();
    let rows = rows.as_array().ok_or_else(|| format!("clients: {}", reply.outcome()))?;
    if rows.len() != round.plan.n_clients {
        return Err(format!("{} clients instead of {}", rows.len(), round.plan.n_clients));
    }
    let known = round.receipts();
    for row in rows {
        let name = row["client"].as_str().unwrap_or_default();
        let client = site.keys.iter().position(|key| key.name().as_str() == name).ok_or(name)?;
        let sha256 = row["sha256"].as_str().map(str::parse::<Digest>).transpose();
        let sha256 = sha256.map_err(|_| format!("{row} has no digest"))?;
        let receipt = known.get(&client).map(|signed| signed.receipt.sha256);
        if receipt.is_some() && receipt != sha256 {
            return Err(format!("client {client} has a receipt for {receipt:?}, but {row}"));
        }
        let Some(sha256) = sha256 else { continue };
        let upload = Upload::sent(site, round, client, sha256)
            .ok_or_else(|| format!("client {client} never sent {sha256}"))?;
        let (reply, again) = (upload.receipt(), upload.announce());
        let allowed = round.receipt_statuses(client);
        if !allowed.contains(&reply.status) || !allowed.contains(&again.status) {
            return Err(format!(
                "client {client}: its receipt got {}, its file sent again {}",
                reply.outcome(),
                again.outcome()
            ));
        }
    }
    Ok(())
}

/// Closed rounds are published, unless there were too few submissions.
fn check_state(site: &Site<'_>, round: &Round, state: &str) -> Result<(), String> {
    let info = site.round_info(round.name());
    let n_submissions = info["n_submissions"].as_u64().unwrap_or_default() as usize;
    let too_few = n_submissions < round.plan.minimum;
    match (state, round.plan.ending) {
        ("published", _) if !too_few => check_published(site, round),
        ("failed", Ending::Deadline(_)) if too_few => Ok(()),
        ("aborted", _) => Ok(()),
        _ => Err(format!("it must not end like this: {info}")),
    }
}

/// The published files pass `verify`, and list exactly the receipts.
fn check_published(site: &Site<'_>, round: &Round) -> Result<(), String> {
    let (name, url) = (round.name(), site.wire.url());
    let folder = format!("published-{name}");
    let mut trust = vec!["--server-key".to_owned(), "data/server.pub".to_owned()];
    for (client, receipt) in round.receipts() {
        let file = format!("{name}-{client}.receipt.json");
        let text = serde_json::to_string_pretty(&receipt).map_err(|error| error.to_string())?;
        std::fs::write(site.path(&file), text).map_err(|error| error.to_string())?;
        trust.extend(["--receipt".to_owned(), file]);
    }
    let trust: Vec<&str> = trust.iter().map(String::as_str).collect();
    let mut model = vec!["model", "--server", &url, "--round", name, "-o", &folder];
    if site.wire.is_tls() {
        model.extend(["--ca", "cert.pem"]);
    }
    model.extend(&trust);
    for arguments in [model, [vec!["verify", &folder], trust].concat()] {
        let (verified, text) = site.run(&arguments);
        if !verified {
            return Err(format!("`{}` failed: {text}", arguments.join(" ")));
        }
    }
    let text = std::fs::read_to_string(site.path(&folder).join("submissions.json"));
    let list: SubmissionList = text
        .map_err(|error| error.to_string())
        .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()))?;
    check_list(site, round, &list)
}

fn check_list(site: &Site<'_>, round: &Round, list: &SubmissionList) -> Result<(), String> {
    let receipts: BTreeMap<String, _> = round
        .receipts()
        .into_iter()
        .map(|(client, signed)| (site.keys[client].name().to_string(), signed))
        .collect();
    let mut listed = BTreeMap::new();
    for submission in &list.submissions {
        let client = submission.client.to_string();
        if listed.insert(client.clone(), submission.receipt.clone()).is_some() {
            return Err(format!("{client} is listed twice"));
        }
    }
    let all: Vec<String> =
        site.keys[..round.plan.n_clients].iter().map(|key| key.name().to_string()).collect();
    let absent: Vec<String> = list.absent.iter().map(ToString::to_string).collect();
    let expected: Vec<String> =
        all.iter().filter(|client| !listed.contains_key(*client)).cloned().collect();
    if absent != expected {
        return Err(format!("absent are {absent:?} instead of {expected:?}"));
    }
    for client in &all {
        let is_revoked = site.keys.iter().position(|key| key.name().to_string() == *client);
        let is_revoked = is_revoked.is_some_and(|client| round.may_be_revoked(client));
        match (listed.get(client), receipts.get(client)) {
            (listed, receipt) if listed == receipt => {}
            // Its last reply was lost, and it cannot ask for the receipt any more.
            (Some(_), None) if is_revoked => {}
            _ => return Err(format!("submissions.json and the receipt of {client} differ")),
        }
    }
    Ok(())
}

/// No partial upload is left.
fn check_parts(site: &Site<'_>, round: &Round) -> Result<(), String> {
    let folder = site.path("data").join("uploads").join(round.name());
    let started = Instant::now();
    loop {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        if names.is_empty() {
            return Ok(());
        }
        if started.elapsed() > PATIENCE {
            return Err(format!("partial uploads are left: {names:?}"));
        }
        sleep_ms(50);
    }
}

/// Without connections, the server has about as many descriptors open as after its start.
pub(crate) fn check_descriptors(site: &Site<'_>) {
    let started = Instant::now();
    loop {
        let server = site.server();
        let Some(running) = server.as_ref() else { return };
        let (now, idle) = (running.descriptors(), running.idle_descriptors);
        drop(server);
        if now <= idle + MAX_EXTRA_DESCRIPTORS {
            return;
        }
        if started.elapsed() > PATIENCE {
            let text = format!("an idle server has {now} descriptors open, {idle} after its start");
            return site.report.violation(text);
        }
        sleep_ms(100);
    }
}

/// After a last kill, every client of every round gets its receipt; a backup can be restored; SIGTERM ends the server.
pub(crate) fn check_at_the_end(site: &Site<'_>, rounds: &[Round]) {
    faults::kill(site);
    let mut n_receipts = 0;
    for round in rounds {
        for (client, signed) in round.receipts() {
            let upload = Upload::sent(site, round, client, signed.receipt.sha256);
            let reply = upload.map(|upload| upload.receipt()).unwrap_or_default();
            if !round.receipt_statuses(client).contains(&reply.status) {
                let (name, outcome) = (round.name(), reply.outcome());
                let text = format!("round {name}: the receipt of client {client} got {outcome}");
                return site.report.violation(text);
            }
            n_receipts += 1;
        }
    }
    site.report.count("receipt after the last kill", &format!("the same ({n_receipts})"));
    let listed: Value = site.get("/v1/rounds").json();
    let n_listed = listed["rounds"].as_array().map_or(0, Vec::len);
    if n_listed < rounds.len() {
        site.report.violation(format!("{n_listed} of {} rounds are left", rounds.len()));
    }
    coordinator::back_up(site, &mut crate::random::Random::new(site.report.seed, 0));
    faults::terminate(site, || ());
}
