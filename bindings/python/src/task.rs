//! Runs long work on another thread, without the interpreter's lock, so that Ctrl-C and progress reports work.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use equipoise_core::{Observer, Progress};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::{Stage, exception};

/// How often signals are checked and progress is reported.
const INTERVAL: Duration = Duration::from_millis(50);

/// How long a cancelled task may take to end before it is left to end alone.
const PATIENCE: Duration = Duration::from_millis(250);

/// What the task and its caller share.
#[derive(Default)]
struct Shared {
    cancelled: AtomicBool,
    /// Steps done, and the largest number that may be needed.
    progress: Mutex<Option<(usize, usize)>>,
}

/// The task's view: it reports steps, and stops if the caller does not want the result any more.
pub(crate) struct Watcher(Arc<Shared>);

impl Observer for Watcher {
    fn on_step(&mut self, step: Progress<'_>) -> ControlFlow<()> {
        *self.0.progress.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((step.done, step.of));
        if self.0.cancelled.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

impl Watcher {
    /// Fails if the caller does not want the result any more: for work between the steps of a solver.
    pub(crate) fn check(&self) -> Result<(), equipoise_core::Error> {
        match self.0.cancelled.load(Ordering::Relaxed) {
            true => Err(equipoise_core::Error::Cancelled),
            false => Ok(()),
        }
    }
}

/// Runs `work` and returns its result. A signal such as Ctrl-C raises its exception at once; the work then stops at its
/// next step, and its result is dropped. `progress`, if given, is called with the steps done and the maximum.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    stage: Stage,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&mut Watcher) -> anyhow::Result<T> + Send + 'static,
) -> PyResult<T> {
    let shared = Arc::new(Shared::default());
    let (sender, receiver) = channel();
    let mut watcher = Watcher(shared.clone());
    std::thread::spawn(move || {
        // If nobody is waiting any more, nobody wants the result.
        let _ = sender.send(work(&mut watcher));
    });
    // A receiver must not be shared between threads, which is what the lock is for.
    let receiver = Mutex::new(receiver);
    let wait = |timeout: Duration| {
        py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(timeout))
    };
    let mut shown = None;
    let mut show = || -> PyResult<()> {
        let (Some(progress), state) =
            (progress, *shared.progress.lock().unwrap_or_else(PoisonError::into_inner))
        else {
            return Ok(());
        };
        if let Some(step) = state.filter(|_| state != shown) {
            shown = state;
            progress.call1(step)?;
        }
        Ok(())
    };
    loop {
        match wait(INTERVAL) {
            Ok(result) => {
                show()?;
                return result.map_err(|error| exception(py, &error, stage));
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(
                    "the computation crashed, which is a bug. Please report it.",
                ));
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = py.check_signals().and_then(|()| show()) {
                    shared.cancelled.store(true, Ordering::Relaxed);
                    let _ = wait(PATIENCE);
                    return Err(error);
                }
            }
        }
    }
}
