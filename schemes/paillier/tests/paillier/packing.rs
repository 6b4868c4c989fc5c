//! Packed columns.

use super::*;
use modmill_paillier::{Error, PackedColumn, Packing};

#[test]
fn slots_of_every_width_hold_their_extremes() {
    let key = &KEYS[2];
    for (bits, terms) in [(1, 1), (1, 2), (7, 3), (16, 1000), (32, 1 << 32), (63, 1), (64, 1), (64, 1 << 62)]
    {
        for packing in [Packing::signed(bits, terms).unwrap(), Packing::unsigned(bits, terms).unwrap()] {
            let (least, most) = match packing.is_signed() {
                true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
                false => (0, (1i128 << bits) - 1),
            };
            let slots = packing.slots(key.public_key());
            assert!(
                slots * packing.slot_bits() < key.bits() && (slots + 1) * packing.slot_bits() >= key.bits()
            );
            // One more than a ciphertext holds, with all slots full.
            let values: Vec<i128> =
                (0..=slots).map(|index| if index % 3 == 1 { least } else { most }).collect();
            let column = packing.encrypt(&paillier(), key.public_key(), &values).unwrap();
            assert_eq!(column.ciphertexts().len(), 2);
            assert_eq!(column.decrypt(&paillier(), key).unwrap(), values);
            // The greatest number of terms, which fills the headroom.
            let limit = packing.terms();
            let factor = u64::try_from(limit).unwrap();
            let full = column.mul(&paillier(), factor).unwrap();
            let expected: Vec<i128> = values.iter().map(|value| value * limit as i128).collect();
            assert_eq!(full.decrypt(&paillier(), key).unwrap(), expected);
            assert!(matches!(full.add(&paillier(), &column), Err(Error::Headroom { .. })));
            for outside in [least - 1, most + 1, i128::MAX, i128::MIN] {
                let refused = packing.encrypt(&paillier(), key.public_key(), &[0.max(least), outside]);
                assert!(matches!(refused, Err(Error::OutOfRange { index: 1, .. })));
            }
        }
    }
}

#[test]
fn sums_of_packed_columns() {
    let key = &KEYS[1];
    let packing = Packing::signed(12, 5).unwrap();
    assert_eq!(packing.terms(), 8);
    let rows = [[1, -2048, 2047], [5, 6, -7], [-1, -1, -1]];
    let columns = rows.map(|row| packing.encrypt(&paillier(), key.public_key(), &row).unwrap());
    let sum = PackedColumn::sum(&paillier(), &columns).unwrap().unwrap();
    assert_eq!((sum.terms(), sum.decrypt(&paillier(), key).unwrap()), (3, vec![5, -2043, 2039]));
    let many = vec![sum; 3];
    assert!(matches!(PackedColumn::sum(&paillier(), &many), Err(Error::Headroom { terms: 9, limit: 8, .. })));
    assert!(PackedColumn::sum(&paillier(), &[]).unwrap().is_none());
    let empty = packing.encrypt(&paillier(), key.public_key(), &[]).unwrap();
    assert!(empty.is_empty() && empty.decrypt(&paillier(), key).unwrap().is_empty());
}

#[test]
fn layouts_that_cannot_be_or_differ_are_refused() {
    for (bits, terms) in [(0, 1), (65, 1), (1, 0), (64, 1 << 63)] {
        assert!(matches!(Packing::unsigned(bits, terms), Err(Error::Packing(_))));
    }
    let key = KEYS[0].public_key();
    let column = |packing: Packing, values: &[i128]| packing.encrypt(&paillier(), key, values).unwrap();
    let a = column(Packing::unsigned(8, 4).unwrap(), &[1, 2]);
    let b = column(Packing::signed(8, 4).unwrap(), &[1, 2]);
    assert!(matches!(a.add(&paillier(), &b), Err(Error::Layout)));
    let c = column(Packing::unsigned(8, 4).unwrap(), &[1]);
    assert!(matches!(a.add(&paillier(), &c), Err(Error::LengthMismatch { .. })));
    let wrong = PackedColumn::new(*a.packing(), a.ciphertexts().clone(), 1000, 1);
    assert!(matches!(wrong, Err(Error::LengthMismatch { .. })));
}
