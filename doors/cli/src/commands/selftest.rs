//! `modmill selftest`: tests this build on this hardware.

use super::bench::parse_seconds;
use crate::build;
use crate::failure::Failure;
use crate::io::Output;
use crate::options::EngineOptions;
use crate::progress::Bar;
use modmill::{Engine, Path};
use modmill_measure::machine::{self, Machine};
use modmill_testing::key_timing::{self, KeyTiming, Protection};
use modmill_testing::{suite, timing};
use serde_json::{Value, json};
use std::io::Write;
use std::time::Duration;

const LONG_ABOUT: &str = "\
Tests this build on this hardware: known answers, and random checks against independent arithmetic, on \
every path of this machine (an algorithm on an instruction set, or on GPUs).

Prints a line for each path and for each case that failed, and closes with `N passed, M failed`. The \
exit status is 1 if a case failed. --full takes minutes instead of seconds, and --brief tests a few \
values and no number beyond 260 bits. The first run on a GPU compiles its kernels, which takes minutes too. --backend cuda tests GPUs alone. With \
MODMILL_REQUIRE_GPU=1, a machine without a usable GPU fails.

--timing also measures whether the time of pow depends on its exponent: calls with a fixed exponent and \
with random ones take turns, and Welch's t-test compares their times. A large |t| says that they \
differ. Run it on a quiet machine.

--key-timing N times RSA-2048 private operations on GPUs with N keys, one after the other, and runs no \
other test. The exponents of the keys have few ones, many ones, or are random. It shows the correlation \
between the time of the kernels and the number of ones.";

const EXAMPLES: &str = "\
Examples:
  modmill selftest
  modmill selftest --full --json results.json
  MODMILL_REQUIRE_GPU=1 modmill selftest --backend cuda
  modmill selftest --algorithm row --timing --seconds 60
  modmill selftest --backend cuda --key-timing 256";

/// Tests this build on this hardware
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Selftest {
    #[command(flatten)]
    engine: EngineOptions,
    /// Test more values and longer numbers; takes minutes
    #[arg(long)]
    full: bool,
    /// Test few values of every kind, and only short numbers
    #[arg(long, conflicts_with = "full")]
    brief: bool,
    /// Also measure whether the time depends on exponents
    #[arg(long)]
    timing: bool,
    /// Seconds of --timing for each path
    #[arg(long, value_name = "S", default_value = "10", value_parser = parse_seconds)]
    seconds: Duration,
    /// Only time RSA on GPUs, with this number of keys
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(8..))]
    key_timing: Option<u16>,
    /// Write all cases as JSON, to standard output if no file is named
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    json: Option<String>,
    /// Name the cases that passed, too
    #[arg(long, short)]
    verbose: bool,
}

/// Bits of the numbers whose time is measured.
const TIMING_BITS: usize = 1024;

/// Bits of the keys of --key-timing.
const KEY_BITS: usize = 2048;
/// Items in a batch of --key-timing: one wave of an H200, because all waves take the same time.
const KEY_BATCH: usize = 25_344;

impl Selftest {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let engine = self.engine.engine()?;
        let paths = engine.paths();
        let json = self.json.as_deref().map(Output::create).transpose()?;
        let mut tally = Tally { talks_to_stderr: self.json.as_deref() == Some("-"), ..Tally::default() };
        if std::env::var("MODMILL_REQUIRE_GPU").is_ok_and(|value| value == "1") {
            let why = || engine.faults().pop().unwrap_or("none was looked for".to_owned());
            let outcome = if engine.cuda().is_some() { Ok(()) } else { Err(why()) };
            if let Some(line) = tally.count("cuda", "a GPU can be used", outcome, self.verbose) {
                tally.say(&line)?;
            }
        }
        match self.key_timing {
            Some(keys) => time_keys(&engine, keys.into(), &mut tally)?,
            None => {
                drop(engine);
                for path in paths {
                    self.run_path(path, &mut tally)?;
                }
            }
        }
        if let Some(mut output) = json {
            let (passed, failed) = (tally.passed, tally.failed);
            let document = json!({
                "machine": Machine::detect(),
                "build": build::THIS,
                "date": machine::now(),
                "passed": passed,
                "failed": failed,
                "cases": std::mem::take(&mut tally.cases),
            });
            output.write(&format!("{document:#}\n"))?;
            output.finish()?;
        }
        tally.say(&format!("{} passed, {} failed", tally.passed, tally.failed))?;
        match tally.failed {
            0 => Ok(()),
            _ => Err(Failure::Items("the self-test failed".to_owned())),
        }
    }

    fn run_path(&self, path: Path, tally: &mut Tally) -> Result<(), Failure> {
        // An operation that a device cannot do is a failure here. The CPU must not compute it instead.
        let engine = self.engine.builder().path(path).fallback(false).build()?;
        let path = path.to_string();
        let (passed, failed) = (tally.passed, tally.failed);
        let effort = match (self.full, self.brief) {
            (true, _) => suite::Effort::Full,
            (_, true) => suite::Effort::Brief,
            (false, false) => suite::Effort::Quick,
        };
        let bar = Bar::new(None, false, "cases");
        bar.message(path.clone());
        let mut lines: Result<(), Failure> = Ok(());
        suite::run(&engine, effort, &mut |case| {
            bar.advance(1);
            let line = tally.count(&path, &case.name, case.outcome, self.verbose);
            if let (Some(line), Ok(())) = (line, &lines) {
                lines = bar.aside(|| tally.say(&line));
            }
        });
        bar.finish();
        lines?;
        if self.timing {
            let bar = Bar::new(Some(100), false, "percent");
            bar.message(format!("{path} timing"));
            let mut shown = 0;
            let report = timing::welch_pow(&engine, TIMING_BITS, self.seconds, &mut |fraction| {
                let percent = (100.0 * fraction.clamp(0.0, 1.0)) as u64;
                bar.advance(percent.saturating_sub(shown));
                shown = shown.max(percent);
            });
            bar.finish();
            let found = format!(
                "|t| = {:.2} in {} samples ({}; threshold {})",
                report.t.abs(),
                report.samples,
                report.test,
                report.threshold
            );
            let name = format!("time of pow at {TIMING_BITS} bits");
            let outcome = if report.passed() { Ok(()) } else { Err(found.clone()) };
            let line = tally.count(&path, &name, outcome, false);
            tally.say(&line.unwrap_or_else(|| format!("  {name}: {found}")))?;
        }
        let (passed, failed) = (tally.passed - passed, tally.failed - failed);
        tally.say(&format!("{path}: {passed} of {} cases passed", passed + failed))
    }
}

/// Times RSA with many keys on the engine's GPUs, with each protection.
fn time_keys(engine: &Engine, keys: usize, tally: &mut Tally) -> Result<(), Failure> {
    let cuda = engine.cuda().ok_or_else(|| Failure::Usage("--key-timing is for GPUs".to_owned()))?;
    // An emulated device takes minutes for a whole batch.
    let emulated = cuda.devices().any(|device| device.properties().emulated);
    let (bits, count) = if emulated { (256, 16) } else { (KEY_BITS, KEY_BATCH) };
    for (name, protection) in [
        ("blinded exponents", Protection::Blinded),
        ("whole tables", Protection::Masked),
        ("neither, for comparison", Protection::None),
    ] {
        let bar = Bar::new(Some(100), false, "percent");
        bar.message(name.to_owned());
        let mut shown = 0;
        let found = key_timing::measure(cuda, bits, count, keys, protection, &mut |fraction| {
            let percent = (100.0 * fraction) as u64;
            bar.advance(percent.saturating_sub(shown));
            shown = shown.max(percent);
        });
        bar.finish();
        let found = found.map_err(|error| Failure::Items(error.to_string()))?;
        let KeyTiming { keys, mean_ms, deviation, spread, correlation, t } = found;
        let text = format!(
            "{keys} keys, {mean_ms:.3} ms, deviation {:.3} %, spread {:.3} %, correlation with ones {correlation:.3}, \
             t = {t:.2} (threshold {})",
            100.0 * deviation,
            100.0 * spread,
            key_timing::THRESHOLD
        );
        let goes_with_keys = t.abs() >= key_timing::THRESHOLD && protection != Protection::None && !emulated;
        let outcome = if goes_with_keys { Err(text.clone()) } else { Ok(()) };
        let line = tally.count("cuda/rns", &format!("time of RSA-{bits} by keys, {name}"), outcome, false);
        tally.say(&line.unwrap_or_else(|| format!("  {name}: {text}")))?;
    }
    Ok(())
}

/// The outcomes of all cases.
#[derive(Default)]
struct Tally {
    passed: u64,
    failed: u64,
    cases: Vec<Value>,
    /// Messages go to standard error, because JSON goes to standard output.
    talks_to_stderr: bool,
}

impl Tally {
    /// Counts a case. A case that failed has a line to print, and with `verbose` every case.
    fn count(
        &mut self,
        path: &str,
        name: &str,
        outcome: Result<(), String>,
        verbose: bool,
    ) -> Option<String> {
        let reason = outcome.err();
        self.cases.push(json!({ "path": path, "name": name, "passed": reason.is_none(), "reason": reason }));
        match reason {
            None => {
                self.passed += 1;
                verbose.then(|| format!("  {path}: {name}: passed"))
            }
            Some(reason) => {
                self.failed += 1;
                Some(format!("  {path}: {name}: FAILED: {reason}"))
            }
        }
    }

    fn say(&self, line: &str) -> Result<(), Failure> {
        if self.talks_to_stderr {
            let _ = writeln!(std::io::stderr(), "{line}");
            return Ok(());
        }
        let mut stdout = std::io::stdout();
        writeln!(stdout, "{line}").map_err(|error| Failure::write("standard output", &error))
    }
}
