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
    let layout = schema.layout();
    assert_eq!((layout.n_x, layout.intercept, layout.as_feature), (4, true, true));
    assert_eq!(layout.groups.names(), ["race ≠ White", "race = White"]);
    assert_eq!(layout.groups.reference(), 1);
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
fn unknown_levels_are_part_of_the_digest_only_if_they_are_other() {
    let with =
        |unknown: &str| parse(&LAW.replace("fill = \"2\"", &format!("fill = \"2\"\n{unknown}")));
    let (error, other) =
        (with("unknown = \"error\"").unwrap(), with("unknown = \"other\"").unwrap());
    assert_eq!(error, law());
    assert_eq!(error.digest(), law().digest());
    assert_eq!(parse(&other.to_toml()).unwrap(), other);
    let json = serde_json::to_string(&other).unwrap();
    assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), other);
    assert_eq!(other.layout(), law().layout());
    // Computed independently, as above.
    assert_eq!(
        other.digest().to_string(),
        "5a7f7833dd130541f36582f5767b43d549b2e3de5aaef2ad2141cf298b454843"
    );
}

#[test]
fn negative_labels_are_optional_and_part_of_the_digest() {
    let with = |negative: &str| {
        parse(&LAW.replace("positive = \"1\"", &format!("positive = \"1\"\nnegative = {negative}")))
    };
    assert_eq!(with("[]").unwrap(), law());
    assert!(!law().to_toml().contains("negative"));
    let two = with(r#"["0", "late"]"#).unwrap();
    assert_eq!(parse(&two.to_toml()).unwrap(), two);
    assert_eq!(two.digest(), with(r#"["late", " 0.0"]"#).unwrap().digest());
    // Computed independently, from the description at the top of digest.rs.
    assert_eq!(
        two.digest().to_string(),
        "d0dc21b0f9cab09c4183a448428b208d9902f0ceb47830e9c03ec8408bafdc1e"
    );
    assert_ne!(two.digest(), with(r#"["0"]"#).unwrap().digest());
    for (negative, says) in
        [(r#"["1.0"]"#, "`1.0` appears twice"), (r#"["0", "0"]"#, "twice"), (r#"["?"]"#, "missing")]
    {
        let message = with(negative).unwrap_err().to_string();
        assert!(message.contains("`pass_bar`") && message.contains(says), "{message}");
    }
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
        ("fill = \"2\"", "unknown = \"ignore\"", &["ignore", "`error`", "`other`"]),
        ("fill = 36", "unknown = \"other\"", &["`lsat`", "cannot have `unknown`"]),
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

/// The law schema with another `[sensitive]`.
fn with_sensitive(sensitive: &str) -> Result<Schema, Error> {
    parse(&LAW.replace("column = \"race\"\nprivileged = \"White\"", sensitive))
}

#[test]
fn the_levels_of_a_column_or_combinations_of_columns_can_be_groups() {
    let levels =
        "column = \"race\"\nlevels = [\"White\", \"Black\", \"Asian\"]\nreference = \"White\"";
    let schema = with_sensitive(levels).unwrap();
    let layout = schema.layout();
    assert_eq!(layout.groups.names(), ["race = White", "race = Black", "race = Asian"]);
    assert_eq!((layout.groups.reference(), layout.indicators()), (0, 4..6));
    let theta = schema.theta_names();
    assert_eq!(theta[4..], ["race = Black", "race = Asian", "(intercept)"]);
    assert!(schema.to_toml().contains("levels = [\"White\""), "{}", schema.to_toml());

    let combined = r#"columns = ["race", "sex"]
reference = "white men"
as_feature = false
[[sensitive.group]]
name = "white men"
members = [["White", "m"]]
[[sensitive.group]]
name = "white women"
members = [["White", "f"]]
[[sensitive.group]]
name = "everyone else""#;
    let blind = with_sensitive(combined).unwrap();
    let layout = blind.layout();
    assert_eq!(layout.groups.names(), ["white men", "white women", "everyone else"]);
    assert_eq!((layout.as_feature, layout.indicators().len(), layout.n()), (false, 0, 5));
    assert_eq!(blind.theta_names().len(), 5);
    assert_eq!(blind.sensitive.column_name(), "race & sex");

    for schema in [&schema, &blind] {
        assert_eq!(parse(&schema.to_toml()).unwrap(), *schema);
        let json = serde_json::to_string(schema).unwrap();
        assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), *schema);
    }
    let digests = [law().digest(), schema.digest(), blind.digest()];
    let seeing = with_sensitive(&combined.replace("false", "true")).unwrap().digest();
    let other_reference =
        with_sensitive(&combined.replace("= \"white men\"\nas", "= \"white women\"\nas"));
    let all: std::collections::HashSet<_> = digests
        .into_iter()
        .chain([seeing, other_reference.unwrap().digest()])
        .map(|digest| digest.to_string())
        .collect();
    assert_eq!(all.len(), 5, "groups, their order, the reference and blindness all count");
}

#[test]
fn mistakes_in_groups_are_named() {
    let levels = |levels: &str, reference: &str| {
        format!("column = \"race\"\nlevels = [{levels}]\nreference = \"{reference}\"")
    };
    let group = |name: &str, members: &str| {
        format!("[[sensitive.group]]\nname = \"{name}\"\nmembers = {members}\n")
    };
    let two = |first: String, second: String| {
        format!("columns = [\"race\", \"sex\"]\nreference = \"a\"\n{first}{second}")
    };
    let cases = [
        ("column = \"race\"".to_owned(), "needs one of"),
        ("privileged = \"White\"".to_owned(), "either `column` or `columns`"),
        (levels("\"White\", \"Black\"", "Asian"), "`Asian`"),
        (levels("\"White\"", "White"), "from 2 to 100 groups"),
        (levels("\"1\", \"1.0\"", "1"), "member of the groups"),
        (levels("\"NA\", \"1\"", "1"), "missing value"),
        (two(group("a", "[[\"x\", \"y\"]]"), group("b", "[[\"x\"]]")), "one value per column"),
        (
            two(group("a", "[[\"x\", \"y\"]]"), group("a", "[[\"x\", \"z\"]]")),
            "two groups are called `a`",
        ),
        (two(group("a", "[]"), group("b", "[]")), "two groups of `sensitive` have no members"),
    ];
    for (sensitive, expected) in cases {
        let message = with_sensitive(&sensitive).unwrap_err().to_string();
        assert!(message.contains(expected), "{sensitive}: {message}");
    }
}
