#![allow(clippy::unwrap_used)]

use super::*;
use crate::output_table::{ColumnValues, OutputColumn, write_table};

fn schema_with(more: &str) -> Schema {
    let text = format!(
        r#"
        version = 1
        intercept = false
        {more}
        label = {{ column = "pass", positive = "1" }}
        sensitive = {{ column = "race", privileged = "White" }}
        feature = [{{ column = "lsat", kind = "numeric", center = 1, scale = 2 }}]"#
    );
    Schema::from_toml(&text, Path::new("schema.toml")).unwrap()
}

fn schema() -> Schema {
    schema_with("")
}

/// Reads files, or the only one.
fn read(files: &[(&str, &str)], schema: &Schema) -> Result<TrustedRows, Error> {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(dir.path().join(name), content).unwrap();
    }
    let path = match files {
        [(name, _)] if name.starts_with("trusted") => dir.path().join(name),
        _ => dir.path().to_path_buf(),
    };
    Trusted::Path(path).read(schema)
}

fn ids(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

/// The scaled feature, which tells rows apart, of each client's rows and of those of nobody.
fn values(found: TrustedRows, clients: &[&str]) -> Vec<Vec<f64>> {
    let (root, _) = found.into_root(&ids(clients), &schema()).unwrap();
    let parts = root.tables().iter().chain(root.unassigned());
    parts.map(|rows| (0..rows.len()).map(|i| rows.x(i)[0]).collect()).collect()
}

const TABLE: &str = "client,lsat,race,pass\nb,1,White,1\na,3,Black,0\nb,5,Black,1\n,7,White,0\n";

#[test]
fn a_table_says_whose_its_rows_are_and_empty_cells_are_nobodys() {
    let found = read(&[("trusted.csv", TABLE)], &schema()).unwrap();
    assert_eq!(found.clients().collect::<Vec<_>>(), ["a", "b"]);
    let all = found.all_rows().unwrap();
    assert_eq!((0..4).map(|i| all.x(i)[0]).collect::<Vec<_>>(), [1.0, 0.0, 2.0, 3.0]);
    let root = found.clone().into_root(&ids(&["a", "b", "c"]), &schema()).unwrap().0;
    assert_eq!(root.clients_of_rows(), [Some(0), Some(1), Some(1), None]);
    assert_eq!(root.all_rows().unwrap(), all);
    // A client without rows is fine.
    let expected = [vec![1.0], vec![0.0, 2.0], vec![], vec![3.0]];
    assert_eq!(values(found, &["a", "b", "c"]), expected);
}

#[test]
fn a_folder_gives_the_same_rows_as_a_table_of_them() {
    let header = "lsat,race,pass\n";
    let files = [
        ("a.csv", format!("{header}3,Black,0\n9,White,1\n")),
        ("b.csv", format!("{header}1,White,1\n5,Black,1\n6,White,0\n")),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, &**text)).collect();
    let folder = read(&files, &schema()).unwrap();
    let table =
        "lsat,client,race,pass\n1,b,White,1\n3,a,Black,0\n5,b,Black,1\n9,a,White,1\n6,b,White,0\n";
    let table = read(&[("trusted.csv", table)], &schema()).unwrap();
    let roots = [folder, table].map(|rows| rows.into_root(&ids(&["a", "b"]), &schema()).unwrap().0);
    assert_eq!(roots[0].tables(), roots[1].tables());
    assert!(roots.iter().all(|root| root.unassigned().is_none()));
}

#[test]
fn without_the_column_or_if_the_schema_names_it_rows_are_nobodys() {
    let plain = "lsat,race,pass\n1,White,1\n3,Black,0\n";
    let found = read(&[("trusted.csv", plain)], &schema()).unwrap();
    assert_eq!(found.clients().count(), 0);
    assert_eq!(values(found, &["a"]), [vec![], vec![0.0, 1.0]]);

    let ignoring = schema_with("ignore = [\"client\"]");
    let found = read(&[("trusted.csv", TABLE)], &ignoring).unwrap();
    assert_eq!((found.clients().count(), found.all_rows().unwrap().len()), (0, 4));
    assert!(names_clients(&schema()) && !names_clients(&ignoring));
}

#[test]
fn clients_are_numbers_or_text_in_parquet() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trusted.parquet");
    let columns = [
        OutputColumn::new("client", ColumnValues::NumbersOrEmpty(vec![Some(7.0), None])),
        OutputColumn::new("lsat", ColumnValues::Numbers(vec![1.0, 3.0])),
        OutputColumn::new("race", ColumnValues::Texts(vec!["White".into(), "Black".into()])),
        OutputColumn::new("pass", ColumnValues::Numbers(vec![1.0, 0.0])),
    ];
    write_table(&path, &columns, false).unwrap();
    let found = Trusted::Path(path).read(&schema()).unwrap();
    assert_eq!(values(found, &["7"]), [[0.0], [1.0]]);
}

#[test]
fn names_without_a_proxy_are_refused_with_their_first_row_or_left_out() {
    let mut found = read(&[("trusted.csv", TABLE)], &schema()).unwrap();
    let text = found.refuse_absent(&ids(&["a", "c"])).unwrap_err().to_string();
    for part in ["trusted.csv, row 1, column `client`:", "without a proxy: `b`.", "--allow-missing"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(found.refuse_absent(&ids(&["a", "b"])).is_ok());
    assert_eq!(found.leave_out_absent(&ids(&["a", "c"])), ["b"]);
    assert_eq!(values(found, &["a", "c"]), [vec![1.0], vec![], vec![3.0]]);
}

#[test]
fn rows_of_one_client_are_enough_but_not_rows_of_one_group() {
    let one = "client,lsat,race,pass\na,1,White,1\na,3,Black,0\n";
    let found = read(&[("trusted.csv", one)], &schema()).unwrap();
    assert_eq!(values(found, &["a", "b"]), [vec![0.0, 1.0], vec![]]);
    let group = "client,lsat,race,pass\na,1,White,1\nb,3,White,0\n";
    let found = read(&[("trusted.csv", group)], &schema()).unwrap();
    let text = found.into_root(&ids(&["a", "b"]), &schema()).unwrap_err().to_string();
    assert!(text.contains("trusted.csv, column `race`: all 2 root rows are in"), "{text}");
}

#[test]
fn warnings_name_the_client_only_in_a_folder() {
    let one_sided = "lsat,race,pass\n3,Black,0\n";
    let found = read(&[("a.csv", one_sided), ("b.csv", "lsat,race,pass\n3,White,1\n")], &schema());
    let text: Vec<String> = found.unwrap().warnings.iter().map(Warning::to_string).collect();
    assert_eq!(text.len(), 4);
    assert!(text[0].starts_with("client `a` ("), "{}", text[0]);
    assert!(text[0].contains("negative label") && text[1].contains("`race ≠ White`"), "{text:?}");
    let found = read(&[("trusted.csv", one_sided)], &schema()).unwrap();
    assert!(found.warnings.iter().all(|warning| warning.client.is_none()));
    assert_eq!(found.warnings.len(), 2);
}

#[test]
fn bad_tables_are_refused_by_name() {
    let fails = |files: &[(&str, &str)], parts: &[&str]| {
        let text = read(files, &schema()).unwrap_err().to_string();
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
    };
    fails(&[("trusted.csv", "client,race,pass\na,White,1\n")], &["trusted.csv", "`lsat`"]);
    fails(&[("trusted.csv", "lsat,race,pass,bank\n1,White,1,a\n")], &["column `bank`", "not in"]);
    fails(
        &[("trusted.csv", "lsat,race,pass\n")],
        &["trusted.csv", "A table of trusted rows needs"],
    );
    let two_bad = "client,lsat,race,pass\na,1,White,1\nb,x,White,1\n";
    fails(&[("trusted.csv", two_bad)], &["row 2", "`lsat`", "`x`"]);
    // In a folder, the file says whose the rows are.
    let named = [("a.csv", TABLE), ("b.csv", TABLE)];
    fails(&named, &["a.csv", "column `client`", "not in the schema"]);
    let text = Trusted::Path("nowhere".into()).read(&schema()).unwrap_err().to_string();
    assert!(text.contains("nowhere: cannot be read"), "{text}");
}
