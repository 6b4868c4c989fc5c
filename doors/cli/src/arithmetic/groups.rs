//! The records of a chunk in groups of one shape, as batches.
//!
//! Records are looked at twice, piece by piece and all pieces side by side: first for their shapes, then to
//! copy their numbers to their places in the batches. Within a group, items have the order of the records.

use super::GroupAnswers;
use super::number::Number;
use crate::records::{Layout, Reason, Records};
use modmill::{Batch, Engine, Error, Moduli, Modulus};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The most numbers of a record: two operands and a modulus.
const NUMBERS: usize = 3;

/// The fields of records, with the name of the field of moduli and the word for them.
type Fields<'a> = (&'a Layout, (&'static str, &'static str));

/// The lengths in limbs of a record's numbers: that of the modulus, then those of the operands from the last
/// to the first. A number that is not there has the length 0.
type Shape = [usize; NUMBERS];

/// Records of one shape.
pub(crate) struct Group {
    pub(super) operands: Vec<Batch>,
    pub(super) moduli: Option<GroupModuli>,
}

/// The moduli of a group.
pub(super) enum GroupModuli {
    /// One modulus for all items, whose constants are computed once.
    Shared(Modulus),
    Each(Batch),
}

impl GroupModuli {
    /// Moduli that are not zero.
    fn new(engine: &Engine, moduli: Batch) -> Self {
        let first = moduli.get(0);
        // Different moduli mostly show at once.
        let is_shared = moduli.len() > 1
            && moduli.get(moduli.len() - 1) == first
            && engine
                .install(|| moduli.as_limbs().par_chunks(moduli.stride()).all(|modulus| modulus == first));
        match Modulus::new(first) {
            Ok(modulus) if is_shared => Self::Shared(modulus),
            _ => Self::Each(moduli),
        }
    }

    pub(super) fn get(&self) -> Moduli<'_> {
        match self {
            Self::Shared(modulus) => modulus.into(),
            Self::Each(batch) => batch.into(),
        }
    }
}

/// The groups of a chunk, those with the shortest moduli first.
pub(crate) struct Groups {
    pub(super) groups: Vec<Group>,
    /// The places of the records of each piece.
    pub(super) places: Vec<Places>,
}

/// The places of a piece's records in the groups.
pub(crate) struct Places {
    /// For each record its shape, as an index of `shares`; none for a record with an error.
    shapes: Vec<Option<u32>>,
    shares: Vec<Share>,
    /// The errors, in order.
    errors: Vec<(usize, Reason)>,
}

/// The records of one shape in a piece.
struct Share {
    shape: Shape,
    /// The declared bits of the longest numbers, in the order of [`Shape`].
    bits: Shape,
    count: usize,
    /// The group, and the item of the first of these records.
    group: usize,
    first: usize,
}

impl Places {
    pub(super) fn len(&self) -> usize {
        self.shapes.len()
    }

    /// The bytes that the answers of the piece take at most.
    pub(super) fn octets(&self, groups: &[GroupAnswers]) -> usize {
        self.shares.iter().map(|share| share.count * groups[share.group].octets()).sum()
    }

    /// The group and the item of each record, or why it has none.
    pub(super) fn for_each(self, mut take: impl FnMut(Result<(usize, usize), Reason>)) {
        let mut next: Vec<(usize, usize)> =
            self.shares.iter().map(|share| (share.group, share.first)).collect();
        let mut errors = self.errors.into_iter();
        for shape in self.shapes {
            match shape {
                Some(share) => {
                    let (group, item) = &mut next[share as usize];
                    take(Ok((*group, *item)));
                    *item += 1;
                }
                None => take(Err(errors.next().map_or("no answer".into(), |(_, reason)| reason))),
            }
        }
    }

    /// Finds the shapes of records.
    fn new(fields: Fields<'_>, records: &Records) -> Self {
        let mut places =
            Self { shapes: Vec::with_capacity(records.len()), shares: Vec::new(), errors: Vec::new() };
        let mut known: BTreeMap<Shape, u32> = BTreeMap::new();
        // Neighbours mostly have the same shape.
        let mut last: Option<(Shape, u32)> = None;
        let mut errors = records.errors().iter().peekable();
        for record in 0..records.len() {
            let numbers = match errors.next_if(|(index, _)| *index == record) {
                Some((_, reason)) => Err(reason.clone()),
                None => numbers(fields, records, record).map_err(Reason::from),
            };
            let numbers = match numbers {
                Ok(numbers) => numbers,
                Err(reason) => {
                    places.errors.push((record, reason));
                    places.shapes.push(None);
                    continue;
                }
            };
            let shape = numbers.map(|number| number.map_or(0, Number::limbs));
            let index = match last {
                Some((of_last, index)) if of_last == shape => index,
                _ => *known.entry(shape).or_insert_with(|| {
                    places.shares.push(Share { shape, bits: [0; NUMBERS], count: 0, group: 0, first: 0 });
                    (places.shares.len() - 1) as u32
                }),
            };
            last = Some((shape, index));
            let share = &mut places.shares[index as usize];
            share.count += 1;
            for (bits, number) in share.bits.iter_mut().zip(numbers) {
                *bits = number.map_or(0, |number| number.bits).max(*bits);
            }
            places.shapes.push(Some(index));
        }
        places
    }
}

/// The numbers of a record in the order of [`Shape`].
fn numbers<'a>(
    (layout, (modulus, word)): Fields<'_>,
    records: &'a Records,
    record: usize,
) -> Result<[Option<Number<'a>>; NUMBERS], String> {
    let mut numbers = [None; NUMBERS];
    let mut place = NUMBERS;
    for (position, name) in layout.names().enumerate() {
        let Some(value) = records.value(record, position) else { continue };
        let number = Number::new(value).map_err(|reason| format!("{name}: {reason}"))?;
        if name != modulus {
            place -= 1;
            numbers[place] = Some(number);
        } else if number.is_zero() {
            return Err(format!("{name}: the {word} is zero"));
        } else {
            // Moduli are public: their length is that of their value.
            numbers[0] = Some(number.shortened());
        }
    }
    Ok(numbers)
}

impl Groups {
    /// Groups the records of a chunk, or returns an error if memory runs out.
    pub(super) fn new(engine: &Engine, fields: Fields<'_>, records: Vec<Records>) -> Result<Self, Error> {
        let find = |records: &Records| Places::new(fields, records);
        // A few lines from a pipe need no other threads.
        let is_small = records.len() == 1;
        let mut places: Vec<Places> = match is_small {
            true => records.iter().map(find).collect(),
            false => engine.install(|| records.par_iter().map(find).collect()),
        };
        let mut batches = make_batches(&mut places)?;
        let targets = split(&places, &mut batches);
        let pieces = (records, &places, targets);
        let fill = |(records, places, targets): (Records, &Places, Vec<Targets<'_>>)| {
            fill(fields, &records, places, targets);
        };
        match is_small {
            true => pieces.0.into_iter().zip(pieces.1).zip(pieces.2).for_each(|((a, b), c)| fill((a, b, c))),
            false => engine.install(|| pieces.into_par_iter().for_each(fill)),
        }
        let groups = batches.into_iter().map(|[moduli, last, first]| Group {
            operands: [first, last].into_iter().flatten().collect(),
            moduli: moduli.map(|moduli| GroupModuli::new(engine, moduli)),
        });
        Ok(Self { groups: groups.collect(), places })
    }
}

/// Batches of zeros for all groups, in the order of [`Shape`]. Shares learn their groups and their items.
fn make_batches(places: &mut [Places]) -> Result<Vec<[Option<Batch>; NUMBERS]>, Error> {
    let mut groups: BTreeMap<Shape, (Shape, usize)> = BTreeMap::new();
    for share in places.iter_mut().flat_map(|places| &mut places.shares) {
        let (bits, count) = groups.entry(share.shape).or_default();
        share.first = *count;
        *count += share.count;
        bits.iter_mut().zip(share.bits).for_each(|(bits, more)| *bits = more.max(*bits));
    }
    let order: BTreeMap<Shape, usize> =
        groups.keys().enumerate().map(|(group, &shape)| (shape, group)).collect();
    for share in places.iter_mut().flat_map(|places| &mut places.shares) {
        share.group = order[&share.shape];
    }
    let batch = |bits, count| if bits > 0 { Batch::try_zeros(bits, count).map(Some) } else { Ok(None) };
    groups
        .into_values()
        .map(|([moduli, last, first], count)| {
            Ok([batch(moduli, count)?, batch(last, count)?, batch(first, count)?])
        })
        .collect()
}

/// The limbs of the numbers of a share, in the order of [`Shape`].
type Targets<'a> = [&'a mut [u64]; NUMBERS];

/// Cuts batches into the shares of pieces.
fn split<'a>(places: &[Places], batches: &'a mut [[Option<Batch>; NUMBERS]]) -> Vec<Vec<Targets<'a>>> {
    let limbs = |batch: &'a mut Option<Batch>| batch.as_mut().map_or(Default::default(), Batch::as_limbs_mut);
    let mut rest: Vec<Targets<'a>> =
        batches.iter_mut().map(|batches| batches.each_mut().map(limbs)).collect();
    let mut take = |share: &Share| {
        let mut lengths = share.shape.iter().map(|stride| stride * share.count);
        rest[share.group].each_mut().map(|rest| {
            let length = lengths.next().unwrap_or(0);
            let (taken, left) = std::mem::take(rest).split_at_mut(length);
            *rest = left;
            taken
        })
    };
    places.iter().map(|places| places.shares.iter().map(&mut take).collect()).collect()
}

/// Copies the numbers of a piece to their places.
fn fill(fields: Fields<'_>, records: &Records, places: &Places, mut targets: Vec<Targets<'_>>) {
    for (record, share) in places.shapes.iter().enumerate() {
        let Some(share) = *share else { continue };
        let Ok(numbers) = numbers(fields, records, record) else { continue };
        for ((target, number), stride) in
            targets[share as usize].iter_mut().zip(numbers).zip(places.shares[share as usize].shape)
        {
            let (limbs, rest) = std::mem::take(target).split_at_mut(stride);
            *target = rest;
            if let Some(number) = number {
                number.copy_to(limbs);
            }
        }
    }
}
