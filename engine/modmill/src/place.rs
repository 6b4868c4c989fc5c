//! Operations, and the places of their answers: new batches, a batch of the caller's, a device, a plan. An
//! operation is written once, for every place.

use crate::engine::{Engine, Host};
use modmill_core::{Answers, Batch, Error, Operand, Plan, Resident};
use std::cell::RefCell;

/// An operation with its operands.
pub trait Operation {
    /// Computes the operation and puts the answers in their place. Where the place is a plan, nothing is
    /// computed: the plan is that of this very call.
    fn compute(&self, engine: &Engine, answers: Answers<'_>) -> Result<(), Error>;
}

/// The place of an engine's answers. Every operation of an [`Engine`] is there at every place.
///
/// | place | by | answers |
/// |---|---|---|
/// | [`Host`] | an engine itself | a new [`Batch`] |
/// | [`To`] | [`Engine::to`] | a batch of the caller's |
/// | [`Device`] | [`Engine::on_device`] | a [`Resident`] batch |
/// | [`Ask`] | [`Engine::ask`] | the [`Plan`] of the call, which is not run |
pub trait Place: Sized + private::Sealed {
    /// The type that an operation returns.
    type Numbers;

    /// Computes an operation and puts the answers in this place.
    #[doc(hidden)]
    fn answer(engine: &Engine<Self>, operation: &dyn Operation) -> Result<Self::Numbers, Error>;
}

/// A place that holds its answers, so that they are operands of the next operation. A formula over such
/// places is written once. On a device its intermediate results need no trip to the host.
///
/// ```
/// use modmill::{Batch, Engine, Error, Holds, Modulus, Operand};
///
/// /// `a b + a` modulo N.
/// fn formula<P: Holds>(
///     engine: &Engine<P>,
///     a: Operand<'_>,
///     b: Operand<'_>,
///     modulus: &Modulus,
/// ) -> Result<Batch, Error> {
///     let products = engine.mul_mod(a, b, modulus)?;
///     let sums = engine.add(P::operand(&products), a)?;
///     P::to_host(engine.reduce(P::operand(&sums), modulus)?, modulus.bits())
/// }
///
/// let (engine, modulus) = (Engine::new()?, Modulus::from_hex("fffffffb")?);
/// let (a, b) = (Batch::from_hex(["3"])?, Batch::from_hex(["5"])?);
/// assert_eq!(formula(&engine, (&a).into(), (&b).into(), &modulus)?.as_limbs(), [18]);
/// assert_eq!(formula(&engine.on_device(), (&a).into(), (&b).into(), &modulus)?.as_limbs(), [18]);
/// # Ok::<(), Error>(())
/// ```
pub trait Holds: Place {
    /// Answers as an operand of the next operation.
    fn operand(numbers: &Self::Numbers) -> Operand<'_>;

    /// Numbers that are known to fit `bits` bits, with that width. The host keeps their declared width,
    /// because a narrower one takes a copy.
    #[must_use]
    fn narrowed(numbers: Self::Numbers, bits: usize) -> Self::Numbers;

    /// The numbers in the memory of the host, with a width of `bits` bits, which they are known to fit.
    fn to_host(numbers: Self::Numbers, bits: usize) -> Result<Batch, Error>;
}

/// A batch of the caller's, into which answers are written ([`Engine::to`]).
pub struct To<'e> {
    pub(crate) home: &'e Engine,
    answers: RefCell<&'e mut Batch>,
}

/// A device, on which answers stay ([`Engine::on_device`]).
#[derive(Clone, Copy)]
pub struct Device<'e> {
    pub(crate) home: &'e Engine,
    /// The device of answers whose operands are all on the host, by its index; any device if there is none.
    pub(crate) index: Option<usize>,
}

/// No place: calls are planned and not run ([`Engine::ask`]).
#[derive(Clone, Copy)]
pub struct Ask<'e> {
    pub(crate) home: &'e Engine,
}

impl Place for Host {
    type Numbers = Batch;

    fn answer(engine: &Engine, operation: &dyn Operation) -> Result<Batch, Error> {
        engine.on_host(operation)
    }
}

impl Place for To<'_> {
    type Numbers = ();

    fn answer(engine: &Engine<Self>, operation: &dyn Operation) -> Result<(), Error> {
        operation.compute(engine.place.home, Answers::Into(&mut engine.place.answers.borrow_mut()))
    }
}

impl Place for Device<'_> {
    type Numbers = Resident;

    fn answer(engine: &Engine<Self>, operation: &dyn Operation) -> Result<Resident, Error> {
        engine.place.home.kept(operation, engine.place.index)
    }
}

impl Place for Ask<'_> {
    type Numbers = Plan;

    fn answer(engine: &Engine<Self>, operation: &dyn Operation) -> Result<Plan, Error> {
        let mut slot = None;
        operation.compute(engine.place.home, Answers::Plan(&mut slot))?;
        slot.ok_or_else(|| Error::Unavailable("there is nothing to compute, and so no plan".to_owned()))
    }
}

impl Holds for Host {
    fn operand(numbers: &Batch) -> Operand<'_> {
        numbers.into()
    }

    fn narrowed(numbers: Batch, _bits: usize) -> Batch {
        numbers
    }

    fn to_host(numbers: Batch, bits: usize) -> Result<Batch, Error> {
        if numbers.bits() == bits { Ok(numbers) } else { numbers.resized(bits) }
    }
}

impl Holds for Device<'_> {
    fn operand(numbers: &Resident) -> Operand<'_> {
        numbers.into()
    }

    fn narrowed(numbers: Resident, bits: usize) -> Resident {
        numbers.narrowed(bits)
    }

    fn to_host(numbers: Resident, bits: usize) -> Result<Batch, Error> {
        numbers.narrowed(bits).download()
    }
}

impl Engine {
    /// An engine whose answers go into `answers`.
    ///
    /// Memory that is used again costs no new pages, and a batch in pinned memory ([`Engine::pinned`]) is
    /// written by the GPU itself. The batch must have the width and the number of items that the operation
    /// returns elsewhere. If items fail, their rows are zero, and [`Error::Items`] names them and has a copy
    /// of the others.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus};
    ///
    /// let engine = Engine::new()?;
    /// let modulus = Modulus::from_hex("fffffffb")?;
    /// let numbers = Batch::from_hex(["3", "fffffffa"])?;
    /// let mut squares = Batch::zeros(32, 2);
    /// engine.to(&mut squares).square_mod(&numbers, &modulus)?;
    /// assert_eq!(squares.as_limbs(), [9, 1]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn to<'e>(&'e self, answers: &'e mut Batch) -> Engine<To<'e>> {
        Engine { place: To { home: self, answers: RefCell::new(answers) } }
    }

    /// An engine whose answers stay on a device.
    ///
    /// Operands may be on the device, on the host, or both in one call. An operation runs on the device that
    /// holds operands; those of the host, of another device or of another engine are copied. It returns when
    /// the answers are there. What devices have no kernels for is computed on the host and copied back, and
    /// [`Engine::ask`] tells.
    ///
    /// A failed item is an [`Error::Items`], as elsewhere; the error carries the other answers on the host.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus};
    ///
    /// let engine = Engine::new()?;
    /// let modulus = Modulus::from_hex("fffffffb")?;
    /// let factor = engine.upload(&Batch::from_hex(["3", "5"])?)?;
    /// let mut power = factor.clone();
    /// for _ in 1..10 {
    ///     power = engine.on_device().mul_mod(&power, &factor, &modulus)?;
    /// }
    /// assert_eq!(power.download()?.as_limbs(), [59049, 9765625]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    #[must_use]
    pub fn on_device(&self) -> Engine<Device<'_>> {
        Engine { place: Device { home: self, index: None } }
    }

    /// An engine that computes nothing and answers with plans: how this engine would compute this very call,
    /// in what time, and why. Of a call whose moduli are of several lengths, it is the plan of most items.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Public};
    ///
    /// let engine = Engine::new()?;
    /// let (bases, moduli) = (Batch::zeros(2048, 1000), Batch::from_hex(vec!["f".repeat(512); 1000])?);
    /// let exponent = Batch::from_hex(["10001"])?;
    /// let plan = engine.ask().pow(&bases, Public(exponent.shared(0)), &moduli)?;
    /// assert_eq!((plan.request.count, plan.window), (1000, Some(1)));
    /// println!("{plan}");
    /// # Ok::<(), modmill::Error>(())
    /// ```
    #[must_use]
    pub fn ask(&self) -> Engine<Ask<'_>> {
        Engine { place: Ask { home: self } }
    }
}

/// The second answers of an operation that has two for each item. They are kept on the host until they are
/// asked for.
#[derive(Default)]
pub(crate) struct Second(RefCell<Option<Batch>>);

impl Second {
    pub(crate) fn keep(&self, answers: Batch) {
        self.0.replace(Some(answers));
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.0.borrow().is_some()
    }
}

impl Operation for Second {
    fn compute(&self, engine: &Engine, answers: Answers<'_>) -> Result<(), Error> {
        let kept = self.0.take().ok_or_else(|| Error::Unavailable("there are no second answers".to_owned()));
        engine.backends().put(kept, answers)
    }
}

impl Engine {
    /// The answers of an operation, as a new batch.
    pub(crate) fn on_host(&self, operation: &dyn Operation) -> Result<Batch, Error> {
        let mut batch = Batch::zeros(0, 0);
        operation.compute(self, Answers::New(&mut batch))?;
        Ok(batch)
    }

    /// The answers of an operation, on a device.
    pub(crate) fn kept(&self, operation: &dyn Operation, index: Option<usize>) -> Result<Resident, Error> {
        let mut slot = None;
        operation.compute(self, Answers::Device(&mut slot, index))?;
        slot.ok_or_else(|| Error::Device("the answers are on no device".to_owned()))
    }
}

mod private {
    /// Places are the engine's own.
    pub trait Sealed {}
    impl Sealed for super::Host {}
    impl Sealed for super::To<'_> {}
    impl Sealed for super::Device<'_> {}
    impl Sealed for super::Ask<'_> {}
}
