//! (c) `kill -9` of a real mailbox under load: every receipt that a client holds is in the log, with its blob.
//!
//! Death of the process, not loss of power. 20 kills, or 200 if `EQUIPOISE_TEST_FULL` is set.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use equipoise_mailbox::serve;
use equipoise_round::client::read_sealed;
use equipoise_round::{Document, Invitation, RoundFile};

use crate::world::{World, sealed_file};

const KILLS_PER_ROUND: usize = 10;
const CLIENTS: usize = 60;

/// Not a test: the process that the test below starts and kills.
#[test]
#[ignore = "the mailbox that another test kills"]
fn mailbox_process() {
    let Some(arguments) = std::env::var_os("EQUIPOISE_MAILBOX") else { return };
    let text = arguments.into_string().unwrap();
    let [folder, port] = text.split('|').collect::<Vec<_>>()[..] else { panic!("{text}") };
    let mut world = World::new(false);
    world.listen.set_port(port.parse().unwrap());
    let mut options = world.options();
    options.folder = PathBuf::from(folder);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let ready = |_| println!("\nready");
    runtime.block_on(serve(options, ready, std::future::pending())).unwrap();
}

fn start(world: &World) -> Child {
    let arguments = format!("{}|{}", world.mailbox_folder().display(), world.listen.port());
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::mailbox_process", "--ignored", "--nocapture"])
        .env("EQUIPOISE_MAILBOX", arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.is_ok_and(|line| line == "ready")), "the mailbox did not start");
    child
}

#[test]
fn every_receipt_survives_kill_9() {
    let is_full = std::env::var_os("EQUIPOISE_TEST_FULL").is_some();
    let n_kills = if is_full { 200 } else { 20 };
    let world = World::new(false);
    let (mut n_receipts, mut n_unanswered, mut random) = (0, 0, 1u64);
    for round in 0..n_kills / KILLS_PER_ROUND {
        let invitation = world.invitation(&format!("round-{round}"), CLIENTS);
        let held = Mutex::new(Vec::<Document>::new());
        let next = AtomicUsize::new(0);
        for _ in 0..KILLS_PER_ROUND {
            let mut child = start(&world);
            world.remote(&invitation).put(&invitation.document, None).unwrap();
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let delay = Duration::from_micros(2000 + (random >> 33) % 120_000);
            let is_over = AtomicBool::new(false);
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| load(&world, &invitation, &held, &next, &is_over));
                }
                thread::sleep(delay);
                child.kill().unwrap();
                child.wait().unwrap();
                is_over.store(true, Ordering::Relaxed);
            });
            let held = held.lock().unwrap();
            // Hashes every blob.
            let stored = RoundFile::open(&world.round_path(&invitation)).unwrap();
            for receipt in held.iter() {
                stored.log().check_receipt(receipt).unwrap();
            }
            n_unanswered = stored.log().seq() as usize - 1 - held.len();
        }
        n_receipts += held.lock().unwrap().len();
    }
    println!(
        "{n_kills} kills, {n_receipts} receipts held, {n_unanswered} files without one in the last round"
    );
    assert!(n_receipts > n_kills / 2, "only {n_receipts} receipts: the test needs more load");
}

/// Delivers new files until the mailbox is gone, and keeps the receipts.
fn load(
    world: &World,
    invitation: &Invitation,
    held: &Mutex<Vec<Document>>,
    next: &AtomicUsize,
    is_over: &AtomicBool,
) {
    let remote = world.remote(invitation);
    while !is_over.load(Ordering::Relaxed) {
        let n = next.fetch_add(1, Ordering::Relaxed);
        let file = sealed_file(world.folder.path(), invitation, n % CLIENTS, 200 + n);
        let (submission, mut body) = read_sealed(&file, invitation).unwrap();
        if let Ok(receipt) = remote.put(&submission.document, Some(&mut body)) {
            held.lock().unwrap().push(receipt);
        }
        std::fs::remove_file(file).unwrap();
    }
}
