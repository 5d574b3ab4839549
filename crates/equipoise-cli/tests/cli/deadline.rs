//! Lateness is judged when the last byte of an upload arrives, not when its validation ends.

use std::io::Write as _;
use std::time::{Duration, Instant};

use equipoise_data::TableKind;
use equipoise_server::protocol::{Digest, SubmissionList};
use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::{SignedDuration, Timestamp};

use crate::fleet::Fleet;
use crate::wire::{Peer, Reply};

/// Clients whose last byte arrives in time. They exceed the validators, so that some also wait for a slot.
const PUNCTUAL: usize = 4;
const LATE: usize = 4;
const SILENT: usize = 5;
const STARTS_LATE: usize = 6;
const N_CLIENTS: usize = 7;

/// Decoded size of a file: a validator takes about a second to read it.
const DECODED_BYTES: usize = 40 << 20;

#[test]
fn a_round_waits_for_uploads_that_arrived_before_its_deadline() {
    let created = Instant::now();
    let deadline = Timestamp::from_second(Timestamp::now().as_second() + 7).unwrap();
    let fleet = Fleet::with_deadline(N_CLIENTS, deadline);
    let _server = fleet.start("");
    let files: Vec<Vec<u8>> = (0..N_CLIENTS).map(|client| slow_file(&fleet, client)).collect();
    let all_but_one = |client: usize| open(&fleet, client, &files[client], files[client].len() - 1);

    let punctual: Vec<Peer> = (0..PUNCTUAL).map(all_but_one).collect();
    let late = all_but_one(LATE);
    // Holds its connection, and nothing else: the round must not wait for it.
    let silent = open(&fleet, SILENT, &files[SILENT], files[SILENT].len() / 2);
    println!("everything but the last bytes sent after {:.1} s", created.elapsed().as_secs_f64());

    sleep_until(deadline - SignedDuration::from_millis(300));
    std::thread::scope(|scope| {
        let punctual: Vec<_> = punctual
            .into_iter()
            .zip(&files)
            .map(|(peer, file)| scope.spawn(move || (finish(peer, file), Timestamp::now())))
            .collect();
        sleep_until(deadline + SignedDuration::from_millis(400));
        let late = finish(late, &files[LATE]);
        let starts_late = fleet.put(STARTS_LATE, TableKind::CsvGz, &files[STARTS_LATE]);

        let replies: Vec<(Reply, Timestamp)> =
            punctual.into_iter().map(|sender| sender.join().unwrap()).collect();
        for (client, (reply, at)) in replies.iter().enumerate() {
            let after = at.duration_since(deadline).as_secs_f64();
            println!("client-{client}: {} {after:.1} s after the deadline", reply.outcome());
        }
        for (reply, _) in &replies {
            assert_eq!(reply.status, 201, "{}", reply.outcome());
        }
        assert_eq!((late.status, late.code().as_str()), (409, "too_late"));
        assert_eq!((starts_late.0, starts_late.1["code"].as_str()), (409, Some("too_late")));
        // Otherwise the test shows nothing.
        let n_after = replies.iter().filter(|(_, at)| *at > deadline).count();
        assert!(n_after > 0, "every validation ended before the deadline: make the files larger");
    });

    // The round closes although one client still holds its connection.
    let closed = Instant::now();
    while round_state(&fleet) == "open" {
        assert!(closed.elapsed() < Duration::from_secs(5), "the round is still open");
        std::thread::sleep(Duration::from_millis(50));
    }
    silent.hang_up();
    while round_state(&fleet) != "published" {
        assert!(closed.elapsed() < Duration::from_secs(120), "{}", round_state(&fleet));
        std::thread::sleep(Duration::from_millis(100));
    }
    let list: SubmissionList =
        serde_json::from_slice(&get(&fleet, "/v1/rounds/spring/files/submissions.json").body)
            .unwrap();
    let names = |clients: std::ops::Range<usize>| -> Vec<String> {
        clients.map(|client| format!("client-{client}")).collect()
    };
    let listed: Vec<String> = list.submissions.iter().map(|s| s.client.to_string()).collect();
    let absent: Vec<String> = list.absent.iter().map(ToString::to_string).collect();
    assert_eq!((listed, absent), (names(0..PUNCTUAL), names(LATE..N_CLIENTS)));
    // A retry gets the receipt, however late.
    assert_eq!(fleet.put(0, TableKind::CsvGz, &files[0]).0, 200);
}

/// A valid file that is small, so that it arrives quickly, and takes long to read.
fn slow_file(fleet: &Fleet, client: usize) -> Vec<u8> {
    let block = fleet.proxy(client as u64, 20_000);
    let rows = block.split_once('\n').unwrap().1;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(block.as_bytes()).unwrap();
    for _ in 0..DECODED_BYTES / rows.len() {
        encoder.write_all(rows.as_bytes()).unwrap();
    }
    encoder.finish().unwrap()
}

/// Sends the first bytes of a client's file.
fn open(fleet: &Fleet, client: usize, file: &[u8], bytes: usize) -> Peer {
    let head = fleet.head(client, TableKind::CsvGz, file.len() as u64, Digest::of(file));
    let mut peer = fleet.wire.connect().unwrap();
    assert!(peer.write_pieces(&[head.as_bytes(), &file[..bytes]]));
    peer
}

/// Sends the last byte.
fn finish(mut peer: Peer, file: &[u8]) -> Reply {
    peer.write_pieces(&[&file[file.len() - 1..]]);
    peer.reply()
}

fn sleep_until(time: Timestamp) {
    let left = time.duration_since(Timestamp::now());
    assert!(left.is_positive(), "the machine is too slow for this test: {left:?}");
    std::thread::sleep(left.unsigned_abs());
}

fn round_state(fleet: &Fleet) -> String {
    get(fleet, "/v1/rounds/spring").json()["state"].as_str().unwrap_or_default().to_owned()
}

fn get(fleet: &Fleet, path: &str) -> Reply {
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    fleet.wire.send(&[request.as_bytes()])
}
