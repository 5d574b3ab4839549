//! Packed rows: merged ones give what unmerged ones give, and clients are summed only as far as asked.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::test_rows::random_rows;

fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() <= 1e-10 * (1.0 + e.abs()), "{f} against {e}");
    }
}

#[test]
fn equal_rows_are_kept_once_and_count_as_often_as_they_occur() {
    let few = random_rows(1, 700, 3, true);
    let repeated = few.select(&(0..5000).map(|i| i * i % 700).collect::<Vec<_>>());
    let clients = [repeated, few];
    let (merged, unmerged) =
        (PackedRows::merged(&clients).unwrap(), PackedRows::unmerged(&clients).unwrap());
    let kept = |rows: &PackedRows, client: usize| -> usize {
        rows.blocks.iter().filter(|(c, _)| *c == client).map(|(_, block)| block.n_rows).sum()
    };
    assert!(kept(&merged, 0) < 700 && kept(&merged, 1) == 700);
    assert_eq!(merged.n_rows(0), 5000);
    let theta = [0.3, -0.2, 0.5, 0.1, -0.4];
    let (a, b) = (
        merged.evaluate(&theta, Order::Hessian).unwrap(),
        unmerged.evaluate(&theta, Order::Hessian).unwrap(),
    );
    assert_close(&a.losses, &b.losses);
    assert_close(&a.gradients, &b.gradients);
    assert_close(&a.hessians, &b.hessians);
}

#[test]
fn rows_that_hardly_repeat_are_not_merged() {
    let rows = random_rows(2, 10_000, 2, false);
    let twice = rows.select(&(0..12_000).map(|i| i % 10_000).collect::<Vec<_>>());
    for rows in [rows.select(&[]), rows, twice] {
        let packed = PackedRows::merged(&[rows]).unwrap();
        assert!(packed.blocks.iter().all(|(_, block)| !block.counted));
    }
}

#[test]
fn each_client_is_summed_as_far_as_asked_and_completed_later() {
    let clients = [0, 1, 2].map(|c| random_rows(c, 3000 + c as usize, 4, true));
    let rows = PackedRows::merged(&clients).unwrap();
    let theta = [0.1, 0.2, -0.3, 0.4, 0.2, -0.1];
    let all = rows.evaluate(&theta, Order::Hessian).unwrap();
    let wanted = [Some(Order::Hessian), Some(Order::Gradient), None];
    let mut some = rows.evaluate_each(&theta, &wanted).unwrap();
    assert_eq!(some.gradient(1), all.gradient(1));
    assert_eq!(some.losses[2], 0.0);
    let rest = [None, Some(Order::Hessian), Some(Order::Hessian)];
    some.complete(&rows.evaluate_each(&theta, &rest).unwrap());
    assert_eq!((&some.losses, &some.gradients), (&all.losses, &all.gradients));
    assert_eq!(some.hessians, all.hessians);
    assert!((0..3).all(|c| some.known(c) == Some(Order::Hessian)));
    let one = rows.evaluate_client(1, &theta, Order::Hessian).unwrap();
    assert_eq!((one.losses[0], one.gradient(0)), (all.losses[1], all.gradient(1)));
    assert_eq!(one.hessians, all.hessians[21..42]);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let clients = [3, 4].map(|c| random_rows(c, 40_000, 10, true));
    let rows = PackedRows::merged(&clients).unwrap();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| rows.evaluate(&[0.05; 12], Order::Hessian).unwrap())
    };
    let one = run(1);
    for other in [run(2), run(3)] {
        assert_eq!((&one.losses, &one.gradients), (&other.losses, &other.gradients));
        assert_eq!(one.hessians, other.hessians);
    }
}

/// A disk that is none.
#[derive(Default)]
struct Shelf(std::sync::Mutex<Vec<Option<Vec<u8>>>>);

impl Spill for Shelf {
    fn write(&self, bytes: &[u8]) -> Result<u64, SpillError> {
        let mut blocks = self.0.lock().unwrap();
        blocks.push(Some(bytes.to_vec()));
        Ok(blocks.len() as u64 - 1)
    }

    fn read(&self, place: u64, bytes: &mut [u8]) -> Result<(), SpillError> {
        let blocks = self.0.lock().unwrap();
        bytes.copy_from_slice(blocks[place as usize].as_ref().ok_or("forgotten")?);
        Ok(())
    }

    fn forget(&self, place: u64) {
        self.0.lock().unwrap()[place as usize] = None;
    }
}

fn packed_in_pieces(clients: &[Rows], piece: usize, keeper: &BlockKeeper) -> PackedRows {
    let pack = |rows: &Rows| {
        let mut packer = ClientPacker::new(rows.layout(), keeper);
        let numbers: Vec<usize> = (0..rows.len()).collect();
        numbers.chunks(piece).for_each(|part| packer.push(&rows.select(part)).unwrap());
        packer.finish().unwrap()
    };
    PackedRows::new(clients.iter().map(pack).collect(), keeper.clone()).unwrap()
}

#[test]
fn neither_pieces_nor_room_change_a_bit() {
    let odd = random_rows(5, 9001, 3, true);
    let few = random_rows(6, 1500, 3, true);
    let repeated = few.select(&(0..7003).map(|i| i * i % 1500).collect::<Vec<_>>());
    let clients = [odd.clone(), repeated, odd.select(&[3, 1, 1]), few];
    let expected = PackedRows::merged(&clients).unwrap();
    let theta = [0.3, -0.2, 0.5, 0.1, -0.4];
    let sums = |rows: &PackedRows| {
        let all = rows.evaluate(&theta, Order::Hessian).unwrap();
        let one = rows.evaluate_client(1, &theta, Order::Gradient).unwrap();
        let numbers = all.losses.into_iter().chain(all.gradients).chain(all.hessians);
        numbers.chain(one.losses).chain(one.gradients).map(f64::to_bits).collect::<Vec<_>>()
    };
    for (room, piece) in [(0, 1), (0, 4096), (100_000, 777), (200_000, 1024), (usize::MAX, 3)] {
        let shelf = std::sync::Arc::new(Shelf::default());
        let keeper = BlockKeeper::with_room(room, shelf.clone());
        let packed = packed_in_pieces(&clients, piece, &keeper);
        assert_eq!(sums(&packed), sums(&expected), "room {room}, pieces of {piece}");
        let in_memory = |(_, block): &&(usize, PackedBlock)| match &block.place {
            Place::Memory(quads) => size_of_val(&**quads),
            Place::Spilled(_) => 0,
        };
        let used: usize = packed.blocks.iter().map(|block| in_memory(&block)).sum();
        assert!(used <= room, "{used} of {room} bytes");
        let spilled = packed.blocks.iter().filter(|b| in_memory(b) == 0).count();
        assert_eq!(shelf.0.lock().unwrap().iter().flatten().count(), spilled, "rest forgotten");
    }
}

#[test]
fn more_kinds_than_are_kept_are_not_merged() {
    let n_kinds = kinds::MAX_KINDS + 1;
    let layout = crate::rows::Layout { n_x: 1, intercept: false };
    let x = |n_rows: usize, of: usize| (0..n_rows).map(|i| (i % of) as f64).collect::<Vec<_>>();
    let counted = |x: &[f64]| {
        // The first rows repeat, or the search would end with them.
        let x: Vec<f64> = [0.0; 500].iter().chain(x).copied().collect();
        let ones = vec![true; x.len()];
        let rows = Rows::new(layout, &x, &ones, &ones).unwrap();
        PackedRows::merged(&[rows]).unwrap().blocks[0].1.counted
    };
    assert!(counted(&x(3 * n_kinds, n_kinds - 1)));
    assert!(!counted(&x(3 * n_kinds, n_kinds)));
    assert!(!counted(&x(5000, 4000)) && counted(&x(8000, 4000)));
}

#[test]
fn what_cannot_be_read_again_is_an_error() {
    let shelf = std::sync::Arc::new(Shelf::default());
    let keeper = BlockKeeper::with_room(0, shelf.clone());
    let packed = packed_in_pieces(&[random_rows(1, 5000, 3, true)], 512, &keeper);
    shelf.forget(2);
    let error = packed.evaluate(&[0.0; 5], Order::Loss).unwrap_err();
    assert!(matches!(error, Error::Source(_)));
}
