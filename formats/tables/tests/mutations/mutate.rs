//! Changes of bytes that decoders stumble over.

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

/// A stream of numbers that a seed determines: SplitMix64.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// The number of mutations of a test: `MODMILL_MUTATIONS`, or `default`.
pub(crate) fn rounds(default: usize) -> usize {
    std::env::var("MODMILL_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The bytes with some changes.
pub(crate) fn mutate(bytes: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=numbers.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = numbers.below(bytes.len());
        match numbers.below(10) {
            0 | 1 => bytes[at] ^= 1 << numbers.below(8),
            2 | 3 => bytes[at] = numbers.next() as u8,
            4 | 5 => {
                overwrite(&mut bytes, at / 4 * 4, &(HARD[numbers.below(HARD.len())] as i32).to_le_bytes())
            }
            6 | 7 => overwrite(&mut bytes, at / 8 * 8, &HARD[numbers.below(HARD.len())].to_le_bytes()),
            8 => {
                let from = numbers.below(bytes.len());
                let copied = bytes[from..bytes.len().min(from + 8)].to_vec();
                overwrite(&mut bytes, at, &copied);
            }
            _ => match numbers.below(3) {
                0 => bytes.truncate(at),
                1 => drop(bytes.drain(at..(at + 1 + numbers.below(16)).min(bytes.len()))),
                _ => {
                    let end = (at + 1 + numbers.below(64)).min(bytes.len());
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
