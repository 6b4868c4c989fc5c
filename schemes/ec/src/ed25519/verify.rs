//! Verification of a block of items, which share an inversion. Everything is public.

use super::Input;
use crate::ec::Answers;
use crate::field::{Field, N25519, P25519, invert_all};
use crate::group::{Decoded, Ed25519, Group, Table, multiples_vartime};
use crate::scalar25519::read_canonical;
use crate::{ItemError, PointError, PublicKey, Rules};

/// A signature that is verified.
pub(crate) struct Item<'a> {
    pub(crate) key: &'a PublicKey,
    pub(crate) input: Input<'a>,
    pub(crate) signature: &'a [u8],
}

/// A key with its point, and a table of the negated point if there is one.
pub(crate) struct Key<'a> {
    pub(crate) decoded: Decoded,
    pub(crate) negated: Option<&'a Table<Ed25519>>,
}

/// Verifies items whose keys are on Edwards25519. `one_key` is the key of all items, if they have the same.
pub(crate) fn verify(items: &[Item<'_>], rules: Rules, one_key: Option<&Key<'_>>) -> Answers<()> {
    let sum = |item: &Item<'_>| match one_key {
        Some(key) => sum(item, rules, key),
        None => {
            let decoded = item.key.ed25519_point().ok_or(PointError::OffCurve)?;
            sum(item, rules, &Key { decoded, negated: None })
        }
    };
    let sums: Vec<Result<_, ItemError>> = items.iter().map(sum).collect();
    let mut inverses: Vec<P25519> =
        sums.iter().map(|sum| sum.map_or(P25519::ZERO, |[_, _, z, _]| z)).collect();
    invert_all(&mut inverses);
    let answer = |((item, sum), inverse): ((&Item<'_>, &Result<_, _>), P25519)| {
        has_bytes(&(*sum)?, inverse, &item.signature[..32], rules)
    };
    items.iter().zip(&sums).zip(inverses).map(answer).collect()
}

/// `s B - k A`.
fn sum(item: &Item<'_>, rules: Rules, key: &Key<'_>) -> Result<[P25519; 4], ItemError> {
    let wrong_length = ItemError::SignatureLength { expected: 64, found: item.signature.len() };
    let signature: &[u8; 64] = item.signature.try_into().map_err(|_| wrong_length)?;
    let (r, s) = signature.split_at(32);
    let s = s.try_into().ok().and_then(read_canonical).ok_or(ItemError::OutOfRange("s"))?;
    if rules == Rules::Strict {
        if !key.decoded.is_canonical {
            return Err(PointError::NonCanonical.into());
        }
        if Ed25519::is_of_small_order(&key.decoded.point) {
            return Err(PointError::SmallOrder.into());
        }
    }
    let factor: N25519 = item.input.scalar([r, item.key.as_ref()]);
    let of_key = match key.negated {
        Some(table) => table.add_multiple_vartime(Ed25519::identity(), factor),
        None => multiples_vartime::<Ed25519, 1>([(Ed25519::negate(&key.decoded.point), factor)]),
    };
    Ok(Ed25519::generator_table().add_multiple_vartime(of_key, s))
}

/// Whether a sum has the bytes `r` by the rules.
fn has_bytes(sum: &[P25519; 4], inverse: P25519, r: &[u8], rules: Rules) -> Result<(), ItemError> {
    if rules == Rules::Zip215 {
        let decoded = r.try_into().ok().and_then(Ed25519::decode).ok_or(PointError::OffCurve)?;
        let negated = Ed25519::cache(&Ed25519::negate(&decoded.point));
        let difference = Ed25519::add(sum, &negated);
        return if Ed25519::is_of_small_order(&difference) { Ok(()) } else { Err(ItemError::Verification) };
    }
    if Ed25519::encode(sum, inverse) != r {
        return Err(ItemError::Verification);
    }
    if rules == Rules::Strict && Ed25519::is_of_small_order(sum) {
        return Err(PointError::SmallOrder.into());
    }
    Ok(())
}
