//! Measurements of files: the numbers that a program reads, and the library's rate on the same numbers in
//! memory.

use crate::inputs::{Inputs, Workload};
use crate::record::{Header, json_lines};
use crate::rsa_items::SIGNATURE;
use crate::table::{number, terminal};
use modmill::{Batch, Engine, Error, Op, Request};
use modmill_core::limbs::copy_be_bytes;
use modmill_rsa::{Hash, PrivateKey, Rsa, SignatureScheme, Sizes};
use serde::Serialize;
use std::time::{Duration, Instant};

/// The numbers of one file.
pub struct FileInputs(Inputs);

impl FileInputs {
    /// Random numbers for `count` records: odd moduli and bases of `bits` bits, exponents of `exponent_bits`
    /// bits.
    #[must_use]
    pub fn random(op: Op, bits: usize, exponent_bits: usize, count: usize, seed: u64) -> Self {
        let (shared_modulus, is_remainder) = (false, false);
        Self(Inputs::random(Workload { op, bits, exponent_bits, count, shared_modulus, is_remainder }, seed))
    }

    /// The records that an engine computes in about `time`, but at least `least`.
    ///
    /// It is an error if no path of the engine computes the operation.
    pub fn count_for(
        engine: &Engine,
        op: Op,
        (bits, exponent_bits): (usize, usize),
        time: Duration,
        least: usize,
    ) -> Result<usize, Error> {
        const MANY: usize = 1 << 18;
        let request = Request::new(op, bits, MANY);
        let request = if op.is_power() { request.exponents_of(exponent_bits) } else { request };
        let seconds = engine.plan(&request)?.seconds / MANY as f64;
        Ok(((time.as_secs_f64() / seconds.max(1e-9)) as usize).max(least))
    }

    /// The names of the fields, as the program calls them, and their numbers.
    #[must_use]
    pub fn fields(&self) -> Vec<(&'static str, &Batch)> {
        let Inputs { a, b, moduli, .. } = &self.0;
        match self.0.workload.op {
            Op::Pow | Op::PowVartime => vec![("base", a), ("exp", b), ("mod", moduli)],
            Op::MulMod => vec![("a", a), ("b", b), ("mod", moduli)],
            Op::Inv => vec![("a", a), ("mod", moduli)],
            Op::Square => vec![("a", a), ("b", a)],
            Op::SquareMod => vec![("a", a), ("b", a), ("mod", moduli)],
            _ => vec![("a", a), ("b", b)],
        }
    }

    /// The answers of one call of the library.
    pub fn compute(&self, engine: &Engine) -> Result<Batch, Error> {
        let Inputs { a, moduli, .. } = &self.0;
        // The program's records have two factors.
        match self.0.workload.op {
            Op::Square => engine.mul(a, a),
            Op::SquareMod => engine.mul_mod(a, a, moduli),
            _ => self.0.compute(engine),
        }
    }

    /// The records per second of the library, in the best of the calls that fit in `time`.
    pub fn library_rate(&self, engine: &Engine, time: Duration) -> Result<f64, Error> {
        let best = best_time(time, || self.compute(engine).map(drop))?;
        Ok(self.0.workload.count as f64 / best.as_secs_f64())
    }
}

/// SHA-256 digests of one file, and the key that signs them by PKCS #1 v1.5.
pub struct SignInputs {
    key: PrivateKey,
    digests: Batch,
}

impl SignInputs {
    /// A random key of `bits` bits and the digests of `count` records.
    pub fn random(engine: &Engine, bits: usize, count: usize) -> Result<Self, modmill_rsa::Error> {
        let key = PrivateKey::generate(engine, bits, Sizes::AllowSmall)?;
        let mut digests = Batch::zeros(8 * Hash::Sha256.len(), count);
        for item in 0..count {
            let digest = Hash::Sha256.digest(&[&item.to_le_bytes()]);
            copy_be_bytes(digest.as_ref(), digests.get_mut(item));
        }
        Ok(Self { key, digests })
    }

    /// The records that an engine signs in about `time`, but at least `least`.
    pub fn count_for(engine: &Engine, bits: usize, time: Duration, least: usize) -> Result<usize, Error> {
        const MANY: usize = 1 << 18;
        let seconds = engine.plan(&Self::powers(bits, MANY))?.seconds / MANY as f64;
        Ok(((time.as_secs_f64() / seconds.max(1e-9)) as usize).max(least))
    }

    /// The powers that `count` signatures consist of: one modulo each of the two primes.
    #[must_use]
    pub fn powers(bits: usize, count: usize) -> Request {
        Request::new(Op::Pow, bits / 2, 2 * count).one_modulus().exponents_of(bits / 2)
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> &PrivateKey {
        &self.key
    }

    /// The scheme of the signatures.
    #[must_use]
    pub fn scheme(&self) -> SignatureScheme {
        SIGNATURE
    }

    /// The name of the field, as the program calls it, and its digests.
    #[must_use]
    pub fn fields(&self) -> Vec<(&'static str, &Batch)> {
        vec![("digest", &self.digests)]
    }

    /// The signatures of one call of the library. A key that is too short for the digests is an error.
    pub fn compute(&self, engine: &Engine) -> Result<Batch, modmill_rsa::Error> {
        let digests = self.octets();
        let rows = Rsa::new(engine).sign_digests_rows(&self.key, SIGNATURE, &digests)?;
        let mut signatures = Batch::zeros(self.key.bits(), rows.len());
        for (item, signature) in rows.iter().enumerate() {
            // An item without a signature stays zero, which is no signature of any digest.
            copy_be_bytes(signature.unwrap_or_default(), signatures.get_mut(item));
        }
        Ok(signatures)
    }

    /// The records per second of the library, in the best of the calls that fit in `time`.
    pub fn library_rate(&self, engine: &Engine, time: Duration) -> Result<f64, modmill_rsa::Error> {
        let (rsa, digests) = (Rsa::new(engine), self.octets());
        let sign = || rsa.sign_digests_rows(&self.key, SIGNATURE, &digests).map(drop);
        Ok(digests.len() as f64 / best_time(time, sign)?.as_secs_f64())
    }

    fn octets(&self) -> Vec<Vec<u8>> {
        (0..self.digests.len()).map(|item| self.digests.to_be_bytes(item)).collect()
    }
}

/// The shortest time of `work`, which is repeated until `time` has passed.
pub fn best_time<E>(time: Duration, mut work: impl FnMut() -> Result<(), E>) -> Result<Duration, E> {
    let start = Instant::now();
    let mut best = Duration::MAX;
    while best == Duration::MAX || start.elapsed() < time {
        let start = Instant::now();
        work()?;
        best = best.min(start.elapsed());
    }
    Ok(best)
}

/// The result of one file.
#[derive(Debug, Clone, Serialize)]
pub struct FileRecord {
    /// Always `file`.
    pub kind: &'static str,
    /// The operation.
    pub op: String,
    /// Bits of moduli and bases, of factors, or of the key.
    pub bits: usize,
    /// Bits of exponents, for powers.
    pub exponent_bits: Option<usize>,
    /// `lines`, `parquet` or `arrow`.
    pub format: &'static str,
    /// Records in the file.
    pub records: usize,
    /// Worker threads.
    pub threads: usize,
    /// The path that the library computes by.
    pub path: String,
    /// Bytes of the input and of the output.
    pub bytes: u64,
    /// Records per second from file to file, in the best run.
    pub records_per_s: f64,
    /// Megabytes of input and output per second, in the best run.
    pub megabytes_per_s: f64,
    /// Records per second of the library on the same numbers in memory, in the best call.
    pub library_per_s: f64,
    /// Whether all answers were right.
    pub verified: bool,
}

/// The header and all records as one JSON array, one record per line.
pub fn to_json(header: &Header, records: &[FileRecord]) -> Result<String, serde_json::Error> {
    json_lines(header, records)
}

/// The columns of [`line()`]. A terminal of fewer than 95 columns goes without the number of records and
/// megabytes.
#[must_use]
pub fn header() -> String {
    header_in(is_narrow())
}

fn header_in(is_narrow: bool) -> String {
    let names = ["op", "bits", "exp", "format", "path", "records", "records/s", "MB/s", "library/s", "share"];
    columns(names, is_narrow)
}

/// A record as a line for people.
#[must_use]
pub fn line(record: &FileRecord) -> String {
    line_in(record, is_narrow())
}

fn line_in(record: &FileRecord, is_narrow: bool) -> String {
    let exponent_bits = record.exponent_bits.map_or_else(|| "-".to_owned(), |bits| bits.to_string());
    let cells = [
        &record.op,
        &record.bits.to_string(),
        &exponent_bits,
        record.format,
        &record.path,
        &record.records.to_string(),
        &number(record.records_per_s),
        &number(record.megabytes_per_s),
        &number(record.library_per_s),
        &format!("{:.0}%", 100.0 * record.records_per_s / record.library_per_s),
    ];
    columns(cells, is_narrow)
}

fn is_narrow() -> bool {
    terminal().is_some_and(|columns| columns < 97)
}

/// Names on the left and numbers on the right of their columns. The columns are as wide as the longest usual
/// texts.
fn columns(cells: [&str; 10], is_narrow: bool) -> String {
    let [op, bits, exp, format, path, records, rate, megabytes, library, share] = cells;
    let start = format!("{op:<11} {bits:>7} {exp:>7} {format:<7} {path:<15}");
    let end = format!("{library:>10} {share:>5}");
    match is_narrow {
        true => format!("{start} {rate:>11} {end}\n"),
        false => format!("{start} {records:>9} {rate:>11} {megabytes:>6} {end}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_answers_belong_together() {
        let engine = Engine::builder().threads(1).build().unwrap();
        for &op in Op::OF_ITEMS {
            let inputs = FileInputs::random(op, 64, 64, 3, 1);
            let fields = inputs.fields();
            assert!(!fields.is_empty() && fields.iter().all(|field| field.1.len() == 3), "{op}");
            let answers = inputs.compute(&engine).unwrap();
            assert_eq!(answers.get(1), &inputs.0.expected(1)[..answers.stride()], "{op}");
            assert!(inputs.library_rate(&engine, Duration::ZERO).unwrap() > 0.0);
        }
        let count = FileInputs::count_for(&engine, Op::Pow, (512, 512), Duration::from_secs(1), 10).unwrap();
        assert!(count > 100);
    }

    #[test]
    fn signatures_belong_to_their_digests() {
        let engine = Engine::builder().threads(1).build().unwrap();
        let inputs = SignInputs::random(&engine, 1024, 5).unwrap();
        let (signatures, (name, digests)) = (inputs.compute(&engine).unwrap(), inputs.fields().remove(0));
        assert_eq!((name, digests.len(), signatures.len()), ("digest", 5, 5));
        let octets = |batch: &Batch| -> Vec<Vec<u8>> { (0..5).map(|item| batch.to_be_bytes(item)).collect() };
        let public = inputs.key().public_key();
        let verdicts = Rsa::new(&engine)
            .verify_digests(public, inputs.scheme(), &octets(digests), &octets(&signatures))
            .unwrap();
        assert!(verdicts.iter().all(Result::is_ok));
        assert!(inputs.library_rate(&engine, Duration::ZERO).unwrap() > 0.0);
        assert!(SignInputs::count_for(&engine, 1024, Duration::from_secs(1), 10).unwrap() > 100);
    }

    #[test]
    fn lines_stand_below_their_header() {
        let record = FileRecord {
            kind: "file",
            op: "pow_vartime".to_owned(),
            bits: 2048,
            exponent_bits: Some(17),
            format: "parquet",
            records: 1_000_000,
            threads: 16,
            path: "avx512ifma/ifma".to_owned(),
            bytes: 1 << 30,
            records_per_s: 2_500_000.0,
            megabytes_per_s: 1234.5,
            library_per_s: 5_000_000.0,
            verified: true,
        };
        for (is_narrow, end, columns) in [
            (false, "1000000   2,500,000  1,234  5,000,000   50%\n", 97),
            (true, "avx512ifma/ifma   2,500,000  5,000,000   50%\n", 80),
        ] {
            let line = line_in(&record, is_narrow);
            assert!(line.ends_with(end) && line.trim_end().len() == columns, "{line}");
            assert_eq!(line.len(), header_in(is_narrow).len());
        }
    }
}
