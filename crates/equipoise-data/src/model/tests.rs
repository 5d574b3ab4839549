#![allow(clippy::unwrap_used)]

use super::*;

fn schema() -> Schema {
    let text = r#"
        version = 1
        intercept = true
        label = { column = "pass", positive = "1" }
        sensitive = { column = "race", privileged = "White" }
        feature = [{ column = "lsat", kind = "numeric", center = 0.1, scale = 2 }]"#;
    Schema::from_toml(text, Path::new("schema.toml")).unwrap()
}

fn model() -> Model {
    Model::new(schema(), vec![0.1 + 0.2, -5e-324, 1e300]).unwrap()
}

#[test]
fn a_model_reads_back_bit_for_bit() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.json");
    model().write(&path, false).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, model().to_json());
    let read = Model::read(&path).unwrap();
    assert_eq!(read, model());
    let bits = |model: &Model| model.theta().iter().map(|t| t.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&read), bits(&model()));
    assert_eq!(read.to_json(), text);
    assert_eq!(read.schema(), &schema());
    for key in ["\"format\": \"equipoise-model\"", "\"version\": 1", "\"(intercept)\""] {
        assert!(text.contains(key), "{text}");
    }
}

#[test]
fn scores_are_products_of_rows_and_theta() {
    let model = Model::new(schema(), vec![2.0, -1.0, 0.5]).unwrap();
    let rows = Rows::new(schema().layout(), &[1.0, -3.0], &[true, false], &[true, false]).unwrap();
    assert_eq!(model.score(&rows).unwrap(), [1.5, -5.5]);
    let other = Schema { intercept: false, ..schema() };
    let rows = Rows::new(other.layout(), &[1.0], &[true], &[true]).unwrap();
    let text = model.score(&rows).unwrap_err().to_string();
    assert!(text.contains("rows of 3 entries") && text.contains("have 2"), "{text}");
}

#[test]
fn theta_must_fit_the_schema_and_be_finite() {
    let text = Model::new(schema(), vec![1.0]).unwrap_err().to_string();
    assert!(text.contains("`theta` has 1 entries") && text.contains("needs 3"), "{text}");
    let text = Model::new(schema(), vec![1.0, f64::NAN, 0.0]).unwrap_err().to_string();
    assert!(text.contains("`race`") && text.contains("NaN"), "{text}");
    let broken = Schema { features: vec![], ..schema() };
    assert!(Model::new(broken, vec![1.0, 1.0]).unwrap_err().to_string().contains("no feature"));
}

#[test]
fn rejects_a_changed_file() {
    let valid = model().to_json();
    for (from, to, parts) in [
        ("equipoise-model", "equipoise-outcome", &["`equipoise-outcome`", "model.json"][..]),
        (
            "\"version\": 1,\n  \"schema_digest\"",
            "\"version\": 2,\n  \"extra\": 0,\n  \"schema_digest\"",
            &["version 2", "newer"],
        ),
        ("\"theta\"", "\"extra\": 0, \"theta\"", &["extra"]),
        ("\"privileged\"", "\"extra\": 0, \"privileged\"", &["extra"]),
        ("\"White\"", "\"Black\"", &["digest", "Use the original file"]),
        (
            "\"features\": [\n    \"lsat\"",
            "\"features\": [\n    \"gpa\"",
            &["entry 1", "`gpa`", "`lsat`"],
        ),
        ("\"features\": [\n    \"lsat\",", "\"features\": [", &["`features` has 2", "needs 3"]),
        ("1e+300", "1e+300, 2", &["`theta` has 4", "needs 3"]),
        ("1e+300", "1e999", &["model.json"]),
        ("\"scale\": 2.0", "\"scale\": 0", &["model's schema", "scale is 0"]),
        ("}", "", &["not a valid model"]),
    ] {
        let changed = valid.replacen(from, to, 1);
        assert_ne!(changed, valid, "{from} in {valid}");
        let text = Model::from_json(&changed, Path::new("out/model.json")).unwrap_err().to_string();
        for part in parts.iter().chain(&["out/model.json"]) {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    let text = Model::read(Path::new("nowhere/model.json")).unwrap_err().to_string();
    assert!(text.contains("nowhere/model.json: cannot be read"), "{text}");
}

#[test]
fn probabilities_stay_between_0_and_1_and_agree_with_the_decision() {
    for (score, probability) in [(0.0, 0.5), (1e4, 1.0), (-1e4, 0.0), (3f64.ln(), 0.75)] {
        let prediction = Prediction::of(score);
        assert!((prediction.probability - probability).abs() < 1e-15, "{score}");
        assert_eq!(prediction.selected, score > 0.0);
    }
}
