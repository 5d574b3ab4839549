//! Progress on a terminal, once there is something to wait for.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use equipoise_core::{Observer, Progress};
use indicatif::{ProgressBar, ProgressStyle};

use crate::figures::number;
use crate::output::Output;

/// Shows a bar after the first second, if stderr is a terminal; takes it away when dropped.
pub(crate) struct Bar {
    started: Instant,
    wanted: bool,
    template: &'static str,
    bar: Option<ProgressBar>,
}

/// Work that is done sooner needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);

impl Bar {
    /// A bar of steps.
    pub(crate) fn new(output: &Output) -> Self {
        Self::with_template(output, "  {bar:30} {pos}/{len}, {elapsed}  {msg}")
    }

    /// A bar of bytes.
    pub(crate) fn of_bytes(output: &Output) -> Self {
        Self::with_template(output, "  {bar:30} {bytes}/{total_bytes}, {elapsed}  {msg}")
    }

    fn with_template(output: &Output, template: &'static str) -> Self {
        let wanted = !output.quiet && std::io::stderr().is_terminal();
        Self { started: Instant::now(), wanted, template, bar: None }
    }

    /// Shows how far the work is.
    pub(crate) fn show(&mut self, done: usize, of: usize, message: impl FnOnce() -> String) {
        if !self.wanted || self.started.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template(self.template)
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(of as u64).with_style(style).with_elapsed(PATIENCE)
        });
        // A loop with a tolerance to meet may take more steps than it promised.
        bar.set_length(of.max(done) as u64);
        bar.set_position(done as u64);
        bar.set_message(message());
    }
}

impl Observer for Bar {
    fn on_step(&mut self, step: Progress<'_>) {
        self.show(step.done, step.of, || {
            format!("ρ {}, violation {}", step.rho, number(step.violation))
        });
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
