//! The paper's tables as two groups, four groups or a blind model, for the examples that measure proxies and defenses.

use std::error::Error;
use std::fs;
use std::path::Path;

use equipoise_core::Rows;
use equipoise_data::{InferOptions, Purpose, infer, open_table, read_rows};
use equipoise_lab::DATASETS;

pub(crate) type Answer<T> = Result<T, Box<dyn Error>>;

/// The encoded rows of one of the paper's tables. The four groups are race × gender, and sex × two age bands.
pub(crate) fn load(folder: &Path, table: usize, view: &str) -> Answer<Rows> {
    let dataset = DATASETS[table];
    let mut file = dataset.locate(&[folder.to_path_buf()])?;
    let scratch = tempfile::tempdir()?;
    let own = |(column, value): (&str, &str)| (column.to_owned(), Some(value.to_owned()));
    let mut sensitive = vec![own(dataset.sensitive)];
    if view == "four groups" {
        let second = if table == 0 { ("male", "1") } else { ("age_band", "old") };
        sensitive.push(own(second));
        if table == 1 {
            let text = fs::read_to_string(&file)?;
            file = scratch.path().join(dataset.file);
            fs::write(&file, with_age_band(&text)?)?;
        }
    }
    let options = InferOptions {
        label: (dataset.label.0.to_owned(), dataset.label.1.to_owned()),
        sensitive,
        two_groups: view != "four groups",
        blind: view == "blind",
        intercept: true,
        categorical: dataset.codes.iter().map(|&code| code.to_owned()).collect(),
        ..InferOptions::default()
    };
    let schema = infer(open_table(&file)?, &options)?.schema;
    Ok(read_rows(&file, &schema, Purpose::Data)?.rows)
}

/// The Dutch table with a column that says whether the age code is at least 9.
fn with_age_band(text: &str) -> Answer<String> {
    let mut lines = text.lines();
    let header = lines.next().ok_or("an empty table")?;
    let age = header.split(',').position(|name| name == "age").ok_or("no column `age`")?;
    let mut out = format!("{header},age_band\n");
    for line in lines {
        let code: u32 = line.split(',').nth(age).ok_or("a short row")?.parse()?;
        out += &format!("{line},{}\n", if code >= 9 { "old" } else { "young" });
    }
    Ok(out)
}

/// The mean of several models.
pub(crate) fn mean_model(models: &[Vec<f64>]) -> Vec<f64> {
    let n = models.len() as f64;
    (0..models[0].len()).map(|k| models.iter().map(|theta| theta[k]).sum::<f64>() / n).collect()
}
