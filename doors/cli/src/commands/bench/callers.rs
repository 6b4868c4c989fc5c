//! `modmill bench --callers`: many threads on one engine.

use super::Bench;
use crate::bench_header::bench_header;
use crate::failure::Failure;
use crate::io::{self, Output};
use crate::progress::Bar;
use modmill_measure::callers::{Callers, CallersRecord, table, to_json};

/// Items in a batch of a caller, unless the user gives others.
const ITEMS: usize = 64;

impl Bench {
    /// Measures callers instead of batches.
    pub(super) fn run_callers(&self) -> Result<(), Failure> {
        let json = self.json.as_deref().map(Output::create).transpose()?;
        let items: Vec<usize> = self.batch.iter().map(|&items| items as usize).collect();
        let bench = Callers {
            ops: self.ops.clone(),
            bits: self.bits.clone(),
            callers: self.callers.iter().copied().map(usize::from).collect(),
            items: if items.is_empty() { vec![ITEMS] } else { items },
            time: self.seconds,
            exponent_bits: self.exponent_bits,
            shared_modulus: self.shared_modulus,
            keys: self.keys.into(),
            direct_tables: self.direct_tables,
            seed: self.seed,
        };
        let threads = if self.threads.is_empty() { &[0][..] } else { &self.threads };
        let bar = Bar::new(Some((bench.points() * threads.len()) as u64), self.quiet, "points");
        let mut records: Vec<CallersRecord> = Vec::new();
        for &threads in threads {
            let engine = self.backend.builder(threads.into()).build()?;
            records.extend(bench.run(&engine, &bar)?);
        }
        bar.finish();
        if let Some(mut output) = json {
            let text = to_json(&bench_header(self.seconds, self.seed, None), &records);
            output.write(&text.map_err(|error| Failure::Usage(error.to_string()))?)?;
            output.finish()?;
        }
        io::print(&table(&records))?;
        match records.iter().find(|record| !record.verified) {
            None => Ok(()),
            Some(CallersRecord { op, bits, callers, .. }) => {
                Err(Failure::Items(format!("wrong answers to {op} of {bits} bits of {callers} callers")))
            }
        }
    }
}
