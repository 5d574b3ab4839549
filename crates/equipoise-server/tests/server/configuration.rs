//! The sample configuration is valid, complete, and shows the defaults.

use std::path::Path;

use equipoise_server::{Config, ConfigError, Limits};

fn sample() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/samples/server.toml")
}

#[test]
fn the_sample_contains_every_key_with_its_default() {
    let config = Config::read(&sample()).unwrap();
    assert_eq!(config.limits, Limits::default());
    assert!(config.admin_listen.is_some() && config.tls.is_some());
    // The field names from the debug output, so that a new field must be added to the sample.
    let text = std::fs::read_to_string(sample()).unwrap();
    let printed = format!("{config:#?}");
    let fields: Vec<&str> = printed
        .lines()
        .filter_map(|line| line.trim().split_once(": ").map(|(name, _)| name))
        .filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        .collect();
    assert!(fields.len() >= 18, "{fields:?}");
    for field in fields {
        let sets_field =
            |line: &str| line.starts_with(&format!("{field} = ")) || line == format!("[{field}]");
        assert!(text.lines().any(sets_field), "{field} is not in the sample");
    }
}

#[test]
fn unknown_keys_and_invalid_values_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("server.toml");
    let text = std::fs::read_to_string(sample()).unwrap();
    for (from, to) in [
        ("admin_listen", "adminlisten"),
        ("certificate =", "cert ="),
        ("header_bytes", "headers_bytes"),
        ("[limits]", "[limit]"),
    ] {
        std::fs::write(&file, text.replacen(from, to, 1)).unwrap();
        assert!(matches!(Config::read(&file), Err(ConfigError::Syntax { .. })), "{to}");
    }
    for (from, to) in [
        ("listeners = 256", "listeners = 0"),
        ("admin_listen = \"127.0.0.1", "admin_listen = \"0.0.0.0"),
    ] {
        std::fs::write(&file, text.replacen(from, to, 1)).unwrap();
        assert!(Config::read(&file).is_err(), "{to}");
    }
}
