//! Progress on standard error: a bar, and a line while kernels are compiled.

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use modmill_cuda::compiler;
use parking_lot::Mutex;
use std::sync::LazyLock;
use std::time::Duration;

/// Everything that is shown, so that lines do not overwrite each other.
static SHOWN: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// The time between two pictures of a bar or spinner.
const TICK: Duration = Duration::from_millis(250);

/// Shows on standard error from now on, if that is a terminal, that kernels of GPUs are being compiled, while
/// they are.
pub(crate) fn show_compilations() {
    let line: Mutex<Option<ProgressBar>> = Mutex::new(None);
    // The first caller's line serves the whole program.
    compiler::watch(move |under_way| {
        let mut line = line.lock();
        if under_way == 0 {
            line.take().into_iter().for_each(|line| line.finish_and_clear());
            return;
        }
        let line = line.get_or_insert_with(|| {
            let line = SHOWN.add(ProgressBar::new_spinner());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}  {elapsed}") {
                line.set_style(style);
            }
            line.enable_steady_tick(TICK);
            line
        });
        let programs = if under_way == 1 { "program" } else { "programs" };
        line.set_message(format!("compiling kernels for the GPU, {under_way} {programs} left"));
    });
}

/// Progress on standard error, shown if that is a terminal.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// A bar up to `size`, or a spinner if the size is unknown. `unit` is the plural name of one step;
    /// `bytes` are shown as KiB, MiB and so on.
    pub(crate) fn new(size: Option<u64>, quiet: bool, unit: &str) -> Self {
        let bar = ProgressBar::with_draw_target(size, ProgressDrawTarget::hidden());
        if !quiet {
            SHOWN.add(bar.clone());
            show_compilations();
        }
        let template = match (size, unit) {
            (Some(_), "bytes") => {
                "{wide_bar} {bytes}/{total_bytes}  {bytes_per_sec}  {elapsed} of about {duration}"
            }
            (Some(_), _) => "{wide_bar} {pos}/{len}  {msg}  {elapsed} of about {duration}",
            (None, "bytes") => "{spinner} {bytes}  {bytes_per_sec}  {elapsed}",
            (None, _) => "{spinner} {pos}  {msg}  {elapsed}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        Self(bar)
    }

    pub(crate) fn advance(&self, amount: u64) {
        self.0.inc(amount);
    }

    /// Shows that `position` steps are done.
    pub(crate) fn show(&self, position: u64) {
        self.0.set_position(position);
    }

    /// Shows `position` of `size` steps, with the time since [`Bar::restart`].
    #[cfg(feature = "audit")]
    pub(crate) fn show_of(&self, position: u64, size: u64) {
        self.0.set_length(size);
        self.0.set_position(position);
    }

    /// Begins another row of steps.
    #[cfg(feature = "audit")]
    pub(crate) fn restart(&self) {
        self.0.reset();
    }

    #[cfg(test)]
    pub(crate) fn position(&self) -> u64 {
        self.0.position()
    }

    pub(crate) fn message(&self, text: String) {
        self.0.set_message(text);
    }

    /// Hides the bar while `print` writes to the terminal.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        SHOWN.suspend(print)
    }

    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
