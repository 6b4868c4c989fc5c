//! Edwards25519: `-x^2 + y^2 = 1 + d x^2 y^2` in extended coordinates `(X : Y : Z : T)` with `x = X / Z`, `y
//! = Y / Z` and `T = X Y / Z`.
//!
//! The formulas are those of Hisil, Wong, Carter and Dawson, "Twisted Edwards curves revisited" (ASIACRYPT
//! 2008), sections 3.1 and 3.3. They are complete, because -1 is a square and `d` is none.

use super::{Group, Table};
use crate::field::{Field, N25519, P25519, invert_all};
use modmill_core::mask;
use std::sync::OnceLock;
use zeroize::Zeroizing;

/// `d = -121665 / 121666`.
const D: P25519 = P25519::constant("52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3");
/// A square root of -1.
const ROOT_OF_MINUS_1: P25519 =
    P25519::constant("2b8324804fc1df0b2b4d00993dfbd7a72f431806ad2fe478c4ee1b274a0ea0b0");

/// The group of Ed25519, with its points of small order.
pub(crate) struct Ed25519;

/// The sum of a point and another, of which `y + x`, `y - x`, `2 z` times the first `z`, and `2 d t` are
/// given.
#[inline(always)]
fn add(&[x, y, _, t]: &[P25519; 4], plus: P25519, minus: P25519, zz2: P25519, dt2: P25519) -> [P25519; 4] {
    let (a, b, c) = ((y - x) * minus, (y + x) * plus, t * dt2);
    let (e, f, g, h) = (b - a, zz2 - c, zz2 + c, b + a);
    [e * f, g * h, f * g, e * h]
}

/// A point that was read.
pub(crate) struct Decoded {
    pub(crate) point: [P25519; 4],
    /// Whether the bytes are those that a writer of this point writes.
    pub(crate) is_canonical: bool,
}

impl Ed25519 {
    /// Reads a public point (RFC 8032, section 5.1.3), or returns `None` if no point has this `y`. A `y` that
    /// is not below the prime is reduced, and the sign of `x = 0` may be set: [`Decoded::is_canonical`]
    /// tells.
    pub(crate) fn decode(bytes: &[u8; 32]) -> Option<Decoded> {
        let mut big_endian = *bytes;
        big_endian.reverse();
        let sign = u64::from(big_endian[0] >> 7);
        big_endian[0] &= 0x7f;
        let (y, in_range) = P25519::read(&big_endian);
        let yy = y.square();
        let (u, v) = (yy - P25519::ONE, D * yy + P25519::ONE);
        // x = u v^3 (u v^7)^((p - 5) / 8) is a root of u / v or of -u / v, if one of them has a root.
        let v3 = v.square() * v;
        let x = u * v3 * (u * v3.square() * v).power_of_quotient(3);
        let vxx = v * x.square();
        let x = P25519::select(vxx.equals(-u), x * ROOT_OF_MINUS_1, x);
        if (vxx.equals(u) | vxx.equals(-u)) == 0 {
            return None;
        }
        let x = P25519::select(mask::from_bit(x.parity() ^ sign), -x, x);
        let is_canonical = in_range & !(x.is_zero() & mask::from_bit(sign)) != 0;
        Some(Decoded { point: [x, y, P25519::ONE, x * y], is_canonical })
    }

    /// Writes a point, of which the inverse of `z` is given.
    pub(crate) fn encode(&[x, y, ..]: &[P25519; 4], inverse: P25519) -> [u8; 32] {
        let (x, y) = (x * inverse, y * inverse);
        let mut bytes = [0; 32];
        y.write(&mut bytes);
        bytes.reverse();
        bytes[31] |= (x.parity() << 7) as u8;
        bytes
    }

    pub(crate) fn negate(&[x, y, z, t]: &[P25519; 4]) -> [P25519; 4] {
        [-x, y, z, -t]
    }

    /// Points with the third coordinate one, with one inversion for all.
    pub(crate) fn affine(points: &[[P25519; 4]]) -> Vec<[P25519; 4]> {
        let mut inverses = Zeroizing::new(points.iter().map(|&[_, _, z, _]| z).collect::<Vec<_>>());
        invert_all(&mut inverses);
        let point = |(&[x, y, ..], &inverse): (&[P25519; 4], &P25519)| {
            let (x, y) = (x * inverse, y * inverse);
            [x, y, P25519::ONE, x * y]
        };
        points.iter().zip(inverses.iter()).map(point).collect()
    }

    /// The entry of a point with the third coordinate one.
    pub(crate) fn entry(&[x, y, _, t]: &[P25519; 4]) -> [P25519; 3] {
        [y + x, y - x, D.double() * t]
    }

    /// Eight times a point. It is in the group of prime order.
    pub(crate) fn eightfold(point: &[P25519; 4]) -> [P25519; 4] {
        (0..3).fold(*point, |point, _| Self::double(&point))
    }

    /// Whether a public point with the third coordinate one is on the curve.
    pub(crate) fn is_on_curve(&[x, y, z, t]: &[P25519; 4]) -> bool {
        let (xx, yy) = (x.square(), y.square());
        (yy - xx).equals(P25519::ONE + D * xx * yy) & z.equals(P25519::ONE) & t.equals(x * y) != 0
    }

    /// Whether eight times the point is the identity.
    pub(crate) fn is_of_small_order(point: &[P25519; 4]) -> bool {
        Self::is_identity(&Self::eightfold(point)) != 0
    }
}

impl Group for Ed25519 {
    type Base = P25519;
    type Scalar = N25519;
    type Point = [P25519; 4];
    /// `(y + x, y - x, 2 d x y)`.
    type Entry = [P25519; 3];
    /// `(Y + X, Y - X, 2 Z, 2 d T)`.
    type Cached = [P25519; 4];

    fn identity() -> Self::Point {
        [P25519::ZERO, P25519::ONE, P25519::ONE, P25519::ZERO]
    }

    fn double(&[x, y, z, _]: &Self::Point) -> Self::Point {
        let (xx, yy, zz2) = (x.square(), y.square(), z.square().double());
        let h = xx + yy;
        let e = h - (x + y).square();
        let g = xx - yy;
        let f = zz2 + g;
        [e * f, g * h, f * g, e * h]
    }

    fn add(point: &Self::Point, &[plus, minus, z2, dt2]: &Self::Cached) -> Self::Point {
        add(point, plus, minus, point[2] * z2, dt2)
    }

    fn add_entry(point: &Self::Point, &[plus, minus, dt2]: &Self::Entry) -> Self::Point {
        add(point, plus, minus, point[2].double(), dt2)
    }

    fn cache(&[x, y, z, t]: &Self::Point) -> Self::Cached {
        [y + x, y - x, z.double(), D.double() * t]
    }

    fn entries(points: &[Self::Point]) -> Vec<Self::Entry> {
        Self::affine(points).iter().map(Self::entry).collect()
    }

    fn negate_cached(&[plus, minus, z2, dt2]: &Self::Cached) -> Self::Cached {
        [minus, plus, z2, -dt2]
    }

    fn negate_entry(&[plus, minus, dt2]: &Self::Entry) -> Self::Entry {
        [minus, plus, -dt2]
    }

    fn is_identity(&[x, y, z, _]: &Self::Point) -> u64 {
        x.is_zero() & y.equals(z)
    }

    fn generator() -> Self::Point {
        const X: P25519 =
            P25519::constant("216936d3cd6e53fec0a4e231fdd6dc5c692cc7609525a7b2c9562d608f25d51a");
        const Y: P25519 =
            P25519::constant("6666666666666666666666666666666666666666666666666666666666666658");
        [X, Y, P25519::ONE, X * Y]
    }

    fn generator_table() -> &'static Table<Self> {
        static TABLE: OnceLock<Table<Ed25519>> = OnceLock::new();
        TABLE.get_or_init(|| Table::new(&Self::generator()))
    }
}
