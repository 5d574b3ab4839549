#![allow(clippy::unwrap_used)]

use equipoise_core::Layout;

use super::*;

/// Rows with a feature, of which every fifth is in the first group and every third of that group positive.
fn table(n_rows: usize) -> Rows {
    let group: Vec<u8> = (0..n_rows).map(|i| u8::from(i % 5 != 0)).collect();
    let positive: Vec<bool> =
        (0..n_rows).map(|i| i % 5 != 0 && i % 2 == 0 || i % 15 == 0).collect();
    let x: Vec<f64> = (0..n_rows).map(|i| ((i * 7919) % 101) as f64 / 50.0 - 1.0).collect();
    Rows::new(Layout::two_groups(1, true), &x, &group, &positive).unwrap()
}

fn settings() -> RehearsalSettings {
    RehearsalSettings {
        n_clients: 5,
        test_share: 0.2,
        root_share: 0.01,
        n_unreliable: 2,
        fairness: Fairness::SP,
        seed: 1,
    }
}

#[test]
fn every_row_is_in_exactly_one_table() {
    let rehearsal = Rehearsal::new(&table(4003), &settings()).unwrap();
    let mut all: Vec<usize> = Vec::new();
    for RehearsalClient { members, .. } in &rehearsal.clients {
        for part in [&members.train, &members.test, &members.root] {
            assert!(part.is_sorted());
            all.extend(part);
        }
    }
    all.sort_unstable();
    assert!(all.into_iter().eq(0..4003));
}

#[test]
fn every_table_has_its_share_of_every_stratum() {
    let rows = table(4000);
    // 4000 rows: 800 in the first group, of which 267 positive; 1600 of the 3200 others positive.
    assert_eq!(rows.cell_counts(), [[533, 267], [1600, 1600]]);
    for client in &Rehearsal::new(&rows, &settings()).unwrap().clients {
        let members = &client.members;
        assert_eq!((members.train.len() + members.test.len() + members.root.len()), 800);
        assert_eq!((members.test.len(), members.root.len()), (160, 8));
        let of = |part: &[usize]| rows.select(part).cell_counts();
        assert_eq!(of(&members.root), [[1, 1], [3, 3]], "{}", client.id);
        for (found, share) in of(&members.test).iter().zip([[533.0, 267.0], [1600.0, 1600.0]]) {
            for (found, share) in found.iter().zip(share) {
                assert!((*found as f64 - 0.2 * share / 5.0).abs() < 1.5, "{found} of {share}");
            }
        }
        assert!(client.missing_in_root.is_empty());
    }
}

#[test]
fn the_seed_decides_the_split_and_nothing_else_does() {
    let rows = table(900);
    let split = |seed| Rehearsal::new(&rows, &RehearsalSettings { seed, ..settings() }).unwrap();
    assert_eq!(split(3), split(3));
    assert_ne!(split(3), split(4));
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(one.install(|| split(3)), split(3));
}

#[test]
fn the_most_unfair_clients_are_unreliable() {
    let rehearsal = Rehearsal::new(&table(2000), &settings()).unwrap();
    let of = |reliable| {
        let of = rehearsal.clients.iter().filter(move |client| client.reliable == reliable);
        of.map(|client| client.unfairness).collect::<Vec<_>>()
    };
    let (fair, unfair) = (of(true), of(false));
    assert_eq!((fair.len(), unfair.len()), (3, 2));
    assert!(unfair.iter().all(|gap| fair.iter().all(|other| gap >= other)), "{fair:?} {unfair:?}");
}

#[test]
fn a_small_root_names_the_strata_that_it_lacks_and_clients_complement_each_other() {
    let rows = table(1000);
    let small = RehearsalSettings { root_share: 0.005, ..settings() };
    let clients = Rehearsal::new(&rows, &small).unwrap().clients;
    assert!(clients.iter().all(|client| client.members.root.len() == 1));
    assert!(clients.iter().all(|client| client.missing_in_root.len() == 3));
    let together: Vec<usize> = clients.iter().flat_map(|c| c.members.root.clone()).collect();
    assert!(rows.select(&together).cell_counts().as_flattened().iter().all(|&n| n > 0));
}

#[test]
fn settings_out_of_range_name_the_option() {
    let cases: [(RehearsalSettings, &str); 8] = [
        (RehearsalSettings { n_clients: 0, ..settings() }, "--clients must be at least 2"),
        (RehearsalSettings { n_clients: 1, ..settings() }, "--clients must be at least 2"),
        (RehearsalSettings { test_share: 1.5, ..settings() }, "--test must be above 0"),
        (RehearsalSettings { test_share: f64::NAN, ..settings() }, "--test must be above 0"),
        (RehearsalSettings { root_share: 0.0, ..settings() }, "--trusted must be above 0"),
        (
            RehearsalSettings { test_share: 0.9, root_share: 0.1, ..settings() },
            "--trusted must be below",
        ),
        (RehearsalSettings { n_unreliable: 5, ..settings() }, "--unreliable must be below"),
        (RehearsalSettings { n_clients: 400, ..settings() }, "too few for 400 clients"),
    ];
    for (settings, says) in cases {
        let text = Rehearsal::new(&table(900), &settings).unwrap_err().to_string();
        assert!(text.contains(says), "{text}");
    }
    // Three of five clients have rows of different strata only, none of which can be spared.
    let text = Rehearsal::new(&table(16), &settings()).unwrap_err().to_string();
    assert!(text.contains("16 rows, too few for 5 clients"), "{text}");
}

#[test]
fn a_client_without_a_label_or_group_is_refused() {
    let rows = table(900);
    let groups = rows.groups();
    let refused = |groups: &[u8], positive: &[bool]| {
        let x = vec![0.5; groups.len()];
        let rows = Rows::new(Layout::two_groups(1, true), &x, groups, positive).unwrap();
        Rehearsal::new(&rows, &settings()).unwrap_err().to_string()
    };
    let rare: Vec<bool> = (0..900).map(|i| i < 3).collect();
    let text = refused(groups, &rare);
    assert!(text.contains("only training rows with a negative label"), "{text}");
    let often: Vec<bool> = (0..900).map(|i| i % 2 == 0).collect();
    let rare: Vec<u8> = (0..900).map(|i| u8::from(i >= 3)).collect();
    let text = refused(&rare, &often);
    assert!(text.contains("only training rows of the group"), "{text}");
}
