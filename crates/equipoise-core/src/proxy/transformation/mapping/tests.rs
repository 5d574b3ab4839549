//! Linear programs solved by hand, and by scipy (`bench/reference/transformation_lp.py`).
#![allow(clippy::unwrap_used)]

use serde::Deserialize;

use super::*;

/// Two cells, one bin apart, and two groups of the same size, of which 30 % and 70 % are positive.
fn two_groups(cells: [[f64; 2]; 2], max_shift: f64) -> MappingProblem {
    let shares = [0.7, 0.3, 0.3, 0.7].map(|label_share| 0.5 * label_share);
    // shares[2 * group + label], cells[group][cell].
    let share = |index: usize| {
        let Source { cell, positive, group } = Source::at(index, 2);
        shares[2 * group + usize::from(positive)] * cells[group][cell]
    };
    MappingProblem {
        n_groups: 2,
        shares: (0..8).map(share).collect(),
        limits: [0, 1].map(|group| limit(group, cells[group], 0.5)).to_vec(),
        distances: vec![0, 1, 1, 0],
        max_distance: 1,
        max_shift,
    }
}

fn limit(group: usize, cells: [f64; 2], rate: f64) -> RateLimit {
    RateLimit { group, cells: cells.to_vec(), rate }
}

#[test]
fn a_feature_that_says_nothing_stays_and_labels_flip() {
    let alike = [[0.5, 0.5], [0.5, 0.5]];
    // 20 % of the rows of each half must flip, and flips of the two groups cancel in every cell.
    let mapping = two_groups(alike, 0.0).solve().unwrap();
    assert!((mapping.distortion - 0.2).abs() < 1e-9, "{}", mapping.distortion);
    let limits = vec![limit(0, alike[0], 0.3), limit(1, alike[1], 0.7)];
    let mapping = MappingProblem { limits, ..two_groups(alike, 0.0) }.solve().unwrap();
    assert!(mapping.distortion.abs() < 1e-9);
    // Nothing moves, whatever is drawn.
    for drawn in [0.0, 0.5, 0.999_999] {
        let source = Source { cell: 1, positive: true, group: 0 };
        assert_eq!(mapping.draw(source, drawn), Destination { cell: 1, positive: true });
    }
}

/// Group 0 is in one cell and group 1 in the other. Flips change the distribution by 0.1 in each cell and label: a total variation
/// of 0.2. To undo it, a mass `m` of positives moves to the other cell, and as many negatives come back: 0.2 − 2 m remains.
#[test]
fn rows_move_if_the_distribution_must_stay() {
    let apart = [[1.0, 0.0], [0.0, 1.0]];
    for (max_shift, expected) in [(0.2, 0.2), (0.1, 0.3), (0.0, 0.4)] {
        let mapping = two_groups(apart, max_shift).solve().unwrap();
        assert!((mapping.distortion - expected).abs() < 1e-9, "{}", mapping.distortion);
    }
    // Rows may not move, so the limit cannot be kept; the excess costs, but is no failure.
    let stuck = MappingProblem { max_distance: 0, ..two_groups(apart, 0.1) };
    assert!((stuck.solve().unwrap().distortion - 0.2).abs() < 1e-9);
}

#[test]
fn probabilities_are_those_that_are_drawn() {
    let mapping = two_groups([[0.5, 0.5], [0.5, 0.5]], 0.5).solve().unwrap();
    let n = 100_000;
    let drawn = |source: Source| {
        let to = (0..n).map(|k| mapping.draw(source, f64::from(k) / f64::from(n)));
        to.filter(|to| to.positive).count() as f64 / f64::from(n)
    };
    // Of group 0, 70 % are negative. 2/7 of these must become positive, over both cells.
    let negative = |cell| drawn(Source { cell, positive: false, group: 0 });
    assert!((0.5 * (negative(0) + negative(1)) - 2.0 / 7.0).abs() < 1e-4);
}

#[derive(Deserialize)]
struct Reference {
    n_groups: usize,
    shares: Vec<f64>,
    rates: Vec<(usize, f64)>,
    distances: Vec<usize>,
    max_distance: usize,
    max_shift: f64,
    distortion: f64,
}

#[test]
fn optima_are_those_of_scipy() {
    let cases: Vec<Reference> = serde_json::from_str(include_str!("reference.json")).unwrap();
    assert!(cases.len() >= 5);
    for case in cases {
        let of_group = |group: usize| case.shares.iter().skip(group).step_by(case.n_groups);
        let limit = |&(group, rate): &(usize, f64)| {
            let people: f64 = of_group(group).sum();
            let labels: Vec<f64> = of_group(group).map(|share| share / people).collect();
            RateLimit {
                group,
                cells: labels.chunks(2).map(|cell| cell[0] + cell[1]).collect(),
                rate,
            }
        };
        let problem = MappingProblem {
            n_groups: case.n_groups,
            limits: case.rates.iter().map(limit).collect(),
            shares: case.shares.clone(),
            distances: case.distances,
            max_distance: case.max_distance,
            max_shift: case.max_shift,
        };
        let found = problem.solve().unwrap().distortion;
        assert!((found - case.distortion).abs() < 1e-7, "{found}, scipy {}", case.distortion);
    }
}
