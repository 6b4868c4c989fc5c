//! A progress bar on standard error.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// Progress on standard error, shown if that is a terminal.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// A bar up to `size`, or a spinner if the size is unknown. `unit` is the plural name of one step; `bytes`
    /// are shown as KiB, MiB and so on.
    pub(crate) fn new(size: Option<u64>, quiet: bool, unit: &str) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(size, target);
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
        bar.enable_steady_tick(Duration::from_millis(250));
        Self(bar)
    }

    pub(crate) fn advance(&self, amount: u64) {
        self.0.inc(amount);
    }

    pub(crate) fn message(&self, text: String) {
        self.0.set_message(text);
    }

    /// Hides the bar while `print` writes to the terminal.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }

    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
