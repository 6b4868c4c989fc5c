//! Throughput and latency against the size of a batch, and the smallest batch that a GPU computes first.

use crate::record::Record;
use modmill::Backend;

/// The batch sizes that are measured by default: powers of two up to what fills a good part of a GPU.
#[must_use]
pub fn sizes() -> Vec<usize> {
    (0..=14).map(|power| 1 << power).collect()
}

/// For each operation, length and number of threads: from which batch on GPUs answer sooner than the CPU.
#[must_use]
pub fn summary(records: &[Record]) -> String {
    let key = |record: &Record| (record.op.clone(), record.bits, record.threads);
    let mut seen = Vec::new();
    let mut text = String::new();
    for point in records.iter().map(key) {
        if seen.contains(&point) {
            continue;
        }
        let here: Vec<&Record> = records.iter().filter(|record| key(record) == point).collect();
        let (op, bits, threads) = &point;
        if here.iter().any(|record| record.backend == Backend::Cuda.name()) {
            let verdict = match first_win(&here) {
                Some(batch) => {
                    format!("from {batch} items on the GPU answers sooner than {threads} CPU threads")
                }
                None => format!("{threads} CPU threads answer every measured batch sooner than the GPU"),
            };
            text += &format!("{op} of {bits} bits: {verdict}\n");
        }
        seen.push(point);
    }
    text
}

/// The smallest batch from which on a GPU has the lower latency at every size that both were measured at.
fn first_win(records: &[&Record]) -> Option<usize> {
    let latency = |batch: usize, backend: Backend| {
        let here = records.iter().filter(|record| record.batch == batch && record.backend == backend.name());
        here.map(|record| record.latency_ms).min_by(f64::total_cmp)
    };
    let mut batches: Vec<usize> = records.iter().map(|record| record.batch).collect();
    batches.sort_unstable();
    batches.dedup();
    let mut first = None;
    for batch in batches {
        match (latency(batch, Backend::Cuda), latency(batch, Backend::Cpu)) {
            (Some(gpu), Some(cpu)) if gpu < cpu => first = first.or(Some(batch)),
            (Some(_), Some(_)) => first = None,
            _ => {}
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;
    use crate::record_builder::RecordBuilder;
    use crate::report::batches_picture;
    use crate::slices::Rates;

    fn record(backend: Backend, batch: usize, latency_ms: f64) -> Record {
        let builder = RecordBuilder {
            op: "pow".to_owned(),
            bits: 2048,
            exponent_bits: None,
            shared_modulus: false,
            memory: Memory::Plain,
            batch,
            threads: 16,
            verified_with: "gmp".to_owned(),
            verified_items: batch,
        };
        let rate = batch as f64 / latency_ms * 1e3;
        let record = builder.record(&Rates::even(rate, latency_ms), true);
        let device = (backend == Backend::Cuda).then(|| "a GPU".to_owned());
        Record { backend: backend.name().to_owned(), device, ..record }
    }

    #[test]
    fn the_first_batch_from_which_a_gpu_wins_is_named() {
        let both = |batch: usize, cpu: f64, gpu: f64| {
            [record(Backend::Cpu, batch, cpu), record(Backend::Cuda, batch, gpu)]
        };
        let mut records =
            [both(1, 1.0, 7.0), both(2, 8.0, 7.0), both(4, 6.9, 7.0), both(8, 14.0, 7.0)].concat();
        assert!(summary(&records).contains("pow of 2048 bits: from 8 items on"), "{}", summary(&records));
        records.extend(both(16, 28.0, 7.1));
        assert!(summary(&records).contains("from 8 items on"));
        assert!(summary(&records[..2]).contains("16 CPU threads answer every"));
        assert_eq!(summary(&records[..1]), "");
        let picture = batches_picture(&records);
        assert_eq!((picture.matches("<polyline").count(), picture.matches("a GPU").count()), (4, 12));
    }
}
