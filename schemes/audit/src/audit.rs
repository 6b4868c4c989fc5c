//! The audit of a collection.

use crate::Error;
use crate::base::{Base, value};
use crate::collection::{Collection, Key};
use crate::finding::{Finding, Kind};
use crate::forest::Forest;
use crate::progress::{Progress, Stage};
use crate::scratch::Scratch;
use crate::small::{Divided, small_factors};
use crate::widths::subsets;
use modmill::{Engine, primality};
use modmill_primes::perfect_power;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Limbs of the moduli that are tested for primes together.
const CHUNK: usize = 1 << 21;

/// An audit: the engine that computes it, and its limits.
pub struct Audit<'a> {
    pub(crate) engine: Engine,
    pub(crate) progress: &'a Progress,
    memory: Option<u64>,
    pub(crate) scratch: Option<&'a Scratch>,
}

impl<'a> Audit<'a> {
    /// An audit on an engine, whose progress another thread may look at.
    #[must_use]
    pub fn new(engine: &Engine, progress: &'a Progress) -> Self {
        let engine = engine.watched_by(progress.watch());
        Self { engine, progress, memory: None, scratch: None }
    }

    /// Limits the memory for trees to `bytes`. More moduli than that holds are audited in subsets. The moduli
    /// themselves take memory beside it.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Self {
        Self { memory: Some(bytes), ..self }
    }

    /// Keeps intermediate results in a folder.
    #[must_use]
    pub fn scratch(self, scratch: &'a Scratch) -> Self {
        Self { scratch: Some(scratch), ..self }
    }

    /// The findings about the keys of a collection, in their order.
    pub fn run(&self, collection: &Collection) -> Result<Vec<Finding>, Error> {
        let mut divisions = Divisions::default();
        divisions.extend(self, collection.keys())?;
        let keys = collection.keys();
        if let Some(scratch) = self.scratch {
            scratch.begin(keys.iter().map(Key::modulus), &[]);
        }
        let shared = self.forest(true).shared(|key| divisions.rest(keys, key), keys.len(), &(), false)?;
        self.findings(collection, &divisions, &shared.divisors, |_| true)
    }

    /// The forest of this audit; `is_kept` says whether the scratch folder keeps its results.
    pub(crate) fn forest(&self, is_kept: bool) -> Forest<'_> {
        let scratch = self.scratch.filter(|_| is_kept);
        Forest { engine: &self.engine, progress: self.progress, memory: self.memory, scratch }
    }

    /// The findings about the keys for which `tells`. `shared` has the keys that share factors, without their
    /// small factors, with the factors that they share with any other, by rising key.
    pub(crate) fn findings(
        &self,
        collection: &Collection,
        divisions: &Divisions,
        shared: &[(usize, Vec<u64>)],
        tells: impl Fn(usize) -> bool,
    ) -> Result<Vec<Finding>, Error> {
        let keys = collection.keys();
        let split = Split::new(&self.engine, shared, |key| divisions.rest(keys, key))?;
        let untested = (0..keys.len()).filter(|&key| tells(key) && !divisions.has(key)).collect();
        let flaws = self.primes_and_powers(keys, untested)?;
        let names = |owners: &Vec<usize>| owners.iter().map(|&key| collection.ids(key).len()).sum();
        let names: Vec<usize> = split.owners.iter().map(names).collect();
        let mut findings = Vec::new();
        for key in (0..keys.len()).filter(|&key| tells(key)) {
            let mut add = |kind, factors: &[Vec<u64>], partners: &mut dyn Iterator<Item = usize>, all| {
                findings.push(Finding::new(collection, (kind, key), factors, partners, all));
            };
            if collection.ids(key).len() > 1 {
                add(Kind::Duplicate, &[], &mut std::iter::empty(), 0);
            }
            let factors = factors(divisions, keys, &split, flaws.get(&key), key);
            let flaw = match (divisions.primes(key), flaws.get(&key)) {
                ([_], _) if *divisions.rest(keys, key) == [1] => Some(Kind::Prime),
                ([_, ..], _) => Some(Kind::SmallFactor),
                (_, Some(Flaw::Prime)) => Some(Kind::Prime),
                (_, Some(Flaw::Power(..))) => Some(Kind::Power),
                _ => None,
            };
            flaw.into_iter().for_each(|kind| add(kind, &factors, &mut std::iter::empty(), 0));
            if let Some(parts) = split.parts.get(&key) {
                let kind = if parts.rest == [1] { Kind::AllPrimesShared } else { Kind::SharedPrime };
                let elements: BTreeSet<usize> = parts.elements.iter().copied().collect();
                let is_other = |other: &usize| *other != key;
                // Many keys may have one prime, and each would then go through all of them.
                if let (Some(&element), 1) = (elements.first(), elements.len()) {
                    let mut others = split.owners[element].iter().copied().filter(is_other);
                    add(kind, &factors, &mut others, names[element] - collection.ids(key).len());
                } else {
                    let owners = elements.iter().flat_map(|&element| &split.owners[element]);
                    let others: BTreeSet<usize> = owners.copied().filter(is_other).collect();
                    let all = others.iter().map(|&other| collection.ids(other).len()).sum();
                    add(kind, &factors, &mut others.into_iter(), all);
                }
            }
        }
        Ok(findings)
    }

    /// The keys among `tested` whose moduli are prime or powers. No modulus has a factor below 2^16.
    fn primes_and_powers(&self, keys: &[Key], tested: Vec<usize>) -> Result<BTreeMap<usize, Flaw>, Error> {
        self.progress.begin(Stage::Primes(tested.len()));
        let mut flaws = BTreeMap::new();
        for subset in subsets(tested.iter().map(|&key| keys[key].modulus().len()), CHUNK) {
            let batch = subset.batch(|index| keys[tested[index]].modulus())?;
            let passed = primality::is_probable_prime(&self.engine, &batch, &[2])?;
            let passed: Vec<usize> = (0..batch.len()).filter(|&item| passed[item]).collect();
            let unwatched = self.engine.watched_by(None);
            let verdicts = primality::baillie_psw(&unwatched, &unwatched.gather(&batch, &passed)?)?;
            let primes = passed.iter().zip(verdicts).filter(|(_, is_prime)| *is_prime);
            flaws.extend(primes.map(|(&item, _)| (tested[subset.indices[item]], Flaw::Prime)));
            let power = |&index: &usize| {
                let key = tested[index];
                perfect_power(keys[key].modulus()).map(|(root, exponent)| (key, Flaw::Power(root, exponent)))
            };
            flaws.extend(
                self.engine.install(|| subset.indices.par_iter().filter_map(power).collect::<Vec<_>>()),
            );
        }
        Ok(flaws)
    }
}

/// A modulus that is easy to factor by itself.
enum Flaw {
    Prime,
    /// A power of this number with this exponent.
    Power(Vec<u64>, usize),
}

/// All known factors of a modulus, by rising size.
fn factors(
    divisions: &Divisions,
    keys: &[Key],
    split: &Split,
    flaw: Option<&Flaw>,
    key: usize,
) -> Vec<Vec<u64>> {
    let mut factors: Vec<Vec<u64>> = divisions.primes(key).iter().map(|&prime| vec![prime]).collect();
    match (split.parts.get(&key), flaw) {
        (Some(parts), _) => {
            factors.extend(parts.elements.iter().map(|&element| split.base.elements[element].clone()));
            factors.push(parts.rest.clone());
        }
        (None, Some(Flaw::Power(root, exponent))) => factors.extend(vec![root.clone(); *exponent]),
        (None, _) => factors.push(divisions.rest(keys, key).to_vec()),
    }
    factors.retain(|factor| *factor != [1]);
    factors.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev())));
    factors
}

/// The moduli that have factors below 2^16.
#[derive(Default)]
pub(crate) struct Divisions {
    divided: BTreeMap<usize, Divided>,
    /// The keys that were looked at.
    count: usize,
}

impl Divisions {
    /// Looks at the keys that were not looked at before.
    pub(crate) fn extend(&mut self, audit: &Audit<'_>, keys: &[Key]) -> Result<(), Error> {
        let (engine, progress, first) = (&audit.engine, audit.progress, self.count);
        let modulus = |index: usize| keys[first + index].modulus();
        let found = small_factors(engine, progress, modulus, keys.len() - first)?;
        self.divided.extend(found.into_iter().map(|(index, divided)| (first + index, divided)));
        self.count = keys.len();
        Ok(())
    }

    fn has(&self, key: usize) -> bool {
        self.divided.contains_key(&key)
    }

    fn primes(&self, key: usize) -> &[u64] {
        self.divided.get(&key).map_or(&[], |divided| &divided.primes)
    }

    /// The modulus without its factors below 2^16.
    pub(crate) fn rest<'a>(&'a self, keys: &'a [Key], key: usize) -> &'a [u64] {
        self.divided.get(&key).map_or_else(|| keys[key].modulus(), |divided| &divided.rest)
    }
}

/// The factors of one modulus: elements of a coprime base, each as often as it divides the modulus, and the
/// rest, which no other modulus shares.
struct Parts {
    elements: Vec<usize>,
    rest: Vec<u64>,
}

/// The factors that moduli share.
struct Split {
    base: Base,
    parts: BTreeMap<usize, Parts>,
    /// The keys that have each element of the base.
    owners: Vec<Vec<usize>>,
}

impl Split {
    /// The factors of moduli from those that they share with any other, by rising key.
    fn new<'a>(
        engine: &Engine,
        shared: &[(usize, Vec<u64>)],
        modulus: impl Fn(usize) -> &'a [u64],
    ) -> Result<Self, Error> {
        let engine = &engine.watched_by(None);
        let mut parts = Vec::with_capacity(shared.len());
        for subset in subsets(shared.iter().map(|(key, _)| modulus(*key).len()), CHUNK) {
            let moduli = subset.batch(|index| modulus(shared[index].0))?;
            let divisors = subset.batch(|index| &shared[index].1)?;
            let (quotients, _) = engine.div_rem(&moduli, &divisors)?;
            // Another modulus may have a factor once that this one has twice.
            let repeated = engine.gcd(&quotients, &divisors)?;
            parts.extend((0..repeated.len()).map(|item| value(&repeated, item)).filter(|part| *part != [1]));
        }
        parts.extend(shared.iter().map(|(_, divisor)| divisor.clone()));
        let base = Base::new(engine, parts)?;
        let mut owners = vec![Vec::new(); base.elements.len()];
        let mut parts = BTreeMap::new();
        for (key, divisor) in shared {
            let (elements, rest) = base.factor(engine, modulus(*key), divisor)?;
            let distinct: BTreeSet<usize> = elements.iter().copied().collect();
            distinct.into_iter().for_each(|element| owners[element].push(*key));
            parts.insert(*key, Parts { elements, rest });
        }
        Ok(Self { base, parts, owners })
    }
}
