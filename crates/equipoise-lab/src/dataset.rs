//! The known datasets.

use equipoise_core::Rows;
use equipoise_data::{Digest, InferOptions, Purpose, Schema, infer, open_table, read_rows};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// A known dataset: its columns and its file.
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
    /// Columns with categorical codes, one-hot encoded by [`Preprocessing::OneHot`].
    pub codes: &'static [&'static str],
    /// Number of rows.
    pub rows: usize,
    /// The SHA-256 digest of the file.
    pub sha256: &'static str,
    /// The URL of the file.
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
    /// As in the paper: numbers standardised, 0/1 columns kept, codes as numbers, no intercept.
    #[default]
    Paper,
    /// As in the paper, with an intercept.
    Intercept,
    /// Codes as one-hot columns, and an intercept.
    OneHot,
    /// As `schema infer` proposes: columns of 3 to 12 integers as one-hot columns, and an intercept.
    Inferred,
}

impl Dataset {
    /// The dataset with this name.
    pub fn named(name: &str) -> Option<Self> {
        DATASETS.into_iter().find(|dataset| dataset.name == name)
    }

    /// Finds its file among these files and folders, and checks the digest.
    pub fn locate(&self, locations: &[PathBuf]) -> Result<PathBuf, Error> {
        let mut problem = None;
        for location in locations {
            // A missing location counts as a folder, unless it is named like a table.
            let is_csv = location.extension().is_some_and(|extension| extension == "csv");
            let file = match location.is_file() || (is_csv && !location.is_dir()) {
                true => location.clone(),
                false => location.join(self.file),
            };
            match self.check(&file) {
                Ok(_) => return Ok(file),
                // A wrong file is more informative than a missing one.
                Err(error @ Error::DatasetDigest { .. }) => problem = Some(error),
                Err(error) => problem = problem.or(Some(error)),
            }
        }
        Err(problem.unwrap_or(Error::NoData(self.name)))
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

    /// Its encoded rows.
    pub fn load(&self, locations: &[PathBuf], preprocessing: Preprocessing) -> Result<Rows, Error> {
        let file = self.locate(locations)?;
        let schema = self.schema(&file, preprocessing)?;
        Ok(read_rows(&file, &schema, Purpose::Data)?.rows)
    }

    /// The schema by which it is encoded.
    pub fn schema_for(
        &self,
        locations: &[PathBuf],
        preprocessing: Preprocessing,
    ) -> Result<Schema, Error> {
        self.schema(&self.locate(locations)?, preprocessing)
    }

    fn schema(&self, file: &Path, preprocessing: Preprocessing) -> Result<Schema, Error> {
        let own = |(column, value): (&str, &str)| (column.to_owned(), value.to_owned());
        let mut options = InferOptions {
            label: own(self.label),
            sensitive: vec![(self.sensitive.0.to_owned(), Some(self.sensitive.1.to_owned()))],
            two_groups: true,
            intercept: preprocessing != Preprocessing::Paper,
            codes: preprocessing == Preprocessing::Inferred,
            ..InferOptions::default()
        };
        if preprocessing == Preprocessing::OneHot {
            options.categorical = self.codes.iter().map(|&code| code.to_owned()).collect();
        }
        Ok(infer(open_table(file)?, &options)?.schema)
    }
}
