//! How many rows of each stratum go to a table.

/// A share of a client's rows.
pub(super) struct Shares {
    /// Between 0 and 1.
    pub(super) share: f64,
    /// Which stratum comes first if there are fewer rows than strata. It differs from client to client, so that all
    /// clients together still have every stratum.
    pub(super) first: usize,
}

impl Shares {
    /// The number of rows of each stratum: in proportion to its size, but at least one, and one is left, as far as possible.
    /// There is at least one row in total.
    pub(super) fn of(&self, sizes: &[usize]) -> Vec<usize> {
        let n_rows: usize = sizes.iter().sum();
        let total = ((self.share * n_rows as f64).round() as usize).max(1);
        let most = |i: usize| sizes[i].saturating_sub(1);
        let total = total.min((0..sizes.len()).map(most).sum());
        let quota = |i: usize| self.share * sizes[i] as f64;

        let mut given = vec![0; sizes.len()];
        let mut order: Vec<usize> = (0..sizes.len()).filter(|&i| most(i) > 0).collect();
        if !order.is_empty() && total < order.len() {
            let n_strata = order.len();
            order.rotate_left(self.first * total % n_strata);
        }
        order.iter().take(total).for_each(|&i| given[i] = 1);
        let mut left = total - given.iter().sum::<usize>();
        // Nearly all rows at once, then one after the other to the stratum that lacks most.
        for &i in &order {
            let nearly = (quota(i) as usize).min(most(i)).saturating_sub(sizes.len());
            let more = nearly.saturating_sub(given[i]).min(left);
            given[i] += more;
            left -= more;
        }
        while left > 0 {
            let lack = |i: usize| quota(i) - given[i] as f64;
            let open = order.iter().copied().filter(|&i| given[i] < most(i));
            let Some(i) = open.reduce(|a, b| if lack(b) > lack(a) { b } else { a }) else { break };
            given[i] += 1;
            left -= 1;
        }
        given
    }
}

#[cfg(test)]
mod tests {
    use super::Shares;

    fn of(share: f64, first: usize, sizes: &[usize]) -> Vec<usize> {
        Shares { share, first }.of(sizes)
    }

    #[test]
    fn rows_are_taken_in_proportion() {
        assert_eq!(of(0.2, 0, &[100, 50, 350, 10]), [20, 10, 70, 2]);
        // The remainders are 0.4, 0.2 and 0.4; the first of the largest gets the row.
        assert_eq!(of(0.1, 0, &[14, 12, 14]), [2, 1, 1]);
    }

    #[test]
    fn a_rare_stratum_gets_a_row_if_it_can_spare_one() {
        assert_eq!(of(0.01, 0, &[500, 300, 20, 2]), [4, 2, 1, 1]);
        assert_eq!(of(0.01, 0, &[500, 300, 20, 1]), [5, 2, 1, 0]);
        assert_eq!(of(0.01, 0, &[500, 300, 20, 0]), [5, 2, 1, 0]);
    }

    #[test]
    fn with_fewer_rows_than_strata_the_clients_take_turns() {
        let taken: Vec<Vec<usize>> = (0..4).map(|first| of(0.01, first, &[50; 4])).collect();
        assert_eq!(taken, [[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]]);
        assert_eq!(of(0.001, 3, &[30, 30, 30, 30]), [0, 0, 0, 1]);
    }

    #[test]
    fn every_stratum_keeps_a_row() {
        assert_eq!(of(0.99, 0, &[3, 2, 1]), [2, 1, 0]);
        assert_eq!(of(0.5, 0, &[1, 1]), [0, 0]);
        assert_eq!(of(0.5, 0, &[0, 0]), [0, 0]);
    }
}
