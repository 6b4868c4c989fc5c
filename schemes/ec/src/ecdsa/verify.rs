//! Verification of a block of items, which share their inversions. Everything is public.

use super::sign::is_high;
use super::{encoding, number};
use crate::ec::Answers;
use crate::field::{Field, invert_all};
use crate::group::{Group, Points, Table, Weierstrass, multiples_vartime};
use crate::{Digest, Ecdsa, ItemError, PublicKey, point};

/// A signature that is verified.
pub(crate) struct Item<'a> {
    pub(crate) key: &'a PublicKey,
    pub(crate) digest: Digest,
    pub(crate) signature: &'a [u8],
}

/// Verifies items whose keys are on the curve. If they have one key for which there is a table, it is used.
pub(crate) fn verify<C: Weierstrass>(
    items: &[Item<'_>],
    scheme: Ecdsa,
    of_key: Option<&Table<Points<C>>>,
) -> Answers<()> {
    let read = |item: &Item<'_>| {
        let [r, s] = encoding::read::<C::Scalar>(item.signature, scheme.format)?;
        if scheme.low_s && is_high(s) != 0 { Err(ItemError::HighS) } else { Ok([r, s]) }
    };
    let signatures: Vec<Result<[C::Scalar; 2], ItemError>> = items.iter().map(read).collect();
    let mut inverses: Vec<C::Scalar> =
        signatures.iter().map(|signature| signature.map_or(C::Scalar::ZERO, |[_, s]| s)).collect();
    invert_all(&mut inverses);
    let answer = |position: usize| {
        let (item, [r, _]) = (&items[position], signatures[position]?);
        let (u1, u2) =
            (number::<C::Scalar>(item.digest.as_ref()) * inverses[position], r * inverses[position]);
        let sum = match of_key {
            Some(table) => table.add_multiple_vartime(Points::<C>::identity(), u2),
            None => {
                let [x, y] = point::known::<C>(item.key.as_ref());
                multiples_vartime::<Points<C>, 1>([([x, y, Field::ONE], u2)])
            }
        };
        let sum = Points::<C>::generator_table().add_multiple_vartime(sum, u1);
        if has_x::<C>(&sum, r) { Ok(()) } else { Err(ItemError::Verification) }
    };
    (0..items.len()).map(answer).collect()
}

/// Whether the `x` of a point is `r` or `r + n`, for the order n. Without an inversion: `X = x Z`.
fn has_x<C: Weierstrass>(&[x, _, z]: &[C::Base; 3], r: C::Scalar) -> bool {
    if z.is_zero() != 0 {
        return false;
    }
    let candidate = C::Base::read_wide(&bytes(r));
    if (candidate * z).equals(x) != 0 {
        return true;
    }
    // The order as a coordinate: it is below the prime for all curves here. A sum below the order has passed
    // the prime, so that r + n is no coordinate.
    let order = C::Base::read_wide(&bytes(-C::Scalar::ONE)) + C::Base::ONE;
    let other = candidate + order;
    bytes(other) >= bytes(order) && (other * z).equals(x) != 0
}

fn bytes<F: Field>(number: F) -> Vec<u8> {
    let mut bytes = vec![0; F::BYTES];
    number.write(&mut bytes);
    bytes
}
