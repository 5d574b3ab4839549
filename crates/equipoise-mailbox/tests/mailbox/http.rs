//! A whole round over HTTPS, with the client's and the coordinator's own code.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Seek as _};

use equipoise_round::client::deliver;
use equipoise_round::extension::extension;
use equipoise_round::mailbox::pull;
use equipoise_round::{Order, RoundFile, open_all, publish, verify};
use jiff::Timestamp;

use crate::world::{World, sealed_file};

#[test]
fn a_round_over_https_from_invitation_to_verification() {
    let mut world = World::new(true);
    world.start();
    let folder = world.folder.path().to_path_buf();
    let invitation = world.invitation("spring", 3);
    let remote = world.remote(&invitation);
    let mut round = RoundFile::create(&folder.join("spring.round"), &invitation).unwrap();
    let first = remote.put(&invitation.document, None).unwrap();
    assert_eq!(remote.put(&invitation.document, None).unwrap(), first);
    let mut receipts = Vec::new();
    for client in 0..3 {
        // 2.4 MB: more than any buffer on the way.
        let file = sealed_file(&folder, &invitation, client, 100_000);
        let (receipt, kept) = deliver(&file, &invitation, &remote).unwrap();
        assert_eq!(deliver(&file, &invitation, &remote).unwrap(), (receipt, kept.clone()));
        receipts.push(kept);
        assert_eq!(remote.status().unwrap().delivered, client + 1);
    }
    let coordinator = &world.coordinator;
    let fetch = |round: &mut RoundFile| {
        pull(round, |blob| remote.pull(&invitation, coordinator, blob, Timestamp::now())).unwrap()
    };
    fetch(&mut round);
    let order = Order::Close { accept_late: BTreeMap::new(), from_copy: false };
    remote.put(&order.sign(&invitation, coordinator), None).unwrap();
    let closed = fetch(&mut round);
    let opened = folder.join("spring.opened");
    let problems =
        open_all(&mut round, &world.sealing, &opened, coordinator, Timestamp::now()).unwrap();
    assert_eq!(problems, []);
    let spring = folder.join("spring");
    fs::create_dir(&spring).unwrap();
    fs::write(spring.join("model.json"), "{}").unwrap();
    assert!(remote.published("model.json", &folder, 1000).is_err());
    publish(&mut round, &spring, closed, coordinator, Timestamp::now()).unwrap();
    let (header, mut body) = extension(&round, coordinator).unwrap();
    remote.put(&header, Some(&mut body.file)).unwrap();
    // Its answer was lost: once more.
    body.file.rewind().unwrap();
    remote.put(&header, Some(&mut body.file)).unwrap();
    let status = remote.status().unwrap();
    assert_eq!((status.state.as_str(), status.files.len()), ("published", 2));
    // Everything that anyone needs comes from the mailbox.
    let fetched = folder.join("fetched");
    fs::create_dir(&fetched).unwrap();
    for name in status.files.iter().map(String::as_str).chain(["log.jsonl", "statement"]) {
        let mut bytes = Vec::new();
        let mut file = remote.published(name, &folder, 1 << 20).unwrap().file;
        file.read_to_end(&mut bytes).unwrap();
        fs::write(fetched.join(name), bytes).unwrap();
    }
    verify(&fetched, &coordinator.public().fingerprint(), &receipts).unwrap();
    // The mailbox has nothing but ciphertext: no row of any table, neither as numbers nor as text.
    world.stop();
    let needle: Vec<u8> = (7..10).flat_map(|row| (row as f64 / 1e4).to_le_bytes()).collect();
    let stored = fs::read(world.round_path(&invitation)).unwrap();
    let table = fs::read(opened.join("client-1.table")).unwrap();
    let finds = |bytes: &[u8]| bytes.windows(8).any(|window| *window == needle[..8]);
    assert!(finds(&table) && !finds(&stored));
    assert!(!String::from_utf8_lossy(&stored).contains("0.0007"));
}
