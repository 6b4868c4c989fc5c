//! Columns as bytes.

use super::*;
use modmill_paillier::{Ciphertexts, EncodedColumn, EncryptedColumn, Error, PackedColumn, Packing};

#[test]
fn columns_of_all_kinds_come_back() {
    let public = KEYS[2].public_key();
    let plain = paillier().encrypt(public, &Batch::from_values([[1u64], [2], [3]])).unwrap();
    assert_eq!(Ciphertexts::from_bytes(public, &plain.to_bytes().unwrap()).unwrap(), plain);
    let empty = paillier().encrypt(public, &Batch::zeros(1, 0)).unwrap();
    assert_eq!(Ciphertexts::from_bytes(public, &empty.to_bytes().unwrap()).unwrap(), empty);
    let values = [0.1, -1e9];
    for encoded in [
        EncodedColumn::from_f64(public, &values, None).unwrap(),
        EncodedColumn::from_f64_each(public, &values).unwrap(),
    ] {
        let column = encoded.encrypt(&paillier()).unwrap();
        assert_eq!(EncryptedColumn::from_bytes(public, &column.to_bytes().unwrap()).unwrap(), column);
    }
    for packing in [Packing::signed(20, 100).unwrap(), Packing::unsigned(3, 1).unwrap()] {
        let column = packing.encrypt(&paillier(), public, &[1, 2, 3]).unwrap();
        assert_eq!(PackedColumn::from_bytes(public, &column.to_bytes().unwrap()).unwrap(), column);
    }
}

#[test]
fn changed_bytes_and_other_keys_are_refused() {
    let public = KEYS[0].public_key();
    let column = EncodedColumn::from_f64_each(public, &[0.5, 1.5]).unwrap().encrypt(&paillier()).unwrap();
    let bytes = column.to_bytes().unwrap();
    for place in (0..bytes.len()).step_by(5) {
        let mut changed = bytes.clone();
        changed[place] ^= 0x10;
        assert!(EncryptedColumn::from_bytes(public, &changed).is_err(), "{place}");
        assert!(EncryptedColumn::from_bytes(public, &bytes[..place]).is_err(), "{place}");
    }
    let other = KEYS[1].public_key();
    assert!(matches!(EncryptedColumn::from_bytes(other, &bytes), Err(Error::WrongKey { .. })));
    // A file of another kind of column.
    assert!(matches!(Ciphertexts::from_bytes(public, &bytes), Err(Error::Column(_))));
    assert!(matches!(PackedColumn::from_bytes(public, &bytes), Err(Error::Column(_))));
    // Bytes that are no file at all.
    let refused = EncryptedColumn::from_bytes(public, &bytes[1..]).unwrap_err().to_string();
    assert!(
        refused.starts_with("not a Paillier column that can be read: it is no file of modmill"),
        "{refused}"
    );
}
