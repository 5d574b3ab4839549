#![allow(clippy::unwrap_used)]

use std::path::Path;

use super::*;

const LAW: &str = r#"
version = 1
intercept = true
ignore = ["id", "note"]
[label]
column = "pass_bar"
positive = "1"
[sensitive]
column = "race"
privileged = "White"
[[feature]]
column = "lsat"
kind = "numeric"
center = 36.7
scale = 5.5
fill = 36
[[feature]]
column = "tier"
kind = "categorical"
levels = ["1", "2", "3"]
fill = "2"
"#;

fn parse(text: &str) -> Result<Schema, Error> {
    Schema::from_toml(text, Path::new("agreed/schema.toml"))
}

fn law() -> Schema {
    parse(LAW).unwrap()
}

#[test]
fn a_schema_has_the_documented_format() {
    let schema = law();
    assert_eq!(
        schema.features[0].encoding,
        Encoding::Numeric { center: 36.7, scale: 5.5, fill: Some(36.0) }
    );
    assert_eq!(schema.layout(), Layout { n_x: 4, intercept: true });
    assert_eq!(schema.encoded_names(), ["lsat", "tier=1", "tier=2", "tier=3"]);
    assert_eq!(schema.theta_names(), ["lsat", "tier=1", "tier=2", "tier=3", "race", "(intercept)"]);
}

#[test]
fn toml_and_json_round_trip() {
    let schema = law();
    let text = schema.to_toml();
    assert_eq!(parse(&text).unwrap(), schema);
    assert_eq!(parse(&text).unwrap().to_toml(), text);
    let json = serde_json::to_string(&schema).unwrap();
    assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), schema);
    let bare = Schema { ignore: vec![], ..schema };
    assert!(!bare.to_toml().contains("ignore"));
    assert_eq!(parse(&bare.to_toml()).unwrap(), bare);
}

#[test]
fn the_digest_depends_on_meaning_not_on_spelling() {
    let digest = law().digest();
    let text = digest.to_string();
    assert_eq!(text.len(), 64);
    assert!(text.chars().all(|c| c.is_ascii_hexdigit() && !c.is_uppercase()));
    let reformatted = LAW
        .replace("36.7", "3.670e1 # mean")
        .replace("= 36\n", "= 36.0\n")
        .replace("intercept = true", "\n\n  intercept   = true")
        .replace("\"1\"\n", "\" 1.0\"\n")
        .replace(r#"["id", "note"]"#, r#"["note", 'id']"#)
        .replace("kind = \"numeric\"\ncenter", "center")
        .replace("scale = 5.5", "kind = \"numeric\"\nscale = 5.50");
    assert_ne!(reformatted, LAW);
    assert_eq!(parse(&reformatted).unwrap().digest(), digest);
    for (from, to) in [
        ("36.7", "36.8"),
        ("\"White\"", "\"white\""),
        ("intercept = true", "intercept = false"),
        (r#"["1", "2", "3"]"#, r#"["2", "1", "3"]"#),
        ("fill = 36\n", ""),
        ("\"note\"", "\"notes\""),
    ] {
        let other = parse(&LAW.replace(from, to)).unwrap();
        assert_ne!(other.digest(), digest, "{from} → {to}");
    }
}

#[test]
fn the_digest_is_pinned() {
    // Computed independently, from the description at the top of digest.rs.
    // A change here makes every agreed schema and every stored model differ: it needs a new version.
    assert_eq!(
        law().digest().to_string(),
        "4ebd429cc7527799bdc5b0a1245701f153a656c94b40aee15c227c663d1c25ed"
    );
}

#[test]
fn mistakes_are_reported_with_the_file() {
    for (from, to, parts) in [
        ("version = 1", "version = 2\nnew = 1", &["version 2", "newer"][..]),
        ("version = 1\n", "", &["missing field `version`"]),
        ("intercept", "intersept", &["intersept"]),
        ("positive", "negative", &["negative"]),
        ("center = 36.7", "centre = 36.7", &["centre"]),
        ("center = 36.7", "", &["`lsat`", "needs `center`"]),
        ("center = 36.7", "center = 36.7\nlevels = []", &["`lsat`", "cannot have `levels`"]),
        (
            "levels = [\"1\", \"2\", \"3\"]",
            "levels = [\"2\"]\nscale = 1",
            &["`tier`", "cannot have `scale`"],
        ),
        ("kind = \"numeric\"", "kind = \"number\"", &["number"]),
        ("fill = 36", "fill = \"36\"", &["`lsat`", "must be a number"]),
        ("fill = \"2\"", "fill = 2", &["`tier`", "one of its levels"]),
        ("fill = \"2\"", "fill = true", &["a number or a level"]),
        ("fill = \"2\"", "fill = \"7\"", &["`tier`", "`7`", "not one of its levels"]),
        ("fill = 36", "fill = inf", &["`lsat`", "inf"]),
        ("scale = 5.5", "scale = 0", &["`lsat`", "scale is 0"]),
        ("scale = 5.5", "scale = -1", &["`lsat`", "scale is -1"]),
        ("scale = 5.5", "scale = nan", &["`lsat`", "NaN"]),
        ("center = 36.7", "center = inf", &["`lsat`", "center is inf"]),
        (r#"["1", "2", "3"]"#, "[]", &["`tier`", "no levels"]),
        (r#"["1", "2", "3"]"#, r#"["2", "1", "1.0"]"#, &["`tier`", "`1`", "`1.0`", "same value"]),
        (r#"["1", "2", "3"]"#, r#"["2", "NA"]"#, &["`tier`", "`NA`", "missing"]),
        (r#"["1", "2", "3"]"#, r#"["2", "b "]"#, &["`tier`", "`b `", "white space"]),
        ("\"White\"", "\"?\"", &["`race`", "`?`", "missing"]),
        ("\"note\"", "\"race\"", &["`race`", "twice"]),
        ("\"note\"", "\"\"", &["name of a column"]),
        ("column = \"tier\"", "column = \" tier\"", &["` tier`", "white space"]),
        ("column = \"lsat\"", "column = \"tier=1\"", &["`tier=1`", "Rename"]),
        ("column = \"lsat\"", "column = \"(intercept)\"", &["`(intercept)`", "Rename"]),
    ] {
        let changed = LAW.replacen(from, to, 1);
        assert_ne!(changed, LAW, "{from}");
        let text = parse(&changed).unwrap_err().to_string();
        for part in parts.iter().chain(&["agreed/schema.toml"]) {
            assert!(text.contains(part), "{from} → {to}: {text}");
        }
    }
    let none = LAW.split("[[feature]]").next().unwrap().replace("[label]", "feature = []\n[label]");
    assert!(parse(&none).unwrap_err().to_string().contains("no feature"));
    let missing = Schema::read(Path::new("nowhere/schema.toml")).unwrap_err().to_string();
    assert!(missing.contains("nowhere/schema.toml"), "{missing}");
}

#[test]
fn a_syntax_error_names_its_line() {
    let text = parse(&LAW.replace("scale = 5.5", "scale = \"wide\"")).unwrap_err().to_string();
    assert!(text.contains("line 15"), "{text}");
}
