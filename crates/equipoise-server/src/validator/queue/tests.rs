#![allow(clippy::unwrap_used)]

use super::*;

fn client(name: &str) -> ClientKey {
    ("spring".parse().unwrap(), name.parse().unwrap())
}

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// A queue and its clock.
struct Simulation {
    queue: Queue,
    now: Instant,
}

impl Simulation {
    fn new() -> Self {
        Self { queue: Queue::default(), now: Instant::now() }
    }

    fn push(&mut self, name: &str, lane: Lane) {
        self.queue.push(client(name), lane, 0.0);
    }

    /// The clients that start now.
    fn start(&mut self) -> Vec<String> {
        let mut started = Vec::new();
        while let Some((_, (_, name))) = self.queue.start_next(self.now) {
            started.push(name.to_string());
        }
        started
    }

    fn finish(&mut self, name: &str, used: u64) {
        self.queue.finish(&client(name), seconds(used), self.now);
    }
}

#[test]
fn clients_without_recent_use_run_in_order_of_arrival() {
    let mut simulation = Simulation::new();
    for name in ["c", "a", "b", "d"] {
        simulation.push(name, Lane::Long);
    }
    assert_eq!(simulation.start(), ["c", "a"]);
    simulation.finish("a", 1);
    assert_eq!(simulation.start(), ["b"]);
    simulation.finish("c", 1);
    assert_eq!(simulation.start(), ["d"]);
}

#[test]
fn the_client_with_the_least_recent_use_goes_first() {
    let mut simulation = Simulation::new();
    for (name, used) in [("heavy", 60), ("light", 2), ("medium", 20)] {
        simulation.push(name, Lane::Long);
        simulation.start();
        simulation.finish(name, used);
    }
    // Two others take the slots.
    simulation.push("x", Lane::Long);
    simulation.push("y", Lane::Long);
    assert_eq!(simulation.start(), ["x", "y"]);
    for name in ["heavy", "medium", "light", "new"] {
        simulation.push(name, Lane::Long);
    }
    simulation.finish("x", 5);
    assert_eq!(simulation.start(), ["new"]);
    simulation.finish("y", 5);
    assert_eq!(simulation.start(), ["light"]);
    simulation.finish("new", 1);
    assert_eq!(simulation.start(), ["medium"]);
    simulation.finish("light", 1);
    assert_eq!(simulation.start(), ["heavy"]);
}

#[test]
fn use_is_forgotten_over_time() {
    let mut simulation = Simulation::new();
    simulation.push("early", Lane::Long);
    simulation.start();
    simulation.finish("early", 60);
    // After two half-lives, 15 of the 60 seconds count.
    simulation.now += 2 * HALF_LIFE;
    simulation.push("late", Lane::Long);
    simulation.start();
    simulation.finish("late", 16);
    for name in ["x", "y"] {
        simulation.push(name, Lane::Long);
    }
    assert_eq!(simulation.start(), ["x", "y"]);
    simulation.push("late", Lane::Long);
    simulation.push("early", Lane::Long);
    simulation.finish("x", 0);
    assert_eq!(simulation.start(), ["early"]);
    // Clients that used nothing for a day take no memory.
    simulation.now += seconds(24 * 3600);
    simulation.finish("y", 0);
    assert!(simulation.queue.used.is_empty(), "{:?}", simulation.queue.used);
}

#[test]
fn a_client_never_has_two_slots() {
    let mut simulation = Simulation::new();
    simulation.push("a", Lane::Small);
    simulation.push("a", Lane::Small);
    simulation.push("a", Lane::Long);
    simulation.push("b", Lane::Small);
    assert_eq!(simulation.start(), ["a", "b"]);
    simulation.finish("b", 1);
    assert_eq!(simulation.start(), [""; 0]);
    simulation.finish("a", 1);
    assert_eq!(simulation.start(), ["a"]);
}

#[test]
fn the_same_name_in_another_round_is_another_client() {
    let mut queue = Queue::default();
    let now = Instant::now();
    queue.push(client("a"), Lane::Small, 0.0);
    queue.push(("autumn".parse().unwrap(), "a".parse().unwrap()), Lane::Small, 0.0);
    assert!(queue.start_next(now).is_some() && queue.start_next(now).is_some());
}

#[test]
fn lanes_do_not_wait_for_each_other() {
    let mut simulation = Simulation::new();
    for i in 0..10 {
        simulation.push(&format!("large-{i}"), Lane::Long);
    }
    assert_eq!(simulation.start(), ["large-0", "large-1"]);
    simulation.push("small", Lane::Small);
    assert_eq!(simulation.start(), ["small"]);
    for i in 0..10 {
        simulation.push(&format!("small-{i}"), Lane::Small);
    }
    assert_eq!(simulation.start(), ["small-0"]);
    simulation.finish("large-0", 30);
    assert_eq!(simulation.start(), ["large-2"]);
    // One slot for first attempts, whatever else runs.
    simulation.push("unknown-0", Lane::Quick);
    simulation.push("unknown-1", Lane::Quick);
    assert_eq!(simulation.start(), ["unknown-0"]);
}

#[test]
fn an_estimated_cost_counts_like_time_used() {
    let mut simulation = Simulation::new();
    for name in ["x", "y"] {
        simulation.push(name, Lane::Small);
    }
    assert_eq!(simulation.start(), ["x", "y"]);
    for (name, estimate) in [("large", 1.0), ("tiny", 0.01), ("medium", 0.5)] {
        simulation.queue.push(client(name), Lane::Small, estimate);
    }
    simulation.finish("x", 3);
    simulation.finish("y", 3);
    assert_eq!(simulation.start(), ["tiny", "medium"]);
    // A client with a small file that used more than another with a large one.
    simulation.queue.push(client("x"), Lane::Small, 0.01);
    simulation.finish("tiny", 0);
    assert_eq!(simulation.start(), ["large"]);
}

/// Hostile clients send again as soon as they are refused. Once each of them has had a turn, an honest large file goes
/// before all of them, and a client that used as much as they did still gets its share.
#[test]
fn nobody_starves_behind_clients_that_always_have_a_job() {
    let mut simulation = Simulation::new();
    for i in 0..20 {
        simulation.push(&format!("hostile-{i}"), Lane::Long);
    }
    let mut running: Vec<String> = simulation.start();
    let mut honest_ran = Vec::new();
    for step in 0..200 {
        if step % 40 == 30 {
            simulation.push("honest", Lane::Long);
        }
        simulation.now += seconds(15);
        let done = running.remove(0);
        simulation.finish(&done, 30);
        if done.starts_with("hostile") {
            simulation.push(&done, Lane::Long);
        }
        for name in simulation.start() {
            if name == "honest" {
                honest_ran.push(step);
            }
            running.push(name);
        }
    }
    // The first time immediately. Later it has used time itself, but never waits for more than one turn of all others.
    assert_eq!(honest_ran[0], 30);
    assert_eq!(honest_ran.len(), 5, "{honest_ran:?}");
    for (i, ran) in honest_ran.iter().enumerate() {
        let waited = ran - (30 + 40 * i);
        assert!(waited <= 21, "{honest_ran:?}");
    }
}
