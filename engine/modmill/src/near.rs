//! The operands of a call, where the engine's backends can take them: on one of its devices, or on the host.

use crate::backends::Backends;
use crate::host_memory::HostMemory;
use modmill_core::{
    Batch, BatchView, Call, Divisors, Error, FixedPowers, Inverses, Job, Moduli, MultiPowers, Operand,
    Product, ResidentView, Step,
};

/// An operand of a call: as the caller gave it, or a copy on the host of numbers that were on a device.
pub(crate) enum OnHost<'a> {
    Given(Operand<'a>),
    Copied { batch: Batch, is_shared: bool },
}

impl<'a> OnHost<'a> {
    /// An operand with its numbers on the host.
    pub(crate) fn of(operand: Operand<'a>) -> Result<Self, Error> {
        Self::unless(operand, |_| false)
    }

    /// An operand with its numbers on the host, or where they are if `stays` says so.
    pub(crate) fn unless(
        operand: Operand<'a>,
        stays: impl Fn(ResidentView<'a>) -> bool,
    ) -> Result<Self, Error> {
        let Some(view) = operand.resident() else { return Ok(Self::Given(operand)) };
        let is_shared = operand.is_shared();
        if let Some(memory) = view.memory().as_any().downcast_ref::<HostMemory>()
            && memory.0.bits() == view.bits()
        {
            return Ok(Self::Given(match is_shared {
                true => memory.0.shared(view.first()),
                false => memory.0.slice(view.first()..view.first() + view.len()).into(),
            }));
        }
        match stays(view) {
            true => Ok(Self::Given(operand)),
            false => Ok(Self::Copied { batch: view.download()?, is_shared }),
        }
    }

    pub(crate) fn operand(&self) -> Operand<'_> {
        match self {
            Self::Given(operand) => *operand,
            Self::Copied { batch, is_shared: true } => batch.shared(0),
            Self::Copied { batch, is_shared: false } => batch.into(),
        }
    }
}

/// Calls a function with the numbers of an operand on the host.
pub(crate) fn with_view<T>(
    operand: Operand<'_>,
    work: impl FnOnce(BatchView<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    match operand {
        Operand::Each(view) => work(view),
        operand => {
            let mut one = Batch::try_zeros(operand.bits(), 1)?;
            let value = operand.limbs(0);
            one.get_mut(0)[..value.len()].copy_from_slice(value);
            work(one.view())
        }
    }
}

impl Backends {
    /// Leaves operands where they are if they are on the host or on the device of the first ones that are on
    /// a device of this engine, and copies others to the host. Moduli are read from the host if they are
    /// elsewhere.
    pub(crate) fn near<'a, const N: usize>(
        &self,
        operands: [Operand<'a>; N],
        moduli: Option<Moduli<'a>>,
    ) -> Result<([OnHost<'a>; N], Option<Moduli<'a>>), Error> {
        let divisors = match moduli {
            Some(Moduli::Resident(moduli)) => Some(moduli.resident().view()),
            Some(Moduli::Each(_) | Moduli::Shared(_) | Moduli::Prepared(_)) | None => None,
        };
        let views = operands.iter().map(Operand::resident).chain([divisors]).flatten();
        let home = self.cuda.as_ref().and_then(|cuda| {
            let mut views = views;
            Some((cuda, views.find(|view| cuda.holds(*view))?))
        });
        let stays = |view: ResidentView<'a>| home.is_some_and(|(cuda, home)| cuda.are_together(home, view));
        let moduli = moduli.map(|moduli| if divisors.is_none_or(stays) { moduli } else { moduli.on_host() });
        let mut near = Vec::with_capacity(N);
        for operand in operands {
            near.push(OnHost::unless(operand, stays)?);
        }
        let near = near.try_into().map_err(|_| Error::Unavailable("operands were lost".to_owned()))?;
        Ok((near, moduli))
    }
}

/// Does something with a call whose numbers are on the host.
pub(crate) fn with_host_copies<T>(
    call: Call<'_>,
    run: impl FnOnce(Call<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    match call {
        Call::Modular(op, job) => {
            let (a, b) = (OnHost::of(job.a)?, OnHost::of(job.b)?);
            let (a, b, moduli) = (a.operand(), b.operand(), job.moduli.on_host());
            run(Call::Modular(op, &Job { a, b, moduli, ..*job }))
        }
        Call::Product(product) => {
            let (a, b) = (OnHost::of(product.a)?, product.b.map(OnHost::of).transpose()?);
            let b = b.as_ref().map(OnHost::operand);
            run(Call::Product(&Product { a: a.operand(), b, count: product.count }))
        }
        Call::Step(step) => {
            let [a, b, flags] = step.operands().map(OnHost::of);
            let (a, b, flags) = (a?, b?, flags?);
            let (a, b, flags) = (a.operand(), b.operand(), flags.operand());
            run(Call::Step(&Step { kind: step.kind, a, b, flags }))
        }
        Call::FixedPow(powers) => {
            let exponents = OnHost::of(powers.exponents)?;
            run(Call::FixedPow(&FixedPowers { exponents: exponents.operand(), ..*powers }))
        }
        Call::MultiPow(powers) => {
            let (bases, exponents) = (on_host(powers.bases)?, on_host(powers.exponents)?);
            let bases: Vec<Operand<'_>> = bases.iter().map(OnHost::operand).collect();
            let exponents: Vec<Operand<'_>> = exponents.iter().map(OnHost::operand).collect();
            let (a, b) = (bases.first().unwrap_or(&NOTHING), exponents.first().unwrap_or(&NOTHING));
            let (a, b, moduli) = (*a, *b, powers.job.moduli.on_host());
            let job = Job { a, b, moduli, ..powers.job };
            run(Call::MultiPow(&MultiPowers { job, bases: &bases, exponents: &exponents, ..*powers }))
        }
        Call::Inverses(inverses) => {
            let a = OnHost::of(inverses.job.a)?;
            let (a, moduli) = (a.operand(), inverses.job.moduli.on_host());
            run(Call::Inverses(&Inverses { job: Job { a, b: a, moduli, ..inverses.job }, ..*inverses }))
        }
        // The host finds remainders first, and bytes are on the host.
        Call::Quotients(_) | Call::CrtPow(_) | Call::PublicPow(_) => run(call),
        Call::Divisors(divisors) => {
            let (a, b) = (OnHost::of(divisors.a)?, OnHost::of(divisors.b)?);
            run(Call::Divisors(&Divisors { a: a.operand(), b: b.operand(), ..*divisors }))
        }
        Call::Products(products) => {
            let column = OnHost::of(products.column)?;
            with_view(column.operand(), |view| {
                run(Call::Products(&modmill_core::ColumnProducts { column: view.into(), ..*products }))
            })
        }
    }
}

/// An operand of no bits.
const NOTHING: Operand<'static> = Operand::Shared { bits: 0, value: &[] };

/// Operands with their numbers on the host.
fn on_host<'a>(operands: &[Operand<'a>]) -> Result<Vec<OnHost<'a>>, Error> {
    operands.iter().map(|&operand| OnHost::of(operand)).collect()
}
