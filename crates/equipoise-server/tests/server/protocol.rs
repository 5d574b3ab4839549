//! Keys, manifests and receipts have one spelling each and cannot be modified.

use equipoise_server::protocol::{
    Digest, Manifest, PrivateKey, PublicKey, Receipt, Refusal, RoundState,
};
use jiff::Timestamp;

use crate::world::{AUDIENCE, key, manifest, name};

#[test]
fn keys_round_trip_and_a_private_key_is_not_accepted_as_public() {
    let private = key("north");
    let line = private.to_line();
    assert_eq!(PrivateKey::from_line(&line).unwrap().public(), private.public());
    let public = private.public().to_string();
    assert!(public.starts_with("equipoise-ed25519 ") && public.ends_with(" north"), "{public}");
    assert_eq!(public.parse::<PublicKey>().unwrap(), private.public());
    assert!(line.parse::<PublicKey>().unwrap_err().to_string().contains("private key"));
    assert!(!format!("{private:?}").contains(line.split(' ').nth(1).unwrap()));
    for broken in ["", "equipoise-ed25519 AAAA north", "ssh-ed25519 x y", "equipoise-ed25519 x"] {
        assert!(broken.parse::<PublicKey>().is_err(), "{broken}");
    }
}

#[test]
fn a_manifest_has_one_spelling() {
    let manifest = manifest("north", b"rows");
    let bytes = manifest.to_bytes();
    assert_eq!(Manifest::from_bytes(&bytes).unwrap(), manifest);
    assert_eq!(Manifest::from_header(&manifest.to_header()).unwrap(), manifest);
    let text = String::from_utf8(bytes).unwrap();
    for (from, to) in [
        ("length 4", "length 04"),
        ("length 4", "length +4"),
        ("length 4", "length 4 "),
        ("client north", "client  north"),
        ("client north", "client ../x"),
        ("round spring\n", ""),
        ("manifest 1", "manifest 2"),
        ("round spring\n", "round spring\nround spring\n"),
        ("text/csv", "text/plain"),
    ] {
        let other = text.replacen(from, to, 1);
        assert_ne!(other, text);
        assert!(Manifest::from_bytes(other.as_bytes()).is_err(), "{to:?}");
    }
    assert!(Manifest::from_bytes(format!("{text}\n").as_bytes()).is_err());
    assert!(Manifest::from_bytes(text.trim_end().as_bytes()).is_err());
}

#[test]
fn any_changed_byte_invalidates_a_signed_manifest() {
    let manifest = manifest("north", b"rows");
    let signature = manifest.sign(&key("north"));
    let public = key("north").public();
    assert!(manifest.is_signed_by(&public, &signature));
    assert!(!manifest.is_signed_by(&key("south").public(), &signature));
    let bytes = manifest.to_bytes();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        if let Ok(changed) = Manifest::from_bytes(&changed) {
            assert!(!changed.is_signed_by(&public, &signature), "byte {at}");
        }
    }
}

#[test]
fn the_signature_of_a_receipt_covers_every_field() {
    let receipt = Receipt {
        audience: AUDIENCE.into(),
        round: name("spring"),
        client: name("north"),
        sha256: Digest::of(b"rows"),
        canonical_sha256: Digest::of(b"table"),
        rows: 4,
        distinct_rows: 3,
        received_at: Timestamp::from_second(1_800_000_000).unwrap(),
        seq: 7,
        chain_head: Digest::of(b"line"),
    };
    let signed = receipt.sign(&key("server"));
    assert!(signed.has_valid_signature());
    let changes: [fn(&mut Receipt); 10] = [
        |r| r.audience = "https://other.example".into(),
        |r| r.round = name("autumn"),
        |r| r.client = name("south"),
        |r| r.sha256 = Digest::ZERO,
        |r| r.canonical_sha256 = Digest::ZERO,
        |r| r.rows = 5,
        |r| r.distinct_rows = 4,
        |r| r.received_at = Timestamp::from_second(1_800_000_001).unwrap(),
        |r| r.seq = 8,
        |r| r.chain_head = Digest::ZERO,
    ];
    for change in changes {
        let mut other = signed.clone();
        change(&mut other.receipt);
        assert!(!other.has_valid_signature());
    }
}

#[test]
fn refusals_have_stable_codes_messages_and_hints() {
    let refusal = Refusal::NotOpen(RoundState::Closed);
    let body = refusal.body();
    assert_eq!((refusal.status(), body.code.as_str()), (409, "round_not_open"));
    assert!(body.message.contains("closed") && body.hint.is_some());
    assert_eq!(Refusal::Busy { retry_after_seconds: 5 }.body().retry_after_seconds, Some(5));
}
