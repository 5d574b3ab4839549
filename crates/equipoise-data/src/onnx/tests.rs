#![allow(clippy::unwrap_used)]
//! What the file means is tested in ONNX Runtime, by the Python package's `test_onnx.py`.

use std::path::Path;

use super::protobuf::Message;
use super::*;

#[test]
fn numbers_and_bytes_have_the_wire_format() {
    // The examples of the encoding's documentation: field 1 with 150, field 2 with "testing".
    let message = Message::default().number(1, 150).bytes(2, "testing");
    assert_eq!(message.into_bytes(), [b"\x08\x96\x01\x12\x07".as_slice(), b"testing"].concat());
}

fn model(sensitive: &str) -> Model {
    let text = format!(
        r#"
        version = 1
        intercept = true
        label = {{ column = "pass", positive = "1" }}
        sensitive = {sensitive}
        feature = [
            {{ column = "lsat", kind = "numeric", center = 1, scale = 2 }},
            {{ column = "tier", kind = "categorical", levels = ["1", "2"] }},
        ]"#
    );
    let schema = Schema::from_toml(&text, Path::new("schema.toml")).unwrap();
    let n = schema.theta_names().len();
    Model::new(schema, vec![0.5; n]).unwrap()
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

#[test]
fn a_blind_model_does_not_ask_for_the_group() {
    let sees = model(r#"{ column = "race", privileged = "White" }"#).to_onnx(&[]).unwrap();
    let blind = r#"{ column = "race", privileged = "White", as_feature = false }"#;
    let blind = model(blind).to_onnx(&[("key".into(), "a value".into())]).unwrap();
    // The schema in the metadata names the column too, but only an input is followed by its type.
    assert!(contains(&sees, "race\x12\x12") && !contains(&blind, "race\x12\x12"));
    assert!(contains(&blind, "a value"));
}
