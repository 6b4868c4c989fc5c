//! Tables that were measured on this machine: their files, and the rows that are worth keeping.

use crate::cache;
use crate::table::{MAX_WINDOW, Table, Timing};
use crate::variant::Variant;
use modmill_core::Op;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The environment variable that names a table.
const FILE: &str = "MODMILL_TUNE";

impl Table {
    /// The file of a device's own table: the file that `MODMILL_TUNE` names, or `tune-<device>.json` in the
    /// folder of the cache; `None` if there is no cache.
    #[must_use]
    pub fn place(device: &str) -> Option<PathBuf> {
        let named = env::var_os(FILE).filter(|name| !name.is_empty()).map(PathBuf::from);
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let name: String = device.chars().map(plain).collect();
        named.or_else(|| Some(cache::folder()?.join(format!("tune-{name}.json"))))
    }

    /// A device's own table, if it has one. An error says why a table that exists cannot be used.
    pub fn tuned(device: &str) -> Result<Option<Self>, String> {
        let Some(path) = Self::place(device) else { return Ok(None) };
        match Self::read(&path) {
            Ok(table) => Ok(Some(table)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("the measurements in {} are not used: {error}", path.display())),
        }
    }

    /// Reads a table from a file.
    pub fn read(path: &Path) -> io::Result<Self> {
        let table: Self = serde_json::from_str(&fs::read_to_string(path)?)?;
        if table.timings.is_empty() {
            return Err(io::Error::other("there are none"));
        }
        let timing =
            table.timings.iter().find(|timing| !timing.is_sound()).map(|timing| format!("{timing:?}"));
        let transform = table.transforms.unsound().map(|timing| format!("{timing:?}"));
        match timing.or(transform) {
            None => Ok(table),
            Some(timing) => Err(io::Error::other(format!("nothing can be computed as in {timing}"))),
        }
    }

    /// Writes a table to a temporary file and renames it, so that no reader sees half of it.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
        io::Write::write_all(&mut file, self.to_json()?.as_bytes())?;
        file.persist(path)?;
        Ok(())
    }

    /// The text of a file, with one measurement per line.
    fn to_json(&self) -> serde_json::Result<String> {
        let device = serde_json::to_string(&self.device)?;
        let (timings, transforms) = (lines(&self.timings)?, lines(&self.transforms.0)?);
        Ok(format!(
            "{{\"device\": {device}, \"timings\": [\n{timings}\n], \"transforms\": [\n{transforms}\n]}}\n"
        ))
    }

    /// Keeps the rows worth keeping. Of each size and family that is the row with the highest throughput, and
    /// every row that is clearly faster than all kept rows of its family for some size of batch. A family
    /// that never wins keeps its rows, for callers that ask for the family and for plans that say by how much
    /// it loses.
    pub fn keep_winners(&mut self) {
        const CLEARLY: f64 = 1.02;
        // Steps of a tenth, from one number to more than any device holds.
        let counts = || (0..320).map(|step| 1.1f64.powi(step) as usize);
        let seconds =
            |timing: &Timing, op: Op, count: usize| timing.seconds(op, timing.bits, count, timing.bits);
        let for_one = |timing: &Timing| timing.wave_seconds / timing.wave as f64;
        self.timings.sort_by(|a, b| a.bits.cmp(&b.bits).then(for_one(a).total_cmp(&for_one(b))));
        let mut kept: Vec<Timing> = Vec::new();
        for timing in &self.timings {
            let wins = |op, count| {
                let same = |rival: &&Timing| rival.bits == timing.bits && rival.family == timing.family;
                let rivals = kept.iter().filter(same);
                let mut rivals = rivals.map(|rival| seconds(rival, op, count));
                rivals.all(|rival| CLEARLY * seconds(timing, op, count) < rival)
            };
            if counts().any(|count| wins(Op::Pow, count) || wins(Op::PowVartime, count)) {
                kept.push(*timing);
            }
        }
        self.timings = kept;
    }
}

/// One JSON value per line, separated by commas.
fn lines<T: serde::Serialize>(values: &[T]) -> serde_json::Result<String> {
    let lines: Result<Vec<String>, _> = values.iter().map(serde_json::to_string).collect();
    Ok(lines?.join(",\n"))
}

impl Timing {
    /// Whether some device has the layout, and the times are times.
    fn is_sound(&self) -> bool {
        let is_time = |seconds: f64| seconds.is_finite() && seconds > 0.0;
        self.bits > 0
            && Variant::is_layout(self.family, self.bits, self.layout)
            && (1..=MAX_WINDOW).contains(&self.window)
            && self.wave > 0
            && is_time(self.wave_seconds)
            && is_time(self.direct_seconds)
            && is_time(self.alone_seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::layout::Layout;
    use crate::table::{TransformTiming, Transforms};
    use modmill_core::Family;

    fn timing(threads: u32, wave: usize, wave_seconds: f64, alone_seconds: f64) -> Timing {
        let layout = Layout { threads, block: 128, resident: 3, cut: None };
        let direct_seconds = wave_seconds;
        Timing {
            bits: 1024,
            family: Family::Row,
            layout,
            window: 5,
            wave,
            wave_seconds,
            direct_seconds,
            alone_seconds,
        }
    }

    #[test]
    fn winners_of_throughput_and_of_latency_are_kept() {
        let most = timing(1, 50_000, 0.02, 0.008);
        let soonest = timing(8, 20_000, 0.011, 0.002);
        let never = timing(4, 30_000, 0.03, 0.009);
        let another_family = Timing { family: Family::Wide, ..never };
        let timings = vec![most, never, another_family, soonest];
        let mut table = Table::measured("any", timings);
        table.keep_winners();
        assert_eq!(table.timings, [most, soonest, another_family]);
    }

    #[test]
    fn what_is_written_is_read_and_what_is_broken_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.json");
        let transform = TransformTiming {
            op: Op::MulMod,
            bits: 1 << 20,
            batch: 10,
            batch_seconds: 0.1,
            alone_seconds: 0.05,
        };
        let mut table = Table::measured("a \"GPU\"", vec![timing(1, 10, 0.1, 0.05)]);
        table.transforms = Transforms(vec![transform]);
        table.write(&path).unwrap();
        assert_eq!(Table::read(&path).unwrap(), table);
        for spoil in [
            |timing: &mut Timing| timing.wave = 0,
            |timing: &mut Timing| timing.layout.threads = 3,
            |timing: &mut Timing| timing.layout.threads = 0,
            |timing: &mut Timing| timing.layout.block = u32::MAX - 31,
            |timing: &mut Timing| (timing.family, timing.layout.threads) = (Family::TwoPass, 2),
            |timing: &mut Timing| timing.bits = usize::MAX,
            |timing: &mut Timing| timing.window = 40,
            |timing: &mut Timing| timing.alone_seconds = -1.0,
        ] {
            table.timings[0] = timing(1, 10, 0.1, 0.05);
            spoil(&mut table.timings[0]);
            table.write(&path).unwrap();
            assert!(Table::read(&path).is_err(), "{table:?}");
        }
        table.timings[0] = timing(1, 10, 0.1, 0.05);
        table.transforms.0[0].batch = 0;
        table.write(&path).unwrap();
        assert!(Table::read(&path).is_err(), "{table:?}");
        fs::write(&path, "{").unwrap();
        assert!(Table::read(&path).is_err());
    }
}
