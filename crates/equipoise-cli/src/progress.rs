//! Progress bars for work that takes longer than a second.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use equipoise_core::{Observer, Progress};
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

use crate::formatting::number;
use crate::output::Output;

/// A bar that appears after [`DELAY`] if stderr is a terminal, and disappears when dropped.
pub(crate) struct Bar {
    started: Instant,
    enabled: bool,
    template: &'static str,
    bar: Option<ProgressBar>,
    /// The amount already done at the first call, which took no time in this run.
    done_before: Option<usize>,
}

const DELAY: Duration = Duration::from_secs(1);

impl Bar {
    /// A bar that counts steps.
    pub(crate) fn new(output: &Output) -> Self {
        Self::with_template(output, "  {bar:30} {pos}/{len}, {elapsed}  {msg}")
    }

    /// A bar that counts bytes.
    pub(crate) fn of_bytes(output: &Output) -> Self {
        Self::with_template(output, "  {bar:30} {bytes}/{total_bytes}, {elapsed}  {msg}")
    }

    fn with_template(output: &Output, template: &'static str) -> Self {
        let enabled = !output.quiet && std::io::stderr().is_terminal();
        Self { started: Instant::now(), enabled, template, bar: None, done_before: None }
    }

    /// Updates the bar.
    pub(crate) fn show(&mut self, done: usize, of: usize, message: impl FnOnce() -> String) {
        if !self.enabled || self.started.elapsed() < DELAY {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template(self.template)
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(of as u64).with_style(style).with_elapsed(self.started.elapsed())
        });
        // A loop that stops at a tolerance may take more steps than estimated.
        bar.set_length(of.max(done) as u64);
        bar.set_position(done as u64);
        bar.set_message(message());
    }

    /// Updates the bar with an estimate of the time left, based on the progress since the first call.
    pub(crate) fn show_with_time_left(&mut self, done: usize, of: usize, unit: &str) {
        let before = *self.done_before.get_or_insert(done);
        let elapsed = self.started.elapsed();
        self.show(done, of, || match time_left(elapsed, done.saturating_sub(before), of - done) {
            Some(left) => format!("{unit}, about {} left", HumanDuration(left)),
            None => unit.to_owned(),
        });
    }
}

/// The time for the remaining items at the average pace; `None` before the first is done.
fn time_left(elapsed: Duration, done: usize, remaining: usize) -> Option<Duration> {
    let each = elapsed.checked_div(u32::try_from(done).ok()?)?;
    each.checked_mul(u32::try_from(remaining).ok()?)
}

impl Observer for Bar {
    fn on_step(&mut self, step: Progress<'_>) -> ControlFlow<()> {
        self.show(step.done, step.of, || {
            // Only solvers with a penalty have a ρ.
            if step.rho > 0.0 {
                format!("ρ {}, violation {}", step.rho, number(step.violation))
            } else {
                String::new()
            }
        });
        ControlFlow::Continue(())
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_the_time_left_once_something_is_done() {
        let minute = Duration::from_secs(60);
        assert_eq!(time_left(minute, 0, 10), None);
        assert_eq!(time_left(minute, 6, 3), Some(Duration::from_secs(30)));
        assert_eq!(time_left(minute, 6, 0), Some(Duration::ZERO));
    }
}
