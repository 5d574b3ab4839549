//! (a) Random sequences of operations by a coordinator, a mailbox that lies, five clients and a courier, against a
//! model.
//!
//! The model knows what each client has sealed and who should count. After every step the round file agrees with it;
//! at the end the file is opened again, and every receipt that anyone holds is of an event in the log.

use std::collections::BTreeMap;

use equipoise_round::mailbox::PulledLog;
use equipoise_round::{Document, Log, Order, RoundFile, Stage};
use proptest::prelude::*;

use crate::world::{CLIENTS, HOUR, World, key, name, pull_from, refusal, time};

#[derive(Debug, Clone)]
enum Step {
    /// A client seals a file, now or with a wrong clock, and sends it or keeps it for the courier.
    Seal {
        client: usize,
        clock: i64,
        is_sent: bool,
    },
    /// The courier delivers any of the files so far, perhaps again.
    Carry {
        at: usize,
    },
    /// A thief signs in a client's name with another key.
    Forge {
        client: usize,
    },
    Wait {
        hours: i64,
    },
    Revoke {
        client: usize,
    },
    Pull,
    /// The mailbox forgets its last events, or changes one, and answers a pull.
    Lie {
        at: usize,
        is_forgotten: bool,
    },
    Close {
        is_late_accepted: bool,
    },
    Abort,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let client = 0..CLIENTS.len();
    prop_oneof![
        8 => (client.clone(), -3..4i64, any::<bool>())
            .prop_map(|(client, clock, is_sent)| Step::Seal { client, clock, is_sent }),
        4 => any::<usize>().prop_map(|at| Step::Carry { at }),
        1 => client.clone().prop_map(|client| Step::Forge { client }),
        2 => (1..9i64).prop_map(|hours| Step::Wait { hours }),
        1 => client.prop_map(|client| Step::Revoke { client }),
        3 => Just(Step::Pull),
        1 => (any::<usize>(), any::<bool>())
            .prop_map(|(at, is_forgotten)| Step::Lie { at, is_forgotten }),
        1 => any::<bool>().prop_map(|is_late_accepted| Step::Close { is_late_accepted }),
        1 => (0..8u8).prop_map(|n| if n == 0 { Step::Abort } else { Step::Reopen }),
    ]
}

#[derive(Default)]
struct ClientModel {
    latest: Option<i64>,
    on_time: Option<usize>,
    late: Option<usize>,
    n_files: u64,
    is_revoked: bool,
    counts: Option<usize>,
}

struct Game {
    world: World,
    mailbox: RoundFile,
    copy: RoundFile,
    /// Seconds since the start.
    now: i64,
    files: Vec<(usize, i64, Vec<u8>)>,
    receipts: BTreeMap<usize, Document>,
    clients: Vec<ClientModel>,
    stage: Stage,
}

const DEADLINE: i64 = 24 * HOUR;

impl Game {
    fn new() -> Self {
        let world = World::new(true);
        let (mailbox, copy) = (world.create("mailbox.round"), world.create("spring.round"));
        let clients = CLIENTS.iter().map(|_| ClientModel::default()).collect();
        let (files, receipts) = (Vec::new(), BTreeMap::new());
        Self { world, mailbox, copy, now: 10, files, receipts, clients, stage: Stage::Open }
    }

    fn play(&mut self, step: Step) {
        self.now += 60;
        let is_open = self.stage == Stage::Open;
        match step {
            Step::Seal { client, clock, is_sent } => {
                let sealed_at = self.now + clock * 100;
                let file = self.world.sealed(CLIENTS[client], 2, sealed_at);
                self.files.push((client, sealed_at, file));
                if is_sent {
                    self.deliver(self.files.len() - 1);
                }
            }
            Step::Carry { at } if !self.files.is_empty() => self.deliver(at % self.files.len()),
            Step::Carry { .. } => {}
            Step::Forge { client } => {
                let other = CLIENTS[(client + 1) % CLIENTS.len()];
                let order = Order::Abort { reason: "x".into() };
                let forged = order.sign(&self.world.invitation, &key(other));
                let at = time(self.now);
                let writer = &self.world.mailbox;
                assert!(self.mailbox.append(forged, Vec::new(), at, writer).is_err());
            }
            Step::Wait { hours } => self.now += hours * HOUR,
            Step::Revoke { client } => {
                let is_new = is_open && !self.clients[client].is_revoked;
                if is_open {
                    let done = self.world.revoke(&mut self.mailbox, CLIENTS[client], self.now);
                    assert_eq!(done.is_ok(), is_new);
                    self.clients[client].is_revoked = true;
                }
            }
            Step::Pull => {
                self.world.pull(&mut self.copy, &self.mailbox).unwrap();
                assert_eq!(self.copy.log().head(), self.mailbox.log().head());
            }
            Step::Lie { at, is_forgotten } => self.lie(at, is_forgotten),
            Step::Close { is_late_accepted } => self.close(is_late_accepted),
            Step::Abort => {
                let order = self.world.order(&Order::Abort { reason: "over".into() });
                let (at, writer) = (time(self.now), &self.world.mailbox);
                let done = self.mailbox.append(order, Vec::new(), at, writer);
                assert_eq!(done.is_ok(), is_open);
                if is_open {
                    self.stage = Stage::Aborted;
                }
            }
            Step::Reopen => {
                self.mailbox = RoundFile::open(&self.world.path("mailbox.round")).unwrap();
            }
        }
        self.compare();
    }

    fn deliver(&mut self, at: usize) {
        let (client, sealed_at, file) = &self.files[at];
        let result = self.world.deliver(&mut self.mailbox, file, self.now);
        if let Some(receipt) = self.receipts.get(&at) {
            assert_eq!(result.unwrap(), *receipt, "the same file gets the same receipt");
            return;
        }
        let model = &mut self.clients[*client];
        let expected = match () {
            () if self.stage != Stage::Open => Some("not_possible"),
            () if model.is_revoked => Some("revoked"),
            () if model.n_files == 20 => Some("too_many"),
            () if model.latest.is_some_and(|latest| *sealed_at <= latest) => Some("older"),
            () => None,
        };
        if let Some(code) = expected {
            assert_eq!(refusal(result).code(), code);
            return;
        }
        model.n_files += 1;
        model.latest = Some(*sealed_at);
        *(if self.now > DEADLINE { &mut model.late } else { &mut model.on_time }) = Some(at);
        self.receipts.insert(at, result.unwrap());
    }

    /// Whatever a mailbox answers, the copy keeps what it has, and no lie is taken for the log.
    fn lie(&mut self, at: usize, is_forgotten: bool) {
        let mut answer = PulledLog::of(&self.mailbox, &self.world.mailbox).unwrap();
        let (held, at) = (self.copy.log().head(), at % answer.lines.len());
        if is_forgotten {
            answer.lines.truncate(at.max(1));
        } else {
            answer.lines[at] = answer.lines[at].replacen("2027", "2028", 1);
        }
        if answer.lines.len() as u64 == self.mailbox.log().seq() && is_forgotten {
            return;
        }
        assert!(pull_from(&mut self.copy, &answer, &self.mailbox).is_err());
        assert_eq!(self.copy.log().head(), held);
    }

    fn close(&mut self, is_late_accepted: bool) {
        let late = |model: &ClientModel| model.late.is_some() && !model.is_revoked;
        let accept_late: BTreeMap<_, _> = CLIENTS
            .iter()
            .zip(&self.clients)
            .filter(|(_, model)| is_late_accepted && late(model))
            .map(|(client, _)| (name(client), "ok".to_owned()))
            .collect();
        let counts = |model: &ClientModel| match model.is_revoked {
            true => None,
            false => model.late.filter(|_| is_late_accepted).or(model.on_time),
        };
        let counting = self.clients.iter().filter(|model| counts(model).is_some()).count();
        let is_complete = self.clients.iter().all(|m| m.is_revoked || m.on_time.is_some());
        let expected = match () {
            () if self.stage != Stage::Open => Some("not_possible"),
            () if self.now < DEADLINE && !is_complete => Some("too_early"),
            () if counting < 2 => Some("too_few"),
            () => None,
        };
        let order = self.world.order(&Order::Close { accept_late, from_copy: false });
        let (at, writer) = (time(self.now), &self.world.mailbox);
        let done = self.mailbox.append(order, Vec::new(), at, writer);
        assert_eq!(done.as_ref().err().map(|_| refusal(done.clone_refusal()).code()), expected);
        if expected.is_none() {
            self.stage = Stage::Closed;
            for model in &mut self.clients {
                model.counts = counts(model);
            }
        }
    }

    fn compare(&self) {
        let log = self.mailbox.log();
        assert_eq!(log.stage, self.stage);
        for (client, model) in CLIENTS.iter().zip(&self.clients) {
            let found = &log.clients[&name(client)];
            assert_eq!(found.revoked.is_some(), model.is_revoked);
            let expected = match self.stage {
                Stage::Closed => model.counts,
                _ if model.is_revoked => None,
                _ => model.on_time,
            };
            let file = |at: usize| time(self.files[at].1);
            let counting = found.counting().map(|filed| filed.submission.sealed_at);
            assert_eq!(counting, expected.map(file), "{client}");
        }
    }

    fn end(self) {
        let Self { world, mailbox, receipts, .. } = self;
        let lines = mailbox.lines(1).unwrap();
        drop(mailbox);
        let again = RoundFile::open(&world.path("mailbox.round")).unwrap();
        assert_eq!(again.lines(1).unwrap(), lines);
        let log = Log::replay(&lines).unwrap();
        for receipt in receipts.values() {
            log.check_receipt(receipt).unwrap();
        }
    }
}

/// The refusal of a result that is looked at twice.
trait CloneRefusal {
    fn clone_refusal(&self) -> equipoise_round::Result<()>;
}

impl CloneRefusal for equipoise_round::Result<Document> {
    fn clone_refusal(&self) -> equipoise_round::Result<()> {
        match self {
            Err(equipoise_round::Error::Refused(refusal)) => Err(refusal.clone().into()),
            other => panic!("{other:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if std::env::var_os("EQUIPOISE_TEST_FULL").is_some() { 1000 } else { 60 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_round_agrees_with_its_model_after_every_step(
        steps in proptest::collection::vec(step(), 1..60)
    ) {
        let mut game = Game::new();
        for step in steps {
            game.play(step);
        }
        game.end();
    }
}
