//! A round from invitation to publication, and the ways in which it can end.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use equipoise_round::client::{keep_receipt, read_sealed, seal_to_file, unusual};
use equipoise_round::extension::{extend, extension};
use equipoise_round::mailbox::{PulledLog, Status};
use equipoise_round::{
    Fault, Invitation, Order, RoundFile, SealingKey, Stage, TrustedSample, open_all, purge,
    read_opened, receive, verify,
};

use crate::world::{CLIENTS, HOUR, World, key, name, pull_from, refusal, replay, time};

#[test]
fn a_round_by_mail_from_invitation_to_verification() {
    let world = World::new(false);
    let mut round = world.create("spring.round");
    let mut receipts = Vec::new();
    for client in CLIENTS {
        let file = world.path(&format!("{client}.sealed"));
        let content = world.content(client, 20);
        let (name, key) = (name(client), key(client));
        let sealed =
            seal_to_file(&file, &world.invitation, &name, &key, &content, time(10)).unwrap();
        // Again: the same file. Another table: another file, sealed later although the clock went back.
        let again =
            seal_to_file(&file, &world.invitation, &name, &key, &content, time(99)).unwrap();
        assert_eq!(again, sealed);
        let other = world.content(client, 21);
        let other = seal_to_file(&file, &world.invitation, &name, &key, &other, time(5)).unwrap();
        assert!(other.sealed_at > sealed.sealed_at);
        let receipt =
            receive(&mut round, fs::File::open(&file).unwrap(), || time(20), &world.coordinator);
        let (submission, _) = read_sealed(&file, &world.invitation).unwrap();
        let kept = keep_receipt(&file, &receipt.unwrap(), &submission, &world.invitation).unwrap();
        receipts.push(kept.1);
    }
    let closed = world.close(&mut round, 100).unwrap();
    let folder = world.publish(&mut round, closed, 200);
    let fingerprint = world.coordinator.public().fingerprint();
    let verified = verify(&folder, &fingerprint, &receipts).unwrap();
    assert!(verified.is_signed);
    assert_eq!(verified.files.len(), 3);
    assert_eq!(verified.files["model.json"], b"{}");
    let tables = read_opened(&world.path("spring.opened"), &verified.log).unwrap();
    assert_eq!((tables.len(), &tables[&name("north")]), (5, &world.content("north", 21)));
    // Nobody else can read the tables, and the result is the same for a copy of the round.
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(world.path("spring.opened")), 0o700);
    assert_eq!(mode(world.path("spring.opened/north.table")), 0o600);
    round.backup(&world.path("copy.round")).unwrap();
    assert_eq!(mode(world.path("copy.round")), 0o600);
    let copy = RoundFile::open(&world.path("copy.round")).unwrap();
    assert_eq!(copy.lines(1).unwrap(), round.lines(1).unwrap());
}

#[test]
fn a_mailbox_writes_until_the_round_is_closed_and_is_extended_after_that() {
    let world = World::new(true);
    let (mut mailbox, mut copy) = (world.create("mailbox.round"), world.create("spring.round"));
    assert_eq!(mailbox.lines(1).unwrap(), copy.lines(1).unwrap());
    for client in CLIENTS {
        world.deliver(&mut mailbox, &world.sealed(client, 20, 10), 20).unwrap();
        world.pull(&mut copy, &mailbox).unwrap();
    }
    assert_eq!(Status::of(mailbox.log()).delivered, 5);
    // The coordinator does not write while the mailbox does.
    let file = world.sealed("north", 21, 30);
    let taken = receive(&mut copy, &file[..], || time(40), &world.coordinator);
    assert_eq!(refusal(taken).code(), "not_writer");
    let closed = world.close(&mut mailbox, 100).unwrap();
    assert_eq!(refusal(world.deliver(&mut mailbox, &file, 110)).code(), "not_possible");
    assert_eq!(world.pull(&mut copy, &mailbox).unwrap(), closed);
    world.revoke(&mut copy, "east", 120).unwrap();
    let folder = world.publish(&mut copy, closed, 200);
    let (header, body) = extension(&copy, &world.coordinator).unwrap();
    extend(&mut mailbox, &header, body).unwrap();
    // The answer was lost, so it is sent again.
    let (header, body) = extension(&copy, &world.coordinator).unwrap();
    extend(&mut mailbox, &header, body).unwrap();
    assert_eq!(mailbox.lines(1).unwrap(), copy.lines(1).unwrap());
    drop(mailbox);
    let mailbox = RoundFile::open(&world.path("mailbox.round")).unwrap();
    let status = Status::of(mailbox.log());
    assert_eq!((status.state.as_str(), status.files.len()), ("published", 3));
    verify(&folder, &world.coordinator.public().fingerprint(), &[]).unwrap();
}

#[test]
fn a_mailbox_that_shows_another_log_or_an_old_copy_is_found_out() {
    let world = World::new(true);
    let mut copy = world.create("spring.round");
    let mut honest = world.create("honest.round");
    world.deliver(&mut honest, &world.sealed("north", 20, 10), 20).unwrap();
    honest.backup(&world.path("old.round")).unwrap();
    world.deliver(&mut honest, &world.sealed("east", 20, 10), 30).unwrap();
    world.pull(&mut copy, &honest).unwrap();
    let mut old = RoundFile::open(&world.path("old.round")).unwrap();
    assert_eq!(refusal(world.pull(&mut copy, &old)).code(), "fork");
    world.deliver(&mut old, &world.sealed("west", 20, 10), 40).unwrap();
    assert_eq!(refusal(world.pull(&mut copy, &old)).code(), "fork");
    world.deliver(&mut old, &world.sealed("south", 20, 10), 50).unwrap();
    assert_eq!(refusal(world.pull(&mut copy, &old)).code(), "fork");
    // Lines without a receipt for the last one, or with somebody else's.
    let mut answer = PulledLog::of(&honest, &world.mailbox).unwrap();
    answer.receipt = honest.receipt(2, &world.mailbox).unwrap();
    assert_eq!(refusal(pull_from(&mut copy, &answer, &honest)).code(), "receipt");
    assert_eq!(copy.log().seq(), 3);
    // A client whose receipt was left out can prove it.
    let promised = honest.receipt(3, &world.mailbox).unwrap();
    assert_eq!(old.log().check_receipt(&promised).unwrap_err().code(), "receipt");
}

#[test]
fn a_lost_mailbox_is_replaced_by_the_coordinators_copy() {
    let world = World::new(true);
    let (mut mailbox, mut copy) = (world.create("mailbox.round"), world.create("spring.round"));
    for client in CLIENTS {
        world.deliver(&mut mailbox, &world.sealed(client, 20, 10), 20).unwrap();
    }
    world.pull(&mut copy, &mailbox).unwrap();
    let order = Order::Close { accept_late: BTreeMap::new(), from_copy: true };
    let order = world.order(&order);
    let at_mailbox = mailbox.append(order.clone(), Vec::new(), time(99), &world.mailbox);
    assert_eq!(refusal(at_mailbox).code(), "not_writer");
    let closed = copy.append(order, Vec::new(), time(100), &world.coordinator).unwrap();
    let folder = world.publish(&mut copy, closed, 200);
    verify(&folder, &world.coordinator.public().fingerprint(), &[]).unwrap();
}

#[test]
fn files_that_break_the_rules_are_excluded_and_never_stop_the_round() {
    let world = World::new(false);
    let mut round = world.create("spring.round");
    let good = world.content("east", 20);
    let mut nan = good.clone();
    nan.values[7] = f64::NAN;
    let elsewhere = World::new(false);
    for (client, content) in [
        ("center", good.to_bytes()),
        ("east", nan.to_bytes()),
        ("north", b"garbage".to_vec()),
        ("west", good.to_bytes()),
    ] {
        world.deliver(&mut round, &world.sealed_bytes(client, &content, 10), 20).unwrap();
    }
    // Sealed to the key of another round, under the right invitation.
    let mut lured = world.invitation.clone();
    lured.terms.sealing_key = elsewhere.sealing.public();
    let content = world.content("south", 20);
    let file =
        equipoise_round::seal(&lured, &name("south"), &key("south"), &content, time(10)).unwrap();
    world.deliver(&mut round, &file, 20).unwrap();
    world.close(&mut round, 100).unwrap();
    let opened = world.path("spring.opened");
    let wrong_key = SealingKey::random();
    assert!(open_all(&mut round, &wrong_key, &opened, &world.coordinator, time(110)).is_err());
    let mut open = || open_all(&mut round, &world.sealing, &opened, &world.coordinator, time(110));
    let problems = open().unwrap();
    let codes: Vec<_> =
        problems.iter().map(|(name, p)| (name.as_str(), p.exclusion.code)).collect();
    assert_eq!(
        codes,
        [("east", Fault::NotFinite), ("north", Fault::Malformed), ("south", Fault::NotOpened)]
    );
    assert_eq!(open().unwrap(), []);
    let tables = read_opened(&opened, round.log()).unwrap();
    assert_eq!(tables.keys().map(|name| name.as_str()).collect::<Vec<_>>(), ["center", "west"]);
    assert!(round.lines(1).unwrap().concat().contains("not_finite"));
    fs::write(opened.join("west.table"), good.to_bytes().split_at(9).1).unwrap();
    let changed = read_opened(&opened, round.log()).unwrap_err().to_string();
    assert!(changed.contains("is not the table that `west` sealed"), "{changed}");
}

#[test]
fn a_round_closes_when_it_may() {
    let world = World::new(false);
    let mut round = world.create("spring.round");
    for client in ["center", "east", "north"] {
        world.deliver(&mut round, &world.sealed(client, 20, 10), 20).unwrap();
    }
    let early = refusal(world.close(&mut round, 30)).to_string();
    assert!(early.contains("south, west"), "{early}");
    world.revoke(&mut round, "south", 40).unwrap();
    assert_eq!(refusal(world.revoke(&mut round, "south", 41)).code(), "revoked");
    assert_eq!(
        refusal(world.deliver(&mut round, &world.sealed("south", 20, 10), 42)).code(),
        "revoked"
    );
    assert_eq!(refusal(world.close(&mut round, 50)).code(), "too_early");
    world.revoke(&mut round, "west", 60).unwrap();
    for client in ["center", "east"] {
        world.revoke(&mut round, client, 70).unwrap();
    }
    assert_eq!(refusal(world.close(&mut round, 80)).code(), "too_few");
    let order = world.order(&Order::Abort { reason: "too many stolen keys".into() });
    round.append(order, Vec::new(), time(90), &world.coordinator).unwrap();
    assert_eq!(refusal(world.close(&mut round, 30 * HOUR)).code(), "not_possible");
    assert_eq!(round.log().stage, Stage::Aborted);
}

#[test]
fn after_a_purge_nothing_can_be_opened_and_the_result_still_verifies() {
    let world = World::new(false);
    let key_file = world.path("spring.sealing.key");
    world.sealing.write(&key_file, &name("spring")).unwrap();
    let (mut round, closed) = world.closed("spring.round");
    let opened = world.path("spring.opened");
    let end =
        |round: &mut RoundFile| purge(round, &key_file, &opened, &world.coordinator, time(300));
    assert_eq!(refusal(end(&mut round)).code(), "not_possible");
    assert!(SealingKey::read(&key_file).is_ok());
    let folder = world.publish(&mut round, closed, 200);
    let sealed = round.log().counting().next().unwrap().1.submission.sha256;
    let needle = {
        use std::io::Read as _;
        let mut bytes = Vec::new();
        round.copy_out(sealed).unwrap().file.read_to_end(&mut bytes).unwrap();
        bytes[40..72].to_vec()
    };
    let holds = |path| fs::read(path).unwrap().windows(32).any(|bytes| bytes == needle);
    assert!(holds(world.path("spring.round")));
    end(&mut round).unwrap();
    end(&mut round).unwrap();
    assert!(!holds(world.path("spring.round")));
    assert!(!key_file.exists() && !opened.exists());
    drop(round);
    let round = RoundFile::open(&world.path("spring.round")).unwrap();
    assert!(round.log().is_purged);
    assert!(round.copy_out(sealed).is_err());
    verify(&folder, &world.coordinator.public().fingerprint(), &[]).unwrap();
    assert!(!replay(&folder).is_purged);
}

#[test]
fn an_invitation_is_checked_and_pinned() {
    let world = World::new(true);
    let file = world.path("spring.invitation");
    fs::write(&file, world.invitation.document.to_string()).unwrap();
    let fingerprint = world.coordinator.public().fingerprint();
    let read = Invitation::read(&file, &fingerprint).unwrap();
    assert_eq!(read.digest, world.invitation.digest);
    let other = key("north").public().fingerprint();
    let refused = Invitation::read(&file, &other).unwrap_err().to_string();
    assert!(refused.contains("Compare the fingerprint by phone"), "{refused}");
    let case = |change: &dyn Fn(&mut equipoise_round::Terms)| {
        let mut terms = world.invitation.terms.clone();
        change(&mut terms);
        refusal(Invitation::sign(terms, &world.coordinator)).to_string()
    };
    assert!(case(&|terms| terms.minimum = 6).contains("minimum"));
    assert!(case(&|terms| terms.max_bytes = u64::MAX).contains("64 MiB"));
    assert!(case(&|terms| terms.deadline = time(-1)).contains("deadline"));
    assert!(case(&|terms| terms.schema = "\x1b[2J".into()).contains("malformed"));
    assert!(!case(&|terms| terms.schema = "\x1b[2J".into()).contains('\x1b'));
    let twice = |terms: &mut equipoise_round::Terms| {
        terms.roster.insert(name("twin"), key("north").public());
    };
    assert!(case(&twice).contains("one key twice"));
    let files = [(name("north"), world.invitation.digest)].into();
    let sample = TrustedSample::new(files).unwrap();
    assert_ne!(sample.commitment(), TrustedSample::new(sample.files.clone()).unwrap().commitment());
}

#[test]
fn unusual_tables_are_pointed_out() {
    let world = World::new(false);
    assert_eq!(unusual(&world.content("north", 20)), Vec::<String>::new());
    assert!(unusual(&world.content("north", 5))[0].contains("only 5 rows"));
    let mut same = world.content("north", 20);
    same.values = same.values[..5].repeat(20);
    assert!(unusual(&same)[0].contains("the same"));
}
