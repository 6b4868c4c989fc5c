//! The times of the operations of Gentry and Halevi's scheme.

use super::{FheRecord, timed};
use modmill::Engine;
use modmill::cuda::kernel_seconds;
use modmill_fhe::gentry_halevi::{
    Ciphertexts, Encryption, Error, Evaluation, GentryHalevi, Noise, Progress, Setting, generate,
};
use std::time::{Duration, Instant};

/// The operations that are measured, and the time for them.
pub struct Bench<'a> {
    /// The engine.
    pub engine: &'a Engine,
    /// The parameters.
    pub setting: Setting,
    /// Their name.
    pub name: &'a str,
    /// The time for each operation.
    pub time: Duration,
    /// Bits that are encrypted, decrypted and computed with at a time.
    pub batch: usize,
    /// Bits that are recrypted at a time, in addition to one alone.
    pub recrypted: usize,
}

impl Bench<'_> {
    /// Measures all operations. `progress` is told how far the generation of keys is, and `done` what was
    /// measured.
    pub fn run(
        &self,
        progress: &mut dyn FnMut(Progress),
        mut done: impl FnMut(FheRecord),
    ) -> Result<(), Error> {
        let start = Instant::now();
        let (public, secret) = generate(self.engine, &self.setting, progress)?;
        let seconds = start.elapsed().as_secs_f64();
        let is_right = public.verify(self.engine)?;
        let size = public.modulus().bits();
        let record = |op, batch, seconds, verified| self.record(op, size, batch, seconds, verified);
        done(record("keygen", 1, [seconds, seconds, 0.0], is_right));
        let scheme = GentryHalevi::new(self.engine, public)?;
        let decrypts = |ciphertexts: &Ciphertexts, bits: &[bool]| {
            Ok::<_, Error>(scheme.decrypt(&secret, ciphertexts)? == bits)
        };
        let kernels = || kernel_seconds(self.engine);
        let bits: Vec<bool> = (0..self.batch).map(|item| item % 3 == 1).collect();
        let encryptions = [
            (
                "encrypt dense, windowed",
                Noise::Dense,
                Evaluation::Windowed(64.min(self.setting.dimension())),
                1,
            ),
            (
                "encrypt dense, windowed",
                Noise::Dense,
                Evaluation::Windowed(64.min(self.setting.dimension())),
                self.batch,
            ),
            ("encrypt dense, cached", Noise::Dense, Evaluation::CachedPowers, self.batch),
            ("encrypt sparse, cached", Noise::Sparse, Evaluation::CachedPowers, self.batch),
        ];
        for (op, noise, evaluation, batch) in encryptions {
            let (how, bits) = (Encryption { noise, evaluation }, &bits[..batch]);
            // The first call makes the powers.
            scheme.encrypt_with(bits, how)?;
            let (times, ciphertexts) = timed(self.time, kernels, || scheme.encrypt_with(bits, how))?;
            done(record(op, batch, times, decrypts(&ciphertexts, bits)?));
        }
        let fresh = scheme.encrypt(&bits)?;
        let (times, found) = timed(self.time, kernels, || scheme.decrypt(&secret, &fresh))?;
        done(record("decrypt", bits.len(), times, found == bits));
        let (times, product) = timed(self.time, kernels, || scheme.and(&fresh, &fresh))?;
        done(record("and", bits.len(), times, decrypts(&product, &bits)?));
        let (times, sum) = timed(self.time, kernels, || scheme.xor(&fresh, &fresh))?;
        done(record("xor", bits.len(), times, decrypts(&sum, &vec![false; bits.len()])?));
        for batch in [1, self.recrypted] {
            let places: Vec<usize> = (0..batch).collect();
            let some = product.select(self.engine, &places)?;
            // The first call transforms the key.
            scheme.recrypt(&some)?;
            let (times, recrypted) = timed(self.time, kernels, || scheme.recrypt(&some))?;
            done(record("recrypt", batch, times, decrypts(&recrypted, &bits[..batch])?));
        }
        Ok(())
    }

    fn record(
        &self,
        op: &'static str,
        size: usize,
        batch: usize,
        seconds: [f64; 3],
        verified: bool,
    ) -> FheRecord {
        let [best, median, kernels] = seconds.map(|seconds| 1e3 * seconds / batch as f64);
        FheRecord {
            kind: "fhe",
            scheme: "gentry-halevi",
            setting: self.name.to_owned(),
            size,
            op,
            backend: if self.engine.cuda().is_some() { "cuda" } else { "cpu" },
            batch,
            threads: self.engine.threads(),
            ms_each: best,
            median_ms_each: median,
            kernel_ms_each: (kernels > 0.0).then_some(kernels),
            verified,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_measured_and_right() {
        let engine = Engine::builder().threads(1).build().unwrap();
        let setting = Setting::custom(32, 128, 8).unwrap();
        let bench =
            Bench { engine: &engine, setting, name: "tiny", time: Duration::ZERO, batch: 4, recrypted: 2 };
        let mut records = Vec::new();
        bench.run(&mut |_| {}, |record| records.push(record)).unwrap();
        assert_eq!(records.len(), 10);
        assert!(records.iter().all(|record| record.verified && record.ms_each > 0.0), "{records:?}");
    }
}
