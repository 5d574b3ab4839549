//! The area under the ROC curve.

/// The Mann–Whitney statistic of scores with labels. Tied scores share their mean rank.
pub(super) fn area_under_curve(scored: &[(f64, bool)]) -> Option<f64> {
    let positives = scored.iter().filter(|row| row.1).count();
    let negatives = scored.len() - positives;
    if positives == 0 || negatives == 0 {
        return None;
    }
    let mut sorted = scored.to_vec();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut rank_sum = 0.0;
    let mut start = 0;
    for tied in sorted.chunk_by(|a, b| a.0 == b.0) {
        let mean_rank = start as f64 + 0.5 * (tied.len() + 1) as f64;
        rank_sum += mean_rank * tied.iter().filter(|row| row.1).count() as f64;
        start += tied.len();
    }
    let (positives, negatives) = (positives as f64, negatives as f64);
    Some((rank_sum - 0.5 * positives * (positives + 1.0)) / (positives * negatives))
}
