//! Points as bytes (SEC 1, section 2.3).

use crate::PointError;
use crate::field::Field;
use crate::group::{Weierstrass, decompress, is_on_curve};

/// Reads a point, compressed or not, and checks that it is on the curve.
pub(crate) fn decode<C: Weierstrass>(bytes: &[u8]) -> Result<[C::Base; 2], PointError> {
    let size = C::Base::BYTES;
    let (&prefix, rest) =
        bytes.split_first().ok_or(PointError::WrongLength { expected: 1 + 2 * size, found: 0 })?;
    let expected = match prefix {
        0 if rest.is_empty() => return Err(PointError::Infinity),
        2 | 3 => 1 + size,
        4 => 1 + 2 * size,
        _ => return Err(PointError::Prefix(prefix)),
    };
    if bytes.len() != expected {
        return Err(PointError::WrongLength { expected, found: bytes.len() });
    }
    let (x, y) = rest.split_at(size);
    let (x, x_in_range) = C::Base::read(x);
    let (point, on_curve, in_range) = match prefix {
        4 => {
            let (y, y_in_range) = C::Base::read(y);
            ([x, y], is_on_curve::<C>(&[x, y]), x_in_range & y_in_range)
        }
        _ => {
            let (point, found) = decompress::<C>(x, u64::from(prefix & 1));
            (point, found, x_in_range)
        }
    };
    match (in_range, on_curve) {
        (0, _) => Err(PointError::NonCanonical),
        (_, 0) => Err(PointError::OffCurve),
        _ => Ok(point),
    }
}

/// The coordinates of an uncompressed point that [`decode`] accepted before.
pub(crate) fn known<C: Weierstrass>(bytes: &[u8]) -> [C::Base; 2] {
    let (x, y) = bytes[1..].split_at(C::Base::BYTES);
    [C::Base::read(x).0, C::Base::read(y).0]
}

/// Writes a point, uncompressed.
pub(crate) fn encode<C: Weierstrass>([x, y]: [C::Base; 2]) -> Box<[u8]> {
    let size = C::Base::BYTES;
    let mut bytes = vec![0; 1 + 2 * size];
    bytes[0] = 4;
    x.write(&mut bytes[1..=size]);
    y.write(&mut bytes[1 + size..]);
    bytes.into()
}
