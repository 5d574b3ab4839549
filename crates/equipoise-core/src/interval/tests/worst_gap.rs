//! The worst gap: which pair, which sign, which interval.

use super::*;

fn counts(pairs: &[(usize, usize)]) -> Vec<Count> {
    pairs.iter().map(|&(successes, n)| Count { successes, n }).collect()
}

#[test]
fn two_groups_have_newcombes_interval() {
    let cells = counts(&[(12, 40), (30, 43)]);
    let worst = WorstGap::of(std::slice::from_ref(&cells), 0).unwrap();
    assert_eq!(Some(worst.gap), rate_difference(cells[0], cells[1]));
    assert_eq!(worst.location, Location { condition: 0, group: 0, other: 1 });
    let turned = WorstGap::of(std::slice::from_ref(&cells), 1).unwrap();
    assert_eq!(Some(turned.gap), rate_difference(cells[1], cells[0]));
}

#[test]
fn the_sign_follows_the_reference_group() {
    let conditions =
        [counts(&[(20, 40), (10, 40), (30, 40)]), counts(&[(20, 40), (5, 40), (20, 40)])];
    // The worst pair is 2 and 1 under the first condition: .75 − .25.
    for (reference, value, group, other) in [(0, 0.5, 2, 1), (1, -0.5, 1, 2), (2, 0.5, 2, 1)] {
        let worst = WorstGap::of(&conditions, reference).unwrap();
        assert_close(worst.gap.value, value, 1e-15);
        assert_eq!(worst.location, Location { condition: 0, group, other });
        assert!(worst.gap.low <= value && value <= worst.gap.high);
        assert!(worst.gap.low * value >= 0.0, "{:?}", worst.gap);
    }
    let mirrored = WorstGap::of(&conditions, 1).unwrap().gap;
    assert_eq!(-mirrored, WorstGap::of(&conditions, 2).unwrap().gap);
}

#[test]
fn groups_without_rows_are_left_out_and_named() {
    let conditions = [counts(&[(3, 10), (0, 0), (6, 10)]), counts(&[(1, 2), (0, 0), (0, 0)])];
    let worst = WorstGap::of(&conditions, 0).unwrap();
    assert_eq!(Some(worst.gap), rate_difference(conditions[0][0], conditions[0][2]));
    assert_eq!(worst.empty, [(0, 1), (1, 1), (1, 2)]);
    assert!(WorstGap::of(&[counts(&[(3, 10), (0, 0)])], 0).is_none());
    assert!(WorstGap::of(&[], 0).is_none());
}

/// A pair far ahead of all others keeps Newcombe's interval; one of many equal pairs does not.
#[test]
fn the_lower_limit_depends_on_how_close_the_other_pairs_are() {
    let alone = counts(&[(2000, 2500), (1250, 2500), (500, 2500)]);
    let newcombe = rate_difference(alone[0], alone[2]).unwrap();
    let worst = WorstGap::of(&[alone], 0).unwrap().gap;
    assert_close(worst.low, newcombe.low, 0.002);
    // The upper limit is that of a score test, which differs from Newcombe's by terms of order 1/n.
    assert_close(worst.high, newcombe.high, 1.0 / 2500.0);

    let tied = counts(&[(120, 200), (80, 200), (80, 200), (80, 200)]);
    let newcombe = rate_difference(tied[0], tied[1]).unwrap();
    let worst = WorstGap::of(&[tied], 0).unwrap().gap;
    assert!(worst.low < newcombe.low - 0.004, "{worst:?} {newcombe:?}");
}

/// Groups that may be equal are told apart at Tukey's critical value: the 95 % quantile of the range of k standard normal
/// numbers, from the published table, divided by √2.
#[test]
fn equal_groups_have_tukeys_critical_value() {
    for (k, range) in [(3, 3.314), (4, 3.633), (6, 4.030)] {
        // One group is ahead of equal ones by so many standard errors of a difference, 100/√2 rows of 10,000.
        let low = |errors: f64| {
            let mut cells = counts(&vec![(5000, 10_000); k]);
            cells[0].successes += (errors * 100.0 / 2f64.sqrt()).round() as usize;
            WorstGap::of(&[cells], 0).unwrap().gap.low
        };
        let critical = range / 2f64.sqrt();
        assert!(low(critical * 0.96) < 0.0, "{k} groups");
        assert!(low(critical * 1.04) > 0.0, "{k} groups");
    }
}

#[test]
fn small_and_extreme_cells_give_finite_ordered_limits() {
    let sizes = [(0, 1), (1, 1), (0, 2), (2, 2), (0, 500), (500, 500), (1, 3)];
    for &a in &sizes {
        for &b in &sizes {
            for &c in &sizes {
                let gap = WorstGap::of(&[counts(&[a, b, c]), counts(&[c, b, a])], 1).unwrap().gap;
                assert!(gap.low <= gap.value && gap.value <= gap.high, "{a:?} {b:?} {c:?} {gap:?}");
                assert!(gap.low >= -1.0 && gap.high <= 1.0 && gap.high - gap.low > 0.001);
            }
        }
    }
}

#[test]
fn rows_needed_by_hand() {
    // (1.96 + .84)² (.25 + .25) / .1² = 392.4.
    assert_eq!(rows_per_group(-0.15, (0.25, 0.25), 0.05), Some(393));
    assert_eq!(rows_to_exclude(0.1, 0.5), Some(393));
    // A gap of 0 must stay inside at both ends, each of which may miss in a tenth of the samples:
    // (1.96 + 1.28)² (.25 + .25) / .1² = 525.4.
    assert_eq!(rows_per_group(0.0, (0.25, 0.25), 0.1), Some(526));
    // One end is far inside, so the other decides alone: (1.96 + .84)² (.25 + .25) / .02² = 9811.1.
    assert_eq!(rows_per_group(0.18, (0.25, 0.25), 0.2), Some(9812));
    // In between: with 630.3 rows the margins .08 and .12 are 2.8405 and 4.2607 errors, and Φ(.8805) + Φ(2.3007) − 1 = .8.
    assert_eq!(rows_per_group(0.02, (0.25, 0.25), 0.1), Some(631));
    assert_eq!(rows_per_group(0.05, (0.25, 0.25), 0.05), None);
    let conditions = [counts(&[(50, 100), (35, 100)])];
    let rows = WorstGap::rows_per_group(&conditions, 0.05).unwrap();
    assert!((370..400).contains(&rows), "{rows}");
    // All 3 or 6 pairs of equal groups must stay inside: both ends of each may miss in .2 / 6 or .2 / 12 of the samples.
    for (k, quantile) in [(3, 1.8339), (4, 2.1280)] {
        let errors = Z + quantile;
        let found = WorstGap::rows_per_group(&[counts(&vec![(5000, 10_000); k])], 0.1).unwrap();
        assert_close(found as f64, errors * errors * 0.5 / 0.01, 2.0);
    }
}

#[test]
fn ratios_of_several_groups_allow_for_the_choice_of_the_pair() {
    for (k, range) in [(2, 2.772), (3, 3.314), (4, 3.633), (6, 4.030)] {
        let found = super::super::worst_ratio::tukey_critical_value(k);
        assert_close(found, range / 2f64.sqrt(), 1e-3);
    }
    let cells = counts(&[(30, 60), (24, 60), (12, 40)]);
    let pair = rate_ratio(cells[2], cells[0]).unwrap();
    assert_eq!(worst_ratio(&[cells[0], cells[2]]), Some(pair));
    let all = worst_ratio(&cells).unwrap();
    assert_eq!(all.value, pair.value);
    assert!(all.low <= pair.low && all.high > pair.high && all.high <= 1.0, "{all:?} {pair:?}");
    // A small third group may be the worst.
    let small = counts(&[(300, 600), (270, 600), (3, 6)]);
    assert!(worst_ratio(&small).unwrap().low < 0.5);
    let none = counts(&[(0, 5), (0, 6), (0, 0)]);
    assert!(worst_ratio(&none).is_none() && worst_ratio(&cells[..1]).is_none());
}
