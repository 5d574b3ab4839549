//! One epoch: create rounds, play the operations, end the rounds, check them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use jiff::Timestamp;

use crate::plan::{Action, Ending, Operation, RoundPlan, plan};
use crate::random::Random;
use crate::round::Round;
use crate::site::Site;
use crate::uploads::Upload;
use crate::{coordinator, faults, hostile, impostor, invariants, nuisance};

/// Operations at the same time.
const AT_ONCE: usize = 6;

/// Runs an epoch. No operation starts after `until`. Returns its rounds.
pub(crate) fn run(site: &Site<'_>, number: u64, until: Instant) -> Vec<Round> {
    let plan = plan(site.report.seed, number);
    let rounds = create_rounds(site, &plan.rounds, plan.creates_while_running);
    if site.report.has_failed() {
        return rounds;
    }
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::SeqCst);
                    let Some(operation) = plan.operations.get(i) else { break };
                    if Instant::now() >= until || site.report.has_failed() {
                        break;
                    }
                    play(site, &rounds, operation, &format!("{number}.{i}"));
                }
            });
        }
    });
    site.hang_up_all();
    for round in &rounds {
        let state = coordinator::settle(site, round);
        site.report.log(&format!("{} is {state}", round.name()));
        if !site.report.has_failed() {
            site.report.count("round", &format!("{:?}: {state}", kind_of(round.plan.ending)));
            invariants::check_round(site, round, &state);
        }
        round.forget_content();
    }
    if !site.report.has_failed() {
        invariants::check_descriptors(site);
    }
    rounds
}

/// Plays one operation and records its outcome.
fn play(site: &Site<'_>, rounds: &[Round], operation: &Operation, number: &str) {
    let Operation { action, round, client, seed } = *operation;
    let round = &rounds[round];
    // Unless the roster is to be complete, one client is absent.
    let n_active = round.plan.n_clients - usize::from(round.plan.ending != Ending::FullRoster);
    let mut random = Random::new(seed, 1);
    let random = &mut random;
    let client = match action {
        // A client that has submitted already is refused before its file is looked at.
        Action::Hostile(_) if random.chance(70) => round.plan.n_clients - 1,
        _ => client % n_active,
    };
    // Most operations start while the server runs; it may end during any of them.
    if !random.chance(10) {
        drop(site.server());
    }
    let started = Instant::now();
    let honest = |number: u64| Upload::honest(site, round, client, number);
    let outcome = match action {
        Action::Submit => honest(0).submit().outcome(),
        Action::Resume => honest(0).resume(random),
        Action::Disconnect(stage) => honest(0).disconnect(stage, random),
        Action::Duplicates => honest(0).duplicates(random),
        Action::SecondFile => {
            honest(0).submit();
            honest(1).put_from(0).outcome()
        }
        Action::TwoFiles => {
            let (a, b) = (honest(2), honest(3));
            let (a, b) = std::thread::scope(|scope| {
                let b = scope.spawn(move || b.put_from(0));
                (a.put_from(0), b.join().unwrap())
            });
            format!("{} + {}", a.outcome(), b.outcome())
        }
        Action::Abandon => honest(0).abandon(random),
        Action::Hostile(kind) => hostile::send(site, round, client, kind, random),
        Action::Replay(kind) => impostor::replay(site, rounds, round, client, kind, random),
        Action::Forge(kind) => impostor::forge(site, round, client, kind, random),
        Action::Unread => nuisance::send_unread(site, random),
        Action::Listen(listener) => nuisance::listen(site, round, listener, random),
        Action::SlowHeader => nuisance::send_half_a_header(site, random),
        Action::Browse => nuisance::browse(site, round, random),
        Action::Open => coordinator::open(site, round),
        Action::End => coordinator::end(site, round),
        Action::Revoke => coordinator::revoke(site, round, client),
        Action::WrongToken => coordinator::try_wrong_token(site, round, random),
        Action::Backup => coordinator::back_up(site, random),
        Action::ReloadCertificate => faults::reload(site),
        Action::Kill => faults::kill(site),
        Action::Terminate => faults::terminate(site, || ()),
    };
    site.report.count(&format!("{action:?}"), &outcome);
    let ms = started.elapsed().as_millis();
    site.report
        .log(&format!("{number} {action:?} {} client {client}: {outcome} ({ms} ms)", round.name()));
}

/// Creates the rounds while the server runs, or between two runs.
fn create_rounds(site: &Site<'_>, plans: &[RoundPlan], while_running: bool) -> Vec<Round> {
    let mut rounds = Vec::new();
    let mut create_all = || {
        for plan in plans {
            match create(site, plan) {
                Ok(round) => rounds.push(round),
                Err(problem) => site.report.violation(problem),
            }
        }
    };
    let is_running = site.server().is_some();
    if is_running && while_running {
        create_all();
        site.report.count("new round", "while the server runs");
    } else {
        faults::terminate(site, create_all);
        site.report.count("new round", "between two runs");
    }
    rounds
}

fn create(site: &Site<'_>, plan: &RoundPlan) -> Result<Round, String> {
    let deadline = match plan.ending {
        Ending::Deadline(seconds) => {
            Timestamp::from_second(Timestamp::now().as_second() + seconds as i64).ok()
        }
        _ => None,
    };
    let roster: Vec<String> =
        site.keys[..plan.n_clients].iter().map(|key| key.public().to_string()).collect();
    let (roster_file, token_file) =
        (format!("{}.roster", plan.name), format!("{}.token", plan.name));
    std::fs::write(site.path(&roster_file), roster.join("\n")).map_err(|e| e.to_string())?;
    let (url, minimum) = (site.wire.url(), plan.minimum.to_string());
    let mut arguments = vec!["round", "new", &plan.name, "--data", "data", "--audience", &url];
    arguments.extend(["--schema", "schema.toml", "--roster", &roster_file, "--trusted", "roots"]);
    arguments.extend(["--fairness", "sp", "--minimum", &minimum, "--token-file", &token_file]);
    let time = deadline.map(|deadline| deadline.to_string()).unwrap_or_default();
    if deadline.is_some() {
        arguments.extend(["--deadline", &time]);
    }
    if plan.is_draft {
        arguments.push("--draft");
    }
    let (created, text) = site.run(&arguments);
    if !created {
        return Err(format!("`round new` failed: {text}"));
    }
    let token = std::fs::read_to_string(site.path(&token_file)).map_err(|e| e.to_string())?;
    Ok(Round::new(plan.clone(), token.trim().to_owned(), deadline))
}

fn kind_of(ending: Ending) -> Ending {
    match ending {
        Ending::Deadline(_) => Ending::Deadline(0),
        other => other,
    }
}
