//! Small steps between products: sums, differences, shifts, comparisons, choices, items by index.
//!
//! On the host they are done on all threads. They are here so that a chain of operations on a device
//! ([`Engine::on_device`]) needs no trip home. Their time depends on declared widths alone.

use crate::Engine;
use crate::near::OnHost;
use crate::place::{Operation, Place};
use modmill_core::{Answers, Call, Error, Operand, Step, StepKind};

/// Defines the steps of an engine at every place.
macro_rules! steps {
    ($($(#[$doc:meta])* $name:ident($($operand:ident),+ $(; $argument:ident: $type:ty)?) = $step:expr;)+) => {
        impl<P: Place> Engine<P> {
            $($(#[$doc])*
            pub fn $name<'a>(&self, $($operand: impl Into<Operand<'a>>),+ $(, $argument: $type)?) -> Result<P::Numbers, Error> {
                $(let $operand = $operand.into();)+
                P::answer(self, &$step)
            })+
        }
    };
}

steps! {
    /// `a + b`, one bit wider than the wider operand.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let a = Batch::from_hex(["ff", "1"])?;
    /// let sums = Engine::new()?.add(&a, a.shared(0))?;
    /// assert_eq!((sums.bits(), sums.as_limbs()), (9, &[0x1fe, 0x100][..]));
    /// # Ok::<(), modmill::Error>(())
    /// ```
    add(a, b) = Step::two(StepKind::Add, a, b);

    /// `a - b` modulo `2^w` for the width w of the wider operand: [`Engine::less`] tells where b is the
    /// greater.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let (a, b) = (Batch::from_hex(["ff", "01"])?, Batch::from_hex(["1", "2"])?);
    /// assert_eq!(Engine::new()?.sub(&a, &b)?.as_limbs(), [0xfe, 0xff]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    sub(a, b) = Step::two(StepKind::Subtract, a, b);

    /// `2^bits a`, wider by `bits` bits.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let shifted = Engine::new()?.shift_left(&Batch::from_hex(["ff"])?, 4)?;
    /// assert_eq!((shifted.bits(), shifted.to_hex(0)), (12, "ff0".into()));
    /// # Ok::<(), modmill::Error>(())
    /// ```
    shift_left(a; bits: usize) = Step::one(StepKind::ShiftLeft(bits), a);

    /// `floor(a / 2^bits)`, narrower by `bits` bits, but not below one.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let shifted = Engine::new()?.shift_right(&Batch::from_hex(["ff0"])?, 4)?;
    /// assert_eq!((shifted.bits(), shifted.to_hex(0)), (8, "ff".into()));
    /// # Ok::<(), modmill::Error>(())
    /// ```
    shift_right(a; bits: usize) = Step::one(StepKind::ShiftRight(bits), a);

    /// Flags of one bit: 1 where `a < b`.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let (a, b) = (Batch::from_hex(["3", "5"])?, Batch::from_hex(["4", "5"])?);
    /// assert_eq!(Engine::new()?.less(&a, &b)?.as_limbs(), [1, 0]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    less(a, b) = Step::two(StepKind::Less, a, b);

    /// Flags of one bit: 1 where `a = b`.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let (a, b) = (Batch::from_hex(["3", "5"])?, Batch::from_hex(["4", "5"])?);
    /// assert_eq!(Engine::new()?.equal(&a, &b)?.as_limbs(), [0, 1]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    equal(a, b) = Step::two(StepKind::Equal, a, b);

    /// `a` where the lowest bit of the flag is 1, else `b`. Nothing tells which.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let engine = Engine::new()?;
    /// let (a, b) = (Batch::from_hex(["3", "9"])?, Batch::from_hex(["4", "5"])?);
    /// let smaller = engine.select(&engine.less(&a, &b)?, &a, &b)?;
    /// assert_eq!(smaller.as_limbs(), [3, 5]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    select(flags, a, b) = Step { flags, ..Step::two(StepKind::Select, a, b) };

    /// The items of `a` at some indices, in the order of the indices.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let some = Engine::new()?.gather(&Batch::from_hex(["a", "b", "c"])?, &[2, 0, 2])?;
    /// assert_eq!(some.as_limbs(), [0xc, 0xa, 0xc]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    gather(a; indices: &'a [usize]) = Step::one(StepKind::Gather(indices), a);
}

impl Operation for Step<'_> {
    /// A device that holds an operand computes a step, unless it fails.
    fn compute(&self, engine: &Engine, answers: Answers<'_>) -> Result<(), Error> {
        answers.check(self.bits(), self.count()?)?;
        let (near, _) = engine.backends().near(self.operands(), None)?;
        let [a, b, flags] = near.each_ref().map(OnHost::operand);
        let step = Step { a, b, flags, ..*self };
        // Items that are gathered on the host need no device.
        let is_gathered = matches!(step.kind, StepKind::Gather(_)) && a.resident().is_none();
        if is_gathered && answers.is_device() {
            return engine.backends().put(engine.on_host(&step), answers);
        }
        engine.backends().compute(Call::Step(&step), answers)
    }
}
