//! The paper's own figures: its Tables I, II and III.

use equipoise_core::{Criterion, Defense};

use crate::experiment::Variant;

/// Accuracy in percent and |SPD| or |EOD|, as published.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Published {
    pub(super) accuracy: f64,
    pub(super) fairness: f64,
}

/// Weights and which clients are unreliable, as published.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PublishedWeights {
    pub(super) weights: [f64; 5],
    pub(super) unreliable: [bool; 5],
}

/// Number of clients in the paper.
pub(super) const N_CLIENTS: usize = 5;

/// Accuracy and fairness: baseline, ρ = 0, adaptive ρ (Table II), FedASL, FedNolowe (Table III).
type Row = [(f64, f64); 5];

const LAW_SP: [Row; 3] = [
    [(88.21, 0.1465), (88.25, 0.1612), (84.52, 0.0369), (85.20, 0.0397), (86.57, 0.0867)],
    [(88.49, 0.2254), (88.50, 0.2483), (85.07, 0.0382), (85.77, 0.0567), (87.89, 0.1534)],
    [(88.64, 0.3133), (88.57, 0.3132), (84.72, 0.0403), (87.94, 0.4948), (88.23, 0.2574)],
];
const DUTCH_SP: [Row; 3] = [
    [(77.18, 0.0802), (77.23, 0.0833), (76.91, 0.0519), (77.12, 0.0606), (77.33, 0.0786)],
    [(77.55, 0.1118), (77.59, 0.1127), (76.99, 0.0530), (77.41, 0.0899), (77.78, 0.1108)],
    [(77.84, 0.1393), (77.82, 0.1346), (76.76, 0.0442), (78.57, 0.2092), (78.09, 0.1378)],
];
const LAW_EO: [Row; 3] = [
    [(88.63, 0.1130), (88.66, 0.1145), (81.32, 0.0120), (82.48, 0.0150), (85.24, 0.0427)],
    [(88.65, 0.1597), (88.63, 0.1676), (81.84, 0.0174), (83.92, 0.0188), (87.61, 0.1048)],
    [(88.57, 0.2211), (87.85, 0.3154), (81.54, 0.0255), (87.86, 0.3735), (88.22, 0.1768)],
];

/// Weights of the method, FedASL and FedNolowe, and which clients are unreliable (Table I).
type WeightRow = ([[f64; 5]; 3], [bool; 5]);

const O: bool = false;
const X: bool = true;

#[rustfmt::skip]
const LAW_SP_WEIGHTS: [WeightRow; 3] = [
    ([[0.25, 0.25, 0.25, 0.00, 0.25], [0.25, 0.25, 0.25, 0.02, 0.25], [0.21, 0.21, 0.21, 0.15, 0.21]], [O, O, O, X, O]),
    ([[0.33, 0.33, 0.33, 0.00, 0.00], [0.31, 0.31, 0.31, 0.04, 0.03], [0.22, 0.22, 0.22, 0.17, 0.16]], [O, O, O, X, X]),
    ([[0.50, 0.50, 0.00, 0.00, 0.00], [0.04, 0.04, 0.31, 0.31, 0.31], [0.23, 0.23, 0.18, 0.19, 0.18]], [O, O, X, X, X]),
];
#[rustfmt::skip]
const DUTCH_SP_WEIGHTS: [WeightRow; 3] = [
    ([[0.00, 0.25, 0.25, 0.25, 0.25], [0.02, 0.25, 0.25, 0.25, 0.25], [0.19, 0.20, 0.20, 0.20, 0.20]], [X, O, O, O, O]),
    ([[0.00, 0.33, 0.33, 0.33, 0.00], [0.03, 0.31, 0.31, 0.31, 0.03], [0.19, 0.20, 0.20, 0.20, 0.19]], [X, O, O, O, X]),
    ([[0.00, 0.50, 0.50, 0.00, 0.00], [0.31, 0.03, 0.03, 0.31, 0.31], [0.20, 0.21, 0.21, 0.20, 0.20]], [X, O, O, X, X]),
];
#[rustfmt::skip]
const LAW_EO_WEIGHTS: [WeightRow; 3] = [
    ([[0.25, 0.25, 0.25, 0.00, 0.25], [0.25, 0.25, 0.25, 0.02, 0.25], [0.22, 0.22, 0.22, 0.13, 0.22]], [O, O, O, X, O]),
    ([[0.33, 0.33, 0.33, 0.00, 0.00], [0.31, 0.31, 0.31, 0.04, 0.03], [0.23, 0.23, 0.23, 0.17, 0.15]], [O, O, O, X, X]),
    ([[0.50, 0.50, 0.00, 0.00, 0.00], [0.04, 0.04, 0.31, 0.31, 0.31], [0.23, 0.23, 0.18, 0.19, 0.17]], [O, O, X, X, X]),
];

/// Realistic scenarios: Tables II and III.
pub(super) fn performance(
    dataset: &str,
    fairness: Criterion,
    unreliable: f64,
    variant: Variant,
) -> Option<Published> {
    let row = by_share(table(dataset, fairness)?.0, unreliable)?;
    let (accuracy, fairness) = match variant {
        Variant::Defense(Defense::Pooled) => row[0],
        Variant::BilevelWithoutPenalty => row[1],
        Variant::Defense(Defense::Bilevel) => row[2],
        Variant::Defense(Defense::Fedasl) => row[3],
        Variant::Defense(Defense::Fednolowe) => row[4],
        Variant::Defense(_) => return None,
    };
    Some(Published { accuracy, fairness })
}

/// Ideal scenarios: Table I.
pub(super) fn weights(
    dataset: &str,
    fairness: Criterion,
    unreliable: f64,
    variant: Variant,
) -> Option<PublishedWeights> {
    let (weights, unreliable) = by_share(table(dataset, fairness)?.1, unreliable)?;
    let weights = match variant {
        Variant::Defense(Defense::Bilevel) => weights[0],
        Variant::Defense(Defense::Fedasl) => weights[1],
        Variant::Defense(Defense::Fednolowe) => weights[2],
        _ => return None,
    };
    Some(PublishedWeights { weights, unreliable: *unreliable })
}

fn table(
    dataset: &str,
    fairness: Criterion,
) -> Option<(&'static [Row; 3], &'static [WeightRow; 3])> {
    match (dataset, fairness) {
        ("law-school", Criterion::Sp) => Some((&LAW_SP, &LAW_SP_WEIGHTS)),
        ("dutch", Criterion::Sp) => Some((&DUTCH_SP, &DUTCH_SP_WEIGHTS)),
        ("law-school", Criterion::Eo) => Some((&LAW_EO, &LAW_EO_WEIGHTS)),
        _ => None,
    }
}

fn by_share<T>(rows: &[T; 3], unreliable: f64) -> Option<&T> {
    let position = [0.2, 0.4, 0.6].iter().position(|share| (share - unreliable).abs() < 1e-9)?;
    rows.get(position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_weights_sum_to_one_and_the_share_of_unreliable_clients_matches() {
        for (dataset, fairness) in
            [("law-school", Criterion::Sp), ("law-school", Criterion::Eo), ("dutch", Criterion::Sp)]
        {
            for (unreliable, n) in [(0.2, 1), (0.4, 2), (0.6, 3)] {
                for defense in [Defense::Bilevel, Defense::Fedasl, Defense::Fednolowe] {
                    let Some(row) =
                        weights(dataset, fairness, unreliable, Variant::Defense(defense))
                    else {
                        panic!("{dataset} {unreliable} {defense:?} has no weights");
                    };
                    let sum: f64 = row.weights.iter().sum();
                    // Two digits are published: five of them are off by 0.025 at most.
                    assert!(
                        (sum - 1.0).abs() <= 0.025,
                        "{dataset} {unreliable} {defense:?}: {sum}"
                    );
                    assert_eq!(row.unreliable.iter().filter(|&&u| u).count(), n);
                }
            }
        }
    }

    #[test]
    fn figures_that_the_paper_does_not_have_are_none() {
        let bilevel = Variant::Defense(Defense::Bilevel);
        assert_eq!(performance("dutch", Criterion::Eo, 0.2, bilevel), None);
        assert_eq!(performance("law-school", Criterion::Sp, 0.3, bilevel), None);
        let published =
            performance("law-school", Criterion::Sp, 0.6, Variant::Defense(Defense::Fedasl));
        assert_eq!(published, Some(Published { accuracy: 87.94, fairness: 0.4948 }));
    }
}
