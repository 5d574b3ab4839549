//! How close the proxy comes to real records, in plain words: what the distances mean, whether there is a problem, and
//! what to do about it.

use equipoise_core::{Closeness, Distances, ProxyStart};
use serde::Serialize;

use crate::formatting::{number, table};

/// A proxy row is as far from typical rows as these are from each other, and much closer to the nearest. Extreme values
/// widen the model that the proxy is sampled from, but not the distance of typical rows: its rows are then further from
/// every row than this many typical distances.
const FAR: f64 = 2.0;

/// A proxy row that is closer to a real row than this share of the usual distance between real rows could pass for a
/// slightly changed copy.
const CLOSE: f64 = 0.5;

/// Whether the distances are a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Finding {
    /// Proxy rows are about as far from real rows as these are from each other, or further.
    NoProblem,
    /// Some proxy rows equal real rows, but so do most real rows: such a row says nothing about one person.
    CommonRows,
    /// Some proxy rows equal real rows.
    Copies,
    /// Proxy rows are closer to real rows than these are to each other.
    TooClose,
    /// Proxy rows are far from all real rows.
    UnlikeData,
}

impl Finding {
    pub(super) fn of(closeness: &Closeness) -> Self {
        let (proxy, data) = (closeness.proxy_to_data, closeness.data_to_data);
        match () {
            () if closeness.copies > 0 && data.median == 0.0 => Self::CommonRows,
            () if closeness.copies > 0 => Self::Copies,
            () if proxy.median < CLOSE * data.median => Self::TooClose,
            () if proxy.median > FAR * closeness.between_rows => Self::UnlikeData,
            () => Self::NoProblem,
        }
    }
}

/// The distances, what they mean, and what to do.
pub(super) fn describe(closeness: &Closeness, start: ProxyStart) -> String {
    let row = |name: &str, from: Distances| {
        vec![name.to_owned(), distance(from.median), distance(from.minimum)]
    };
    let distances = table(
        &["distance to the most similar row of the data", "median", "minimum"],
        vec![
            row("from a proxy row", closeness.proxy_to_data),
            row("from another row of the data", closeness.data_to_data),
        ],
        &[1, 2],
    );
    format!("{distances}{}\n{}\n", meaning(closeness), advice(closeness, start))
}

/// What the two lines say, in words.
fn meaning(closeness: &Closeness) -> String {
    let (proxy, data) = (closeness.proxy_to_data.median, closeness.data_to_data.median);
    let comparison = if data > 0.0 && (proxy / data).is_finite() {
        format!("{} times as far", number(proxy / data))
    } else {
        "compared with 0".to_owned()
    };
    format!(
        "A distance of 1 is one standard deviation of one numeric column; another category is 1.4 away. The first line is how\n\
         far a proxy row is from the real row most like it, the second how far a real row is from the next: {comparison}.\n\
         The closer the first is to 0, the more a proxy row reveals about one person."
    )
}

/// Whether there is a problem, and what to do.
fn advice(closeness: &Closeness, start: ProxyStart) -> String {
    let copies = closeness.copies;
    match Finding::of(closeness) {
        _ if start == ProxyStart::Data => {
            "PROBLEM: the rows started from the private ones (--init data). Leave the option out before you submit.".to_owned()
        }
        Finding::NoProblem => {
            "No problem: no proxy row is a real row, and typically none is closer to one than real rows are to each other."
                .to_owned()
        }
        Finding::CommonRows => format!(
            "No problem: proxy rows that equal a real row: {copies}, but so does the typical real row. Such rows are \
             combinations that\nmany people share. If some are rare in your table, merge rare categories in the schema."
        ),
        Finding::Copies => format!(
            "PROBLEM: proxy rows that equal a real row: {copies}. Anyone who knows that person's values learns that the \
             person is probably in your\ndata. Use another --seed or fewer --rows; if that does not help, agree on a schema with fewer or \
             coarser columns."
        ),
        Finding::TooClose => {
            "PROBLEM: proxy rows are closer to real rows than these are to each other, so they resemble individual people. Use \
             another --seed or fewer\n--rows; if that does not help, agree on a schema with fewer columns."
                .to_owned()
        }
        Finding::UnlikeData => {
            "PROBLEM: the proxy does not look like the data, so its model may be useless elsewhere. Look for extreme values in \
             your table, and check the\ncenter and scale of numeric columns in the schema."
                .to_owned()
        }
    }
}

/// Four decimals, so that small distances line up; scientific notation for very large distances.
fn distance(value: f64) -> String {
    if value < 1e4 { format!("{value:.4}") } else { number(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closeness(proxy: f64, data: f64, copies: usize) -> Closeness {
        let of = |median: f64| Distances { rows: 200, median, minimum: median / 2.0 };
        let between_rows = 3.0;
        Closeness { proxy_to_data: of(proxy), data_to_data: of(data), between_rows, copies }
    }

    #[test]
    fn every_case_says_whether_there_is_a_problem_and_what_to_do() {
        let cases = [
            (closeness(1.6, 1.3, 0), Finding::NoProblem, &["No problem", "1.231 times as far"][..]),
            (closeness(0.9, 1.3, 0), Finding::NoProblem, &["No problem"]),
            (closeness(0.3, 1.3, 0), Finding::TooClose, &["PROBLEM", "--seed", "fewer columns"]),
            (closeness(0.5, 1.3, 3), Finding::Copies, &["PROBLEM", "row: 3.", "--seed"]),
            (
                closeness(0.0, 0.0, 180),
                Finding::CommonRows,
                &["No problem", "row: 180,", "many people"],
            ),
            (closeness(0.5, 0.0, 0), Finding::NoProblem, &["No problem"]),
            // A table of categories, in which most rows have a twin.
            (closeness(2.1, 0.0, 0), Finding::NoProblem, &["No problem"]),
            (closeness(30.0, 1.3, 0), Finding::UnlikeData, &["PROBLEM", "extreme values"]),
        ];
        for (closeness, finding, says) in cases {
            assert_eq!(Finding::of(&closeness), finding, "{closeness:?}");
            let text = describe(&closeness, ProxyStart::Smoothed);
            says.iter().for_each(|part| assert!(text.contains(part), "no {part} in {text}"));
            assert!(text.lines().all(|line| line.chars().count() < 170), "{text}");
        }
        let text = describe(&closeness(1.6, 1.3, 0), ProxyStart::Data);
        assert!(text.contains("PROBLEM") && text.contains("--init data"), "{text}");
    }
}
