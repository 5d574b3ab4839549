//! How long a client must wait after files that were rejected. Pure: the time is an argument.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::ClientKey;

/// The first wait. It doubles with every further rejection.
const FIRST_WAIT: Duration = Duration::from_secs(10);
const MAX_WAIT: Duration = Duration::from_secs(300);
/// From the second rejection on, a file that kept the validator busy for at least this long is expensive.
const EXPENSIVE: Duration = Duration::from_secs(5);
/// After an expensive file, a client waits this many times as long as it took.
const WAIT_PER_USED: u32 = 4;
/// Rejections are forgotten after this long.
const FORGET_AFTER: Duration = Duration::from_secs(1800);

/// Clients whose last file was rejected.
#[derive(Debug)]
pub(super) struct BackOff {
    /// This many rejections in a row cause no wait unless they were expensive.
    free_rejections: u32,
    clients: HashMap<ClientKey, Rejections>,
}

#[derive(Debug)]
struct Rejections {
    in_a_row: u32,
    last: Instant,
    wait: Duration,
}

impl BackOff {
    pub(super) fn new(free_rejections: u32) -> Self {
        Self { free_rejections, clients: HashMap::new() }
    }

    /// Records a rejected file that kept the validator busy for this long.
    pub(super) fn rejected(&mut self, client: &ClientKey, used: Duration, now: Instant) {
        self.clients.retain(|_, found| now.saturating_duration_since(found.last) < FORGET_AFTER);
        let in_a_row = self.clients.get(client).map_or(0, |found| found.in_a_row) + 1;
        let doublings = in_a_row.checked_sub(self.free_rejections + 1);
        let by_count = doublings.map_or(Duration::ZERO, |n| FIRST_WAIT * (1 << n.min(10)));
        let is_expensive = in_a_row > 1 && used >= EXPENSIVE;
        let by_cost = if is_expensive { used * WAIT_PER_USED } else { Duration::ZERO };
        let wait = by_count.max(by_cost).min(MAX_WAIT);
        self.clients.insert(client.clone(), Rejections { in_a_row, last: now, wait });
    }

    /// Forgets the client's rejections.
    pub(super) fn accepted(&mut self, client: &ClientKey) {
        self.clients.remove(client);
    }

    /// How long the client must still wait.
    pub(super) fn wait(&self, client: &ClientKey, now: Instant) -> Option<Duration> {
        let found = self.clients.get(client)?;
        (found.last + found.wait).checked_duration_since(now).filter(|wait| !wait.is_zero())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const CHEAP: Duration = Duration::from_secs(2);

    fn client(name: &str) -> ClientKey {
        ("spring".parse().unwrap(), name.parse().unwrap())
    }

    /// Waits in seconds after each of `n` rejections, each sent as soon as it is allowed.
    fn waits(back_off: &mut BackOff, n: usize, used: Duration, mut now: Instant) -> Vec<u64> {
        let client = client("a");
        (0..n)
            .map(|_| {
                back_off.rejected(&client, used, now);
                let wait = back_off.wait(&client, now).unwrap_or_default();
                now += wait;
                assert_eq!(back_off.wait(&client, now), None);
                wait.as_secs()
            })
            .collect()
    }

    #[test]
    fn the_first_rejections_are_free_and_then_the_wait_doubles_up_to_five_minutes() {
        let now = Instant::now();
        let mut back_off = BackOff::new(3);
        let expected = [0, 0, 0, 10, 20, 40, 80, 160, 300, 300];
        assert_eq!(waits(&mut back_off, 10, CHEAP, now), expected);
        let mut strict = BackOff::new(1);
        assert_eq!(waits(&mut strict, 3, CHEAP, now), [0, 10, 20]);
        let mut lenient = BackOff::new(u32::MAX - 1);
        assert_eq!(waits(&mut lenient, 40, CHEAP, now), [0; 40]);
    }

    #[test]
    fn an_expensive_file_costs_more_from_the_second_on() {
        let used = Duration::from_secs(40);
        assert_eq!(waits(&mut BackOff::new(3), 4, used, Instant::now()), [0, 160, 160, 160]);
        let used = Duration::from_secs(400);
        assert_eq!(waits(&mut BackOff::new(3), 3, used, Instant::now()), [0, 300, 300]);
    }

    #[test]
    fn an_accepted_file_or_half_an_hour_resets_the_count() {
        let now = Instant::now();
        let mut back_off = BackOff::new(1);
        assert_eq!(waits(&mut back_off, 3, CHEAP, now), [0, 10, 20]);
        back_off.accepted(&client("a"));
        assert_eq!(back_off.wait(&client("a"), now), None);
        assert_eq!(waits(&mut back_off, 2, CHEAP, now), [0, 10]);
        let later = now + Duration::from_secs(10) + FORGET_AFTER;
        assert_eq!(waits(&mut back_off, 1, CHEAP, later), [0]);
    }

    #[test]
    fn clients_do_not_wait_for_each_other() {
        let now = Instant::now();
        let mut back_off = BackOff::new(1);
        waits(&mut back_off, 5, CHEAP, now);
        assert!(back_off.wait(&client("a"), now).is_some());
        assert_eq!(back_off.wait(&client("b"), now), None);
        let other_round = ("autumn".parse().unwrap(), "a".parse().unwrap());
        assert_eq!(back_off.wait(&other_round, now), None);
    }
}
