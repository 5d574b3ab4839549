//! Sources of an experiment's rows: a known dataset, the synthetic population, or the user's own table.

use equipoise_core::Rows;
use equipoise_data::{Digest, Hasher, Purpose, Schema, Staged, infer, open_table, read_rows};
use std::path::PathBuf;

use crate::dataset::{Dataset, Preprocessing};
use crate::error::Error;
use crate::population::{infer_options, make_population, write_people};

/// The dataset name of the synthetic population.
pub const SYNTHETIC: &str = "synthetic";
/// The dataset name of the user's own table.
pub const OWN_TABLE: &str = "csv";

/// Where to find datasets.
#[derive(Debug, Clone, PartialEq)]
pub struct Sources {
    /// Files, and folders with the files of known datasets.
    pub data: Vec<PathBuf>,
    /// The schema of the user's own table.
    pub schema: Option<PathBuf>,
    /// Number of people in the synthetic population.
    pub n_people: usize,
}

/// The population is a fixed dataset; an experiment's seeds only split it.
const POPULATION_SEED: u64 = 1;

impl Sources {
    /// The encoded rows of a dataset. The user's own table is encoded by its schema, whatever the preprocessing.
    pub fn load(&self, dataset: &str, preprocessing: Preprocessing) -> Result<Rows, Error> {
        match (dataset, Dataset::named(dataset)) {
            (_, Some(known)) => known.load(&self.data, preprocessing),
            (SYNTHETIC, _) => self.load_synthetic(preprocessing),
            (OWN_TABLE, _) => self.load_own_table(),
            _ => Err(Error::UnknownDataset(dataset.to_owned())),
        }
    }

    fn load_synthetic(&self, preprocessing: Preprocessing) -> Result<Rows, Error> {
        let people = make_population(self.n_people, POPULATION_SEED);
        let everyone: Vec<usize> = (0..people.len()).collect();
        let folder =
            Staged::create(tempfile::tempdir).map_err(Error::folder(&std::env::temp_dir()))?;
        let file = folder.path().join("population.csv");
        write_people(&file, &people, &everyone)?;
        let mut options = infer_options(preprocessing != Preprocessing::Paper);
        options.codes = preprocessing == Preprocessing::Inferred;
        let schema = infer(open_table(&file)?, &options)?.schema;
        Ok(read_rows(&file, &schema, Purpose::Data)?.rows)
    }

    fn load_own_table(&self) -> Result<Rows, Error> {
        let schema = Schema::read(self.schema.as_ref().ok_or(Error::NoSchema)?)?;
        let file = self.own_table().ok_or(Error::NoOwnTable)?;
        Ok(read_rows(file, &schema, Purpose::Data)?.rows)
    }

    /// The user's own table: the first location that is a file or looks like one.
    fn own_table(&self) -> Option<&PathBuf> {
        self.data.iter().find(|path| path.is_file() || path.extension().is_some())
    }

    /// The file name of the user's own table.
    pub(crate) fn own_table_name(&self) -> Option<String> {
        Some(self.own_table()?.file_name()?.to_string_lossy().into_owned())
    }
}

/// Rejects a number of people that the dataset does not have.
pub(crate) fn check_n_people(
    dataset: &str,
    rows: &Rows,
    n_people: Option<usize>,
) -> Result<(), Error> {
    match n_people {
        Some(people) if people > rows.len() => {
            Err(Error::FewPeople { dataset: dataset.to_owned(), rows: rows.len(), people })
        }
        _ => Ok(()),
    }
}

/// The title of a dataset in tables.
pub fn dataset_title(name: &str) -> &str {
    match (name, Dataset::named(name)) {
        (_, Some(known)) => known.title,
        (SYNTHETIC, _) => "Synthetic",
        (OWN_TABLE, _) => "Own table",
        _ => name,
    }
}

/// Digest of encoded rows, to detect that an experiment's data has changed.
pub(crate) fn rows_digest(rows: &Rows) -> Digest {
    let mut hasher = Hasher::default();
    hasher.update((rows.layout().n() as u64).to_le_bytes());
    for value in rows.values().iter().chain(rows.labels()) {
        hasher.update(value.to_le_bytes());
    }
    hasher.finish()
}
