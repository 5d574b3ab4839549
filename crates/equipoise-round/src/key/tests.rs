#![allow(clippy::unwrap_used)]

use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn a_fingerprint_is_base32_of_the_keys_digest() {
    let key = PrivateKey::from_seed([7; 32]).public();
    let shown = key.fingerprint().to_string();
    assert_eq!(shown.len(), 39);
    assert_eq!(shown.split('-').count(), 8);
    assert_eq!(shown.to_lowercase().replace('-', " ").parse(), Ok(key.fingerprint()));
    assert!("ABCD".parse::<Fingerprint>().is_err());
    // RFC 4648: the 20 bytes of "foobarfoobarfoobarfo".
    let hex = equipoise_data::hex(b"foobarfoobarfoobarfo");
    assert_eq!(base32(&hex), "MZXW6YTBOJTG633CMFZGM33PMJQXEZTP");
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("north.key");
    let key = PrivateKey::from_seed([1; 32]);
    key.write(&file, "north").unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let (read, label) = PrivateKey::read(&file).unwrap();
    assert_eq!((read.public(), label.as_str()), (key.public(), "north"));
    assert!(key.write(&file, "north").unwrap_err().to_string().contains("exists already"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let refused = PrivateKey::read(&file).unwrap_err().to_string();
    assert!(refused.contains("chmod 600"), "{refused}");
}
