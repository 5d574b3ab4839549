//! Rows in other processes, summed by calls to Python.

use std::sync::{Arc, Mutex, PoisonError};

use equipoise_core::{
    ClientStatistics, Error, FitEnd, InnerSettings, InnerSolver, LocalFit, LocalFits, Order,
    SEGMENT_ROWS, SpacedRows, Statistics, first_spaced,
};
use equipoise_data::{ClientSummary, WireReader, WireWriter};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The part of a client's proxy that a partition has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RemotePart {
    pub(crate) client: usize,
    pub(crate) n_segments: usize,
    /// Whether it is the whole proxy.
    pub(crate) is_whole: bool,
}

/// Proxies whose rows are in other processes. Replies are added up in the order of clients and rows, whichever process
/// answers first.
pub(crate) struct RemoteRows {
    pub(crate) n: usize,
    pub(crate) clients: Vec<ClientSummary>,
    /// The parts of each partition, in the order of clients and rows.
    pub(crate) partitions: Vec<Vec<RemotePart>>,
    /// Has the methods `sums`, `fits` and `spaced_rows`, each of which asks partitions and returns their replies.
    pub(crate) partitions_in_python: Py<PyAny>,
    pub(crate) failure: Failure,
}

/// The exception of a call, which the solver can only report as an error without its class.
#[derive(Clone, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Failure {
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn keep(&self, error: PyErr) -> Error {
        let text = error.to_string();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        Error::Source(text.into())
    }
}

impl RemoteRows {
    /// Asks partitions for sums and gives each segment's to `add`, in the order of clients and rows.
    fn sum(
        &self,
        theta: &[f64],
        order_of: impl Fn(usize) -> Option<Order>,
        mut add: impl FnMut(usize, &[f64]),
    ) -> Result<(), Error> {
        let codes = |parts: &Vec<RemotePart>| -> Vec<u8> {
            parts
                .iter()
                .map(|part| order_of(part.client).map_or(0, |order| order as u8 + 1))
                .collect()
        };
        let orders: Vec<Vec<u8>> = self.partitions.iter().map(codes).collect();
        let is_asked = |orders: &&Vec<u8>| orders.iter().any(|code| *code != 0);
        let asked: Vec<usize> =
            orders.iter().enumerate().filter(|(_, o)| is_asked(o)).map(|(at, _)| at).collect();
        let replies = Python::attach(|py| -> PyResult<Vec<Vec<u8>>> {
            let orders: Vec<Bound<'_, PyBytes>> =
                asked.iter().map(|at| PyBytes::new(py, &orders[*at])).collect();
            let theta = PyBytes::new(py, &message(|m| m.numbers(theta)));
            let highest =
                (0..self.clients.len()).filter_map(&order_of).max().map_or(0, |o| o as u8);
            let arguments = (&asked, theta, orders, highest);
            self.partitions_in_python.bind(py).call_method1("sums", arguments)?.extract()
        });
        let replies = replies.map_err(|error| self.failure.keep(error))?;
        check_replies(asked.len(), replies.len())?;
        for (at, reply) in asked.into_iter().zip(replies) {
            let sums = WireReader::new(&reply).numbers().map_err(source)?;
            let mut sums = &sums[..];
            for part in &self.partitions[at] {
                let Some(order) = order_of(part.client) else { continue };
                for _ in 0..part.n_segments {
                    let n_sums = order.n_sums(self.n);
                    let (segment, rest) = sums.split_at_checked(n_sums).ok_or_else(damaged)?;
                    add(part.client, segment);
                    sums = rest;
                }
            }
            if !sums.is_empty() {
                return Err(damaged());
            }
        }
        Ok(())
    }
}

impl ClientStatistics for RemoteRows {
    fn n_clients(&self) -> usize {
        self.clients.len()
    }

    fn n(&self) -> usize {
        self.n
    }

    fn n_rows(&self, client: usize) -> usize {
        self.clients[client].n_rows()
    }

    fn evaluate_each(&self, theta: &[f64], orders: &[Option<Order>]) -> Result<Statistics, Error> {
        let mut statistics = Statistics::zeros_each(self.n, orders);
        self.sum(theta, |client| orders[client], |client, sums| statistics.add(client, sums))?;
        Ok(statistics)
    }

    fn evaluate_client(
        &self,
        client: usize,
        theta: &[f64],
        order: Order,
    ) -> Result<Statistics, Error> {
        let mut statistics = Statistics::zeros(1, self.n, order);
        let order_of = |other: usize| (other == client).then_some(order);
        self.sum(theta, order_of, |_, sums| statistics.add(0, sums))?;
        Ok(statistics)
    }

    fn spaced_rows(&self, n_x: usize, steps: &[usize]) -> Result<Option<Vec<SpacedRows>>, Error> {
        let mut segments_before = vec![0; self.clients.len()];
        let mut of_part = |part: &RemotePart| {
            let start = segments_before[part.client] * SEGMENT_ROWS;
            segments_before[part.client] += part.n_segments;
            (first_spaced(start, steps[part.client]), steps[part.client])
        };
        let spacing: Vec<Vec<(usize, usize)>> =
            self.partitions.iter().map(|parts| parts.iter().map(&mut of_part).collect()).collect();
        let replies = Python::attach(|py| -> PyResult<Vec<Vec<u8>>> {
            let asked: Vec<usize> = (0..self.partitions.len()).collect();
            let partitions = self.partitions_in_python.bind(py);
            partitions.call_method1("spaced_rows", (asked, n_x, spacing))?.extract()
        });
        let replies = replies.map_err(|error| self.failure.keep(error))?;
        check_replies(self.partitions.len(), replies.len())?;
        let mut rows = vec![SpacedRows::default(); self.clients.len()];
        for (parts, reply) in self.partitions.iter().zip(replies) {
            let mut reader = WireReader::new(&reply);
            for part in parts {
                let marks = reader.integers().map_err(source)?;
                let marks = marks.into_iter().map(|mark| u8::try_from(mark).map_err(|_| damaged()));
                let marks = marks.collect::<Result<Vec<u8>, Error>>()?;
                let x = reader.numbers().map_err(source)?;
                rows[part.client].append(SpacedRows { marks, x });
            }
            reader.end().map_err(source)?;
        }
        Ok(Some(rows))
    }

    fn cell_counts(&self, client: usize) -> Option<&[[usize; 2]]> {
        Some(&self.clients[client].cell_counts)
    }

    fn fit_alone(&self, request: &LocalFits) -> Result<Vec<Option<LocalFit>>, Error> {
        let weights = |parts: &Vec<RemotePart>| -> Vec<f64> {
            let weight = |part: &RemotePart| request.weights[part.client];
            parts.iter().map(|part| if part.is_whole { weight(part) } else { 0.0 }).collect()
        };
        let weights: Vec<(usize, Vec<f64>)> = self
            .partitions
            .iter()
            .map(weights)
            .enumerate()
            .filter(|(_, w)| w.iter().any(|w| *w != 0.0))
            .collect();
        let replies = Python::attach(|py| -> PyResult<Vec<Vec<u8>>> {
            let what = PyBytes::new(
                py,
                &message(|m| {
                    m.numbers(&request.start);
                    m.numbers(&inner_numbers(request));
                }),
            );
            let asked: Vec<usize> = weights.iter().map(|(at, _)| *at).collect();
            let weights: Vec<Bound<'_, PyBytes>> =
                weights.iter().map(|(_, w)| PyBytes::new(py, &message(|m| m.numbers(w)))).collect();
            self.partitions_in_python
                .bind(py)
                .call_method1("fits", (asked, what, weights))?
                .extract()
        });
        let replies = replies.map_err(|error| self.failure.keep(error))?;
        check_replies(weights.len(), replies.len())?;
        let mut fits = vec![None; self.clients.len()];
        for ((at, weights), reply) in weights.iter().zip(replies) {
            let mut reader = WireReader::new(&reply);
            for (part, _) in self.partitions[*at].iter().zip(weights).filter(|(_, w)| **w != 0.0) {
                let numbers = reader.numbers().map_err(source)?;
                if !numbers.is_empty() {
                    let fit = fit_of(&numbers).filter(|fit| fit.theta.len() == self.n);
                    fits[part.client] = Some(fit.ok_or_else(damaged)?);
                }
            }
            reader.end().map_err(source)?;
        }
        Ok(fits)
    }
}

fn message(write: impl FnOnce(&mut WireWriter)) -> Vec<u8> {
    let mut message = WireWriter::default();
    write(&mut message);
    message.finish()
}

fn source(error: equipoise_data::Error) -> Error {
    Error::Source(Box::new(error))
}

fn damaged() -> Error {
    Error::Source("a worker's reply does not fit its rows. Do all run the same version?".into())
}

fn check_replies(expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(damaged()) }
}

/// The order that a code stands for.
pub(crate) fn order_of(code: u8) -> Option<Order> {
    match code {
        0 => None,
        1 => Some(Order::Loss),
        2 => Some(Order::Gradient),
        _ => Some(Order::Hessian),
    }
}

/// A fit as numbers. Counts are far below 2⁵³, so they are exact.
pub(crate) fn fit_numbers(fit: &LocalFit) -> Vec<f64> {
    let FitEnd { gradient_norm, converged, iterations, passes, diagonals_raised } = fit.end;
    let counts = [iterations, passes, diagonals_raised].map(|count| count as f64);
    let converged = f64::from(u8::from(converged));
    [&[fit.loss, gradient_norm, converged][..], &counts, &fit.theta].concat()
}

fn fit_of(numbers: &[f64]) -> Option<LocalFit> {
    let (&[loss, gradient_norm, converged, iterations, passes, raised], theta) =
        numbers.split_first_chunk::<6>()?;
    let end = FitEnd {
        gradient_norm,
        converged: converged != 0.0,
        iterations: iterations as usize,
        passes: passes as usize,
        diagonals_raised: raised as usize,
    };
    Some(LocalFit { theta: theta.to_vec(), loss, end })
}

fn inner_numbers(request: &LocalFits) -> [f64; 5] {
    let InnerSettings { solver, tolerance, max_iterations } = request.inner;
    let solver = f64::from(u8::from(solver == InnerSolver::Lbfgs));
    let n_rows = request.n_rows_total as f64;
    [n_rows, request.ridge, solver, tolerance, max_iterations as f64]
}

/// The rows of all clients, the ridge, and how to fit.
pub(crate) fn inner_settings(numbers: &[f64]) -> Option<(usize, f64, InnerSettings)> {
    let &[n_rows, ridge, solver, tolerance, max_iterations] = numbers.as_array::<5>()?;
    let solver = if solver == 0.0 { InnerSolver::Newton } else { InnerSolver::Lbfgs };
    let max_iterations = max_iterations as usize;
    Some((n_rows as usize, ridge, InnerSettings { solver, tolerance, max_iterations }))
}
