//! Chunks and threads do not change sums, and clients are summed only to the requested order.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::test_rows::random_rows;
use std::ops::Range;

#[test]
fn each_client_is_summed_to_its_requested_order_and_completed_later() {
    let clients = [0, 1, 2].map(|c| random_rows(c, 3000 + c as usize, 4, true));
    let rows = PackedRows::of(&clients).unwrap();
    let theta = [0.1, 0.2, -0.3, 0.4, 0.2, -0.1];
    let all = rows.evaluate(&theta, Order::Hessian).unwrap();
    let orders = [Some(Order::Hessian), Some(Order::Gradient), None];
    let mut some = rows.evaluate_each(&theta, &orders).unwrap();
    assert_eq!(some.gradient(1), all.gradient(1));
    assert_eq!(some.losses().last(), Some(0.0));
    let rest = [None, Some(Order::Hessian), Some(Order::Hessian)];
    some.complete(&rows.evaluate_each(&theta, &rest).unwrap());
    assert_eq!(some, all);
    assert!((0..3).all(|c| some.known(c) == Some(Order::Hessian)));
    let one = rows.evaluate_client(1, &theta, Order::Hessian).unwrap();
    assert_eq!((one.losses().next(), one.gradient(0)), (all.losses().nth(1), all.gradient(1)));
    assert_eq!(one.hessian(0), all.hessian(1));
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let clients = [3, 4].map(|c| random_rows(c, 40_000, 10, true));
    let rows = PackedRows::of(&clients).unwrap();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| rows.evaluate(&[0.05; 12], Order::Hessian).unwrap())
    };
    let one = run(1);
    for other in [run(2), run(3)] {
        assert_eq!(one, other);
    }
}

fn packed_in_chunks(clients: &[Rows], chunk: usize) -> PackedRows {
    let pack = |rows: &Rows| {
        let mut packer = ClientPacker::new(rows.layout().clone());
        let numbers: Vec<usize> = (0..rows.len()).collect();
        numbers.chunks(chunk).for_each(|part| packer.push(&rows.select(part)).unwrap());
        packer.finish()
    };
    PackedRows::new(clients.iter().map(pack).collect()).unwrap()
}

#[test]
fn chunks_do_not_change_the_result() {
    let odd = random_rows(5, 9001, 3, true);
    let clients = [odd.clone(), random_rows(6, 7003, 3, true), odd.select(&[3, 1, 1]), odd];
    let expected = PackedRows::of(&clients).unwrap();
    let theta = [0.3, -0.2, 0.5, 0.1, -0.4];
    let sums = |rows: &PackedRows| {
        let all = rows.evaluate(&theta, Order::Hessian).unwrap();
        let one = rows.evaluate_client(1, &theta, Order::Gradient).unwrap();
        let mut numbers: Vec<f64> = all.losses().chain(one.losses()).collect();
        (0..4).for_each(|c| numbers.extend([all.gradient(c), all.hessian(c)].concat()));
        numbers.extend(one.gradient(0));
        numbers.into_iter().map(f64::to_bits).collect::<Vec<_>>()
    };
    for chunk in [1, 3, 777, 1024, 4096] {
        let packed = packed_in_chunks(&clients, chunk);
        assert_eq!(sums(&packed), sums(&expected), "chunks of {chunk}");
    }
}

/// A client of several segments, in one process and divided among several.
#[test]
fn segments_in_other_partitions_give_the_same_bits() {
    let layout = crate::rows::Layout::two_groups(1, true);
    let n_rows = 2 * SEGMENT_ROWS + 5000;
    let x: Vec<f64> = (0..n_rows).map(|i| (i as f64).sqrt().sin()).collect();
    let (groups, labels): (Vec<bool>, Vec<bool>) =
        (0..n_rows).map(|i| (i % 3 == 0, (i / 2) % 5 > 1)).unzip();
    let rows = Rows::new(layout.clone(), &x, &groups, &labels).unwrap();
    let small = random_rows(3, 3000, 1, true);
    let clients = [rows.clone(), small.clone()];
    let whole = PackedRows::of(&clients).unwrap();
    let theta = [0.3, -0.2, 0.1];
    let expected = whole.evaluate(&theta, Order::Hessian).unwrap();

    let pack = |rows: &Rows, range: Range<usize>| {
        let mut packer = ClientPacker::new(layout.clone());
        packer.push(&rows.select(&range.collect::<Vec<_>>())).unwrap();
        packer.finish()
    };
    // The first partition has two segments of the client, the second one the last and another client.
    let mut first = [pack(&rows, 0..2 * SEGMENT_ROWS)];
    let mut second = [pack(&rows, 2 * SEGMENT_ROWS..n_rows), pack(&small, 0..3000)];
    let partitions = [&mut first[..], &mut second[..]].map(|c| PackedPartition::new(c).unwrap());
    let sums = partitions.each_ref().map(|partition| {
        let orders = vec![Some(Order::Hessian); partition.n_clients()];
        let sums = partition.segment_sums(&theta, &orders).unwrap();
        let bytes = partition.to_bytes();
        let copy = PackedPartition::from_bytes(&bytes).unwrap();
        assert_eq!(copy.segment_sums(&theta, &orders).unwrap(), sums);
        for end in [0, 15, 40, bytes.len() - 1] {
            assert!(PackedPartition::from_bytes(&bytes[..end]).is_err());
        }
        sums
    });
    let per_segment = Order::Hessian.n_sums(3);
    let mut statistics = Statistics::zeros(2, 3, Order::Hessian);
    let of_first_client = sums[0].chunks_exact(per_segment).chain([&sums[1][..per_segment]]);
    of_first_client.for_each(|segment| statistics.add(0, segment));
    statistics.add(1, &sums[1][per_segment..]);
    assert_eq!(statistics, expected);
    assert_eq!(whole.evaluate_client(0, &theta, Order::Hessian).unwrap().slot(0), expected.slot(0));

    let fits = crate::local_fit::LocalFits::of_mean_losses(
        &whole,
        vec![0.0; 3],
        1e-4,
        crate::InnerSettings::default(),
    );
    let here = fits.fit(&whole, 1, None, None).unwrap();
    let there = partitions[1].fit_client(&fits, 1, fits.weights[1]).unwrap();
    assert_eq!(there, Some(here));
}
