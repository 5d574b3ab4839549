//! (b) Every byte of a small round file flipped: opening names the damage, or the byte is unused and nothing changes.
//!
//! Every ninth byte, unless `EQUIPOISE_TEST_FULL` is set.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::thread;

use equipoise_data::Digest;
use equipoise_round::{Error, RoundFile};

use crate::world::World;

/// All that a round file says: lines and blobs.
fn content(round: &RoundFile) -> (Vec<String>, BTreeMap<Digest, Vec<u8>>) {
    let read = |sha256: Digest| {
        let mut bytes = Vec::new();
        round.copy_out(sha256).unwrap().file.read_to_end(&mut bytes).unwrap();
        (sha256, bytes)
    };
    (round.lines(1).unwrap(), round.log().blobs().into_keys().map(read).collect())
}

#[test]
fn a_flipped_byte_is_named_or_unused() {
    let world = World::new(false);
    let mut round = world.create("spring.round");
    world.deliver(&mut round, &world.sealed("north", 3, 10), 20).unwrap();
    world.revoke(&mut round, "east", 30).unwrap();
    let expected = content(&round);
    drop(round);
    let bytes = fs::read(world.path("spring.round")).unwrap();
    let step = if std::env::var_os("EQUIPOISE_TEST_FULL").is_some() { 1 } else { 9 };
    let n_threads = 2;
    let flip = |thread: usize| {
        let path = world.path(&format!("flipped-{thread}.round"));
        let (mut damaged, mut unused) = (0, 0);
        for at in (thread * step..bytes.len()).step_by(n_threads * step) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0xff;
            fs::write(&path, flipped).unwrap();
            match RoundFile::open(&path) {
                Ok(round) => {
                    assert!(content(&round) == expected, "byte {at} changes the round");
                    unused += 1;
                }
                Err(Error::Damaged { problem, .. } | Error::File { problem, .. }) => {
                    assert!(!problem.is_empty());
                    damaged += 1;
                }
                Err(other) => panic!("byte {at}: {other}"),
            }
        }
        (damaged, unused)
    };
    let (damaged, unused) = thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads).map(|n| scope.spawn(move || flip(n))).collect();
        let counts = threads.into_iter().map(|thread| thread.join().unwrap());
        counts.fold((0, 0), |(a, b), (c, d)| (a + c, b + d))
    });
    println!("{} bytes: {damaged} damaged, {unused} unused", bytes.len());
    // The events and the ciphertext alone have this many bytes.
    let lines: usize = expected.0.iter().map(String::len).sum();
    let blobs: usize = expected.1.values().map(Vec::len).sum();
    assert!(damaged >= (lines + blobs) / step, "{damaged} damaged, {lines} + {blobs}");
}
