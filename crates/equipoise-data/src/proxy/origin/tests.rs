#![allow(clippy::unwrap_used)]

use equipoise_core::{Criterion, NoisyRelease, Release, epsilon_of};

use super::*;
use crate::proxy::{OpenProxy, read_proxy, visit_proxy, write_proxy, write_proxy_of};
use crate::read_limits::ReadLimits;
use crate::table::BatchWriter;

fn schema(center: f64) -> Schema {
    let text = format!(
        r#"
        version = 1
        intercept = true
        label = {{ column = "pass", positive = "1" }}
        sensitive = {{ column = "race", privileged = "White" }}
        feature = [{{ column = "lsat", kind = "numeric", center = {center}, scale = 1 }}]"#
    );
    Schema::from_toml(&text, Path::new("schema.toml")).unwrap()
}

fn rows(schema: &Schema) -> equipoise_core::Rows {
    let (x, groups, positive) = ([0.5, -1.0, 2.0], [true, false, true], [true, false, false]);
    equipoise_core::Rows::new(schema.layout(), &x, &groups, &positive).unwrap()
}

fn origin(schema: &Schema) -> ProxyOrigin {
    ProxyOrigin {
        client: Some("north".to_owned()),
        schema_sha256: Some(schema.digest()),
        fairness: Some(Criterion::Sp.into()),
        raw_rows: false,
        privacy: None,
    }
}

#[test]
fn a_parquet_proxy_keeps_its_origin_and_a_csv_proxy_has_none() {
    let (dir, schema) = (tempfile::tempdir().unwrap(), schema(0.0));
    for (name, expected) in [
        ("a.parquet", origin(&schema)),
        ("a.csv", ProxyOrigin::default()),
        ("a.csv.gz", ProxyOrigin::default()),
    ] {
        let path = dir.path().join(name);
        write_proxy_of(&path, &rows(&schema), &schema, &origin(&schema), false).unwrap();
        assert_eq!(ProxyOrigin::read(&path).unwrap(), expected, "{name}");
        assert_eq!(read_proxy(&path, &schema).unwrap(), rows(&schema), "{name}");
    }
    let mixture: Fairness = "sp:0.3,eo:0.7".parse().unwrap();
    let mixed = ProxyOrigin { fairness: Some(mixture), ..ProxyOrigin::default() };
    let path = dir.path().join("mixed.parquet");
    write_proxy_of(&path, &rows(&schema), &schema, &mixed, false).unwrap();
    assert!(ProxyOrigin::read(&path).unwrap().warn_of_criterion(&path, mixture).is_none());
}

#[test]
fn the_same_rows_and_origin_give_the_same_bytes_and_no_origin_the_bytes_of_before() {
    let (dir, schema) = (tempfile::tempdir().unwrap(), schema(0.0));
    let write = |name: &str, origin: &ProxyOrigin| {
        let path = dir.path().join(name);
        write_proxy_of(&path, &rows(&schema), &schema, origin, false).unwrap();
        std::fs::read(path).unwrap()
    };
    let bytes = write("a.parquet", &origin(&schema));
    assert_eq!(bytes, write("b.parquet", &origin(&schema)));
    let plain = dir.path().join("plain.parquet");
    write_proxy(&plain, &rows(&schema), &schema, false).unwrap();
    let plain = std::fs::read(plain).unwrap();
    assert_eq!(plain, write("c.parquet", &ProxyOrigin::default()));
    assert_ne!(plain, bytes);
}

#[test]
fn another_schema_is_refused_and_another_client_or_criterion_is_a_warning() {
    let (dir, used, other) = (tempfile::tempdir().unwrap(), schema(0.0), schema(1.0));
    let path = dir.path().join("north.parquet");
    write_proxy_of(&path, &rows(&used), &used, &origin(&used), false).unwrap();
    let check = |client: &str, schema: &Schema, fairness: Criterion| {
        check_origins(&[(client.to_owned(), path.clone())], schema, fairness.into())
    };
    assert_eq!(check("north", &used, Criterion::Sp).unwrap(), []);

    // The columns are the same, so nothing else would notice.
    assert!(read_proxy(&path, &other).is_ok());
    let error = check("north", &other, Criterion::Sp).unwrap_err().to_string();
    for part in ["north.parquet", &used.digest().to_string(), &other.digest().to_string(), "again"]
    {
        assert!(error.contains(part), "{error}");
    }
    let codes = |warnings: Vec<Warning>| warnings.iter().map(|w| w.code).collect::<Vec<_>>();
    let found = check("south", &used, Criterion::Eo).unwrap();
    assert!(found[0].to_string().contains("made by client `north`"), "{}", found[0]);
    assert!(found[1].to_string().contains("--fairness eo"), "{}", found[1]);
    assert!(found.iter().all(|warning| warning.client.as_deref() == Some("south")));
    assert_eq!(codes(found), [WarningCode::OtherClient, WarningCode::OtherCriterion]);
}

/// A file with any properties.
fn write_properties(path: &Path, schema: &Schema, properties: Vec<(&str, String)>) {
    use crate::output_table::{ColumnValues, OutputColumn};
    let mut writer = BatchWriter::new(std::fs::File::create(path).unwrap());
    writer.set_properties(properties);
    let rows = rows(schema);
    let x = (0..rows.len()).map(|i| rows.x(i)[0]).collect();
    let groups = rows.groups().iter().map(|&group| group as i8).collect();
    let labels = (0..rows.len()).map(|i| if rows.is_positive(i) { 1 } else { -1 }).collect();
    let columns = [
        OutputColumn::new("lsat", ColumnValues::Numbers(x)),
        OutputColumn::new("race", ColumnValues::Codes(groups)),
        OutputColumn::new("pass", ColumnValues::Codes(labels)),
    ];
    writer.write(&columns).unwrap();
    writer.finish().unwrap();
}

#[test]
fn malformed_and_huge_properties_count_as_missing_and_do_not_change_the_rows() {
    let (dir, schema) = (tempfile::tempdir().unwrap(), schema(0.0));
    let path = dir.path().join("hostile.parquet");
    let huge = "x".repeat(4 << 20);
    let many = (0..2000).map(|i| ("other", format!("{i}")));
    for properties in [
        vec![(CLIENT, String::new()), (SCHEMA, "12".into()), (FAIRNESS, "nonsense".into())],
        vec![(CLIENT, "a\u{1b}[31m".into()), (SCHEMA, "é".repeat(32)), (FAIRNESS, "sp:-1".into())],
        vec![(CLIENT, huge.clone()), (SCHEMA, huge.clone()), (FAIRNESS, huge.clone())],
        many.chain([(huge.as_str(), huge.clone())]).collect(),
    ] {
        write_properties(&path, &schema, properties);
        assert_eq!(ProxyOrigin::read(&path).unwrap(), ProxyOrigin::default());
        let mut read = 0;
        let visit = |chunk: &equipoise_core::Rows| {
            read += chunk.len();
            Ok(())
        };
        visit_proxy(&path, &schema, ReadLimits::NONE, visit).unwrap();
        assert_eq!(read, 3);
    }
}

fn statement() -> PrivacyStatement {
    let release = |release| NoisyRelease { release, sensitivity_squared: 256, sigma_squared: 7680 };
    PrivacyStatement {
        epsilon: epsilon_of(0.05, 1e-6),
        delta: 1e-6,
        rho: 0.05,
        adjacency: "add-or-remove-one-row".to_owned(),
        mechanism: "discrete-gaussian".to_owned(),
        clip: 3.0,
        releases: [Release::CountsAndSums, Release::Products, Release::Scores].map(release).into(),
        private: true,
    }
}

#[test]
fn a_statement_about_privacy_is_kept_exactly() {
    let (dir, schema) = (tempfile::tempdir().unwrap(), schema(0.0));
    let path = dir.path().join("a.parquet");
    let private = ProxyOrigin { privacy: Some(statement()), ..origin(&schema) };
    write_proxy_of(&path, &rows(&schema), &schema, &private, false).unwrap();
    assert_eq!(ProxyOrigin::read(&path).unwrap(), private);
    let file = std::fs::File::open(&path).unwrap();
    let open = OpenProxy::new(file, &path, ReadLimits::NONE).unwrap();
    // The client, the schema and the criterion are not the solver's business.
    let declared = ProxyOrigin { privacy: Some(statement()), ..ProxyOrigin::default() };
    assert_eq!(open.declared().unwrap(), declared);
}

#[test]
fn a_statement_that_cannot_be_true_is_refused() {
    let (dir, schema) = (tempfile::tempdir().unwrap(), schema(0.0));
    let path = dir.path().join("liar.parquet");
    let text = |change: fn(&mut PrivacyStatement)| {
        let mut statement = statement();
        change(&mut statement);
        serde_json::to_string(&statement).unwrap()
    };
    for property in [
        text(|s| s.epsilon /= 2.0),
        text(|s| s.releases[0].sigma_squared = 0),
        text(|s| s.releases.clear()),
        text(|s| s.delta = 0.0),
        text(|s| s.mechanism = "<script>".to_owned()),
        text(|s| s.releases = vec![s.releases[0].clone(); 1000]),
        "{}".to_owned(),
        "nonsense".to_owned(),
        " ".repeat(1 << 20),
    ] {
        write_properties(&path, &schema, vec![(PRIVACY, property.clone())]);
        let error = ProxyOrigin::read(&path).unwrap_err().to_string();
        assert!(error.contains("liar.parquet") && error.contains("privacy"), "{error}");
        assert!(error.len() < 1000, "{error}");
    }
}
