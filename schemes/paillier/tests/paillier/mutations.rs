//! Keys and columns that were changed on their way: they are read as what they are, or refused.

use super::*;
use crate::bodies::read;
use base64ct::{Base64UrlUnpadded, Encoding};
use modmill_paillier::{EncodedColumn, Packing};
use serde_json::Value;

/// How many changes of each seed are tried: 60 times what `MODMILL_TEST_MUTATIONS` says.
fn changes() -> usize {
    60 * std::env::var("MODMILL_TEST_MUTATIONS").map_or(1, |text| text.parse::<usize>().unwrap())
}

fn changed(seed: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut data = seed.to_vec();
    for _ in 0..=rng.below(3) {
        // The first bytes, where headers are, are hit more often.
        let end = if rng.below(2) == 0 { data.len().min(180) } else { data.len() };
        let place = rng.below(end.max(1)).min(data.len() - 1);
        match rng.below(5) {
            0 => data[place] ^= 1 << rng.below(8),
            1 => data[place] = *rng.pick(b"\0\x01\x7f\x80\xff\"},:A"),
            2 => drop(data.drain(place..(place + rng.below(64)).min(seed.len()).clamp(place, data.len()))),
            3 => data.truncate(place.max(1)),
            _ => {
                let from = rng.below(seed.len());
                let part = seed[from..(from + rng.below(64)).min(seed.len())].to_vec();
                data.splice(place..place, part).for_each(drop);
            }
        }
        if data.is_empty() {
            data.push(0);
        }
    }
    data
}

#[test]
fn changed_keys_and_columns_are_read_or_refused() {
    let mut rng = Rng::new(401);
    let mut seeds = Vec::new();
    for key in [&KEYS[0], &KEYS[1], &KEYS[3]] {
        seeds.push(key.public_key().to_json("name").unwrap().into_bytes());
        seeds.push(key.to_json("name").unwrap().as_bytes().to_vec());
        // The checksum is left off: the right one is put behind what was changed.
        let files = [key.public_key().to_bytes().unwrap(), key.to_bytes().unwrap().to_vec()];
        seeds.extend(files.map(|file| file[..file.len() - 32].to_vec()));
    }
    let public = KEYS[1].public_key();
    assert!(seeds.iter().all(|seed| read(seed, public) == 1));
    let column = EncodedColumn::from_f64_each(public, &[0.5, -7.0]).unwrap().encrypt(&paillier()).unwrap();
    let packed = Packing::signed(20, 9).unwrap().encrypt(&paillier(), public, &[1, 2, 3]).unwrap();
    for file in [column.to_bytes().unwrap(), packed.to_bytes().unwrap()] {
        seeds.push(file[..file.len() - 32].to_vec());
    }
    for seed in &seeds {
        for _ in 0..changes() {
            read(&changed(seed, &mut rng), public);
        }
    }
}

/// The numbers of a private key in the places of each other.
#[test]
fn keys_with_wrong_numbers_are_refused() {
    for key in [&KEYS[1], &KEYS[3]] {
        let n = n(key.public_key());
        let encode = |number: &BigUint| Value::from(Base64UrlUnpadded::encode_string(&number.to_bytes_be()));
        let mut numbers = [&n + 1u8, &n - 1u8, &n * &n - 1u8, BigUint::ZERO, 1u8.into(), 3u8.into()]
            .map(|number| encode(&number))
            .to_vec();
        let members: Value = serde_json::from_str(&key.to_json("").unwrap()).unwrap();
        let places = ["/p", "/q", "/u", "/v", "/pub/n", "/pub/hs"];
        numbers.extend(places.iter().filter_map(|place| members.pointer(place)).cloned());
        for place in places.iter().filter(|place| members.pointer(place).is_some()) {
            for number in numbers.iter().filter(|number| members.pointer(place) != Some(number)) {
                let mut wrong = members.clone();
                *wrong.pointer_mut(place).unwrap() = number.clone();
                assert!(PrivateKey::from_json(&wrong.to_string()).is_err(), "{place} is {number}");
            }
        }
        for bits in [0, 319, key.bits() + 1, usize::MAX] {
            let mut wrong = members.clone();
            *wrong.pointer_mut("/pub/hs_bits").unwrap() = bits.into();
            assert!(PrivateKey::from_json(&wrong.to_string()).is_err(), "{bits}");
        }
    }
}
