#![allow(clippy::unwrap_used)]
use super::*;
use crate::test_rows::{layout, random_rows_of};

fn sample(rows: &[Rows], cell_rows: usize) -> RowSample {
    let mut sampler = RowSampler::new(rows[0].layout(), cell_rows);
    rows.iter().for_each(|chunk| sampler.add(chunk));
    RowSample::of_parts(rows[0].layout(), &[sampler.finish()]).unwrap()
}

#[test]
fn a_sample_holds_all_rows_of_small_cells_and_the_counts_of_all_cells() {
    let rows = random_rows_of(&layout(3, 2, false, true), 5, 700);
    let sampled = sample(std::slice::from_ref(&rows), 40);
    assert_eq!(sampled.cell_counts(), rows.cell_counts());
    for (kept, all) in sampled.rows().cell_counts().iter().zip(rows.cell_counts()) {
        assert_eq!(*kept, all.map(|n| n.min(40)));
    }
    // Every sampled row is a row of the table, with its group and label.
    for i in 0..sampled.rows().len() {
        let found = (0..rows.len()).any(|j| {
            rows.a(j) == sampled.rows().a(i)
                && rows.group(j) == sampled.rows().group(i)
                && rows.is_positive(j) == sampled.rows().is_positive(i)
        });
        assert!(found, "row {i}");
    }
}

#[test]
fn chunks_do_not_matter() {
    let rows = random_rows_of(&layout(2, 3, true, true), 6, 500);
    let chunks: Vec<Rows> =
        (0..500usize).collect::<Vec<_>>().chunks(37).map(|chunk| rows.select(chunk)).collect();
    assert_eq!(sample(&chunks, 25), sample(&[rows], 25));
}

#[test]
fn parts_sampled_separately_give_the_sample_of_all_rows() {
    let rows = random_rows_of(&layout(2, 3, true, true), 8, 900);
    for (cell_rows, part_rows) in [(25, 100), (25, 7), (400, 250), (60, 899)] {
        let mut before = vec![[0; 2]; 2];
        let parts: Vec<PartialSample> = (0..900usize)
            .collect::<Vec<_>>()
            .chunks(part_rows)
            .map(|chunk| {
                let part = rows.select(chunk);
                let mut sampler = RowSampler::new(rows.layout(), cell_rows).after(&before);
                sampler.add(&part);
                let counts = part.cell_counts();
                let counts = counts.as_flattened().iter();
                before.as_flattened_mut().iter_mut().zip(counts).for_each(|(b, n)| *b += n);
                sampler.finish()
            })
            .collect();
        let whole = sample(std::slice::from_ref(&rows), cell_rows);
        assert_eq!(RowSample::of_parts(rows.layout(), &parts).unwrap(), whole);
        // A missing part leaves places that nobody fills.
        if parts.len() > 1 && cell_rows > 60 {
            assert!(RowSample::of_parts(rows.layout(), &parts[1..]).is_err());
        }
    }
}

/// Sampled positions are uniform: their mean lies within four standard errors of the middle.
#[test]
fn rows_at_any_position_are_equally_likely() {
    let n = 20_000;
    let x: Vec<f64> = (0..n).map(f64::from).collect();
    let one = vec![true; n as usize];
    let rows = Rows::new(Layout::two_groups(1, false), &x, &one, &one).unwrap();
    let sampled = sample(&[rows], 500);
    let positions: Vec<f64> = (0..500).map(|i| sampled.rows().x(i)[0] / f64::from(n)).collect();
    let mean = positions.iter().sum::<f64>() / 500.0;
    let error = (1.0_f64 / 12.0 / 500.0).sqrt();
    assert!((mean - 0.5).abs() < 4.0 * error, "{mean}");
    let in_last_tenth = positions.iter().filter(|p| **p >= 0.9).count();
    assert!((25..=80).contains(&in_last_tenth), "{in_last_tenth}");
}

#[test]
fn a_plan_samples_few_clients_of_many_and_all_of_few() {
    for (n_clients, expected) in [(1, 1), (5, 5), (40, 40), (41, 40), (100, 40), (1000, 40)] {
        let plan = SamplePlan::new(layout(2, 20, true, true), n_clients);
        let sampled: Vec<usize> = (0..n_clients).filter(|&c| plan.includes(c)).collect();
        assert_eq!(sampled.len(), expected, "{n_clients} clients");
        assert!(sampled.len() * plan.cell_rows * 4 * row_bytes(&plan.layout) <= MAX_BYTES);
    }
    // Many groups or features keep a few rows of each cell, whatever that takes.
    let wide = SamplePlan::new(layout(60, 2000, true, true), 1000);
    assert_eq!(wide.cell_rows, MIN_CELL_ROWS);
}
