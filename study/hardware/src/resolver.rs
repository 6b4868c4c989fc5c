//! The carry resolver (section 5.5): sums of a convolution, several a cycle, to digits.
//!
//! A sum v has several digits of b bits: `v = v[0] + 2^b v[1] + 2^2b v[2] + ...`. Column i adds digit k of
//! sum i - k. Then carries between columns are at most 1, and a look-ahead over all columns of a word finds
//! them at once (equation 5.7).

/// A carry resolver, with the state that it keeps from one word to the next.
#[derive(Debug, Clone)]
pub struct Resolver {
    bits: u32,
    /// The sums before the present word, the latest first: as many as reach into it.
    before: Vec<u64>,
    /// The number that the last column of the word before carries out: `z div 2^b`.
    high: u64,
    /// The carry out of the word before.
    carry: bool,
}

impl Resolver {
    /// A resolver of digits of `bits` bits, 16 to 32, for the first word of a number.
    #[must_use]
    pub fn new(bits: u32) -> Self {
        assert!((16..=32).contains(&bits), "digits of 16 to 32 bits");
        let reach = 64u32.div_ceil(bits) as usize - 1;
        Self { bits, before: vec![0; reach], high: 0, carry: false }
    }

    /// The digits of the next word. `sums` has the least significant first, at most 63 of them.
    ///
    /// ```
    /// let mut resolver = modmill_hardware::Resolver::new(24);
    /// assert_eq!(resolver.word(&[(1 << 24) + 5, 0xff_ffff, 0]), [5, 0, 1]);
    /// ```
    pub fn word(&mut self, sums: &[u64]) -> Vec<u64> {
        let (bits, mask) = (self.bits, (1u64 << self.bits) - 1);
        // At most four parts below 2^b each: z is below 2^(b + 2).
        let z: Vec<u64> = (0..sums.len())
            .map(|column| {
                let sum = |back: usize| match column.checked_sub(back) {
                    Some(index) => sums[index],
                    None => self.before[back - column - 1],
                };
                (0..=self.before.len()).map(|back| sum(back) >> (back as u32 * bits) & mask).sum()
            })
            .collect();
        // z div 2^b is at most 3: y is below 2^b + 3, so that a column carries at most 1 from here on.
        let highs = [self.high].into_iter().chain(z.iter().map(|z| z >> bits));
        let y: Vec<u64> = z.iter().zip(highs).map(|(z, high)| (z & mask) + high).collect();
        let flags = |test: &dyn Fn(u64) -> bool| {
            y.iter().enumerate().fold(0u64, |word, (index, &y)| word | u64::from(test(y)) << index)
        };
        let (generate, critical) = (flags(&|y| y > mask), flags(&|y| y == mask));
        debug_assert_eq!(generate & critical, 0);
        let carries = ((generate << 1) + u64::from(self.carry) + critical) ^ critical;
        self.before = (1..=self.before.len()).map(|back| sums[sums.len() - back]).collect();
        self.high = z.last().map_or(0, |z| z >> bits);
        self.carry = carries >> sums.len() & 1 == 1;
        y.iter().enumerate().map(|(index, y)| (y + (carries >> index & 1)) & mask).collect()
    }

    /// The digit that follows the words so far if nothing but zeros follows them.
    #[must_use]
    pub fn overflow(&self) -> u64 {
        let zeros = vec![0; self.before.len() + 1];
        self.clone().word(&zeros)[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digits of `sum v_i 2^(bits i)`, by ripple carry.
    fn ripple(sums: &[u64], bits: u32) -> Vec<u64> {
        let mut carry = 0u128;
        let digits = sums.iter().map(|&sum| {
            carry += u128::from(sum);
            let digit = carry as u64 & ((1 << bits) - 1);
            carry >>= bits;
            digit
        });
        digits.collect()
    }

    #[test]
    fn digits_are_those_of_a_ripple_carry() {
        let random =
            |seed: u64| (0..96u64).map(move |i| (seed * 96 + i).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1);
        for bits in [16, 22, 24] {
            let mask = (1u64 << bits) - 1;
            let mut numbers: Vec<Vec<u64>> = (1..20).map(|seed| random(seed).collect()).collect();
            // A one that runs through all digits, words of all ones, and the largest sums.
            numbers.push((0..96).map(|i| if i == 0 { mask + 1 } else { mask }).collect());
            numbers.push((0..96).map(|i| if i == 0 { mask } else { mask - 1 }).collect());
            numbers.push(vec![u64::MAX >> 1; 96]);
            numbers.push((0..96).map(|i| if i % 17 == 3 { u64::MAX } else { mask }).collect());
            for sums in numbers {
                let mut resolver = Resolver::new(bits);
                let words: Vec<u64> = sums.chunks(16).flat_map(|word| resolver.word(word)).collect();
                assert_eq!(words, ripple(&sums, bits));
            }
        }
    }
}
