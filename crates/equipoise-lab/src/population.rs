//! A synthetic population of loan applicants, for the demo and for experiments of any size.
//!
//! Two groups, `A` and `B`, differ in their features (income, savings, schooling) and in how often they repaid:
//! partly because of these features, partly beyond them, as past decisions leave traces in data. A model trained on
//! the data as it is favours group A. Every value depends only on the seed.

use equipoise_data::{CLIENT_COLUMN, InferOptions, write_atomically};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use std::path::Path;

use crate::error::Error;

/// The columns, in order: ten features of mixed kinds, then sensitive attribute and label.
pub const COLUMNS: [&str; 12] = [
    "age",
    "income",
    "debt_ratio",
    "years_employed",
    "credit_score",
    "savings",
    "open_accounts",
    "homeowner",
    "education",
    "region",
    "group",
    "repaid",
];

/// The sensitive column and its privileged value.
pub const SENSITIVE: (&str, &str) = ("group", "A");

/// The label column and its positive value.
pub const LABEL: (&str, &str) = ("repaid", "yes");

const SCHOOLING: [&str; 4] = ["basic", "secondary", "bachelor", "master"];
const REGIONS: [&str; 4] = ["east", "north", "south", "west"];

/// One person: the values of [`COLUMNS`] as a table holds them.
pub type Person = [String; 12];

/// Generates `n_people` people.
pub fn make_population(n_people: usize, seed: u64) -> Vec<Person> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..n_people).map(|_| make_person(&mut rng)).collect()
}

fn make_person(rng: &mut ChaCha8Rng) -> Person {
    let mut normal = || -> f64 { StandardNormal.sample(rng) };
    // A factor common to the features; group A starts ahead.
    let in_a = normal() < 0.39;
    let ahead = if in_a { 0.3 } else { -0.38 };
    let standing = normal() + ahead;

    let age = (41.0 + 11.0 * normal() + 2.0 * standing).clamp(18.0, 80.0).round();
    let income = (10.3 + 0.35 * standing + 0.25 * ahead + 0.35 * normal()).exp();
    let debt_ratio = (0.35 - 0.06 * standing + 0.12 * normal()).clamp(0.0, 1.5);
    let years_employed =
        (0.35 * (age - 18.0) + 2.0 * standing + 4.0 * normal()).clamp(0.0, age - 16.0).round();
    let credit_score =
        (620.0 + 45.0 * standing + 25.0 * ahead + 55.0 * normal()).clamp(300.0, 850.0);
    let savings = (7.5 + 0.8 * standing + 0.5 * ahead + 1.1 * normal()).exp();
    let open_accounts = (3.5 + 0.6 * standing + 1.6 * normal()).clamp(0.0, 15.0).round();
    let homeowner = 0.6 * standing + 0.03 * (age - 41.0) + normal() > 0.1;
    let schooling = 0.7 * standing + 0.3 * ahead + 0.8 * normal();
    let education = [-0.7, 0.35, 1.3].iter().filter(|&&step| schooling > step).count();
    let region_draw = normal() + if in_a { 0.25 } else { -0.25 };
    let region = [-0.7, 0.0, 0.7].iter().filter(|&&step| region_draw > step).count();

    // Log-odds of repaying: mostly legitimate factors, partly the group itself.
    let log_odds = -0.15 + 0.9 * (income.ln() - 10.3) - 2.2 * (debt_ratio - 0.35)
        + 0.045 * (years_employed - 8.0)
        + 0.011 * (credit_score - 620.0)
        + 0.18 * (savings.ln() - 7.5)
        - 0.06 * (open_accounts - 3.5)
        + 0.25 * f64::from(u8::from(homeowner))
        + 0.22 * (education as f64 - 1.5)
        + if in_a { 0.4 } else { -0.2 };
    let repaid = rng.random::<f64>() < 1.0 / (1.0 + (-log_odds).exp());

    [
        format!("{age}"),
        format!("{income:.0}"),
        format!("{debt_ratio:.2}"),
        format!("{years_employed}"),
        format!("{credit_score:.0}"),
        format!("{savings:.0}"),
        format!("{open_accounts}"),
        u8::from(homeowner).to_string(),
        SCHOOLING[education].to_owned(),
        REGIONS[region].to_owned(),
        if in_a { "A" } else { "B" }.to_owned(),
        if repaid { "yes" } else { "no" }.to_owned(),
    ]
}

pub(crate) fn infer_options(intercept: bool) -> InferOptions {
    InferOptions {
        label: (LABEL.0.to_owned(), LABEL.1.to_owned()),
        sensitive: vec![(SENSITIVE.0.to_owned(), Some(SENSITIVE.1.to_owned()))],
        intercept,
        ..InferOptions::default()
    }
}

/// Writes some of the people to a CSV file.
pub(crate) fn write_people(path: &Path, people: &[Person], members: &[usize]) -> Result<(), Error> {
    let mut text = COLUMNS.join(",") + "\n";
    members.iter().for_each(|&member| text += &(people[member].join(",") + "\n"));
    write_text(path, &text)
}

/// Writes rows of several clients, with the client of each.
pub(crate) fn write_people_of<'a>(
    path: &Path,
    people: &[Person],
    clients: impl Iterator<Item = (&'a str, &'a [usize])>,
) -> Result<(), Error> {
    let mut text = format!("{CLIENT_COLUMN},{}\n", COLUMNS.join(","));
    for (client, members) in clients {
        let row = |&member: &usize| format!("{client},{}\n", people[member].join(","));
        text.extend(members.iter().map(row));
    }
    write_text(path, &text)
}

fn write_text(path: &Path, text: &str) -> Result<(), Error> {
    Ok(write_atomically(path, false, |writer| writer.write_all(text.as_bytes()))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_determines_every_value() {
        assert_eq!(make_population(50, 3), make_population(50, 3));
        assert_ne!(make_population(50, 3), make_population(50, 4));
        assert_eq!(make_population(80, 3)[..50], make_population(50, 3)[..]);
    }

    #[test]
    fn groups_differ_in_base_rate_and_in_features() {
        let people = make_population(20_000, 1);
        let of = |group: &str| people.iter().filter(|p| p[10] == group).collect::<Vec<_>>();
        let (a, b) = (of("A"), of("B"));
        assert!(a.len() > 11_000 && b.len() > 6_000, "{} and {}", a.len(), b.len());
        let rate = |group: &[&Person]| {
            group.iter().filter(|p| p[11] == "yes").count() as f64 / group.len() as f64
        };
        let gap = rate(&a) - rate(&b);
        assert!((0.2..0.45).contains(&gap), "{} and {}", rate(&a), rate(&b));
        let mean = |group: &[&Person], column: usize| {
            let values = group.iter().filter_map(|p| p[column].parse::<f64>().ok());
            values.sum::<f64>() / group.len() as f64
        };
        assert!(mean(&a, 1) > 1.2 * mean(&b, 1), "income");
        assert!(mean(&a, 4) > mean(&b, 4) + 20.0, "credit score");
    }
}
