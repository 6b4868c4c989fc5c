//! Chains of operations whose numbers stay where they are computed: in the memory of the host, or on a GPU.
//!
//! A formula is written once. On a GPU its intermediate results need no trip to the host and back, which
//! would take longer than the powers between them. GPUs have no kernels for full products of such lengths: a
//! product that is known to be below some modulus is computed modulo that.

use crate::Error;
use crate::rows::resized;
use modmill::{Backend, Batch, Device, Engine, Modulus, Op, Operand, Request, Resident};

/// Defines the operations of a chain, which engines have with answers on the host and with answers on a
/// device.
macro_rules! operations {
    ($($name:ident($($operand:ident: $type:ty),+);)+) => {
        /// The operations of a chain.
        pub(crate) trait Chain {
            /// A column where the chain has it.
            type Numbers;
            /// A column as an operand of the next operation.
            fn of(numbers: &Self::Numbers) -> Operand<'_>;
            /// Numbers that are known to fit `bits` bits, with that width. The host keeps their declared
            /// width, because a narrower one takes a copy.
            fn narrowed(numbers: Self::Numbers, bits: usize) -> Self::Numbers;
            /// A column in the memory of the host, with a width of `bits` bits, which the numbers are known
            /// to fit.
            fn to_host(numbers: Self::Numbers, bits: usize) -> Result<Batch, modmill::Error>;
            $(fn $name<'a>(&self, $($operand: $type),+) -> Result<Self::Numbers, modmill::Error>;)+
        }

        impl Chain for Engine {
            type Numbers = Batch;

            fn of(numbers: &Batch) -> Operand<'_> {
                numbers.into()
            }

            fn narrowed(numbers: Batch, _bits: usize) -> Batch {
                numbers
            }

            fn to_host(numbers: Batch, bits: usize) -> Result<Batch, modmill::Error> {
                if numbers.bits() == bits { Ok(numbers) } else { resized(&numbers, bits) }
            }

            $(fn $name<'a>(&self, $($operand: $type),+) -> Result<Batch, modmill::Error> {
                self.$name($($operand),+)
            })+
        }

        impl Chain for Engine<Device<'_>> {
            type Numbers = Resident;

            fn of(numbers: &Resident) -> Operand<'_> {
                numbers.into()
            }

            fn narrowed(numbers: Resident, bits: usize) -> Resident {
                numbers.narrowed(bits)
            }

            fn to_host(numbers: Resident, bits: usize) -> Result<Batch, modmill::Error> {
                numbers.narrowed(bits).download()
            }

            $(fn $name<'a>(&self, $($operand: $type),+) -> Result<Resident, modmill::Error> {
                self.$name($($operand),+)
            })+
        }
    };
}

operations! {
    pow(bases: Operand<'a>, exponents: Operand<'a>, modulus: &'a Modulus);
    mul_mod(a: Operand<'a>, b: Operand<'a>, modulus: &'a Modulus);
    reduce(a: Operand<'a>, modulus: &'a Modulus);
    add(a: Operand<'a>, b: Operand<'a>);
    sub(a: Operand<'a>, b: Operand<'a>);
    equal(a: Operand<'a>, b: Operand<'a>);
}

/// The GPU that computes `count` powers with exponents of `exponent_bits` bits, if there is one alone.
/// Several GPUs share the items of every operation, and the host joins their answers.
pub(crate) fn gpu_for<'e>(
    engine: &'e Engine,
    modulus: &Modulus,
    exponent_bits: usize,
    count: usize,
) -> Result<Option<Engine<Device<'e>>>, Error> {
    if engine.cuda().is_none_or(|cuda| cuda.devices().count() != 1) {
        return Ok(None);
    }
    let request = Request::new(Op::Pow, modulus.bits(), count).one_modulus().exponents_of(exponent_bits);
    Ok((engine.plan(&request)?.backend() == Backend::Cuda).then(|| engine.on_device()))
}

/// Whether the host may try again what a GPU could not do.
pub(crate) fn is_of_device(error: &Error) -> bool {
    matches!(error, Error::Engine(modmill::Error::Device(_) | modmill::Error::OutOfMemory { .. }))
}
