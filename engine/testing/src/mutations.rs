//! Changes of bytes that decoders stumble over.

use crate::rng::Rng;

/// Values that lengths, offsets and counts are set to.
const HARD: [i64; 14] = [
    0,
    1,
    -1,
    7,
    i64::MAX,
    i64::MIN,
    i32::MAX as i64,
    i32::MIN as i64,
    1 << 31,
    1 << 46,
    1 << 62,
    -2,
    0x7fff,
    1 << 24,
];

/// The number of mutations of a test: `MODMILL_MUTATIONS`, or `default`.
#[must_use]
pub fn rounds(default: usize) -> usize {
    std::env::var("MODMILL_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The bytes with some changes.
pub fn mutate(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=rng.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = rng.below(bytes.len());
        match rng.below(10) {
            0 | 1 => bytes[at] ^= 1 << rng.below(8),
            2 | 3 => bytes[at] = rng.word() as u8,
            4 | 5 => overwrite(&mut bytes, at / 4 * 4, &(*rng.pick(&HARD) as i32).to_le_bytes()),
            6 | 7 => overwrite(&mut bytes, at / 8 * 8, &rng.pick(&HARD).to_le_bytes()),
            8 => {
                let from = rng.below(bytes.len());
                let copied = bytes[from..bytes.len().min(from + 8)].to_vec();
                overwrite(&mut bytes, at, &copied);
            }
            _ => match rng.below(3) {
                0 => bytes.truncate(at),
                1 => drop(bytes.drain(at..(at + 1 + rng.below(16)).min(bytes.len()))),
                _ => {
                    let end = (at + 1 + rng.below(64)).min(bytes.len());
                    let repeated = bytes[at..end].to_vec();
                    bytes.splice(at..at, repeated);
                }
            },
        }
    }
    bytes
}

fn overwrite(bytes: &mut [u8], at: usize, value: &[u8]) {
    let end = bytes.len().min(at + value.len());
    bytes[at..end].copy_from_slice(&value[..end - at]);
}
