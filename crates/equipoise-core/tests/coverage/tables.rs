//! The paper's tables, scored by a logistic model, in two, three and four groups.

use std::path::Path;

use crate::population::{Population, Row};

/// `None` if the data is absent.
pub(crate) fn populations() -> Option<Vec<Population>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let law = Table::read(&folder.join("law_school.csv"))?;
    let dutch = Table::read(&folder.join("dutch.csv"))?;
    let pass = law.column("pass_bar");
    let (race, male) = (law.column("race"), law.column("male"));
    let law_scores = scores(&law, "pass_bar", &pass);
    let job = dutch.column("occupation");
    let (sex, age) = (dutch.column("sex"), dutch.column("age"));
    let dutch_scores = scores(&dutch, "occupation", &job);
    let mut all = Vec::new();
    for n_groups in [2, 3, 4] {
        let group = |i: usize| match n_groups {
            2 => race[i] as usize,
            // White people are one group, others are split by sex.
            3 => race[i] as usize * (1 + male[i] as usize),
            _ => 2 * race[i] as usize + male[i] as usize,
        };
        all.push(population("Law School", n_groups, &pass, &law_scores, group));
        let group = |i: usize| match n_groups {
            2 => sex[i] as usize,
            3 => sex[i] as usize * (1 + usize::from(age[i] > 8.0)),
            _ => 2 * sex[i] as usize + usize::from(age[i] > 8.0),
        };
        all.push(population("Dutch", n_groups, &job, &dutch_scores, group));
    }
    Some(all)
}

fn population(
    name: &str,
    n_groups: usize,
    label: &[f64],
    scores: &[f64],
    group: impl Fn(usize) -> usize,
) -> Population {
    let row = |i: usize| Row { group: group(i), positive: label[i] == 1.0, score: scores[i] };
    Population {
        name: format!("{name}, {n_groups} groups"),
        n_groups,
        rows: (0..label.len()).map(row).collect(),
        seed: n_groups as u64 + label.len() as u64,
    }
}

struct Table {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Table {
    /// Texts become 0 if they name the privileged group, otherwise 1.
    fn read(path: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(path).ok()?;
        let mut lines = text.lines();
        let names = lines.next()?.split(',').map(str::to_owned).collect();
        let value = |cell: &str| match cell {
            "White" | "male" => 0.0,
            other => other.parse().unwrap_or(1.0),
        };
        Some(Self { names, rows: lines.map(|l| l.split(',').map(value).collect()).collect() })
    }

    fn column(&self, name: &str) -> Vec<f64> {
        let at = self.names.iter().position(|n| n == name).unwrap();
        self.rows.iter().map(|row| row[at]).collect()
    }
}

/// Probabilities of a logistic model on standardised columns, by gradient descent.
fn scores(table: &Table, label_name: &str, label: &[f64]) -> Vec<f64> {
    let n = label.len() as f64;
    let names = table.names.iter().filter(|name| *name != label_name);
    let mut columns: Vec<Vec<f64>> = names.map(|name| table.column(name)).collect();
    for column in &mut columns {
        let mean = column.iter().sum::<f64>() / n;
        let spread = (column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
        column.iter_mut().for_each(|v| *v = (*v - mean) / spread);
    }
    columns.push(vec![1.0; label.len()]);
    let mut theta = vec![0.0; columns.len()];
    let mut probabilities = vec![0.5; label.len()];
    for _ in 0..300 {
        for (weight, column) in theta.iter_mut().zip(&columns) {
            let errors = probabilities.iter().zip(label).zip(column);
            *weight -= 0.8 * errors.map(|((p, y), v)| (p - y) * v).sum::<f64>() / n;
        }
        for (i, p) in probabilities.iter_mut().enumerate() {
            let logit: f64 = theta.iter().zip(&columns).map(|(w, c)| w * c[i]).sum();
            *p = 1.0 / (1.0 + (-logit).exp());
        }
    }
    probabilities
}
