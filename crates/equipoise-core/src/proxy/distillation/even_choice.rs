//! Some rows of a table that represent all of it: as many of each group and label as its share, evenly spread over the
//! scores of a model.

use super::super::blocks::scores;
use super::super::start::apportion;
use crate::rows::Rows;

/// `n_rows` of `rows`, which must have at least so many. Each group and label that occurs is represented, for which `n_rows` must
/// suffice.
pub(super) fn choose_evenly(rows: &Rows, theta: &[f64], n_rows: usize) -> Rows {
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); 2 * rows.layout().groups.len()];
    for i in 0..rows.len() {
        members[2 * rows.group(i) + usize::from(rows.is_positive(i))].push(i);
    }
    let counts: Vec<usize> = members.iter().map(Vec::len).collect();
    let mut sizes = apportion(n_rows, &counts);
    for cell in 0..sizes.len() {
        if counts[cell] > 0 && sizes[cell] == 0 {
            let Some(largest) = (0..sizes.len()).max_by_key(|&other| sizes[other]) else { break };
            sizes[largest] -= 1;
            sizes[cell] += 1;
        }
    }
    let scores = scores(rows, theta);
    let mut chosen = Vec::with_capacity(n_rows);
    for (mut own, size) in members.into_iter().zip(sizes) {
        own.sort_unstable_by(|&a, &b| scores[a].total_cmp(&scores[b]).then(a.cmp(&b)));
        // The middle of each of `size` equal parts.
        chosen.extend((0..size).map(|k| own[(2 * k + 1) * own.len() / (2 * size)]));
    }
    rows.select(&chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_rows::{layout, random_rows_of};

    #[test]
    fn every_group_and_label_has_its_share() {
        let rows = random_rows_of(&layout(3, 2, true, true), 1, 3000);
        let theta = [1.0, -0.5, 0.2, 0.1, 0.0];
        let chosen = choose_evenly(&rows, &theta, 100);
        assert_eq!(chosen.len(), 100);
        for (all, some) in rows.cell_counts().iter().zip(chosen.cell_counts()) {
            for label in [0, 1] {
                assert!((all[label] as f64 / 30.0 - some[label] as f64).abs() < 1.0);
            }
        }
        let mean = |rows: &Rows| {
            let scores = scores(rows, &theta);
            scores.iter().sum::<f64>() / scores.len() as f64
        };
        assert!((mean(&rows) - mean(&chosen)).abs() < 0.03);
        // Six cells in as many rows.
        assert!(choose_evenly(&rows, &theta, 6).cell_counts().iter().all(|cell| *cell == [1, 1]));
    }
}
