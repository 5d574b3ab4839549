//! Progress on a terminal, once there is something to wait for.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use equipoise_core::{Observer, Progress};
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

use crate::figures::number;
use crate::output::Output;

/// Shows a bar after the first second, if stderr is a terminal; takes it away when dropped.
pub(crate) struct Bar {
    started: Instant,
    wanted: bool,
    template: &'static str,
    bar: Option<ProgressBar>,
    /// How much was done when the work began: what an earlier run left took no time.
    done_before: Option<usize>,
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
        Self { started: Instant::now(), wanted, template, bar: None, done_before: None }
    }

    /// Shows how far the work is.
    pub(crate) fn show(&mut self, done: usize, of: usize, message: impl FnOnce() -> String) {
        if !self.wanted || self.started.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template(self.template)
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(of as u64).with_style(style).with_elapsed(self.started.elapsed())
        });
        // A loop with a tolerance to meet may take more steps than it promised.
        bar.set_length(of.max(done) as u64);
        bar.set_position(done as u64);
        bar.set_message(message());
    }
}

impl Bar {
    /// Shows how far the work is and how long it may take, judged by what was done since the first call.
    pub(crate) fn show_with_time_left(&mut self, done: usize, of: usize, things: &str) {
        let before = *self.done_before.get_or_insert(done);
        let elapsed = self.started.elapsed();
        self.show(done, of, || match time_left(elapsed, done.saturating_sub(before), of - done) {
            Some(left) => format!("{things}, about {} left", HumanDuration(left)),
            None => things.to_owned(),
        });
    }
}

/// As long for each as for those that are done; none is done, none can tell.
fn time_left(elapsed: Duration, done: usize, open: usize) -> Option<Duration> {
    let each = elapsed.checked_div(u32::try_from(done).ok()?)?;
    each.checked_mul(u32::try_from(open).ok()?)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_is_told_once_something_is_done() {
        let minute = Duration::from_secs(60);
        assert_eq!(time_left(minute, 0, 10), None);
        assert_eq!(time_left(minute, 6, 3), Some(Duration::from_secs(30)));
        assert_eq!(time_left(minute, 6, 0), Some(Duration::ZERO));
    }
}
