//! The backend: paths, the choice among them, and batches over all cores.

use crate::domain::{Domain, Workspace};
use crate::isa;
use crate::kernel::{Kernel, MAX_LANES};
use crate::long::{self, Multiplier};
use crate::path::{Path, with_kernel};
use crate::remainder::{self, Scratch};
use crate::rows::Rows;
use crate::{cost, lanes, pow, rns};
use modmill_core::{
    Backend, Batch, Error, Family, Isa, Job, MAX_BITS, Moduli, Modulus, Op, Operand, Plan, radix,
};
use rayon::prelude::*;
use std::sync::Arc;

/// What a caller may fix; the rest is chosen by measurement.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settings {
    /// Use no more than this instruction set.
    pub isa: Option<Isa>,
    /// Use this family of algorithms.
    pub family: Option<Family>,
    /// Worker threads; all cores by default.
    pub threads: Option<usize>,
}

/// The CPU backend.
pub struct Cpu {
    pool: rayon::ThreadPool,
    paths: Vec<Path>,
}

impl Cpu {
    /// A backend with its own threads, within the given settings.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        let limit = match settings.isa {
            Some(isa) => Some(isa),
            None => isa::forced()?,
        };
        let isas = isa::available(limit);
        let here = Path::detect();
        let wanted = |path: &Path| {
            isas.contains(&path.isa()) && settings.family.is_none_or(|family| path.family() == family)
        };
        let mut paths: Vec<Path> = here.into_iter().filter(wanted).collect();
        // A family that several instruction sets have: asked for one of them, use no other.
        let exact = |path: &Path| Some(path.isa()) == settings.isa && Some(path.family()) == settings.family;
        if paths.iter().any(exact) {
            paths.retain(exact);
        }
        if limit.is_some_and(|limit| !isas.contains(&limit)) || paths.is_empty() {
            let isa = limit.map_or("any instruction set".to_owned(), |isa| isa.to_string());
            let family = settings.family.map_or("any algorithm".to_owned(), |family| family.to_string());
            return Err(Error::Unavailable(format!("this processor has no path for {family} on {isa}")));
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(settings.threads.unwrap_or(0))
            .thread_name(|index| format!("modmill-{index}"))
            .build()
            .map_err(|error| Error::Unavailable(format!("cannot start worker threads: {error}")))?;
        Ok(Self { pool, paths })
    }

    /// The paths it chooses among.
    #[must_use]
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// Worker threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    fn choose(&self, op: Op, bits: usize, count: usize) -> Path {
        let cost = |path: Path| cost::batch(path, op, bits, count, self.threads());
        let able = self.paths.iter().copied().filter(|path| path.computes(op, bits));
        able.min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or_else(|| self.stand_in(bits))
    }

    /// The best multiplier of long numbers among the paths, or beside them if they have none.
    #[must_use]
    pub fn multiplier(&self) -> Multiplier {
        let wanted = self.paths.iter().rev().find_map(|path| match path {
            Path::Fft(multiplier) => Some(*multiplier),
            _ => None,
        });
        let limit = self.paths.iter().map(|path| path.isa()).max();
        wanted.or_else(|| Multiplier::detect(limit).pop()).expect("there is always the portable one")
    }

    /// The path for what none of those that are wanted computes: beyond what kernels take, transforms.
    fn stand_in(&self, bits: usize) -> Path {
        if bits > MAX_BITS { Path::Fft(self.multiplier()) } else { Path::Row }
    }

    /// About how many seconds a batch takes, powers with exponents of `exponent_bits`.
    #[must_use]
    pub fn seconds(&self, op: Op, bits: usize, count: usize, exponent_bits: usize) -> f64 {
        /// Cycles in a second of the processor that the costs were measured on.
        const CLOCK: f64 = 2.8e9;
        let cycles = cost::batch(self.choose(op, bits, count), op, bits, count, self.threads());
        match op {
            // Costs are of exponents as long as the modulus.
            Op::Pow | Op::PowVartime => cycles / CLOCK * exponent_bits as f64 / bits.max(1) as f64,
            _ => cycles / CLOCK,
        }
    }

    /// How a batch of this shape will be computed, and why; `shared` if all items have one modulus.
    #[must_use]
    pub fn plan(&self, op: Op, bits: usize, count: usize, exponent_bits: usize, shared: bool) -> Plan {
        let plan = |path: Path, window: Option<u32>, reason: String| Plan {
            op,
            bits,
            count,
            backend: Backend::Cpu,
            isa: Some(path.isa()),
            family: path.family(),
            lanes: path.lanes(),
            threads: self.threads(),
            window,
            reason,
        };
        if op == Op::Gcd || op == Op::Inv && bits > MAX_BITS {
            let reason =
                "half-gcd by halves of halves, with long products by transforms; time depends on the numbers";
            return plan(Path::Fft(self.multiplier()), None, reason.to_owned());
        }
        if op == Op::Inv {
            let reason = "division steps follow the bits of one number at a time, so every path takes the \
                          portable one; items with one modulus share a single inversion and cost three \
                          products each";
            return plan(Path::Row, None, reason.to_owned());
        }
        if matches!(op, Op::MulMod | Op::SquareMod) && !shared && self.divides(bits) {
            let reason = "a modulus used once is divided by, which needs no set-up; one modulus for all \
                          items goes into vector lanes";
            return plan(Path::Row, None, reason.to_owned());
        }
        let path = self.choose(op, bits, count);
        let window = matches!(op, Op::Pow | Op::PowVartime).then(|| cost::window(path, bits, exponent_bits));
        let per_item = |path: Path| cost::batch(path, op, bits, count, self.threads()) / count.max(1) as f64;
        let mut others: Vec<String> = self
            .paths
            .iter()
            .filter(|other| other.computes(op, bits))
            .filter(|other| (other.isa(), other.family()) != (path.isa(), path.family()))
            .map(|&other| {
                format!(
                    "{}/{} {:.1} x the time",
                    other.isa(),
                    other.family(),
                    per_item(other) / per_item(path)
                )
            })
            .collect();
        let reason = if self.paths.iter().all(|path| !path.computes(op, bits)) {
            let family = self.paths[0].family();
            format!("{family} does not take this operation at this length; {} does", path.family())
        } else if others.is_empty() {
            "the only path open here".to_owned()
        } else {
            others.sort();
            format!("cheapest by measured costs: {}", others.join(", "))
        };
        let reason = match path {
            Path::Fft(multiplier) if window.is_some() => {
                format!("{reason}; {}", long::reduction_method(&multiplier, bits.div_ceil(64), exponent_bits))
            }
            _ => reason,
        };
        plan(path, window, reason)
    }

    /// `a^b mod N` with secret exponents and bases.
    #[must_use]
    pub fn pow(&self, job: &Job<'_>) -> Batch {
        match self.choose(Op::Pow, job.bits, job.items.len()) {
            Path::Rns => rns::run(
                &self.pool,
                job,
                |part| self.pow_by(Path::Row, part),
                |domain, item, out| {
                    let mut x = domain.enter(job.a.get(item));
                    let window = cost::window(Path::Rns, job.bits, job.b.bits());
                    domain.pow(&mut x, job.b.get(item), job.b.bits(), window);
                    domain.finish(x, &domain.unit(), out);
                },
            ),
            Path::Fft(multiplier) => long::run(&self.pool, multiplier, job, |modulus, item| {
                modulus.pow(job.a.get(item), job.b.get(item), job.b.bits())
            }),
            path => self.pow_by(path, job),
        }
    }

    fn pow_by(&self, path: Path, job: &Job<'_>) -> Batch {
        let window = cost::window(path, job.bits, job.b.bits());
        with_kernel!(path, K, token => self.run::<K>(token, Op::Pow, job, |domain, items, work, x| {
            domain.enter(&numbers(job.a, items), job.a.bits(), x, work);
            pow::pow(domain, x, &numbers(job.b, items), job.b.bits(), window, work);
            domain.leave(x, work);
        }))
    }

    /// `a^b mod N` with public exponents.
    #[must_use]
    pub fn pow_vartime(&self, job: &Job<'_>) -> Batch {
        match self.choose(Op::PowVartime, job.bits, job.items.len()) {
            Path::Rns => rns::run(
                &self.pool,
                job,
                |part| self.pow_vartime_by(Path::Row, part),
                |domain, item, out| {
                    let mut x = domain.enter(job.a.get(item));
                    domain.pow_vartime(&mut x, job.b.get(item));
                    domain.finish(x, &domain.unit(), out);
                },
            ),
            Path::Fft(multiplier) => long::run(&self.pool, multiplier, job, |modulus, item| {
                modulus.pow_vartime(job.a.get(item), job.b.get(item))
            }),
            path => self.pow_vartime_by(path, job),
        }
    }

    fn pow_vartime_by(&self, path: Path, job: &Job<'_>) -> Batch {
        let window = cost::window(path, job.bits, job.b.bits());
        with_kernel!(path, K, token => self.run::<K>(token, Op::PowVartime, job, |domain, items, work, x| {
            domain.enter(&numbers(job.a, items), job.a.bits(), x, work);
            let exponents = numbers(job.b, items);
            if exponents.iter().all(|exponent| exponent == &exponents[0]) {
                pow::pow_shared_vartime(domain, x, exponents[0], work);
            } else {
                pow::pow_each_vartime(domain, x, &exponents, window, work);
            }
            domain.leave(x, work);
        }))
    }

    /// `a b mod N`.
    #[must_use]
    pub fn mul_mod(&self, job: &Job<'_>) -> Batch {
        if matches!(job.moduli, Moduli::Each(_)) && self.divides(job.bits) {
            return self.run_remainders(job, |item, modulus, out, scratch| {
                remainder::mul_mod(job.a.get(item), job.b.get(item), modulus, out, scratch);
            });
        }
        match self.choose(Op::MulMod, job.bits, job.items.len()) {
            Path::Rns => rns::run(
                &self.pool,
                job,
                |part| self.mul_mod_by(Path::Row, part),
                |domain, item, out| {
                    let y = domain.factor(&domain.load(job.b.get(item)));
                    domain.finish(domain.enter(job.a.get(item)), &y, out);
                },
            ),
            Path::Fft(multiplier) => long::run(&self.pool, multiplier, job, |modulus, item| {
                modulus.mul_mod(job.a.get(item), job.b.get(item))
            }),
            path => self.mul_mod_by(path, job),
        }
    }

    fn mul_mod_by(&self, path: Path, job: &Job<'_>) -> Batch {
        with_kernel!(path, K, token => self.run::<K>(token, Op::MulMod, job, |domain, items, work, x| {
            domain.load(&numbers(job.a, items), job.a.bits(), x, work);
            let mut y = std::mem::take(&mut work.y);
            domain.load(&numbers(job.b, items), job.b.bits(), &mut y, work);
            domain.multiply(x, &y, work);
            work.y = y;
            domain.restore(x, work);
        }))
    }

    /// `a^2 mod N`.
    #[must_use]
    pub fn square_mod(&self, job: &Job<'_>) -> Batch {
        if matches!(job.moduli, Moduli::Each(_)) && self.divides(job.bits) {
            return self.run_remainders(job, |item, modulus, out, scratch| {
                remainder::square_mod(job.a.get(item), modulus, out, scratch);
            });
        }
        match self.choose(Op::SquareMod, job.bits, job.items.len()) {
            Path::Rns => rns::run(
                &self.pool,
                job,
                |part| self.square_mod_by(Path::Row, part),
                |domain, item, out| {
                    let y = domain.factor(&domain.load(job.a.get(item)));
                    domain.finish(domain.enter(job.a.get(item)), &y, out);
                },
            ),
            Path::Fft(multiplier) => {
                long::run(&self.pool, multiplier, job, |modulus, item| modulus.square_mod(job.a.get(item)))
            }
            path => self.square_mod_by(path, job),
        }
    }

    fn square_mod_by(&self, path: Path, job: &Job<'_>) -> Batch {
        with_kernel!(path, K, token => self.run::<K>(token, Op::SquareMod, job, |domain, items, work, x| {
            domain.load(&numbers(job.a, items), job.a.bits(), x, work);
            domain.square(x, 1, work);
            domain.restore(x, work);
        }))
    }

    /// Whether a product modulo a number used once is found by division, which needs no set-up: at
    /// every size that kernels take, unless a family other than the portable one is asked for.
    fn divides(&self, bits: usize) -> bool {
        bits <= MAX_BITS && self.paths.iter().any(|path| matches!(path, Path::Row))
    }

    /// Computes a job item by item, on all threads.
    fn run_remainders(
        &self,
        job: &Job<'_>,
        compute: impl Fn(usize, &[u64], &mut [u64], &mut Scratch) + Sync,
    ) -> Batch {
        let mut answers = Batch::zeros(job.moduli.bits(), job.items.len());
        let (stride, limbs) = (answers.stride(), job.bits.div_ceil(64));
        self.pool.install(|| {
            job.items
                .par_iter()
                .zip(answers.as_limbs_mut().par_chunks_mut(stride))
                // Some microseconds of work at least.
                .with_min_len((1024 / (limbs * limbs)).max(1))
                .for_each_init(
                    || Scratch::new(2 * limbs, limbs),
                    |scratch, (&item, out)| compute(item, job.moduli.get(item), out, scratch),
                );
        });
        answers
    }

    /// Computes a job group of lanes by group of lanes, on all threads. `compute` leaves plain
    /// residues below 4N in its last argument.
    fn run<K: Kernel>(
        &self,
        token: K::Token,
        op: Op,
        job: &Job<'_>,
        compute: impl Fn(&Domain<K>, &[usize], &mut Workspace, &mut [u64]) + Sync,
    ) -> Batch {
        let mut answers = Batch::zeros(job.moduli.bits(), job.items.len());
        let stride = answers.stride();
        let shared: Option<Arc<Domain<K>>> = match job.moduli {
            Moduli::Shared(modulus) => {
                Some(modulus.constants(|modulus| Domain::new(token, modulus.bits(), &[modulus.value()])))
            }
            Moduli::Each(_) | Moduli::Prepared(_) => None,
        };
        let group = |work: &mut Workspace, (items, out): (&[usize], &mut [u64])| {
            let domain = match (&shared, job.moduli) {
                (Some(domain), _) => domain.clone(),
                (None, Moduli::Prepared(moduli)) => {
                    let moduli: Vec<&Modulus> = items.iter().map(|&item| moduli[item]).collect();
                    Domain::prepared(token, job.bits, &moduli)
                }
                (None, _) => {
                    let moduli: Vec<&[u64]> = items.iter().map(|&item| job.moduli.get(item)).collect();
                    Arc::new(Domain::new(token, job.bits, &moduli))
                }
            };
            let mut x = std::mem::take(&mut work.x);
            compute(&domain, items, work, &mut x);
            domain.store(&mut x, out, stride, work);
            work.x = x;
        };
        let groups = grain(op, job.bits);
        if self.threads() == 1 || job.items.len() <= groups * K::LANES {
            // No work to share: waking another thread costs more than it brings.
            let mut work = Workspace::new::<K>(job.bits);
            let outs = answers.as_limbs_mut().chunks_mut(K::LANES * stride);
            job.items.chunks(K::LANES).zip(outs).for_each(|pair| group(&mut work, pair));
        } else {
            self.pool.install(|| {
                job.items
                    .par_chunks(K::LANES)
                    .zip(answers.as_limbs_mut().par_chunks_mut(K::LANES * stride))
                    .with_min_len(groups)
                    .for_each_init(|| Workspace::new::<K>(job.bits), group);
            });
        }
        answers
    }

    /// Full products `a b`.
    #[must_use]
    pub fn mul(&self, a: Operand<'_>, b: Operand<'_>, count: usize) -> Batch {
        match self.choose(Op::Mul, a.bits().max(b.bits()), count) {
            Path::Fft(multiplier) => long::products(&self.pool, multiplier, a, b, count),
            path => with_kernel!(path, K, token => self.run_products::<K>(token, a, b, count)),
        }
    }

    /// Full squares `a^2`.
    #[must_use]
    pub fn square(&self, a: Operand<'_>, count: usize) -> Batch {
        match self.choose(Op::Square, a.bits(), count) {
            Path::Fft(multiplier) => long::squares(&self.pool, multiplier, a, count),
            path => with_kernel!(path, K, token => self.run_products::<K>(token, a, a, count)),
        }
    }

    /// Full products `a b` with a factor of `b.1` bits that was prepared by a multiplier.
    #[must_use]
    pub fn mul_prepared(
        &self,
        a: Operand<'_>,
        b: (&long::PreparedFactor, usize),
        multiplier: Multiplier,
        count: usize,
    ) -> Batch {
        long::products_prepared(&self.pool, multiplier, a, b, count)
    }

    fn run_products<K: Kernel>(
        &self,
        token: K::Token,
        a: Operand<'_>,
        b: Operand<'_>,
        count: usize,
    ) -> Batch {
        let mut answers = Batch::zeros(a.bits() + b.bits(), count);
        let stride = answers.stride();
        let rows = |bits: usize| Rows::zeros(radix::digits_for(bits, K::WIDTH) * K::LANES);
        let group = |work: &mut (Rows, Rows, Rows, Rows), (index, out): (usize, &mut [u64])| {
            let (x, y, product, limbs) = work;
            for (operand, rows) in [(a, &mut *x), (b, &mut *y)] {
                let item = |lane: usize| operand.get((index * K::LANES + lane).min(count - 1));
                let numbers: [&[u64]; MAX_LANES] = std::array::from_fn(item);
                lanes::split::<K>(&numbers[..K::LANES], 0, operand.bits(), limbs, rows);
            }
            K::product(token, x, y, product);
            lanes::join::<K>(product, limbs, out, stride);
        };
        let workspace = || {
            let (x, y) = (rows(a.bits()), rows(b.bits()));
            let product = Rows::zeros(x.len() + y.len());
            (x, y, product, Rows::zeros(lanes::limb_words::<K>(stride)))
        };
        self.pool.install(|| {
            answers
                .as_limbs_mut()
                .par_chunks_mut(K::LANES * stride)
                .enumerate()
                .with_min_len(grain(Op::Mul, a.bits().max(b.bits())))
                .for_each_init(workspace, group);
        });
        answers
    }

    /// Runs `work` on this backend's threads.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }
}

/// The numbers of some items.
fn numbers<'a>(operand: Operand<'a>, items: &[usize]) -> Vec<&'a [u64]> {
    items.iter().map(|&item| operand.get(item)).collect()
}

/// Groups of lanes that one thread takes at a time: single products are too short to be handed
/// out one group at a time.
fn grain(op: Op, bits: usize) -> usize {
    match op {
        Op::Pow | Op::PowVartime => 1,
        _ => (16_384 / bits.max(1)).clamp(1, 64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_exponents_are_expected_to_take_less() {
        let cpu = Cpu::new(Settings { threads: Some(1), ..Settings::default() }).unwrap();
        let seconds = |exponent_bits| cpu.seconds(Op::PowVartime, 2048, 1000, exponent_bits);
        assert!(20.0 * seconds(17) < seconds(2048));
    }
}
