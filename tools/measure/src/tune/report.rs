//! The results of a tuning, as text and as JSON.

use super::Tuned;
use crate::table::{self, beside, number, plain, right};
use modmill_cuda::{Layout, Timing, TransformTiming};
use serde_json::{Value, json};

fn powers_per_second(timing: &Timing) -> f64 {
    timing.wave as f64 / timing.wave_seconds
}

fn products_per_second(timing: &TransformTiming) -> f64 {
    timing.batch as f64 / timing.batch_seconds
}

impl Tuned {
    /// Everything that was measured.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let timings = self.findings.timings.iter().map(|timing| {
            let mut value = json!(timing);
            value["ops_per_s"] = json!(powers_per_second(timing));
            value["kept"] = json!(self.table.timings.contains(timing));
            value
        });
        let transforms = self.findings.transforms.iter().map(|timing| {
            let mut value = json!(timing);
            value["ops_per_s"] = json!(products_per_second(timing));
            value
        });
        let failed = self.findings.failed.iter().map(|failed| {
            json!({
                "bits": failed.bits,
                "family": failed.family().name(),
                "layout": failed.layout(),
                "reason": failed.reason,
            })
        });
        json!({
            "device": self.device,
            "timings": timings.collect::<Vec<_>>(),
            "transforms": transforms.collect::<Vec<_>>(),
            "failed": failed.collect::<Vec<_>>(),
        })
    }

    /// The timings that were kept, for people.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.device);
        if !self.findings.timings.is_empty() {
            text += &table::text(self.kernels());
        }
        if !self.findings.transforms.is_empty() {
            text += &table::text(self.transforms());
        }
        text += &format!("kept in {}\n", self.out.display());
        if let Some(first) = self.findings.failed.first() {
            let count = self.findings.failed.len();
            text += &format!("{count} variants could not be measured; the first:\n");
            text += &beside("", 2, &first.to_string());
        }
        text
    }

    fn kernels(&self) -> comfy_table::Table {
        let mut table = plain([
            "bits",
            "algorithm",
            "threads",
            "block",
            "blocks",
            "cut",
            "window",
            "at once",
            "powers/s",
            "alone ms",
        ]);
        for timing in self.findings.timings.iter().filter(|timing| self.table.timings.contains(timing)) {
            let Layout { threads, block, resident, cut } = timing.layout;
            table.add_row([
                right(timing.bits),
                timing.family.name().into(),
                right(threads),
                right(block),
                right(resident),
                right(cut.map_or_else(|| "-".to_owned(), |cut| cut.to_string())),
                right(timing.window),
                right(timing.wave),
                right(number(powers_per_second(timing))),
                right(number(1e3 * timing.alone_seconds)),
            ]);
        }
        table
    }

    fn transforms(&self) -> comfy_table::Table {
        let mut table = plain(["bits", "by transforms", "batch", "products/s", "alone ms"]);
        for timing in &self.findings.transforms {
            table.add_row([
                right(timing.bits),
                timing.op.name().into(),
                right(timing.batch),
                right(number(products_per_second(timing))),
                right(number(1e3 * timing.alone_seconds)),
            ]);
        }
        table
    }
}
