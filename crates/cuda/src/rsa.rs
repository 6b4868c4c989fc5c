//! Operations of RSA as one sequence of kernels each, from octets to octets: nothing comes back to the host in
//! between. See `docs/rsa.md`.

mod fault;
mod flow;
mod private;
mod public;

pub use fault::{Fault, Stage};

use crate::backend::Cuda;
use crate::device::Contents;
use crate::error::{Error, Result};
use crate::table::Choice;
use crate::task::{Secrecy, Task};
use crate::variant::Variant;
use flow::Lane;
use modmill_core::{Blocks, CrtJob, Family, Op, PerItem, PublicJob, limbs};
use private::Private;
use public::{Public, PublicSequence};

/// Bytes of blocks in a chunk, about.
const CHUNK_BYTES: usize = 16 << 20;

/// From so many items with one modulus on, what leads out of Montgomery form is found once for all.
const WORTH_AN_EXIT: usize = 4096;

impl Cuda {
    /// `c^d mod n` by the Chinese remainder theorem with residues, checked; returns the kernels' seconds. An
    /// answer that does not pass its check is zero and said to be wrong; so are those of primes that residues
    /// cannot serve.
    pub fn crt_pow(&self, job: &CrtJob<'_>, blocks: &mut dyn Blocks) -> Result<f64> {
        self.crt_pow_with(job, None, blocks)
    }

    /// The same with something gone wrong on the way: for tests of what happens then.
    #[doc(hidden)]
    pub fn crt_pow_with(
        &self,
        job: &CrtJob<'_>,
        fault: Option<Fault>,
        blocks: &mut dyn Blocks,
    ) -> Result<f64> {
        let bits = 64 * job.prime_limbs;
        let halves = 2 * job.count.div_ceil(self.devices().count().max(1));
        let choice = self.residue_choice(bits, halves, job)?;
        let secrecy = if job.blinded { Secrecy::Direct } else { Secrecy::Secret };
        let task = Task::power(secrecy, job.exponent_bits, choice.window)?;
        let check = self.public_choice(job.bits, job.count, job.public_exponent)?;
        let kernels: Vec<_> = self.stations.iter().map(|station| station.kernels(choice.variant)).collect();
        let kernels = kernels.into_iter().collect::<Result<Vec<_>>>()?;
        let wave = kernels.iter().map(|kernels| kernels.wave()).max().unwrap_or(1);
        // With one key the halves of a chunk go one after the other; where they would not fill the device,
        // together.
        let together = matches!(job.keys, PerItem::Each(_)) || 2 * job.count <= wave;
        let wave = if together { wave / 2 } else { wave };
        let make = |size: usize| -> Result<Vec<Lane<'_, Private<'_, '_>>>> {
            let lane = |(device, kernels)| {
                let private = Private::new(device, kernels, task, check.variant, job, together, size, fault)?;
                Lane::new(device, private, job.bits, size, Contents::Secret)
            };
            self.devices().zip(&kernels).map(lane).collect()
        };
        flow::run(
            job.count,
            chunk_size(wave, job.bits, job.count),
            wave.next_multiple_of(TILE_ITEMS),
            make,
            blocks,
        )
    }

    /// `x^e mod n` with a short public exponent; returns the kernels' seconds.
    pub fn public_pow(&self, job: &PublicJob<'_>, blocks: &mut dyn Blocks) -> Result<f64> {
        let variant = self.public_choice(job.bits, job.count, job.exponent)?.variant;
        let contents = if job.secret { Contents::Secret } else { Contents::Public };
        let wave = self.devices().map(|device| public::wave(device, variant)).collect::<Result<Vec<_>>>()?;
        let wave = wave.into_iter().max().unwrap_or(1);
        let make = |size: usize| -> Result<Vec<Lane<'_, PublicSequence<'_>>>> {
            let lane = |device| {
                let public = Public::new(device, variant, job, size, contents)?;
                let sequence = PublicSequence { public, moduli: job.moduli };
                Lane::new(device, sequence, job.bits, size, contents)
            };
            self.devices().map(lane).collect()
        };
        flow::run(
            job.count,
            chunk_size(wave, job.bits, job.count),
            wave.next_multiple_of(TILE_ITEMS),
            make,
            blocks,
        )
    }

    /// The residue family's best for the halves.
    fn residue_choice(&self, bits: usize, halves: usize, job: &CrtJob<'_>) -> Result<Choice> {
        let reads = if job.blinded { Op::PowVartime } else { Op::Pow };
        let of_residues = |choice: &Choice| choice.variant.family == Family::Rns;
        let measured = self.choices(reads, bits, halves, job.exponent_bits).into_iter().find(of_residues);
        let guess = |variant| Choice { variant, window: 4, seconds: f64::INFINITY };
        let other = || Variant::candidates(Family::Rns, bits, &self.limits()).into_iter().map(guess).next();
        let wanted = self.settings.family.is_none_or(|family| family == Family::Rns);
        let choice = measured.or_else(other).filter(|_| wanted && bits > 0);
        let choice = choice.filter(|choice| choice.variant.input_bits() > 32 * choice.variant.words as usize);
        let none = || Error::NoKernel { name: format!("for residues modulo primes of {bits} bits") };
        let window = crate::table::direct_window(job.exponent_bits);
        choice.map(|choice| Choice { window, ..choice }).ok_or_else(none)
    }

    /// The best for a few squarings, which are not worth residues.
    pub fn public_choice(&self, bits: usize, count: usize, exponent: &[u64]) -> Result<Choice> {
        let exponent_bits = limbs::bit_length(exponent);
        let count = count.div_ceil(self.devices().count().max(1));
        let is_plain = |choice: &Choice| choice.variant.family != Family::Rns;
        let own = self.choices(Op::PowVartime, bits, count, exponent_bits).into_iter().find(is_plain);
        let any = || {
            self.table()
                .choices(&self.limits(), Op::PowVartime, bits, count, exponent_bits)
                .into_iter()
                .find(is_plain)
        };
        let none = || Error::NoKernel { name: format!("for powers of {bits} bits with such an exponent") };
        own.or_else(any).filter(|_| is_short_exponent(exponent)).ok_or_else(none)
    }
}

/// Whether the kernel for public exponents takes it.
fn is_short_exponent(exponent: &[u64]) -> bool {
    (2..=256).contains(&limbs::bit_length(exponent)) && exponent[0] & 1 == 1
}

/// Whole waves, as many as make a copy worth its start, and tiles of 16 items.
fn chunk_size(wave: usize, bits: usize, count: usize) -> usize {
    let waves = CHUNK_BYTES.div_ceil(bits.div_ceil(64) * 8 * wave.max(1)).clamp(1, 16);
    (wave * waves).min(count).next_multiple_of(TILE_ITEMS)
}

/// Items that residues are computed for together; chunks are padded to a multiple.
const TILE_ITEMS: usize = 16;
