//! (e) Forged rounds whose chain must not hold: one honest round, and a patch for each forgery. Our verifier and the
//! second one, which shares no code with it, must agree on every one.
//!
//! The forger has every key but the mailbox's where it says so, so most forgeries are well signed and well linked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use equipoise_data::Digest;
use equipoise_round::{Document, Event, Kind, Order, Receipt, RoundFile, Statement, verify};
use jiff::Timestamp;

use crate::world::{HOUR, World, key, name, time};

/// What a forged log records.
enum Forged {
    Document(Timestamp, Document),
    /// A statement that continues the log before it, after a change.
    Statement(Timestamp, Box<dyn Fn(&mut Statement)>),
}

struct Forger {
    world: World,
    honest: Vec<Event>,
    statement: Statement,
    folder: PathBuf,
}

impl Forger {
    fn new(has_mailbox: bool) -> Self {
        let world = World::new(has_mailbox);
        let (mut round, closed) = world.closed("spring.round");
        let folder = world.publish(&mut round, closed, 200);
        let lines = round.lines(1).unwrap();
        let honest = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let statement = round.log().statement.clone().unwrap().1;
        Self { world, honest, statement, folder }
    }

    /// The honest log: invitation, five files, closing.
    fn before(&self) -> Vec<Forged> {
        let events = &self.honest[..self.honest.len() - 1];
        events.iter().map(|event| Forged::Document(event.at, event.document.clone())).collect()
    }

    fn order(&self, at: i64, order: &Order) -> Forged {
        Forged::Document(time(at), self.world.order(order))
    }

    fn file(&self, client: &str, sealed_at: i64, at: i64) -> Forged {
        let file = self.world.sealed(client, 9, sealed_at);
        let header = equipoise_round::sealed::read_header(&mut &file[..]).unwrap().unwrap();
        Forged::Document(time(at), header)
    }

    /// Links the events, signs the statement, and writes both.
    fn write(&self, events: Vec<Forged>) {
        let (mut lines, mut closed) = (Vec::<String>::new(), None);
        for event in events {
            let previous = lines.last().map_or(Digest::ZERO, |line| Digest::of(line.as_bytes()));
            let (at, document) = match event {
                Forged::Document(at, document) => (at, document),
                Forged::Statement(at, change) => {
                    let closed = closed.clone().unwrap_or(self.statement.closed.clone());
                    let mut statement =
                        Statement { head: previous, closed, ..self.statement.clone() };
                    change(&mut statement);
                    let statement = self.sign(&statement);
                    fs::write(self.folder.join("statement"), statement.to_string()).unwrap();
                    (at, statement)
                }
            };
            let is_order = document.kind() == Kind::Order;
            let event = Event { seq: lines.len() as u64 + 1, at, previous, document };
            let line = serde_json::to_string(&event).unwrap();
            let is_own = !self.world.has_mailbox || line.contains(r#"from_copy\":true"#);
            if is_order && line.contains("accept_late") && is_own {
                let (invitation, coordinator) = (&self.world.invitation, &self.world.coordinator);
                closed = Some(Receipt::sign(&line, invitation, coordinator).unwrap());
            }
            lines.push(line);
        }
        let log: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(self.folder.join("log.jsonl"), log).unwrap();
    }

    fn sign(&self, statement: &Statement) -> Document {
        let audience = self.world.invitation.digest;
        Document::sign(Kind::Statement, audience, statement, &self.world.coordinator)
    }

    /// A log in which these events were removed, and the rest honest or changed.
    fn edit(&self, change: impl FnOnce(&mut Vec<Forged>)) {
        let mut events = self.before();
        events.push(published(|_| {}));
        change(&mut events);
        self.write(events);
    }
}

fn published(change: impl Fn(&mut Statement) + 'static) -> Forged {
    Forged::Statement(time(300), Box::new(change))
}

fn close(forger: &Forger, at: i64, late: &[&str]) -> Forged {
    let accept_late = late.iter().map(|client| (name(client), "ok".to_owned())).collect();
    forger.order(at, &Order::Close { accept_late, from_copy: false })
}

fn without(statement: &mut Statement, client: &str) {
    statement.submissions.remove(&name(client));
}

type Patch = (&'static str, fn(&Forger));

/// Each changes a folder. A log that `edit` writes without a change is verified: that is tested too.
const FORGERIES: &[Patch] = &[
    ("a file is dropped", |f| f.edit(|log| drop(log.remove(3)))),
    ("a file and its client are dropped", |f| {
        f.edit(|log| {
            log.remove(3);
            log.pop();
            log.push(published(|statement| without(statement, "north")));
        });
    }),
    ("two files change places", |f| f.edit(|log| log.swap(2, 3))),
    ("the invitation is missing", |f| f.edit(|log| drop(log.remove(0)))),
    ("time goes back", |f| f.edit(|log| log.insert(6, f.file("north", 50, 1)))),
    ("an older file follows a newer one", |f| f.edit(|log| log.insert(6, f.file("north", -5, 50)))),
    ("the same file twice", |f| {
        f.edit(|log| {
            let again = Forged::Document(time(50), f.honest[3].document.clone());
            log.insert(6, again);
        });
    }),
    ("a file after closing", |f| f.edit(|log| log.insert(7, f.file("north", 50, 150)))),
    ("a newer file counts for nothing", |f| f.edit(|log| log.insert(6, f.file("north", 50, 60)))),
    ("a file signed by another client", |f| {
        let file = f.world.sealed("north", 9, 50);
        let text = String::from_utf8_lossy(&file[..800]).replacen("north", "south", 1);
        let end = text.match_indices('\n').nth(1).unwrap().0 + 1;
        let forged = text[..end].parse().unwrap();
        f.edit(|log| log.insert(6, Forged::Document(time(60), forged)));
    }),
    ("closed twice", |f| f.edit(|log| log.insert(7, close(f, 150, &[])))),
    ("closed too early", |f| {
        f.edit(|log| {
            log.remove(5);
            log.pop();
            log.push(published(|statement| without(statement, "west")));
        });
    }),
    ("a late file counts unaccepted", |f| {
        f.edit(|log| {
            log.remove(6);
            log.remove(5);
            log.insert(5, f.file("west", 50, 25 * HOUR));
            log.insert(6, close(f, 26 * HOUR, &[]));
            log.pop();
            log.push(Forged::Statement(time(27 * HOUR), Box::new(|_| {})));
        });
    }),
    ("an accepted late file that is not late", |f| {
        f.edit(|log| {
            log.remove(6);
            log.insert(6, close(f, 100, &["west"]));
        });
    }),
    ("a revoked client counts", |f| {
        let order = Order::Revoke { client: name("west"), reason: "x".into() };
        f.edit(|log| log.insert(6, f.order(50, &order)));
    }),
    ("an unknown client is revoked", |f| {
        let order = Order::Revoke { client: name("nobody"), reason: "x".into() };
        f.edit(|log| log.insert(6, f.order(50, &order)));
    }),
    ("an excluded client counts", |f| {
        let exclusion = serde_json::from_str(r#"{"code":"no_rows"}"#).unwrap();
        let order = Order::Exclude { client: name("west"), exclusion };
        f.edit(|log| log.insert(7, f.order(150, &order)));
    }),
    ("too few clients count", |f| {
        f.edit(|log| {
            for client in ["center", "east", "north", "south"] {
                let order = Order::Revoke { client: name(client), reason: "x".into() };
                log.insert(7, f.order(150, &order));
            }
            log.pop();
            log.push(published(|statement| {
                for client in ["center", "east", "north", "south"] {
                    without(statement, client);
                }
            }));
        });
    }),
    ("an order signed by a client", |f| {
        let order = Order::Revoke { client: name("west"), reason: "x".into() };
        let order = order.sign(&f.world.invitation, &key("north"));
        f.edit(|log| {
            log.insert(6, Forged::Document(time(50), order));
            log.pop();
            log.push(published(|statement| without(statement, "west")));
        });
    }),
    ("an order of another round", |f| {
        let order = Order::Revoke { client: name("west"), reason: "x".into() };
        let order = World::new(true).order(&order);
        f.edit(|log| {
            log.insert(6, Forged::Document(time(50), order));
            log.pop();
            log.push(published(|statement| without(statement, "west")));
        });
    }),
    ("aborted and published", |f| {
        let order = Order::Abort { reason: "x".into() };
        f.edit(|log| log.insert(7, f.order(150, &order)));
    }),
    ("purged while it runs", |f| f.edit(|log| log.insert(7, f.order(150, &Order::Purge {})))),
    ("published twice", |f| f.edit(|log| log.push(published(|_| {})))),
    ("a client is missing in the statement", |f| {
        f.edit(|log| {
            log.pop();
            log.push(published(|statement| without(statement, "west")));
        });
    }),
    ("another content in the statement", |f| {
        f.edit(|log| {
            log.pop();
            log.push(published(|statement| {
                statement.submissions.get_mut(&name("west")).unwrap().content = Digest::ZERO;
            }));
        });
    }),
    ("the receipt of another event", |f| {
        let line = serde_json::to_string(&f.honest[2]).unwrap();
        let other = Receipt::sign(&line, &f.world.invitation, &f.world.coordinator).unwrap();
        f.edit(|log| {
            log.pop();
            log.push(published(move |statement| statement.closed = other.clone()));
        });
    }),
    ("the statement continues another log", |f| {
        f.edit(|log| {
            log.pop();
            log.push(published(|statement| statement.head = Digest::ZERO));
        });
    }),
    ("the statement is another one than in the log", |f| {
        let other = Statement { head: Digest::ZERO, ..f.statement.clone() };
        fs::write(f.folder.join("statement"), f.sign(&other).to_string()).unwrap();
    }),
    ("another model", |f| fs::write(f.folder.join("model.json"), "{ }").unwrap()),
    ("no model", |f| fs::remove_file(f.folder.join("model.json")).unwrap()),
    ("one more file", |f| fs::write(f.folder.join("model.onnx"), "").unwrap()),
    ("another coordinator's invitation", |f| {
        let mut terms = f.world.invitation.terms.clone();
        terms.coordinator = key("other").public();
        let forged = Document::sign(Kind::Invitation, Digest::ZERO, &terms, &key("other"));
        fs::write(f.folder.join("invitation"), forged.to_string()).unwrap();
        f.edit(|log| log[0] = Forged::Document(time(0), forged));
    }),
    ("other terms under the old signature", |f| {
        let text = f.world.invitation.document.to_string();
        let forged = text.replace("\"minimum\":2", "\"minimum\":1");
        fs::write(f.folder.join("invitation"), &forged).unwrap();
        f.edit(|log| log[0] = Forged::Document(time(0), forged.parse().unwrap()));
    }),
    ("an empty log", |f| fs::write(f.folder.join("log.jsonl"), "\n").unwrap()),
    ("a line that says something twice", |f| {
        let path = f.folder.join("log.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text.replacen("{\"seq\":8,", "{\"seq\":9,\"seq\":8,", 1)).unwrap();
    }),
];

fn ours(forger: &Forger, folder: &Path) -> Result<(), String> {
    let fingerprint = forger.world.coordinator.public().fingerprint();
    verify(folder, &fingerprint, &[]).map(|_| ()).map_err(|error| error.to_string())
}

/// The second verifier's answer, or nothing if Python or its library is missing.
fn second(forger: &Forger, folder: &Path) -> Option<Result<(), String>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/second_verifier.py");
    let fingerprint = forger.world.coordinator.public().fingerprint().to_string();
    let is_there = Command::new("python3").args(["-c", "import cryptography"]).output().ok()?;
    if !is_there.status.success() {
        return None;
    }
    let output = Command::new("python3").arg(script).arg(folder).arg(fingerprint).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    match (output.status.code(), text.trim()) {
        (Some(0), "verified") => Some(Ok(())),
        (Some(1), problem) if problem.starts_with("not verified") => Some(Err(text)),
        other => panic!("{other:?} {}", String::from_utf8_lossy(&output.stderr)),
    }
}

#[test]
fn both_verifiers_accept_the_honest_round_and_find_every_forgery() {
    let mut is_second_missing = false;
    let mut forger = Forger::new(false);
    let pristine = forger.world.path("pristine");
    fs::rename(&forger.folder, &pristine).unwrap();
    for (forgery, patch) in
        [("", (|_| {}) as fn(&Forger)), ("", |f| f.edit(|_| {}))].iter().chain(FORGERIES)
    {
        forger.folder = forger.world.path("forged");
        fs::create_dir(&forger.folder).unwrap();
        for file in fs::read_dir(&pristine).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), forger.folder.join(file.file_name())).unwrap();
        }
        patch(&forger);
        let is_forged = !forgery.is_empty();
        assert_eq!(ours(&forger, &forger.folder).is_err(), is_forged, "ours: {forgery}");
        match second(&forger, &forger.folder) {
            None => is_second_missing = true,
            Some(found) => assert_eq!(found.is_err(), is_forged, "second: {forgery} {found:?}"),
        }
        fs::remove_dir_all(&forger.folder).unwrap();
    }
    if is_second_missing {
        eprintln!("the second verifier was skipped: it needs python3 with `cryptography`");
    }
}

#[test]
fn a_coordinator_cannot_rewrite_what_the_mailbox_has_signed() {
    let forger = Forger::new(true);
    assert_eq!(ours(&forger, &forger.folder), Ok(()));
    let round = RoundFile::open(&forger.world.path("spring.round")).unwrap();
    let receipt = round.receipt(4, &forger.world.mailbox).unwrap();
    forger.edit(|log| {
        log.remove(3);
        let order = Order::Revoke { client: name("north"), reason: "x".into() };
        log.insert(3, forger.order(3, &order));
        log.pop();
        log.push(published(|statement| without(statement, "north")));
    });
    let found = ours(&forger, &forger.folder).unwrap_err();
    assert!(found.contains("the log has another event with number 7"), "{found}");
    if let Some(second) = second(&forger, &forger.folder) {
        assert!(second.unwrap_err().contains("not the one of its receipt"));
    }
    // Closing "from a copy" needs no receipt of the mailbox, but the client whose file was left out has one.
    forger.edit(|log| {
        log.remove(3);
        let order = Order::Revoke { client: name("north"), reason: "x".into() };
        log.insert(3, forger.order(3, &order));
        let order = Order::Close { accept_late: Default::default(), from_copy: true };
        log[6] = forger.order(100, &order);
        log.pop();
        log.push(published(|statement| without(statement, "north")));
    });
    let path = forger.world.path("north.receipt");
    fs::write(&path, receipt.to_string()).unwrap();
    let fingerprint = forger.world.coordinator.public().fingerprint();
    let found = verify(&forger.folder, &fingerprint, &[path]).unwrap_err().to_string();
    assert!(found.contains("the log has another event with number 4"), "{found}");
    assert!(found.contains("Its signature is genuine"), "{found}");
}
