//! The datasets that experiments run on.

use equipoise_core::Rows;
use equipoise_data::{Digest, InferOptions, Purpose, infer, open_table, read_rows};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// A dataset that the program knows: where its columns are and what its file must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dataset {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in tables.
    pub title: &'static str,
    /// The file in a data folder.
    pub file: &'static str,
    /// Label column and positive value.
    pub label: (&'static str, &'static str),
    /// Sensitive column and privileged value.
    pub sensitive: (&'static str, &'static str),
    /// Columns whose numbers are codes, one-hot in our own preprocessing.
    pub codes: &'static [&'static str],
    /// How many rows it has.
    pub rows: usize,
    /// What the file's content must hash to.
    pub sha256: &'static str,
    /// Where the file can be had.
    pub home: &'static str,
}

/// The paper's two datasets, as Le Quy et al. cleaned them.
pub const DATASETS: [Dataset; 2] = [
    Dataset {
        name: "law-school",
        title: "Law School",
        file: "law_school.csv",
        label: ("pass_bar", "1"),
        sensitive: ("race", "White"),
        codes: &["fam_inc", "tier"],
        rows: 20_798,
        sha256: "23c1b173f3480beb7afc4957b107a9917dfc4a8dc9d87ea6034ec35222152452",
        home: "https://raw.githubusercontent.com/tailequy/fairness_dataset/main/experiments/data/law_school_clean.csv",
    },
    Dataset {
        name: "dutch",
        title: "Dutch",
        file: "dutch.csv",
        label: ("occupation", "1"),
        sensitive: ("sex", "male"),
        codes: &[
            "household_position",
            "household_size",
            "prev_residence_place",
            "citizenship",
            "country_birth",
            "economic_status",
            "cur_eco_activity",
            "marital_status",
        ],
        rows: 60_420,
        sha256: "c0e1df7e2ca07fa84aa99b5565c7b782a381e2fab377648a6d920174d04ce090",
        home: "https://raw.githubusercontent.com/tailequy/fairness_dataset/main/experiments/data/dutch.csv",
    },
];

/// How raw columns become features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preprocessing {
    /// The paper's regime: numbers standardised, 0/1 columns kept, codes taken as numbers, no intercept.
    #[default]
    Paper,
    /// The paper's, with an intercept.
    Intercept,
    /// Codes as one-hot columns, and an intercept.
    OneHot,
}

impl Dataset {
    /// The dataset of this name.
    pub fn named(name: &str) -> Option<Self> {
        DATASETS.into_iter().find(|dataset| dataset.name == name)
    }

    /// Its file among these places, files or folders; it must be the file that is expected.
    pub fn locate(&self, places: &[PathBuf]) -> Result<PathBuf, Error> {
        let mut missed = None;
        for place in places {
            // What is not there is taken for a folder, unless its name is that of a table.
            let named = place.extension().is_some_and(|extension| extension == "csv");
            let file = match place.is_file() || (named && !place.is_dir()) {
                true => place.clone(),
                false => place.join(self.file),
            };
            match self.check(&file) {
                Ok(_) => return Ok(file),
                // A file that is there and another one says more than one that is not there.
                Err(error @ Error::DatasetDigest { .. }) => missed = Some(error),
                Err(error) => missed = missed.or(Some(error)),
            }
        }
        Err(missed.unwrap_or(Error::NoData { dataset: self.name }))
    }

    /// The file's size, if its digest is the expected one.
    pub(crate) fn check(&self, file: &Path) -> Result<u64, Error> {
        let (bytes, found) = Digest::of_file(file).map_err(|source| Error::DatasetFile {
            dataset: self.name,
            file: file.to_path_buf(),
            source,
        })?;
        if found.to_string() == self.sha256 {
            return Ok(bytes);
        }
        Err(Error::DatasetDigest {
            dataset: self.name,
            file: file.to_path_buf(),
            expected: self.sha256,
            found,
        })
    }

    /// Its rows, encoded.
    pub fn load(&self, places: &[PathBuf], preprocessing: Preprocessing) -> Result<Rows, Error> {
        let file = self.locate(places)?;
        let own = |(column, value): (&str, &str)| (column.to_owned(), value.to_owned());
        let mut options = InferOptions {
            label: own(self.label),
            sensitive: own(self.sensitive),
            intercept: preprocessing != Preprocessing::Paper,
            ..InferOptions::default()
        };
        if preprocessing == Preprocessing::OneHot {
            options.categorical = self.codes.iter().map(|&code| code.to_owned()).collect();
        }
        let schema = infer(open_table(&file)?, &options)?.schema;
        Ok(read_rows(&file, &schema, Purpose::Data)?.rows)
    }
}
