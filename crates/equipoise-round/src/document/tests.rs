#![allow(clippy::unwrap_used)]

use super::*;

fn key(seed: u8) -> PrivateKey {
    PrivateKey::from_seed([seed; 32])
}

#[test]
fn a_signature_holds_for_one_kind_one_round_and_one_key() {
    let (here, there) = (Digest::of(b"here"), Digest::of(b"there"));
    let document = Document::sign(Kind::Order, here, &"x\ny", &key(1));
    let parsed: Document = document.to_string().parse().unwrap();
    assert_eq!(parsed, document);
    let read = |kind, audience, seed| -> Result<String, Refusal> {
        document.read(kind, audience, &key(seed).public())
    };
    assert_eq!(read(Kind::Order, here, 1).unwrap(), "x\ny");
    assert!(matches!(read(Kind::Pull, here, 1), Err(Refusal::OtherKind(..))));
    assert!(matches!(read(Kind::Order, there, 1), Err(Refusal::OtherRound(..))));
    assert!(matches!(read(Kind::Order, here, 2), Err(Refusal::BadSignature(_))));
    // Another kind or round in the signature line does not help: the signature covers both.
    let text = document.to_string();
    for forged in
        [text.replace("\norder", "\npull"), text.replace(&here.to_string(), &there.to_string())]
    {
        let forged: Document = forged.parse().unwrap();
        let read: Result<String, _> = forged.read(forged.kind, forged.audience, &key(1).public());
        assert_eq!(read, Err(Refusal::BadSignature(forged.kind.name())));
    }
}

#[test]
fn anything_but_two_clean_lines_is_refused() {
    let good = Document::sign(Kind::Order, Digest::ZERO, &1, &key(1)).to_string();
    for bad in [
        good.trim_end().to_owned(),
        format!("{good}\n"),
        good.replacen('\n', "\r\n", 1),
        good.replace("order", "odour"),
        good.replace("order ", "order  "),
        String::new(),
        "\n\n".to_owned(),
    ] {
        assert!(bad.parse::<Document>().is_err(), "{bad:?}");
    }
}
