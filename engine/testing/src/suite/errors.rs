//! Items without an answer are named, and all other answers are returned.

use super::check::expect_same;
use super::{Outcome, Suite};
use crate::oracle::{self, batch};
use crate::rng::Rng;
use modmill::{Batch, Engine, Error, ItemError, ItemErrorKind, Operand, Public, TRANSFORM_MAX_BITS};
use num_bigint::BigUint;

type Call = fn(&Engine, &Batch, &Batch, &Batch) -> Result<Batch, Error>;

/// The modular operations by name.
const CALLS: [(&str, Call); 5] = [
    ("mul_mod", |engine, a, b, n| engine.mul_mod(a, b, n)),
    ("square_mod", |engine, a, _, n| engine.square_mod(a, n)),
    ("pow", |engine, a, b, n| engine.pow(a, b, n)),
    ("pow_vartime", |engine, a, b, n| engine.pow(a, Public(b), n)),
    ("inv", |engine, a, _, n| engine.inv(a, n)),
];

pub(super) fn run(suite: &mut Suite<'_>) {
    for (name, call) in CALLS {
        suite.case(format!("{name} names moduli of zero and answers the others"), |engine| {
            zero_moduli(engine, call)
        });
        suite.case(format!("{name} of nothing is nothing"), |engine| nothing(engine, call));
        suite.case(format!("{name} modulo 1 is 0"), |engine| modulo_one(engine, call));
        suite.case(format!("{name} refuses operands of different lengths"), |engine| {
            mismatch(engine, name, call)
        });
        suite.case(format!("{name} refuses numbers beyond the limit"), |engine| too_long(engine, call));
    }
    suite.case("inv names numbers without an inverse and answers the others", not_invertible);
    suite.case("0^0 is 1", zero_to_the_zero);
    suite.case("numbers of no width at all are zeros", no_width);
    suite.case("mul: nothing, mismatch, limit", products);
}

fn expect_equal<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Outcome {
    if found == expected { Ok(()) } else { Err(format!("{what}: expected {expected:?}, found {found:?}")) }
}

fn zero_moduli(engine: &Engine, call: Call) -> Outcome {
    let mut rng = Rng::new(60_000);
    let mut moduli: Vec<BigUint> = (0..40).map(|item| rng.exact(20 + 9 * item)).collect();
    for modulus in &mut moduli {
        modulus.set_bit(0, rng.below(3) > 0);
    }
    // Ones, and numbers coprime to the moduli, so that inverses exist too.
    let (a, b) = (batch(&vec![BigUint::from(1u8); 40]), batch(&vec![BigUint::from(3u8); 40]));
    let whole = call(engine, &a, &b, &batch(&moduli)).map_err(|error| error.to_string())?;
    let zeros = [0, 7, 8, 21, 39];
    for item in zeros {
        moduli[item] = BigUint::ZERO;
    }
    let n = oracle::batch_of_width(&moduli, whole.bits());
    let Err(Error::Items(partial)) = call(engine, &a, &b, &n) else {
        return Err("moduli of zero were accepted".to_owned());
    };
    let named = zeros.map(|index| ItemError { index, kind: ItemErrorKind::ZeroModulus }).to_vec();
    expect_equal("failed items", &partial.failed, &named)?;
    let mut expected = whole;
    for item in zeros {
        expected.get_mut(item).fill(0);
    }
    expect_same("the other items", &partial.answers, &expected)?;
    // A bad item alone, and bad items at every place.
    for count in [1, 9] {
        let (a, b, n) = (Batch::zeros(64, count), Batch::zeros(64, count), Batch::zeros(64, count));
        match call(engine, &a, &b, &n) {
            Err(Error::Items(partial)) => expect_equal("failed items", partial.failed.len(), count)?,
            other => return Err(format!("{count} moduli of zero: {other:?}")),
        }
    }
    Ok(())
}

fn nothing(engine: &Engine, call: Call) -> Outcome {
    for bits in [1, 64, 2048] {
        let none = Batch::zeros(bits, 0);
        let found = call(engine, &none, &none, &none).map_err(|error| error.to_string())?;
        expect_equal("items and bits", (found.len(), found.bits()), (0, bits))?;
    }
    Ok(())
}

fn modulo_one(engine: &Engine, call: Call) -> Outcome {
    let numbers: Vec<BigUint> = [0u64, 1, 2, u64::MAX].map(BigUint::from).to_vec();
    let a = batch(&numbers);
    for width in [1, 64, 300] {
        let n = oracle::batch_of_width(&vec![BigUint::from(1u8); 4], width);
        let found = call(engine, &a, &a, &n).map_err(|error| error.to_string())?;
        expect_same("modulo 1", &found, &Batch::zeros(width, 4))?;
    }
    Ok(())
}

fn mismatch(engine: &Engine, name: &str, call: Call) -> Outcome {
    let ones = |count: usize| batch(&vec![BigUint::from(1u8); count]);
    let mut shapes = vec![(3, 3, 2), (3, 3, 4), (3, 3, 0)];
    if !["square_mod", "inv"].contains(&name) {
        shapes.extend([(3, 2, 3), (0, 3, 3)]);
    }
    for (a, b, n) in shapes {
        match call(engine, &ones(a), &ones(b), &ones(n)) {
            Err(Error::LengthMismatch { expected, found, .. }) if expected != found => {}
            other => return Err(format!("lengths {a}, {b}, {n}: {other:?}")),
        }
    }
    Ok(())
}

fn too_long(engine: &Engine, call: Call) -> Outcome {
    // Widths are checked before anything else. An empty batch has a width too, and needs no memory.
    let (short, long) = (Batch::zeros(64, 0), Batch::zeros(TRANSFORM_MAX_BITS + 1, 0));
    for (a, n) in [(&long, &short), (&short, &long)] {
        match call(engine, a, &short, n) {
            Err(Error::TooLong { bits, limit: TRANSFORM_MAX_BITS, .. }) => {
                expect_equal("bits", bits, TRANSFORM_MAX_BITS + 1)?;
            }
            other => return Err(format!("numbers of {} and {} bits: {other:?}", a.bits(), n.bits())),
        }
    }
    Ok(())
}

fn not_invertible(engine: &Engine) -> Outcome {
    let big = |number: u64| BigUint::from(number);
    let shared_factor = (big(1) << 127usize) - 1u8;
    let cases = [
        (big(0), big(7), None),
        (big(3), big(9), None),
        (big(3), big(7), Some(big(5))),
        (big(2), big(4), None),
        (big(3), big(4), Some(big(3))),
        (big(10), big(7), Some(big(5))),
        (big(7), big(7), None),
        (&shared_factor * 6u8, &shared_factor * 35u8, None),
        (&shared_factor * 6u8, &shared_factor * 32u8, None),
        (big(1), big(2), Some(big(1))),
        (big(0), big(1), Some(big(0))),
        (big(6), big(1 << 20), None),
    ];
    let a: Vec<BigUint> = cases.iter().map(|case| case.0.clone()).collect();
    let n: Vec<BigUint> = cases.iter().map(|case| case.1.clone()).collect();
    let expected: Vec<Option<BigUint>> = cases.iter().map(|case| case.2.clone()).collect();
    super::check::inverses(engine.inv(&batch(&a), &batch(&n)), &a, &n, &expected)
}

fn zero_to_the_zero(engine: &Engine) -> Outcome {
    let mut rng = Rng::new(61_000);
    let moduli: Vec<BigUint> = [2u64, 3, 4, 7, 256]
        .map(BigUint::from)
        .into_iter()
        .chain([rng.exact(500), rng.exact(1025)])
        .collect();
    let n = batch(&moduli);
    let expected = oracle::batch_of_width(&vec![BigUint::from(1u8); moduli.len()], n.bits());
    for width in [1, 64, 70, 1100] {
        let zeros = Batch::zeros(width, moduli.len());
        for found in [engine.pow(&zeros, &zeros, &n), engine.pow(&zeros, Public(&zeros), &n)] {
            expect_same("0^0", &found.map_err(|error| error.to_string())?, &expected)?;
        }
    }
    Ok(())
}

fn no_width(engine: &Engine) -> Outcome {
    let empty = Batch::zeros(0, 3);
    let seven = Batch::from_values([[7u64], [8], [1]]);
    let text = |error: Error| error.to_string();
    let one = oracle::batch_of_width(&[1u8, 1, 0].map(BigUint::from), 4);
    let none = Operand::Shared { bits: 0, value: &[] };
    expect_same("0^0", &engine.pow(&empty, &empty, &seven).map_err(text)?, &one)?;
    expect_same("0^0, vartime", &engine.pow(&empty, Public(none), &seven).map_err(text)?, &one)?;
    expect_same("0 * 7", &engine.mul_mod(&empty, &seven, &seven).map_err(text)?, &Batch::zeros(4, 3))?;
    expect_same("0^2", &engine.square_mod(none, &seven).map_err(text)?, &Batch::zeros(4, 3))?;
    expect_same("0 * 7, whole", &engine.mul(&empty, &seven).map_err(text)?, &Batch::zeros(4, 3))?;
    expect_same("0 * 0, whole", &engine.mul(&empty, &empty).map_err(text)?, &Batch::zeros(0, 3))?;
    match engine.pow(&seven, &seven, &empty) {
        Err(Error::Items(partial)) => expect_equal("failed items", partial.failed.len(), 3),
        other => Err(format!("moduli of no width: {other:?}")),
    }
}

fn products(engine: &Engine) -> Outcome {
    let (two, three) = (batch(&vec![BigUint::from(9u8); 2]), batch(&vec![BigUint::from(9u8); 3]));
    if !matches!(engine.mul(&two, &three), Err(Error::LengthMismatch { expected: 2, found: 3, .. })) {
        return Err("2 and 3 factors were accepted".to_owned());
    }
    let (long, nothing) = (Batch::zeros(TRANSFORM_MAX_BITS + 1, 0), Batch::zeros(64, 0));
    for found in [engine.mul(&long, &nothing), engine.mul(&nothing, &long), engine.square(&long)] {
        if !matches!(found, Err(Error::TooLong { .. })) {
            return Err(format!("a factor beyond the limit: {found:?}"));
        }
    }
    let none = Batch::zeros(64, 0);
    let found = engine.mul(&none, &none).map_err(|error| error.to_string())?;
    expect_equal("items and bits", (found.len(), found.bits()), (0, 128))
}
