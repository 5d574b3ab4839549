//! Damaged files over HTTP: the server accepts or refuses each and keeps running.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use equipoise_data::{TableKind, read_proxy, write_proxy};

use crate::fleet::{Fleet, full, resident};
use crate::many_rows::many_rows;
use crate::mutant::mutant;

/// Number of concurrent senders.
const SENDERS: usize = 4;
/// Number of mutants sent before memory is first measured.
const WARM_UP: usize = 24;

#[test]
fn the_server_survives_mutants_of_every_format() {
    let times = if full() { 10_000 } else { 300 };
    for kind in TableKind::ALL {
        let fleet = Fleet::new(times + WARM_UP);
        let server = fleet.start("");
        let pid = server.child.id();
        let valid = valid_file(&fleet, kind);
        let send = |from: usize, to: usize| {
            let next = AtomicUsize::new(from);
            let counts: Vec<AtomicUsize> = (0..6).map(|_| AtomicUsize::new(0)).collect();
            std::thread::scope(|scope| {
                for _ in 0..SENDERS {
                    scope.spawn(|| {
                        loop {
                            let i = next.fetch_add(1, Ordering::SeqCst);
                            if i >= to {
                                break;
                            }
                            let (status, answer) = fleet.put(i, kind, &mutant(&valid, i as u64));
                            let good = (200..300).contains(&status) || (400..500).contains(&status);
                            assert!(good, "mutant {i} of {kind:?}: {status}, {answer}");
                            counts[usize::from(status / 100)].fetch_add(1, Ordering::SeqCst);
                        }
                    });
                }
            });
            counts.into_iter().map(AtomicUsize::into_inner).collect::<Vec<_>>()
        };
        send(0, WARM_UP);
        let before = resident(pid).0;
        let started = Instant::now();
        let counts = send(WARM_UP, times + WARM_UP);
        let after = resident(pid).0;
        println!(
            "{kind:?}: {} accepted, {} refused in {:.1} s; resident memory {before:.1} -> {after:.1} MiB",
            counts[2],
            counts[4],
            started.elapsed().as_secs_f64()
        );
        assert!(counts[4] > 0);
        assert!(after - before < 20.0, "{kind:?}: {before} MiB grew to {after} MiB");
        assert_eq!(server.child.id(), pid);
        drop(server);
    }
}

#[test]
fn refuses_a_file_that_crashes_the_validator() {
    let fleet = Fleet::new(2);
    // The validator is killed, as by a parser's overflow or its memory limit.
    let server = fleet.start("--crash-at in_validator");
    let body = fleet.proxy(1, 1000);
    let (status, answer) = fleet.put(0, TableKind::Csv, body.as_bytes());
    assert_eq!((status, answer["code"].as_str()), (422, Some("file_rejected")), "{answer}");
    drop(server);
    let _server = fleet.start("");
    assert_eq!(fleet.put(0, TableKind::Csv, body.as_bytes()).0, 201);
}

#[test]
fn immediately_refuses_a_small_file_with_200_million_rows() {
    let fleet = Fleet::new(2);
    let _server = fleet.start("");
    let columns: Vec<String> = fleet.columns();
    let body = many_rows(&columns, 209_715_200);
    assert!(body.len() < 3400, "{}", body.len());
    let started = Instant::now();
    let (status, answer) = fleet.put(0, TableKind::Parquet, &body);
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!((status, answer["code"].as_str()), (422, Some("file_rejected")), "{answer}");
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("209715200 rows"), "{message}");
    // The same file with fewer rows is valid.
    assert_eq!(fleet.put(0, TableKind::Parquet, &many_rows(&columns, 1000)).0, 201);
}

fn valid_file(fleet: &Fleet, kind: TableKind) -> Vec<u8> {
    let (csv, other) = (
        fleet.dir.path().join("valid.csv"),
        fleet.dir.path().join(format!("packed{}", kind.extension())),
    );
    std::fs::write(&csv, fleet.proxy(1, 4000)).unwrap();
    let rows = read_proxy(&csv, fleet.schema()).unwrap();
    write_proxy(&other, &rows, fleet.schema(), false).unwrap();
    std::fs::read(other).unwrap()
}
