//! Many clients at once, from one machine. The full count is a measurement and needs the release binary:
//! `EQUIPOISE_FULL=1 cargo test --release -p equipoise-cli --test cli load -- --nocapture --test-threads 1`.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use equipoise_data::TableKind;
use equipoise_server::protocol::Digest;

use crate::fleet::{Fleet, full, resident, resident_children, send};

/// Maximum resident memory of the server.
const MAX_MIB: f64 = 300.0;

#[test]
fn accepts_many_clients_at_once() {
    let (n_clients, bytes, at_once) = if full() { (500, 2 << 20, 64) } else { (24, 200 << 10, 12) };
    run(n_clients, bytes, at_once, Duration::from_secs(30));
}

#[test]
fn accepts_large_files() {
    let (n_clients, bytes) = if full() { (20, 200 << 20) } else { (2, 8 << 20) };
    run(n_clients, bytes, n_clients, Duration::from_secs(120));
}

fn run(n_clients: usize, bytes: usize, at_once: usize, longest: Duration) {
    // One more client than will submit, so that the solve does not start early.
    let fleet = Fleet::new(n_clients + 1);
    let server = fleet.start("");
    let pid = server.child.id();
    // Files differ only in their first rows, and everything is signed beforehand.
    let rest = fleet.proxy(u64::MAX, bytes);
    let rest = rest.split_once('\n').unwrap().1;
    let files: Vec<(String, String)> = (0..n_clients)
        .map(|i| {
            let first = fleet.proxy(i as u64, 400);
            let whole = format!("{first}{rest}");
            let digest = Digest::of(whole.as_bytes());
            (fleet.head(i, TableKind::Csv, whole.len() as u64, digest), first)
        })
        .collect();

    let (next, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (statuses, child_mib) = (Mutex::new(Vec::new()), Mutex::new(0f64));
    let started = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                let found = resident_children(pid);
                let mut peak = child_mib.lock().unwrap();
                *peak = peak.max(found);
                drop(peak);
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let senders: Vec<_> = (0..at_once)
            .map(|_| {
                scope.spawn(|| {
                    while let Some((head, first)) = files.get(next.fetch_add(1, Ordering::SeqCst)) {
                        let sent = Instant::now();
                        let pieces = [head.as_bytes(), first.as_bytes(), rest.as_bytes()];
                        let (status, _) = send(fleet.port, &pieces);
                        statuses.lock().unwrap().push((status, sent.elapsed()));
                    }
                })
            })
            .collect();
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        done.store(true, Ordering::SeqCst);
    });
    let took = started.elapsed();
    let server_mib = resident(pid).1;
    let statuses = statuses.into_inner().unwrap();
    let accepted = statuses.iter().filter(|(status, _)| *status == 201).count();
    let slowest = statuses.iter().map(|(_, time)| *time).max().unwrap_or_default();
    println!(
        "{n_clients} clients x {:.1} MB, {at_once} at once: {accepted} accepted in {:.1} s ({:.1} MB/s), \
         slowest {:.1} s; resident memory: server {server_mib:.0} MiB, largest validator {:.0} MiB",
        bytes as f64 / 1e6,
        took.as_secs_f64(),
        (n_clients * bytes) as f64 / 1e6 / took.as_secs_f64(),
        slowest.as_secs_f64(),
        child_mib.into_inner().unwrap()
    );
    let others: Vec<u16> = statuses.iter().map(|(s, _)| *s).filter(|s| *s != 201).collect();
    assert!(others.is_empty(), "{others:?}");
    assert!(server_mib <= MAX_MIB, "{server_mib} MiB");
    assert!(took <= longest, "{took:?}");
}
