use super::*;
use modmill_core::reference::Natural;
use modmill_core::{Modulus, Op, Watch};
use std::sync::Arc;

/// `a^3 + a` modulo N. The items of `wrong` fail.
struct Cubic<'a> {
    column: &'a Batch,
    modulus: &'a Modulus,
    wrong: &'a [usize],
}

impl Formula for Cubic<'_> {
    type Error = Error;

    fn compute<P: Holds>(&self, at: &Engine<P>, items: Range<usize>) -> Result<Option<Batch>, Error> {
        if let Some(&value) = self.wrong.iter().filter(|item| items.contains(item)).min() {
            return Err(wrong_item(value));
        }
        let a = self.column.slice(items);
        let squares = at.square_mod(a, self.modulus)?;
        let cubes = at.mul_mod(P::operand(&squares), a, self.modulus)?;
        let sums = at.add(P::operand(&cubes), a)?;
        P::to_host(at.reduce(P::operand(&sums), self.modulus)?, self.modulus.bits()).map(Some)
    }
}

fn wrong_item(value: usize) -> Error {
    Error::OutOfRange { what: "a test's item", value, least: 0, most: 0 }
}

const BITS: usize = 256;

fn modulus() -> Modulus {
    Modulus::from_hex(&"f1".repeat(BITS / 8)).unwrap()
}

/// Random numbers below 2^256 of a fixed seed, and the answers of [`Cubic`] by the reference arithmetic.
fn column(count: usize) -> (Batch, Batch) {
    let modulus = modulus();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ (state >> 29)
    };
    let column = Batch::from_values((0..count).map(|_| [next(), next(), next(), next()]));
    let answer = |a: &[u64]| {
        let a = Natural::from_limbs(a);
        // a^3 + a = a (a^2 + 1), and no square of 256 bits is within 1 of 2^512.
        let mut square = a.times(&a).to_limbs(8);
        modmill_core::limbs::add_assign(&mut square, &[1]);
        a.times(&Natural::from_limbs(&square)).modulo(&Natural::from_limbs(modulus.value())).to_limbs(4)
    };
    let answers = Batch::from_values(column.iter().map(answer));
    (column.resized(BITS).unwrap(), answers.resized(BITS).unwrap())
}

/// The answers of [`Cubic`] on an engine, by lanes from `least` items on.
fn cubes(engine: &Engine, column: &Batch, wrong: &[usize], least: usize) -> Result<Batch, Error> {
    let (modulus, count) = (modulus(), column.len());
    let mut answers = Batch::zeros(BITS, count);
    let request = Request::new(Op::MulMod, BITS, count).one_modulus();
    let stream = Stream { least, ..engine.stream(&request).lanes(2, 3) };
    stream.into_batch(&Cubic { column, modulus: &modulus, wrong }, &mut answers)?;
    Ok(answers)
}

#[test]
fn many_rows_are_written_in_order_and_the_first_error_is_told() {
    let engine = Engine::builder().threads(3).build().unwrap();
    let count = 3 * WRITTEN + 5;
    let (column, expected) = column(count);
    assert_eq!(cubes(&engine, &column, &[], LEAST_OF_LANES).unwrap(), expected);
    let (modulus, request) = (modulus(), Request::new(Op::MulMod, BITS, count).one_modulus());
    let formula = Cubic { column: &column, modulus: &modulus, wrong: &[] };
    for wrong in [vec![count - 1, WRITTEN + 1, WRITTEN], vec![count - 1], vec![0, 1]] {
        let mut lowest = vec![0u64; count];
        let rows = Rows { elements: &mut lowest[..], width: 1 };
        let found = engine.stream(&request).into_rows(&formula, rows, |first, numbers, rows| {
            for (item, (number, row)) in (first..).zip(numbers.iter().zip(rows)) {
                if wrong.contains(&item) {
                    return Err(wrong_item(item));
                }
                *row = number[0];
            }
            Ok(())
        });
        assert_eq!(found, Err(wrong_item(*wrong.iter().min().unwrap())));
    }
}

#[test]
fn answers_that_do_not_fit_are_refused() {
    let engine = Engine::builder().threads(1).build().unwrap();
    let ((column, _), modulus) = (column(3), modulus());
    let formula = Cubic { column: &column, modulus: &modulus, wrong: &[] };
    let request = Request::new(Op::MulMod, BITS, 3).one_modulus();
    let narrow = engine.stream(&request).into_batch(&formula, &mut Batch::zeros(64, 3));
    assert!(matches!(narrow, Err(Error::WidthMismatch { expected: BITS, found: 64, .. })), "{narrow:?}");

    /// A formula with one answer, whatever it is asked for.
    struct One;
    impl Formula for One {
        type Error = Error;

        fn compute<P: Holds>(&self, _: &Engine<P>, _: Range<usize>) -> Result<Option<Batch>, Error> {
            Ok(Some(Batch::zeros(BITS, 1)))
        }
    }
    let few = engine.stream(&request).into_batch(&One, &mut Batch::zeros(BITS, 3));
    assert!(matches!(few, Err(Error::LengthMismatch { expected: 3, found: 1, .. })), "{few:?}");
}

#[test]
fn a_watch_stops_before_the_next_part() {
    let watch = Arc::new(Watch::new());
    watch.stop();
    let engine = Engine::new().unwrap().watched_by(&watch);
    assert_eq!(cubes(&engine, &column(3).0, &[], LEAST_OF_LANES), Err(Error::Interrupted));
}

#[cfg(feature = "cuda")]
mod on_devices {
    use super::*;
    use crate::gpu::{Device, Faults, cache::Cache};
    use crate::{Backend, EngineBuilder};

    fn devices(faults: &[Faults]) -> EngineBuilder {
        let device = |&faults: &Faults| Device::emulator_with(faults, Cache::from_environment());
        Engine::builder().devices(faults.iter().map(device).collect()).backend(Backend::Cuda)
    }

    #[test]
    fn parts_of_several_devices_and_lanes_are_put_together_in_order() {
        let (column, expected) = column(37);
        for faults in [&[Faults::default()][..], &[Faults::default(); 2]] {
            let engine = devices(faults).build().unwrap();
            for least in [1, 100] {
                assert_eq!(cubes(&engine, &column, &[], least).unwrap(), expected);
                assert_eq!(cubes(&engine, &column, &[36, 20, 21], least), Err(wrong_item(20)));
            }
            assert!(engine.faults().is_empty(), "{:?}", engine.faults());
        }
    }

    #[test]
    fn parts_that_do_not_fit_a_device_are_halved() {
        let (column, expected) = column(64);
        let little = Faults { out_of_memory_above: Some(8 << 10), ..Faults::default() };
        let engine = devices(&[little]).build().unwrap();
        assert_eq!(cubes(&engine, &column, &[], LEAST_OF_LANES).unwrap(), expected);
    }

    #[test]
    fn the_cpu_finishes_for_a_device_that_is_lost() {
        let (column, expected) = column(16);
        let lost = Faults { lose_device_after: Some(2), ..Faults::default() };
        let engine = devices(&[lost]).build().unwrap();
        assert_eq!(cubes(&engine, &column, &[], LEAST_OF_LANES).unwrap(), expected);
        assert!(!engine.faults().is_empty());
        let strict = devices(&[lost]).fallback(false).build().unwrap();
        let refused = cubes(&strict, &column, &[], LEAST_OF_LANES);
        assert!(matches!(refused, Err(Error::Device(_))), "{refused:?}");
    }
}
