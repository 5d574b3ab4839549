//! A round in a format that is easy to read in any language: a header in `NAME.json` and numbers in `NAME.bin`.
//!
//! The numbers are little-endian 64-bit floats: the proxy rows `a = (x, s[, 1])`, one client after the other, the proxy
//! labels (−1 or +1), the root rows, and the root labels.

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

use equipoise_core::{Client, Fairness, Layout, RhoSchedule, Rows, Settings};
use serde::{Deserialize, Serialize};

/// The description of a saved problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The version of the format.
    pub(crate) version: u32,
    /// The name of the problem and of its files.
    pub(crate) name: String,
    /// How it was generated.
    pub(crate) about: String,
    /// The sorted ids of the clients.
    pub(crate) clients: Vec<String>,
    /// The number of features, without the sensitive attribute and the constant.
    pub(crate) n_x: usize,
    /// Whether a row ends with a constant 1.
    pub(crate) intercept: bool,
    /// The length of a row.
    pub(crate) n: usize,
    /// The number of proxy rows of each client.
    pub(crate) proxy_rows: Vec<usize>,
    /// The number of root rows of each client.
    pub(crate) root_rows: Vec<usize>,
    /// The fairness criterion.
    pub(crate) fairness: Fairness,
    /// λ.
    pub(crate) lambda: f64,
    /// The paper's schedule of ρ.
    pub(crate) rho: RhoSchedule,
    /// The paper's outer loop.
    pub(crate) adam: AdamConstants,
    /// An inner fit has converged if the norm of its gradient is at most this.
    pub(crate) inner_tolerance: f64,
    /// Maximum number of iterations of an inner fit.
    pub(crate) inner_iterations: usize,
}

/// The constants of the paper's Adam.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct AdamConstants {
    pub(crate) steps: usize,
    pub(crate) learning_rate: f64,
    pub(crate) beta1: f64,
    pub(crate) beta2: f64,
    pub(crate) epsilon: f64,
}

impl Header {
    /// A header for these clients, which are sorted by id, with the constants of the profile `paper`.
    #[allow(dead_code)] // Not every example writes.
    pub(crate) fn new(name: &str, about: &str, fairness: Fairness, clients: &[Client]) -> Self {
        let paper = Settings::paper(fairness);
        let layout = clients[0].proxy.layout();
        Self {
            version: 1,
            name: name.to_owned(),
            about: about.to_owned(),
            clients: clients.iter().map(|client| client.id.clone()).collect(),
            n_x: layout.n_x,
            intercept: layout.intercept,
            n: layout.n(),
            proxy_rows: clients.iter().map(|client| client.proxy.len()).collect(),
            root_rows: clients.iter().map(|client| client.root.len()).collect(),
            fairness,
            lambda: paper.lambda,
            rho: paper.outer.rho,
            adam: AdamConstants {
                steps: paper.outer.iterations,
                learning_rate: paper.outer.learning_rate,
                beta1: 0.9,
                beta2: 0.999,
                epsilon: 1e-8,
            },
            inner_tolerance: paper.inner.tolerance,
            inner_iterations: paper.inner.max_iterations,
        }
    }

    /// Writes both files into a folder. The header is written last, so that it never describes missing numbers.
    #[allow(dead_code)] // Not every example writes.
    pub(crate) fn save(&self, folder: &Path, clients: &[Client]) -> Result<(), Box<dyn Error>> {
        std::fs::create_dir_all(folder)?;
        let mut file = BufWriter::new(File::create(folder.join(format!("{}.bin", self.name)))?);
        let proxies: Vec<&Rows> = clients.iter().map(|client| &client.proxy).collect();
        let roots: Vec<&Rows> = clients.iter().map(|client| &client.root).collect();
        for tables in [proxies, roots] {
            tables.iter().try_for_each(|rows| write_numbers(&mut file, rows.values()))?;
            tables.iter().try_for_each(|rows| write_numbers(&mut file, rows.labels()))?;
        }
        file.flush()?;
        let header = serde_json::to_string_pretty(self)? + "\n";
        std::fs::write(folder.join(format!("{}.json", self.name)), header)?;
        Ok(())
    }

    /// Reads a header and its clients.
    #[allow(dead_code)] // Not every example reads.
    pub(crate) fn load(file: &Path) -> Result<(Self, Vec<Client>), Box<dyn Error>> {
        let header: Self = serde_json::from_str(&std::fs::read_to_string(file)?)?;
        if header.version != 1 {
            return Err(
                format!("{}: unsupported version {}", file.display(), header.version).into()
            );
        }
        let mut numbers = BufReader::new(File::open(file.with_extension("bin"))?);
        let proxies = header.read_tables(&mut numbers, &header.proxy_rows)?;
        let roots = header.read_tables(&mut numbers, &header.root_rows)?;
        if numbers.read(&mut [0])? > 0 {
            return Err("the file has more numbers than its header declares".into());
        }
        let clients = header.clients.iter().zip(proxies).zip(roots);
        let clients =
            clients.map(|((id, proxy), root)| Client { id: id.clone(), proxy, root }).collect();
        Ok((header, clients))
    }

    fn read_tables(
        &self,
        numbers: &mut impl Read,
        n_rows: &[usize],
    ) -> Result<Vec<Rows>, Box<dyn Error>> {
        let layout = Layout::two_groups(self.n_x, self.intercept);
        let mut tables = Vec::new();
        for &n_rows in n_rows {
            let (mut x, mut sensitive) = (Vec::with_capacity(n_rows * self.n_x), Vec::new());
            let mut row = vec![0.0; self.n];
            for _ in 0..n_rows {
                read_numbers(numbers, &mut row)?;
                x.extend_from_slice(&row[..self.n_x]);
                sensitive.push(row[layout.indicators().start] == 1.0);
            }
            tables.push((x, sensitive));
        }
        let join = |((x, sensitive), &n_rows): ((Vec<f64>, Vec<bool>), &usize)| {
            let mut labels = vec![0.0; n_rows];
            read_numbers(numbers, &mut labels)?;
            let positive: Vec<bool> = labels.iter().map(|&y| y > 0.0).collect();
            Ok(Rows::new(layout.clone(), &x, &sensitive, &positive)?)
        };
        tables.into_iter().zip(n_rows).map(join).collect()
    }
}

fn write_numbers(file: &mut impl Write, numbers: &[f64]) -> std::io::Result<()> {
    numbers.iter().try_for_each(|number| file.write_all(&number.to_le_bytes()))
}

fn read_numbers(file: &mut impl Read, numbers: &mut [f64]) -> std::io::Result<()> {
    let mut bytes = [0; 8];
    for number in numbers {
        file.read_exact(&mut bytes)?;
        *number = f64::from_le_bytes(bytes);
    }
    Ok(())
}
