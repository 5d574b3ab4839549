//! (d) Two deliveries at once, old after new, the same twice; and everything else that can arrive.

use std::sync::Barrier;
use std::thread;

use equipoise_round::{Content, Fault, Receipt, RoundFile, SealingKey, Submission};

use crate::world::{HOUR, World, key, later, name, refusal, time};

#[test]
fn the_same_file_gets_the_same_receipt_and_an_older_one_is_refused() {
    let world = World::new(false);
    let mut round = world.create("spring.round");
    let (old, new) = (world.sealed("north", 20, 10), world.sealed("north", 30, 20));
    let receipt = world.deliver(&mut round, &new, 30).unwrap();
    assert_eq!(world.deliver(&mut round, &new, 40).unwrap(), receipt);
    assert_eq!(round.log().seq(), 2);
    assert_eq!(refusal(world.deliver(&mut round, &old, 50)).code(), "older");
    // Its receipt can still be had after the round has moved on.
    let newer = world.sealed("north", 31, 60);
    world.deliver(&mut round, &newer, 60).unwrap();
    assert_eq!(world.deliver(&mut round, &new, 70).unwrap(), receipt);
    let counting = round.log().counting().next().unwrap().1;
    assert_eq!(counting.seq, 3);
}

#[test]
fn two_deliveries_at_once_from_two_processes_both_get_a_receipt_of_the_log() {
    let world = World::new(false);
    drop(world.create("spring.round"));
    let path = world.path("spring.round");
    let start = Barrier::new(4);
    let files: Vec<Vec<u8>> = (0..4).map(|n| world.sealed("north", 20 + n, 10)).collect();
    let receipts: Vec<_> = thread::scope(|scope| {
        let deliver = |file: &Vec<u8>| {
            let file = file.clone();
            let (path, start, world) = (&path, &start, &world);
            scope.spawn(move || {
                let mut round = RoundFile::open(path).unwrap();
                start.wait();
                world.deliver(&mut round, &file, 20)
            })
        };
        let threads: Vec<_> = files.iter().map(deliver).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    // All were sealed at the same time: one is first, the others are not later.
    let round = RoundFile::open(&path).unwrap();
    assert_eq!(round.log().seq(), 2);
    let (accepted, refused): (Vec<_>, Vec<_>) = receipts.into_iter().partition(Result::is_ok);
    assert_eq!((accepted.len(), refused.len()), (1, 3));
    round.log().check_receipt(accepted[0].as_ref().unwrap()).unwrap();
    for result in refused {
        assert_eq!(refusal(result).code(), "older");
    }
}

#[test]
fn files_that_are_not_for_this_round_or_not_whole_are_refused() {
    let (world, other) = (World::new(false), World::new(true));
    let mut round = world.create("spring.round");
    let good = world.sealed("north", 20, 10);
    let mut code = |file: &[u8]| refusal(world.deliver(&mut round, file, 20)).code();
    assert_eq!(code(&other.sealed("north", 20, 10)), "other_round");
    assert_eq!(code(&good[..good.len() - 1]), "other_body");
    assert_eq!(code(&[&good[..], b"x"].concat()), "other_body");
    assert_eq!(code(&good[..100]), "malformed");
    assert_eq!(code(b""), "malformed");
    let mut flipped = good.clone();
    *flipped.last_mut().unwrap() ^= 1;
    assert_eq!(code(&flipped), "other_body");
    let text = String::from_utf8_lossy(&good[..600]).into_owned();
    let forged = text.replacen("north", "south", 1);
    assert_eq!(code(&[forged.as_bytes(), &good[600..]].concat()), "bad_signature");
    let stranger = text.replacen("north", "forth", 1);
    assert_eq!(code(&[stranger.as_bytes(), &good[600..]].concat()), "not_on_roster");
    assert_eq!(round.log().seq(), 1);
    let large = world.sealed_bytes("north", &vec![0; 1 << 19], 10);
    world.deliver(&mut round, &large, 20).unwrap();
}

#[test]
fn a_client_cannot_fill_the_disk() {
    let world = World::new(false);
    let mut round = world.create("spring.round");
    for n in 1..=20 {
        world.deliver(&mut round, &world.sealed("north", 3, n), n).unwrap();
    }
    assert_eq!(
        refusal(world.deliver(&mut round, &world.sealed("north", 3, 21), 21)).code(),
        "too_many"
    );
}

#[test]
fn late_files_are_marked_and_left_out_unless_the_coordinator_accepts_them() {
    let world = World::new(false);
    let mut round = world.create("spring.round");
    for client in ["north", "east"] {
        world.deliver(&mut round, &world.sealed(client, 20, 10), 24 * HOUR).unwrap();
    }
    let late = world.deliver(&mut round, &world.sealed("north", 30, 20), 24 * HOUR + 1).unwrap();
    let submission = &round.log().clients[&name("north")].late.as_ref().unwrap().submission;
    assert!(Receipt::of(&late, submission, &world.invitation).unwrap().late);
    let counting = |round: &RoundFile| round.log().counting().map(|(_, filed)| filed.seq).collect();
    let order = |round: &mut RoundFile, client: &str, reason: &str| {
        let accept_late = [(name(client), reason.to_owned())].into();
        let order = equipoise_round::Order::Close { accept_late, from_copy: false };
        round.append(world.order(&order), Vec::new(), time(25 * HOUR), &world.coordinator)
    };
    assert_eq!(refusal(order(&mut round, "east", "x")).code(), "not_late");
    assert_eq!(refusal(order(&mut round, "north", " ")).code(), "reason");
    let before: Vec<u64> = counting(&round);
    assert_eq!(before, [3, 2]);
    order(&mut round, "north", "their line was down").unwrap();
    let after: Vec<u64> = counting(&round);
    assert_eq!(after, [3, 4]);
}

#[test]
fn a_clock_that_jumps_back_never_takes_the_log_along() {
    let world = World::new(false);
    let mut round = world.create("spring.round");
    world.deliver(&mut round, &world.sealed("north", 20, 10), 5000).unwrap();
    world.deliver(&mut round, &world.sealed("east", 20, 10), -90_000).unwrap();
    assert_eq!(round.log().at, time(5000));
    drop(round);
    let round = RoundFile::open(&world.path("spring.round")).unwrap();
    assert_eq!((round.log().seq(), round.log().at), (3, later(time(0), 5000)));
}

#[test]
fn content_is_checked_to_the_cell() {
    let world = World::new(false);
    let good = world.content("north", 4);
    assert_eq!(good.check(&world.invitation), Ok(()));
    let case = |cell: usize, value: f64| {
        let mut content = good.clone();
        content.values[cell] = value;
        let problem = content.check(&world.invitation).unwrap_err();
        let public = serde_json::to_string(&problem.exclusion).unwrap();
        assert!(!public.contains("12345"), "{public} has the value");
        (problem.exclusion.code, problem.exclusion.row.unwrap(), problem.exclusion.column.unwrap())
    };
    assert_eq!(case(5, f64::NAN), (Fault::NotFinite, 2, "score".into()));
    assert_eq!(case(10, f64::NEG_INFINITY), (Fault::NotFinite, 3, "score".into()));
    assert_eq!(case(1, 12_345.0), (Fault::TooLarge, 1, "tier=a".into()));
    assert_eq!(case(3, 2.0), (Fault::UnknownGroup, 1, "sex".into()));
    assert_eq!(case(3, f64::NAN), (Fault::UnknownGroup, 1, "sex".into()));
    assert_eq!(case(3, 0.5), (Fault::UnknownGroup, 1, "sex".into()));
    assert_eq!(case(19, 0.0), (Fault::UnknownLabel, 4, "hired".into()));
    let bytes = good.to_bytes();
    assert_eq!(Content::parse(&bytes).unwrap(), good);
    for bad in [&bytes[..bytes.len() - 1], &bytes[..bytes.len() - 8], &bytes[1..], b"", b"\n"] {
        assert_eq!(Content::parse(bad).unwrap_err().exclusion.code, Fault::Malformed);
    }
    let longer = [&bytes[..], &[0; 8]].concat();
    assert_eq!(Content::parse(&longer).unwrap_err().exclusion.code, Fault::Malformed);
}

#[test]
fn what_was_sealed_opens_only_with_its_context_and_key() {
    let world = World::new(false);
    let file = world.sealed("north", 20, 10);
    let header = equipoise_round::sealed::read_header(&mut &file[..]).unwrap().unwrap();
    let body = &file[header.to_string().len()..];
    let submission = Submission::of(header, &world.invitation).unwrap();
    let (bytes, content) = submission.open(body, &world.sealing, &world.invitation).unwrap();
    assert_eq!((content.clone(), bytes), (world.content("north", 20), content.to_bytes()));
    let code = |submission: &Submission, key| {
        submission.open(body, key, &world.invitation).unwrap_err().exclusion.code
    };
    let other_key = SealingKey::random();
    assert_eq!(code(&submission, &other_key), Fault::NotOpened);
    // The same ciphertext under another client's header.
    let other = world.sealed("south", 20, 10);
    let header = equipoise_round::sealed::read_header(&mut &other[..]).unwrap().unwrap();
    let stolen = Submission::of(header, &world.invitation).unwrap();
    assert_eq!(code(&stolen, &world.sealing), Fault::NotOpened);
    // The same table is the same content again, and a guess of it cannot be confirmed without the client's key.
    assert_eq!(world.content("north", 20), content);
    let values = content.values.clone();
    let guess = Content::new(&world.invitation, &key("south"), "test".into(), ().into(), values);
    assert_ne!(guess.preamble.secret, content.preamble.secret);
}
