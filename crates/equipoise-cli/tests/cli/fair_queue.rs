//! Clients whose files keep the validator busy for long do not keep others waiting.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use equipoise_data::TableKind;
use equipoise_server::protocol::Digest;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::fleet::{Fleet, full, resident_children, send};

/// How long an honest upload of 200 KB may take.
const HONEST_WAIT: Duration = Duration::from_secs(10);
/// Size of a hostile file.
const HOSTILE_BYTES: usize = 11_700_000;

/// Rows with long cells, compressed. The more often a digit changes, the larger the result.
fn member(rows: usize, rows_per_change: usize) -> Vec<u8> {
    let cell = format!("0.{}", "0".repeat(34));
    let line_of = |first: &str| format!("{first},{},0,1\n", [cell.as_str(); 9].join(","));
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    let mut state = 1u64;
    let mut line = line_of(&cell);
    for row in 0..rows {
        if row % rows_per_change == 0 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            line = line_of(&format!("0.{:034}", state >> 32));
        }
        out.write_all(line.as_bytes()).unwrap();
    }
    out.finish().unwrap()
}

/// A gzip of valid rows, and then `last`, that decodes to slightly less than 200 times its size. It consists of many
/// copies of one member, so it is quickly made.
fn long_file(fleet: &Fleet, bytes: usize, last: &str) -> Vec<u8> {
    const ROWS: usize = 20_000;
    // Header, rows of about 375 bytes each.
    let decoded = 375 * ROWS;
    let member = (1..40).rev().map(|n| member(ROWS, n)).find(|m| decoded / m.len() < 195).unwrap();
    let text = |text: &str| {
        let mut out = GzEncoder::new(Vec::new(), Compression::fast());
        out.write_all(text.as_bytes()).unwrap();
        out.finish().unwrap()
    };
    let mut file = text(&format!("{}\n", fleet.columns().join(",")));
    // At most five million rows.
    for _ in 0..(bytes / member.len()).min(5_000_000 / ROWS) {
        file.extend_from_slice(&member);
    }
    file.extend(text(last));
    file
}

fn hostile_file(fleet: &Fleet) -> Vec<u8> {
    long_file(fleet, HOSTILE_BYTES, "this,is,not,a,row\n")
}

/// Runs `honest` while hostile clients send the file again and again. Clients from 1 on are free for it.
fn under_attack(
    fleet: &Fleet,
    hostile: std::ops::Range<usize>,
    honest: impl FnOnce(),
) -> BTreeMap<String, usize> {
    let file = hostile_file(fleet);
    println!("hostile files: {} bytes each", file.len());
    let (stop, replies) = (AtomicBool::new(false), Mutex::new(BTreeMap::new()));
    let digest = Digest::of(&file);
    std::thread::scope(|scope| {
        for client in hostile {
            let (file, stop, replies) = (&file, &stop, &replies);
            scope.spawn(move || {
                while !stop.load(Ordering::SeqCst) {
                    let stream = TcpStream::connect(("127.0.0.1", fleet.port));
                    let Ok(mut stream) = stream else { return };
                    let length = file.len() as u64;
                    let head = fleet.head(client, TableKind::CsvGz, length, digest);
                    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(file));
                    // Waits for the verdict, but not for longer than the test.
                    stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
                    let mut reply = [0; 12];
                    let result = loop {
                        match stream.read_exact(&mut reply) {
                            Err(error)
                                if error.kind() == std::io::ErrorKind::WouldBlock
                                    && !stop.load(Ordering::SeqCst) => {}
                            result => break result,
                        }
                    };
                    let status = match result {
                        Ok(()) => String::from_utf8_lossy(&reply[9..]).into_owned(),
                        Err(_) => "no reply".to_owned(),
                    };
                    *replies.lock().unwrap().entry(status).or_default() += 1;
                    std::thread::sleep(Duration::from_millis(50));
                }
            });
        }
        // Until the hostile files fill the queue.
        std::thread::sleep(Duration::from_secs(4));
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(honest));
        stop.store(true, Ordering::SeqCst);
        if let Err(panic) = result {
            std::panic::resume_unwind(panic);
        }
    });
    replies.into_inner().unwrap()
}

fn honest_uploads_stay_fast(n_hostile: usize, n_honest: usize) {
    let fleet = Fleet::new(n_hostile + n_honest + 1);
    let server = fleet.start("");
    let mut slowest = Duration::ZERO;
    let replies = under_attack(&fleet, 0..n_hostile, || {
        for i in 0..n_honest {
            let body = fleet.proxy(i as u64, 200 << 10);
            assert!(resident_children(server.child.id()) > 0.0, "the validator is idle: no attack");
            let started = Instant::now();
            let (status, answer) = fleet.put(n_hostile + i, TableKind::Csv, body.as_bytes());
            let took = started.elapsed();
            println!("honest upload {i}: {status} after {:.2} s", took.as_secs_f64());
            assert_eq!(status, 201, "{answer}");
            slowest = slowest.max(took);
            assert!(took <= HONEST_WAIT, "honest upload {i} took {took:?}");
            // So that hostile files are in every stage.
            std::thread::sleep(Duration::from_secs(2));
        }
    });
    println!(
        "{n_hostile} hostile clients, replies {replies:?}; slowest of {n_honest} honest uploads: {:.2} s",
        slowest.as_secs_f64()
    );
    drop(server);
}

#[test]
fn honest_uploads_are_fast_while_five_clients_send_expensive_files() {
    honest_uploads_stay_fast(5, if full() { 10 } else { 3 });
}

#[test]
fn honest_uploads_are_fast_while_twenty_clients_send_expensive_files() {
    honest_uploads_stay_fast(20, if full() { 10 } else { 2 });
}

#[test]
fn a_large_honest_file_is_accepted_while_many_clients_send_small_ones() {
    let n_small = 12;
    let fleet = Fleet::new(n_small + 2);
    // Small files are rejected and sent again without a pause.
    let server = fleet.start_with_config("[limits]\nfree_rejections = 1000000");
    let bytes = if full() { 20 << 20 } else { 3 << 20 };
    let large = long_file(&fleet, bytes, "");
    let small = format!("{}nonsense\n", fleet.proxy(1, 20 << 10));
    let (stop, sent) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for client in 0..n_small {
            let (fleet, small, stop, sent) = (&fleet, &small, &stop, &sent);
            scope.spawn(move || {
                while !stop.load(Ordering::SeqCst) {
                    let (status, answer) = fleet.put(client, TableKind::Csv, small.as_bytes());
                    assert_eq!(status, 422, "{answer}");
                    sent.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        std::thread::sleep(Duration::from_secs(1));
        let started = Instant::now();
        let (status, answer) = fleet.put(n_small, TableKind::CsvGz, &large);
        let took = started.elapsed();
        stop.store(true, Ordering::SeqCst);
        println!(
            "large file of {} bytes: {status} after {:.1} s, meanwhile {} small files",
            large.len(),
            took.as_secs_f64(),
            sent.load(Ordering::SeqCst)
        );
        assert_eq!(status, 201, "{answer}");
        assert!(took < Duration::from_secs(if full() { 300 } else { 150 }), "{took:?}");
    });
    drop(server);
}

#[test]
fn a_client_that_hangs_up_in_the_queue_is_still_validated_and_frees_its_slot() {
    let n_hostile = 4;
    let fleet = Fleet::new(n_hostile + 3);
    let server = fleet.start("");
    let honest = n_hostile;
    // Needs more than a quick run.
    let large = long_file(&fleet, 3 << 20, "");
    under_attack(&fleet, 0..n_hostile, || {
        let head = fleet.head(honest, TableKind::CsvGz, large.len() as u64, Digest::of(&large));
        let mut stream = TcpStream::connect(("127.0.0.1", fleet.port)).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&large).unwrap();
        // The body has arrived. The client hangs up while the file waits or is being read.
        std::thread::sleep(Duration::from_millis(500));
        drop(stream);
        let started = Instant::now();
        let get = head
            .replacen("PUT", "GET", 1)
            .replace(&format!("content-length: {}", large.len()), "content-length: 0");
        loop {
            let (status, answer) = send(fleet.port, &[get.as_bytes()]);
            if status == 200 {
                break;
            }
            assert_eq!(status, 404, "{answer}");
            assert!(started.elapsed() < Duration::from_secs(240), "never accepted: {answer}");
            std::thread::sleep(Duration::from_millis(200));
        }
        println!("accepted {:.1} s after hanging up", started.elapsed().as_secs_f64());
        let body = fleet.proxy(7, 20 << 10);
        assert_eq!(fleet.put(honest + 1, TableKind::Csv, body.as_bytes()).0, 201);
    });
    drop(server);
}

#[test]
fn a_client_whose_files_are_rejected_again_and_again_must_wait() {
    let fleet = Fleet::new(3);
    let server = fleet.start("");
    let bad = format!("{}nonsense\n", fleet.proxy(1, 1000));
    let put = || fleet.put(0, TableKind::Csv, bad.as_bytes());
    for _ in 0..4 {
        let (status, answer) = put();
        assert_eq!((status, answer["code"].as_str()), (422, Some("value_rejected")), "{answer}");
    }
    let (status, answer) = put();
    assert_eq!((status, answer["code"].as_str()), (429, Some("too_many_rejected_files")));
    let wait = answer["retry_after_seconds"].as_u64().unwrap();
    assert!((5..=11).contains(&wait), "{answer}");
    assert!(answer["hint"].as_str().unwrap().contains("schema"), "{answer}");
    // Others are not affected.
    let good = fleet.proxy(2, 1000);
    assert_eq!(fleet.put(1, TableKind::Csv, good.as_bytes()).0, 201);
    std::thread::sleep(Duration::from_secs(wait));
    // The fixed file is accepted after the wait, and the same file again gets its receipt without one.
    assert_eq!(fleet.put(0, TableKind::Csv, good.as_bytes()).0, 201);
    assert_eq!(fleet.put(0, TableKind::Csv, good.as_bytes()).0, 200);
    drop(server);
}
