//! Inverses of a batch.

use crate::Engine;
use crate::compute::refuse;
use crate::engine::{check_huge_widths, common_length, finish};
use crate::near::OnHost;
use crate::place::{Operation, Place};
use crate::sort::{lengths_of_all, sort};
use modmill_core::sync::Mutex;
use modmill_core::{
    Answers, Backend, Batch, BatchView, Call, Error, ItemError, ItemErrorKind, Job, Moduli, Modulus, Op,
    Operand, Plan, Request, limbs,
};

/// The least number of items with one modulus that share a single inversion.
const SHARED_INVERSION: usize = 4;

impl<P: Place> Engine<P> {
    /// `a^-1 mod N`. The time does not depend on the numbers up to
    /// [`KERNEL_MAX_BITS`](crate::KERNEL_MAX_BITS) bits. Above, half-gcd takes time that does. An item that
    /// shares a factor with its modulus fails alone; the others are answered.
    ///
    /// With AVX2 or AVX-512 and on GPUs, several items are computed side by side. With one modulus for all
    /// items, a batch costs one inversion and three products for each item, and some inversions more for each
    /// item that has none, where that takes less time.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Error, Modulus};
    ///
    /// let modulus = Modulus::from_hex("f")?;
    /// let numbers = Batch::from_hex(["2", "3", "7"])?;
    /// // 3 shares a factor with 15; the other inverses are still there.
    /// let Err(Error::Items(partial)) = Engine::new()?.inv(&numbers, &modulus) else { panic!() };
    /// assert_eq!(partial.failed[0].index, 1);
    /// assert_eq!(partial.answers.as_limbs(), [8, 0, 13]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn inv<'a>(
        &self,
        a: impl Into<Operand<'a>>,
        moduli: impl Into<Moduli<'a>>,
    ) -> Result<P::Numbers, Error> {
        P::answer(self, &Inverses { a: a.into(), moduli: moduli.into() })
    }
}

/// Inverses modulo numbers.
pub(crate) struct Inverses<'a> {
    pub(crate) a: Operand<'a>,
    pub(crate) moduli: Moduli<'a>,
}

impl Operation for Inverses<'_> {
    fn compute(&self, engine: &Engine, answers: Answers<'_>) -> Result<(), Error> {
        let count = common_length(&[("a", self.a.len()), ("moduli", self.moduli.len())])?;
        check_huge_widths(&[("a", self.a.bits()), ("modulus", self.moduli.bits())])?;
        answers.check(self.moduli.bits(), count)?;
        let (near, moduli) = engine.backends().near([self.a], Some(self.moduli))?;
        let ([a], moduli) = (near.each_ref().map(OnHost::operand), moduli.unwrap_or(self.moduli));
        let whole = lengths_of_all(engine.cpu(), moduli, count).and_then(|lengths| {
            let is_short = a.bits() <= 64 * lengths.longest.div_ceil(64);
            let job = Job::new(0..count, lengths.longest.max(a.bits()), a, a, moduli);
            is_short.then_some(Job { shortest_bits: lengths.shortest, ..job }.watched_by(engine.watch()))
        });
        let request = match &whole {
            Some(job) => Request::of(Op::Inv, job),
            None => Request::new(Op::Inv, a.bits().max(moduli.bits()), count),
        };
        let plan = || engine.backends().plan(&request);
        if let (Operand::Each(_), Moduli::Shared(modulus)) = (a, moduli)
            && !matches!(answers, Answers::Plan(_))
            && count >= SHARED_INVERSION
            && engine.is_faster_together(&plan()?)?
            && let Some(found) = engine.inv_together(a, modulus)?
        {
            return engine.backends().put(found.finish(), answers);
        }
        match (whole, answers) {
            (Some(job), answers) => engine.invert(job, answers),
            (None, Answers::Plan(slot)) => {
                *slot = Some(plan()?);
                Ok(())
            }
            (None, answers) => {
                let (a, moduli) = (OnHost::of(a)?, moduli.on_host());
                engine.backends().put(engine.inv_in_groups(a.operand(), moduli, count)?.finish(), answers)
            }
        }
    }
}

/// Inverses, and the items that have none, whose answers are zero.
struct Found {
    answers: Batch,
    missing: Vec<usize>,
    /// Items whose modulus is zero.
    zero: Vec<usize>,
}

impl Found {
    /// The answers, or the error that names the items without one.
    fn finish(self) -> Result<Batch, Error> {
        let error = |kind: ItemErrorKind| move |index: usize| ItemError { index, kind };
        let zero = self.zero.into_iter().map(error(ItemErrorKind::ZeroModulus));
        let missing = self.missing.into_iter().map(error(ItemErrorKind::NotInvertible));
        let mut failed: Vec<ItemError> = zero.chain(missing).collect();
        failed.sort_unstable_by_key(|error| error.index);
        finish(self.answers, failed)
    }
}

impl Engine {
    /// Inverses modulo odd numbers of one length.
    fn invert(&self, job: Job<'_>, mut answers: Answers<'_>) -> Result<(), Error> {
        let missing = Mutex::default();
        let call = modmill_core::Inverses { job, missing: &missing };
        self.backends().compute(Call::Inverses(&call), answers.reborrow())?;
        refuse(answers, missing.into_inner(), ItemErrorKind::NotInvertible)
    }

    /// Whether three products for each item and one inversion take less time than a plan for inversions of
    /// all items.
    fn is_faster_together(&self, plan: &Plan) -> Result<bool, Error> {
        let Request { op, bits, count, .. } = plan.request;
        let products = Request::new(Op::MulMod, bits, 3 * count).one_modulus();
        let one = self.backends().plan_on_cpu(&Request::new(op, bits, 1))?;
        let together = self.backends().plan_on_cpu(&products)?.seconds + one.seconds;
        Ok(self.backends().only() != Some(Backend::Cuda) && together < plan.seconds)
    }

    /// Inverses of numbers whose moduli are of several kinds. Odd moduli of one length are computed together;
    /// powers of two in moduli are computed item by item.
    fn inv_in_groups(&self, a: Operand<'_>, moduli: Moduli<'_>, count: usize) -> Result<Found, Error> {
        let sorted = sort(self.cpu(), moduli, (0..count).into());
        let shortest = sorted.odd.keys().min().map_or(usize::MAX, |limbs| 64 * limbs);
        // Numbers that are said to be longer than a modulus are reduced first.
        let reduced = match a.bits() > shortest {
            true => Some(self.remainders(a, moduli)?),
            false => None,
        };
        let (a, bits) = reduced.as_ref().map_or((a, a.bits()), |reduced| (reduced.into(), 0));
        let mut answers = Batch::try_zeros(moduli.bits(), count)?;
        let missing = Mutex::default();
        for group in sorted.odd.values() {
            let job = Job::new(&group.items, group.bits.max(bits), a, a, moduli).watched_by(self.watch());
            let call = modmill_core::Inverses { job, missing: &missing };
            let mut found = Batch::zeros(0, 0);
            self.backends().compute(Call::Inverses(&call), Answers::New(&mut found))?;
            for (&index, inverse) in group.items.iter().zip(found.iter()) {
                answers.get_mut(index).copy_from_slice(inverse);
            }
        }
        let mut missing = missing.into_inner();
        let invert = |place: usize| {
            let item = sorted.even[place];
            let modulus = moduli.get(item);
            self.cpu().inverse_of(a.limbs(item), &modulus[..limbs::bit_length(modulus).div_ceil(64)])
        };
        for (&index, inverse) in sorted.even.iter().zip(self.each_item(sorted.even.len(), invert)?) {
            match inverse {
                Some(inverse) => answers.get_mut(index)[..inverse.len()].copy_from_slice(&inverse),
                None => missing.push(index),
            }
        }
        Ok(Found { answers, missing, zero: sorted.zero })
    }

    /// `a mod N` for items whose modulus is not zero.
    fn remainders(&self, a: Operand<'_>, moduli: Moduli<'_>) -> Result<Batch, Error> {
        match self.reduce(a, moduli) {
            Err(Error::Items(partial)) => Ok(partial.answers),
            found => found,
        }
    }

    /// Montgomery's trick as a tree. Going up, pairs are multiplied until one product is left, which is
    /// inverted. Going down, the inverse of a number is the inverse of its pair times the other number. The
    /// numbers of a pair that has no inverse are inverted one by one, so that an item without an inverse
    /// costs two inversions for each level. The answer is the inverses and the items that have none, or
    /// `None` if inversions one by one cost less because many have none.
    fn inv_together(&self, a: Operand<'_>, modulus: &Modulus) -> Result<Option<Found>, Error> {
        let one = Operand::Shared { bits: 1, value: &[1] };
        let mut levels = vec![self.mul_mod(a, one, modulus)?];
        while let Some(level) = levels.last().filter(|level| level.len() > 1) {
            let (front, middle, back) = halves(level);
            let next = self.mul_mod(front, back, modulus)?.try_followed_by(middle)?;
            levels.push(next);
        }
        let root = levels.pop().expect("there is at least the level of the items");
        let count = levels.first().map_or(1, Batch::len);
        let mut inverses = Batch::try_zeros(modulus.bits(), 1)?;
        let mut failed = self.inv_at(&root, vec![0], modulus, &mut inverses)?;
        while let Some(level) = levels.pop() {
            if 2 * failed.len() * (levels.len() + 1) > count {
                return Ok(None);
            }
            let (front, middle, back) = halves(&level);
            let of_pairs = inverses.slice(0..front.len());
            let of_middle = inverses.slice(front.len()..front.len() + middle.len());
            let of_back = self.mul_mod(of_pairs, front, modulus)?;
            let of_front = self.mul_mod(of_pairs, back, modulus)?;
            inverses = of_front.try_followed_by(of_middle)?.try_followed_by(of_back.view())?;
            let first_of_back = level.len() - back.len();
            let is_pair = |place: &usize| *place < front.len();
            let (pairs, alone): (Vec<usize>, Vec<usize>) = failed.into_iter().partition(is_pair);
            let suspects = pairs.into_iter().flat_map(|place| [place, first_of_back + place]).collect();
            failed = self.inv_at(&level, suspects, modulus, &mut inverses)?;
            failed.extend(alone);
        }
        Ok(Some(Found { answers: inverses, missing: failed, zero: Vec::new() }))
    }

    /// Inverts the numbers at some places of a batch one by one, and returns the places of those that have no
    /// inverse.
    fn inv_at(
        &self,
        numbers: &Batch,
        places: Vec<usize>,
        modulus: &Modulus,
        inverses: &mut Batch,
    ) -> Result<Vec<usize>, Error> {
        let invert = |index: usize| self.cpu().inverse_of(numbers.get(places[index]), modulus.value());
        let found = self.each_item(places.len(), invert)?;
        for (&place, inverse) in places.iter().zip(&found) {
            match inverse {
                Some(inverse) => inverses.get_mut(place).copy_from_slice(inverse),
                None => inverses.get_mut(place).fill(0),
            }
        }
        Ok(places
            .into_iter()
            .zip(found)
            .filter(|(_, inverse)| inverse.is_none())
            .map(|(place, _)| place)
            .collect())
    }
}

/// The front half, the middle item if their number is odd, and the back half.
fn halves(level: &Batch) -> (BatchView<'_>, BatchView<'_>, BatchView<'_>) {
    let half = level.len() / 2;
    let back = level.len() - half;
    (level.slice(0..half), level.slice(half..back), level.slice(back..level.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_inversion_serves_all_or_the_culprit_is_named() {
        let engine = Engine::builder().threads(1).build().unwrap();
        // 3 * 5 * 2^20 and a prime: even and odd, with and without common factors.
        for modulus in [15u64 << 20, 1_000_000_007] {
            let modulus = Modulus::new(&[modulus]).unwrap();
            for count in [1, 3, 4, 5, 8, 9, 31] {
                let numbers = Batch::from_values((0..count).map(|i| [30 * i + 7]));
                let inverses = engine.inv(&numbers, &modulus).unwrap();
                let products = engine.mul_mod(&numbers, &inverses, &modulus).unwrap();
                assert!(products.iter().all(|product| product == [1]), "{count} items");
            }
            let numbers = Batch::from_values([[7u64], [11], [0], [13], [17]]);
            let Error::Items(partial) = engine.inv(&numbers, &modulus).unwrap_err() else { panic!() };
            assert_eq!(partial.failed, [ItemError { index: 2, kind: ItemErrorKind::NotInvertible }]);
            let good = engine.mul_mod(&numbers, &partial.answers, &modulus).unwrap();
            assert_eq!(good.iter().map(|product| product[0]).collect::<Vec<_>>(), [1, 1, 0, 1, 1]);
        }
    }

    /// Each item in turn, pairs of items, and all of them.
    #[test]
    fn culprits_are_found_wherever_they_are() {
        let engine = Engine::builder().threads(1).build().unwrap();
        let modulus = Modulus::new(&[1_000_000_007 * 3]).unwrap();
        for count in [4, 5, 7, 8, 31, 64, 100] {
            let ways = (0..count).map(|item| vec![item]);
            let ways = ways.chain((1..count).map(|item| vec![item / 2, item])).chain([(0..count).collect()]);
            for culprits in ways {
                let value = |item: usize| if culprits.contains(&item) { 6 } else { 3 * item as u64 + 7 };
                let numbers = Batch::from_values((0..count).map(|item| [value(item)]));
                let Error::Items(partial) = engine.inv(&numbers, &modulus).unwrap_err() else { panic!() };
                let found: Vec<usize> = partial.failed.iter().map(|error| error.index).collect();
                let mut expected = culprits.clone();
                expected.dedup();
                assert_eq!(found, expected, "{count} items");
                let products = engine.mul_mod(&numbers, &partial.answers, &modulus).unwrap();
                for (item, product) in products.iter().enumerate() {
                    assert_eq!(product[0], u64::from(!culprits.contains(&item)), "item {item} of {count}");
                }
            }
        }
    }

    /// One item without an inverse among many costs some inversions, and not one for each item.
    #[test]
    fn one_culprit_costs_few_inversions() {
        let watch = std::sync::Arc::new(crate::Watch::new());
        let engine = Engine::builder().threads(1).build().unwrap().watched_by(&watch);
        let modulus = Modulus::new(&[1_000_000_007 * 3]).unwrap();
        let counted = |numbers: Batch| {
            let before = watch.done();
            let failed = engine.inv(&numbers, &modulus).is_err();
            (watch.done() - before, failed)
        };
        let value = |item: u64| [3 * item + 1];
        let (all, failed) = counted(Batch::from_values((0..1000).map(value)));
        assert!(!failed);
        let (with_culprit, failed) =
            counted(Batch::from_values((0..1000).map(|item| if item == 700 { [6] } else { value(item) })));
        assert!(failed);
        assert!(with_culprit - all <= 2 * 10, "{} inversions more", with_culprit - all);
    }
}
