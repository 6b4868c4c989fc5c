//! A long number in shares, one for each task of a thread. Carries pass between shares by look-ahead.
//!
//! A share takes the carries that reach it into its first limbs, its head. From there one unit at most, up or
//! down, reaches the rest of the share. The rest passes the unit on only if it is all ones or all zeros. So
//! heads and two flags per share decide all carries, and the rests are corrected once, at the end.
//! The time depends on lengths only.

use crate::{team, threads};
use modmill_core::limbs::add_signed;
use modmill_core::mask;
use zeroize::Zeroizing;

/// The number of limbs of a head. The carries that reach a head add up to less than `2^127`, so what leaves
/// a head adds up to -1, 0 or 1.
const HEAD: usize = 2;

/// The number of shares for each thread, so that threads which start late do less.
const SHARES: usize = 4;

/// The least number of limbs of a share.
const LEAST: usize = 1 << 11;

/// The number of limbs from which a team shares a number: as many as the shortest blocks that it shares have.
const SHARED: usize = 1 << 13;

/// The number of limbs from which threads share a number although they may be asleep.
const SHARED_ASLEEP: usize = 1 << 15;

/// The carry out of a share, and whether its rest is all ones or all zeros.
type Summary = (i128, [u64; 2]);

/// A share of a pass: its index, its limbs, the units that its rest lacks, and its summary.
type Task<'a> = (usize, ((&'a mut [u64], &'a i128), &'a mut Summary));

/// A number in shares, with carries that are not added everywhere yet.
pub(crate) struct Shares<'a> {
    limbs: &'a mut [u64],
    share: usize,
    /// For each share, what its rest passes on: whether it is all ones, and whether it is all zeros.
    uniform: Zeroizing<Vec<[u64; 2]>>,
    /// For each share, the units that left its head and are still to be added to its rest.
    steps: Zeroizing<Vec<i128>>,
    /// Whether a unit may have left a head and is not in the rest yet.
    is_open: bool,
}

/// Whether threads share `len` limbs.
fn is_shared(len: usize) -> bool {
    len >= if team::is_leading() { SHARED } else { SHARED_ASLEEP } && threads::count() > 1
}

/// The number of limbs of a share of `len` limbs: a multiple of `unit`, or all limbs if threads do not share
/// them.
pub(crate) fn share(len: usize, unit: usize) -> usize {
    if is_shared(len) {
        len.div_ceil(SHARES * threads::count()).max(LEAST).next_multiple_of(unit)
    } else {
        len.max(1)
    }
}

/// Runs `work` on every share of `limbs`. Its arguments are the index of the first limb and the limbs.
pub(crate) fn each(limbs: &mut [u64], share: usize, work: impl Fn(usize, &mut [u64]) + Sync) {
    if limbs.len() <= share {
        work(0, limbs);
    } else {
        team::each(limbs.chunks_mut(share).enumerate(), |(index, limbs)| work(index * share, limbs));
    }
}

impl<'a> Shares<'a> {
    /// Runs `work` on every share. Its arguments are the index of the first limb and the limbs. It returns
    /// the carry out of the share, of less than 120 bits. The second result is the carry out of the number.
    pub(crate) fn new(
        limbs: &'a mut [u64],
        share: usize,
        work: impl Fn(usize, &mut [u64]) -> i128 + Sync,
    ) -> (Self, i128) {
        let count = limbs.len().div_ceil(share).max(1);
        let (uniform, steps) = (Zeroizing::new(vec![[0; 2]; count]), Zeroizing::new(vec![0; count]));
        let mut shares = Self { limbs, share, uniform, steps, is_open: count > 1 };
        let carry = shares.run(|first, limbs, _| work(first, limbs));
        (shares, carry)
    }

    /// Corrects the rests and runs `work` on every share, as [`Shares::new`] does. Returns the carry out of
    /// the number.
    pub(crate) fn pass(&mut self, work: impl Fn(usize, &mut [u64]) -> i128 + Sync) -> i128 {
        self.run(|first, limbs, step| {
            add_signed(rest(limbs), step);
            work(first, limbs)
        })
    }

    /// Runs `work` on every share, with the units that its rest lacks, and hands the carries on.
    fn run(&mut self, work: impl Fn(usize, &mut [u64], i128) -> i128 + Sync) -> i128 {
        let share = self.share;
        let mut results = Zeroizing::new(vec![(0, [0; 2]); self.steps.len()]);
        let shares = self.limbs.chunks_mut(share).zip(self.steps.iter()).zip(results.iter_mut());
        let work = |(index, ((limbs, step), result)): Task<'_>| {
            *result = (work(index * share, limbs, *step), uniform(rest(limbs)));
        };
        if shares.len() <= 1 {
            shares.enumerate().for_each(work);
        } else {
            team::each(shares.enumerate(), work);
        }
        self.steps.fill(0);
        for (to, from) in self.uniform.iter_mut().zip(results.iter()) {
            *to = from.1;
        }
        self.look_ahead(0, |index| results[index].0)
    }

    /// The number of limbs.
    pub(crate) fn len(&self) -> usize {
        self.limbs.len()
    }

    /// A limb as it will be in the end. The time depends on `index`.
    pub(crate) fn limb(&self, index: usize) -> u64 {
        let (share, place) = (index / self.share, index % self.share);
        let step = if place < HEAD {
            0
        } else {
            passed(uniform(&self.limbs[share * self.share + HEAD..index]), self.steps[share])
        };
        self.limbs[index].wrapping_add(step as u64)
    }

    /// Adds `value`, of less than 120 bits, and returns the carry out of the number.
    pub(crate) fn add(&mut self, value: i128) -> i128 {
        self.is_open = true;
        self.look_ahead(value, |_| 0)
    }

    /// Adds `value` to the first share and the carry of each share to the next one.
    fn look_ahead(&mut self, value: i128, carry: impl Fn(usize) -> i128) -> i128 {
        let mut handed = value;
        for (index, limbs) in self.limbs.chunks_mut(self.share).enumerate() {
            let head = limbs.len().min(HEAD);
            let left = add_signed(&mut limbs[..head], handed);
            let passed = if limbs.len() <= HEAD {
                left
            } else {
                let before = passed(self.uniform[index], self.steps[index]);
                self.steps[index] += left;
                passed(self.uniform[index], self.steps[index]) - before
            };
            handed = carry(index) + passed;
        }
        handed
    }

    /// The first limb of each share, as it will be in the end: it is in the head.
    pub(crate) fn first_limbs(&self) -> impl Iterator<Item = u64> {
        self.limbs.chunks(self.share).map(|limbs| limbs[0])
    }

    /// The number of limbs of a share.
    pub(crate) fn share(&self) -> usize {
        self.share
    }

    /// Corrects the rests and runs `work` on every share, which is the last change of the number. Its
    /// arguments are the index of the first limb and the limbs, as they are in the end. It has no carry.
    pub(crate) fn correct(&mut self, work: impl Fn(usize, &mut [u64]) + Sync) {
        let share = self.share;
        let shares = self.limbs.chunks_mut(share).zip(self.steps.iter()).enumerate();
        let correct = |(index, (limbs, step)): (usize, (&mut [u64], &i128))| {
            add_signed(rest(limbs), *step);
            work(index * share, limbs);
        };
        if shares.len() > 1 {
            team::each(shares, correct)
        } else {
            shares.for_each(correct)
        }
        self.is_open = false;
    }

    /// Corrects the rests, unless they are correct already.
    pub(crate) fn finish(mut self) {
        if self.is_open {
            self.correct(|_, _| ());
        }
    }
}

/// The units that a rest passes on after `step` units were added to it, given whether it is all ones or all
/// zeros.
fn passed([ones, zeros]: [u64; 2], step: i128) -> i128 {
    i128::from(u64::from(step == 1) & ones) - i128::from(u64::from(step == -1) & zeros)
}

/// The limbs of a share above its head.
fn rest(limbs: &mut [u64]) -> &mut [u64] {
    limbs.get_mut(HEAD..).unwrap_or_default()
}

/// Two masks: whether all limbs are all ones, and whether all limbs are zero.
fn uniform(limbs: &[u64]) -> [u64; 2] {
    let all = limbs.iter().fold(u64::MAX, |all, limb| all & limb);
    let any = limbs.iter().fold(0, |any, limb| any | limb);
    [mask::equal(all, u64::MAX), mask::equal(any, 0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Random, big};
    use num_bigint::BigInt;

    /// Numbers in which carries run through whole shares of eight limbs, and end in heads and rests.
    fn hard(len: usize, random: &mut Random) -> Vec<Vec<u64>> {
        let mut numbers = vec![vec![0; len], vec![u64::MAX; len], random.limbs(len)];
        for limb in [0, 1, 2, 7, 8, 9, 10, 16, len - 1].into_iter().filter(|&limb| limb < len) {
            let (mut power, mut gap) = (vec![0; len], vec![u64::MAX; len]);
            (power[limb], gap[limb]) = (1, u64::MAX - 1);
            numbers.extend([power, gap]);
        }
        numbers
    }

    fn value(limbs: &[u64]) -> BigInt {
        BigInt::from(big(limbs))
    }

    #[test]
    fn carries_run_through_shares() {
        let mut random = Random::new(89);
        let values = [0, 1, -1, 1 << 64, -(1 << 64), (1 << 100) - 1, 1 - (1 << 100)];
        for len in [1, 2, 3, 8, 9, 10, 11, 16, 24, 25, 40] {
            for number in hard(len, &mut random) {
                for carry in values {
                    for added in values {
                        let mut limbs = number.clone();
                        let (mut shares, first) = Shares::new(&mut limbs, 8, |_, _| carry);
                        let second = shares.add(added);
                        let third = shares.add(1) + shares.add(-1);
                        let fourth = shares.pass(|_, _| -carry);
                        shares.add(1);
                        shares.add(-1);
                        let last: Vec<u64> = (0..shares.len()).map(|index| shares.limb(index)).collect();
                        let firsts: Vec<u64> = shares.first_limbs().collect();
                        assert_eq!(firsts, last.iter().step_by(shares.share()).copied().collect::<Vec<_>>());
                        // The last work sees what the limbs are in the end, and nothing is added after it.
                        let is_last = |first: usize, limbs: &mut [u64]| {
                            assert_eq!(limbs, &last[first..][..limbs.len()], "{len} {carry} {added}");
                        };
                        shares.correct(is_last);
                        shares.finish();
                        assert_eq!(last, limbs, "{len} {carry} {added}");
                        // Every share hands its carry to the next one, in the first pass and in the second.
                        let above = first + second + third + fourth;
                        let found = value(&limbs) + (BigInt::from(above) << (64 * len));
                        assert_eq!(found, value(&number) + BigInt::from(added), "{len} {carry} {added}");
                    }
                }
            }
        }
    }
}
