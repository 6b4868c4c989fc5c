//! Operations of RSA as one sequence of kernels each, from bytes to bytes: nothing comes back to the host in
//! between. See `docs/use/rsa.md`.

mod exchange;
mod fault;
mod keys;
mod private;
mod public;

pub use fault::{Fault, Stage};

use crate::backend::Cuda;
use crate::device::Contents;
use crate::error::Result;
use crate::pipeline::{self, ChunkSizes};
use crate::staging::copy_rows;
use crate::table::Choice;
use crate::task::{Reads, Task};
use crate::variant::Variant;
use exchange::{BlockExchange, SharedBlocks};
use keys::KeyRows;
use modmill_core::sync::Mutex;
use modmill_core::{
    Blocks, CrtPowers, Exponents, Family, Op, PerItem, PublicPowers, Request, Secrecy, limbs,
};
use private::Private;
use public::Public;
use std::ops::Range;

/// Bytes of the blocks of a chunk: enough to copy at full speed.
const CHUNK_BYTES: usize = 16 << 20;

/// From this many items with one modulus on, the factor that leads out of Montgomery form is computed once
/// for all.
const WORTH_AN_EXIT: usize = 4096;

/// Items that the residue family computes together. Chunks are padded to a multiple.
const TILE_ITEMS: usize = 16;

/// How private operations are computed: powers modulo the primes in residues, and a check with the public
/// exponent.
#[derive(Debug, Clone, Copy)]
pub struct CrtPlan {
    /// The kernels of the powers.
    pub power: Variant,
    /// Bits of the exponent window.
    pub window: u32,
    /// The kernels of the check.
    pub check: Variant,
    /// Estimated seconds for all items.
    pub seconds: f64,
}

/// How powers with a short public exponent are computed.
#[derive(Debug, Clone, Copy)]
pub struct PublicPlan {
    /// The kernels.
    pub variant: Variant,
    /// Estimated seconds for all items.
    pub seconds: f64,
}

impl Cuda {
    /// [`Cuda::plan_crt`], or `None` if the kernels have to be compiled first and are not worth it yet.
    pub(crate) fn plan_crt_now(&self, request: &Request) -> Option<CrtPlan> {
        let (plan, op) = (self.plan_crt(request)?, power_op(request));
        let best = Choice { variant: plan.power, window: plan.window, seconds: plan.seconds };
        let halves = 2 * self.items_per_device(request.count);
        let choices = self.choices(op, request.shortest_bits, halves, request.exponent_bits());
        (!self.passes_over(&best, op, &choices)).then_some(plan)
    }

    /// How `c^d mod n` is computed by the Chinese remainder theorem; `None` if there are no kernels for it.
    #[must_use]
    pub fn plan_crt(&self, request: &Request) -> Option<CrtPlan> {
        let choice = self.residue_choice(request)?;
        let check = self.plan_public_of(request.bits, request.count, request.check.as_deref()?)?;
        Some(CrtPlan {
            power: choice.variant,
            window: choice.window,
            check: check.variant,
            seconds: choice.seconds,
        })
    }

    /// Computes `c^d mod n` by a plan, and checks every answer; returns the kernels' seconds. An answer that
    /// fails its check is zero, and its flag is set; so is the flag of a key that residues cannot serve.
    pub fn crt_pow(
        &self,
        plan: &CrtPlan,
        job: &CrtPowers<'_>,
        blocks: &mut (dyn Blocks + Send),
    ) -> Result<f64> {
        self.crt_pow_with(plan, job, None, blocks)
    }

    /// Computes [`Self::crt_pow`] with a fault injected on the way, for tests of the check.
    #[doc(hidden)]
    pub fn crt_pow_with(
        &self,
        plan: &CrtPlan,
        job: &CrtPowers<'_>,
        fault: Option<Fault>,
        blocks: &mut (dyn Blocks + Send),
    ) -> Result<f64> {
        let reads = if job.blinded { Reads::Direct } else { Reads::Whole };
        let task = Task::power(reads, job.exponent_bits, plan.window)?;
        let blocks: SharedBlocks<'_> = Mutex::new(blocks);
        self.share_out(self.shares(job.count), |loaded, share: Range<usize>| {
            loaded.compile_rsa(plan.power, plan.check, task.part())?;
            let kernels = loaded.kernels(plan.power)?.of(&task, false)?;
            let (count, wave) = (share.len(), kernels.wave());
            // With one key the halves of a chunk go one after the other; where they would not fill the
            // device, together.
            let together = matches!(job.moduli, PerItem::Each(_)) || 2 * count <= wave;
            let wave = if together { wave / 2 } else { wave };
            let rows = KeyRows { job, per_item: together };
            let gather_keys = |items, count, out: &mut [u64]| {
                if together {
                    rows.gather(items, count, out);
                }
            };
            let limbs = job.bits.div_ceil(64);
            let mut exchange = BlockExchange { blocks: &blocks, first: share.start, limbs, gather_keys };
            let make = |size| Private::new(&loaded.device, &kernels, task, plan.check, rows, size, fault);
            let lane = self.lane(loaded, Contents::Secret);
            pipeline::run(lane, count, chunk_sizes(wave, limbs, count), make, &mut exchange)
        })
    }

    /// How `x^e mod n` is computed with a short public exponent; `None` if there are no kernels for it.
    #[must_use]
    pub fn plan_public(&self, request: &Request) -> Option<PublicPlan> {
        let Exponents::Public(exponent) = &request.exponents else { return None };
        self.plan_public_of(request.bits, request.count, exponent)
    }

    /// Computes `x^e mod n` with a short public exponent by a plan; returns the kernels' seconds.
    pub fn public_pow(
        &self,
        plan: &PublicPlan,
        job: &PublicPowers<'_>,
        blocks: &mut (dyn Blocks + Send),
    ) -> Result<f64> {
        let contents = if job.secret { Contents::Secret } else { Contents::Public };
        let blocks: SharedBlocks<'_> = Mutex::new(blocks);
        self.share_out(self.shares(job.count), |loaded, share: Range<usize>| {
            let (count, limbs) = (share.len(), job.bits.div_ceil(64));
            let wave = public::wave(&loaded.device, plan.variant)?;
            let gather_keys = |items: Range<usize>, rows: usize, out: &mut [u64]| {
                if let PerItem::Each(modulus) = job.moduli {
                    let last = items.end - 1;
                    copy_rows(&mut out[..rows * limbs], limbs, |row| modulus(last.min(items.start + row)));
                }
            };
            let mut exchange = BlockExchange { blocks: &blocks, first: share.start, limbs, gather_keys };
            let make = |size| Public::new(&loaded.device, plan.variant, job, size, contents);
            let lane = self.lane(loaded, contents);
            pipeline::run(lane, count, chunk_sizes(wave, limbs, count), make, &mut exchange)
        })
    }

    /// The best layout of the residue family for the powers modulo primes.
    fn residue_choice(&self, request: &Request) -> Option<Choice> {
        let (op, bits, exponent_bits) = (power_op(request), request.shortest_bits, request.exponent_bits());
        let halves = 2 * self.items_per_device(request.count);
        let is_wanted = self.settings.family.is_none_or(|family| family == Family::Rns);
        if !is_wanted || bits == 0 {
            return None;
        }
        let of_residues = |choice: &Choice| choice.variant.family == Family::Rns;
        let measured = self.choices(op, bits, halves, exponent_bits).into_iter().find(of_residues);
        let unmeasured = || {
            let variant = Variant::candidates(Family::Rns, bits, &self.limits()).into_iter().next()?;
            Some(Choice { variant, window: 4, seconds: f64::INFINITY })
        };
        let choice = measured.or_else(unmeasured)?;
        // Bases are one word longer than the primes.
        let is_roomy = choice.variant.input_bits() > 32 * choice.variant.words as usize;
        let window = crate::table::direct_window(exponent_bits);
        is_roomy.then_some(Choice { window, ..choice })
    }

    /// The best variant for a few squarings, which are not worth residues.
    fn plan_public_of(&self, bits: usize, count: usize, exponent: &[u64]) -> Option<PublicPlan> {
        if !is_short_exponent(exponent) {
            return None;
        }
        let exponent_bits = limbs::bit_length(exponent);
        let count = self.items_per_device(count);
        let is_plain = |choice: &Choice| choice.variant.family != Family::Rns;
        let own = self.choices(Op::PowVartime, bits, count, exponent_bits).into_iter().find(is_plain);
        let any = || {
            let choices = self.table().choices(&self.limits(), Op::PowVartime, bits, count, exponent_bits);
            choices.into_iter().find(is_plain)
        };
        let Choice { variant, seconds, .. } = own.or_else(any)?;
        Some(PublicPlan { variant, seconds })
    }
}

/// The operation of the powers modulo primes. Blinded exponents may show by the addresses of table reads.
fn power_op(request: &Request) -> Op {
    if request.secrecy == Secrecy::Public { Op::PowVartime } else { Op::Pow }
}

/// Whether the kernel for public exponents takes this one: odd, of 2 to 256 bits.
fn is_short_exponent(exponent: &[u64]) -> bool {
    (2..=256).contains(&limbs::bit_length(exponent)) && exponent[0] & 1 == 1
}

/// Whole waves, as many as make a copy worth its start, in tiles.
fn chunk_sizes(wave: usize, limbs: usize, count: usize) -> ChunkSizes {
    let waves = CHUNK_BYTES.div_ceil(limbs * 8 * wave.max(1)).clamp(1, 16);
    ChunkSizes {
        size: (wave * waves).min(count).next_multiple_of(TILE_ITEMS),
        edge: wave.next_multiple_of(TILE_ITEMS),
        multiple: TILE_ITEMS,
    }
}
