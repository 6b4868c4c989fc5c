//! Curves `y^2 = x^3 + a x + b` of prime order with `a = -3` or `a = 0`, in projective coordinates `(X : Y :
//! Z)` with `x = X / Z` and `y = Y / Z`. The identity is `(0 : 1 : 0)`.
//!
//! The formulas are those of Renes, Costello and Batina, "Complete addition formulas for prime order elliptic
//! curves" (EUROCRYPT 2016): algorithms 4 to 6 for `a = -3` and 7 to 9 for `a = 0`.

use super::{Group, Table};
use crate::field::{Field, K256, N256, N384, N521, NK256, P256, P384, P521, invert_all};
use std::marker::PhantomData;
use std::sync::OnceLock;
use zeroize::Zeroizing;

/// The constants of a curve.
pub(crate) trait Weierstrass: Send + Sync + Sized + 'static {
    type Base: Field;
    type Scalar: Field;
    /// Whether `a` is -3. It is 0 otherwise.
    const A_IS_MINUS_3: bool;
    const B: Self::Base;
    const GENERATOR: [Self::Base; 2];

    /// The place of the generator's table.
    fn table() -> &'static OnceLock<Table<Points<Self>>>;
}

/// The points of a curve.
pub(crate) struct Points<C>(PhantomData<C>);

impl<C: Weierstrass> Group for Points<C> {
    type Base = C::Base;
    type Scalar = C::Scalar;
    type Point = [C::Base; 3];
    type Entry = [C::Base; 2];
    type Cached = [C::Base; 3];

    fn identity() -> Self::Point {
        [Field::ZERO, Field::ONE, Field::ZERO]
    }

    fn double(point: &Self::Point) -> Self::Point {
        double::<C>(point)
    }

    fn add(point: &Self::Point, other: &Self::Cached) -> Self::Point {
        add::<C>(point, *other, false)
    }

    fn add_entry(point: &Self::Point, &[x, y]: &Self::Entry) -> Self::Point {
        add::<C>(point, [x, y, Field::ONE], true)
    }

    fn cache(point: &Self::Point) -> Self::Cached {
        *point
    }

    fn entries(points: &[Self::Point]) -> Vec<Self::Entry> {
        let mut inverses = Zeroizing::new(points.iter().map(|&[.., z]| z).collect::<Vec<_>>());
        invert_all(&mut inverses);
        let entry = |(&[x, y, _], &inverse): (&Self::Point, &C::Base)| [x * inverse, y * inverse];
        points.iter().zip(inverses.iter()).map(entry).collect()
    }

    fn negate_cached(&[x, y, z]: &Self::Cached) -> Self::Cached {
        [x, -y, z]
    }

    fn negate_entry(&[x, y]: &Self::Entry) -> Self::Entry {
        [x, -y]
    }

    fn is_identity(&[_, _, z]: &Self::Point) -> u64 {
        z.is_zero()
    }

    fn generator() -> Self::Point {
        let [x, y] = C::GENERATOR;
        [x, y, Field::ONE]
    }

    fn generator_table() -> &'static Table<Self> {
        C::table().get_or_init(|| Table::new(&Self::generator()))
    }
}

/// The sum of two points, `mixed` if the second has `Z = 1`.
#[inline(always)]
fn add<C: Weierstrass>(
    &[x1, y1, z1]: &[C::Base; 3],
    [x2, y2, z2]: [C::Base; 3],
    mixed: bool,
) -> [C::Base; 3] {
    let (xx, yy) = (x1 * x2, y1 * y2);
    let xy = (x1 + y1) * (x2 + y2) - (xx + yy);
    let (zz, yz, xz) = match mixed {
        true => (z1, y2 * z1 + y1, x2 * z1 + x1),
        false => {
            let zz = z1 * z2;
            (zz, (y1 + z1) * (y2 + z2) - (yy + zz), (x1 + z1) * (x2 + z2) - (xx + zz))
        }
    };
    if C::A_IS_MINUS_3 {
        let zz3 = zz.triple();
        let bzz3 = (xz - C::B * zz).triple();
        let (minus, plus) = (yy - bzz3, yy + bzz3);
        let bxz3 = (C::B * xz - zz3 - xx).triple();
        let difference = xx.triple() - zz3;
        [plus * xy - yz * bxz3, plus * minus + difference * bxz3, minus * yz + xy * difference]
    } else {
        let b3 = C::B.triple();
        let (bzz3, bxz3) = (b3 * zz, b3 * xz);
        let (minus, plus) = (yy - bzz3, yy + bzz3);
        let xx3 = xx.triple();
        [xy * minus - yz * bxz3, plus * minus + xx3 * bxz3, yz * plus + xx3 * xy]
    }
}

#[inline(always)]
fn double<C: Weierstrass>(&[x, y, z]: &[C::Base; 3]) -> [C::Base; 3] {
    if C::A_IS_MINUS_3 {
        let (xx, yy, zz) = (x.square(), y.square(), z.square());
        let (xy2, xz2, yz2) = ((x * y).double(), (x * z).double(), (y * z).double());
        let bzz3 = (C::B * zz - xz2).triple();
        let (minus, plus) = (yy - bzz3, yy + bzz3);
        let zz3 = zz.triple();
        let bxz6 = (C::B * xz2 - zz3 - xx).triple();
        let difference = xx.triple() - zz3;
        [minus * xy2 - bxz6 * yz2, plus * minus + difference * bxz6, (yz2 * yy).double().double()]
    } else {
        let (yy, yz) = (y.square(), y * z);
        let bzz3 = C::B.triple() * z.square();
        let minus = yy - bzz3.triple();
        let yy8 = yy.double().double().double();
        [(minus * (x * y)).double(), minus * (yy + bzz3) + yy8 * bzz3, yz * yy8]
    }
}

/// `x^3 + a x + b`.
fn right_side<C: Weierstrass>(x: C::Base) -> C::Base {
    let cube = x.square() * x;
    if C::A_IS_MINUS_3 { cube - x.triple() + C::B } else { cube + C::B }
}

/// All ones if the point is on the curve.
pub(crate) fn is_on_curve<C: Weierstrass>(&[x, y]: &[C::Base; 2]) -> u64 {
    y.square().equals(right_side::<C>(x))
}

/// The point with this `x` whose `y` is odd or even as the lowest bit of `parity`, and all ones if there is
/// one.
pub(crate) fn decompress<C: Weierstrass>(x: C::Base, parity: u64) -> ([C::Base; 2], u64) {
    let y = right_side::<C>(x).root();
    let flip = modmill_core::mask::from_bit((y.parity() ^ parity) & 1);
    let point = [x, C::Base::select(flip, -y, y)];
    (point, is_on_curve::<C>(&point))
}

/// Declares a curve.
macro_rules! curve {
    ($(#[$doc:meta])* $name:ident, $base:ty, $scalar:ty, $a_is_minus_3:literal, $b:literal, $x:literal, $y:literal) => {
        $(#[$doc])*
        pub(crate) struct $name;

        impl Weierstrass for $name {
            type Base = $base;
            type Scalar = $scalar;
            const A_IS_MINUS_3: bool = $a_is_minus_3;
            const B: $base = <$base>::constant($b);
            const GENERATOR: [$base; 2] = [<$base>::constant($x), <$base>::constant($y)];

            fn table() -> &'static OnceLock<Table<Points<Self>>> {
                static TABLE: OnceLock<Table<Points<$name>>> = OnceLock::new();
                &TABLE
            }
        }
    };
}

curve!(
    /// P-256 (SP 800-186, section 3.2.1.3).
    Nist256, P256, N256, true,
    "5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b",
    "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
    "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
);
curve!(
    /// P-384 (SP 800-186, section 3.2.1.4).
    Nist384, P384, N384, true,
    "b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aef",
    "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7",
    "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f"
);
curve!(
    /// P-521 (SP 800-186, section 3.2.1.5).
    Nist521, P521, N521, true,
    "051953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00",
    "c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3dbaa14b5e77efe75928fe1dc127a2ffa8de3348b3c1856a429bf97e7e31c2e5bd66",
    "11839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e662c97ee72995ef42640c550b9013fad0761353c7086a272c24088be94769fd16650"
);
curve!(
    /// secp256k1 (SEC 2, section 2.4.1).
    Secp256k1, K256, NK256, false,
    "7",
    "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
    "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8"
);
