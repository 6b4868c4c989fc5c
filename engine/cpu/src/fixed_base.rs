//! Powers of one base modulo one odd number. The derivation is in `docs/algorithms/fixed-base.md`.

mod table;

use crate::backend::Cpu;
use crate::domain::{Domain, Workspace};
use crate::kernel::{BatchKernel, Kernel};
use crate::lanes::Lanes;
use crate::method::Method;
use crate::path::{CpuPath, with_kernel};
use crate::pow::Exponents;
use crate::run::{numbers, wrong};
use crate::working_memory::Rows;
use modmill_core::{
    Batch, Error, FixedPowers, Items, Modulus, Operand, Plan, Request, Secrecy, Watch, limbs, watched,
};
use std::sync::{Arc, OnceLock};
use table::{Layout, Table};
use zeroize::Zeroizing;

/// Groups of lanes that a thread takes through all windows together, at most. The cache then loads
/// the table of a window once for all of these groups.
const TOGETHER: usize = 16;

/// One base and one odd modulus, with tables of powers.
///
/// The tables are made when they are first needed and kept: one for secret exponents, one for public
/// exponents. All threads read the same tables. They are zeroized on drop.
pub struct FixedBase {
    path: CpuPath,
    modulus: Modulus,
    base: Zeroizing<Vec<u64>>,
    base_bits: usize,
    exponent_bits: usize,
    secret: OnceLock<Table>,
    public: OnceLock<Table>,
}

impl FixedBase {
    /// Bytes of the tables that have been made so far.
    #[must_use]
    pub fn bytes(&self) -> usize {
        [&self.secret, &self.public].into_iter().filter_map(OnceLock::get).map(Table::bytes).sum()
    }

    /// The table of a layout, made now if it is not there. If two threads come first at the same time, both
    /// may make it, and one is kept: a thread of the pool must not wait for another.
    fn table<K: Kernel>(&self, cpu: &Cpu, domain: &Domain<K>, layout: Layout) -> &Table {
        let kept = match layout {
            Layout::DigitByDigit => &self.secret,
            Layout::EntryByEntry => &self.public,
        };
        if let Some(table) = kept.get() {
            return table;
        }
        let window = self.window(layout).expect("a fixed base has tables that fit");
        let base = Operand::Shared { bits: self.base_bits, value: &self.base };
        let made =
            cpu.install(|| Table::new(domain, base, self.modulus.bits(), self.exponent_bits, window, layout));
        kept.get_or_init(|| made)
    }

    fn window(&self, layout: Layout) -> Option<u32> {
        table::window(self.path, self.modulus.bits(), self.exponent_bits, layout)
    }

    fn domain<K: Kernel>(&self, token: K::Token) -> Arc<Domain<K>> {
        self.modulus.constants(|modulus| Domain::new(token, modulus.bits(), &[modulus.value()]))
    }
}

/// The windows of the tables that a request for powers of a fixed base reads; `None` if tables would be too
/// long. The first is for exponents of the request's secrecy, the second for secret ones.
pub(crate) fn windows(path: CpuPath, request: &Request) -> Option<(u32, u32)> {
    let window = |layout| table::window(path, request.bits, request.prepared_bits, layout);
    let (secret, public) = (window(Layout::DigitByDigit)?, window(Layout::EntryByEntry)?);
    Some((if request.secrecy == Secrecy::Public { public } else { secret }, secret))
}

impl Cpu {
    /// Prepares a base for powers modulo an odd number of at least 3, by exponents of at most `exponent_bits`
    /// bits. `None` if this backend computes powers modulo this number by algorithms that have no tables for
    /// it, or if tables would be too long.
    #[must_use]
    pub fn fixed_base(
        &self,
        base: Operand<'_>,
        modulus: &Modulus,
        exponent_bits: usize,
    ) -> Option<FixedBase> {
        let fixed = FixedBase {
            path: self.path_of_fixed_base(modulus.bits())?,
            modulus: modulus.clone(),
            base: Zeroizing::new(base.limbs(0).to_vec()),
            base_bits: base.bits(),
            exponent_bits,
            secret: OnceLock::new(),
            public: OnceLock::new(),
        };
        fixed.window(Layout::DigitByDigit).and(fixed.window(Layout::EntryByEntry)).map(|_| fixed)
    }

    /// Powers of a fixed base by a plan of this backend. If the watch stops them, the powers that are left
    /// are not computed.
    pub(crate) fn pow_fixed_base(&self, plan: &Plan, powers: &FixedPowers<'_>) -> Result<Batch, Error> {
        let tables = powers.tables.and_then(|tables| tables.downcast_ref::<FixedBase>());
        let fixed = tables.ok_or_else(|| wrong(plan))?;
        let answers = match powers.secrecy {
            Secrecy::Secret => self.pow_fixed_base_secret(fixed, powers)?,
            Secrecy::Public => self.pow_fixed_base_vartime(fixed, powers)?,
        };
        match powers.watch.is_some_and(Watch::is_stopped) {
            true => Err(Error::Interrupted),
            false => Ok(answers),
        }
    }

    /// Powers by secret exponents, whose declared width is not greater than the base was prepared for.
    /// Neither time nor addresses depend on the base and on the exponents.
    fn pow_fixed_base_secret(&self, fixed: &FixedBase, powers: &FixedPowers<'_>) -> Result<Batch, Error> {
        let exponents = powers.exponents;
        assert!(exponents.bits() <= fixed.exponent_bits, "the exponents are too wide");
        with_kernel!(fixed.path, K, token => {
            let domain = fixed.domain::<K>(token);
            let table = fixed.table(self, &domain, Layout::DigitByDigit);
            let window = table.window();
            let places = exponents.bits().div_ceil(window as usize).max(1);
            self.record_fixed(fixed, window);
            self.fixed_blocks::<K>(fixed, &domain, (powers.count(), powers.watch), |items, work, xs| {
                let groups: Vec<Exponents> = items
                    .chunks(K::LANES)
                    .map(|items| Exponents::new::<K>(&numbers(exponents, items), exponents.bits(), window))
                    .collect();
                let len = domain.one().len();
                let xs = &mut xs[..groups.len() * len];
                let (mut indices, mut factors) =
                    (Rows::zeros(groups.len() * K::LANES), Rows::zeros(xs.len()));
                for place in 0..places {
                    for (exponents, indices) in groups.iter().zip(indices.chunks_exact_mut(K::LANES)) {
                        exponents.digits(place * window as usize, window, indices);
                    }
                    if place == 0 {
                        domain.kernel().select_shared(table.place(place), &indices, xs);
                        continue;
                    }
                    domain.kernel().select_shared(table.place(place), &indices, &mut factors);
                    for (x, factor) in xs.chunks_exact_mut(len).zip(factors.chunks_exact(len)) {
                        domain.multiply(x, factor, work);
                    }
                }
            })
        })
    }

    /// Powers by public exponents, which are not longer than the base was prepared for.
    fn pow_fixed_base_vartime(&self, fixed: &FixedBase, powers: &FixedPowers<'_>) -> Result<Batch, Error> {
        let exponents = powers.exponents;
        with_kernel!(fixed.path, K, token => {
            let domain = fixed.domain::<K>(token);
            let table = fixed.table(self, &domain, Layout::EntryByEntry);
            let window = table.window();
            self.record_fixed(fixed, window);
            self.fixed_blocks::<K>(fixed, &domain, (powers.count(), powers.watch), |items, work, xs| {
                let groups: Vec<Vec<&[u64]>> =
                    items.chunks(K::LANES).map(|items| numbers(exponents, items)).collect();
                let longest = groups.iter().flatten().map(|exponent| limbs::bit_length(exponent)).max();
                let places = longest.unwrap_or(0).div_ceil(window as usize).max(1);
                assert!(places <= table.places(), "an exponent is too long");
                let len = domain.one().len();
                let mut factor = Rows::zeros(len);
                for place in 0..places {
                    for (exponents, x) in groups.iter().zip(xs.chunks_exact_mut(len)) {
                        if place == 0 {
                            table.read_vartime::<K>(place, exponents, x);
                        } else {
                            table.read_vartime::<K>(place, exponents, &mut factor);
                            domain.multiply(x, &factor, work);
                        }
                    }
                }
            })
        })
    }

    fn record_fixed(&self, fixed: &FixedBase, window: u32) {
        let variant = format!("{}, fixed base", self.lanes_and_threads(fixed.path));
        self.record(Method::Lanes(fixed.path).path(), variant, Some(window));
    }

    /// Computes `count` powers on all threads, in blocks of some groups of lanes. `compute` writes a power in
    /// Montgomery form for each lane of its block, one group of lanes after the other.
    fn fixed_blocks<K: Kernel>(
        &self,
        fixed: &FixedBase,
        domain: &Domain<K>,
        (count, watch): (usize, Option<&Watch>),
        compute: impl Fn(Items<'_>, &mut Workspace, &mut [u64]) + Sync,
    ) -> Result<Batch, Error> {
        let mut answers = Batch::try_zeros(fixed.modulus.bits(), count)?;
        let (stride, len) = (answers.stride(), domain.one().len());
        let groups = count.div_ceil(K::LANES).div_ceil(self.threads()).clamp(1, TOGETHER);
        let block = |work: &mut Workspace, index: usize, out: &mut [u64]| {
            let range = Items::from(0..count);
            let items = range.chunk(index, groups * K::LANES);
            watched(watch, items.len(), || {
                let mut xs = Rows::zeros(groups * len);
                compute(items, work, &mut xs);
                for (x, out) in xs.chunks_exact_mut(len).zip(out.chunks_mut(K::LANES * stride)) {
                    domain.leave(x, work);
                    domain.store(x, out, stride, work);
                }
            });
        };
        let size = groups * K::LANES * stride;
        let workspace = || Workspace::new::<K>(fixed.modulus.bits());
        self.each_chunk(answers.as_limbs_mut(), (size, 1), &workspace, &block);
        Ok(answers)
    }
}

#[cfg(test)]
mod tests;
