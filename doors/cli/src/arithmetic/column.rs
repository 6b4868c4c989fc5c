//! One column of all records: the factors that its numbers share.

use super::GroupAnswers;
use super::number::Number;
use crate::failure::Failure;
use crate::records::{
    AnswerField, Answers, FileRules, Layout, Notation, Operation, OtherFields, Reason, Records,
};
use modmill::{Batch, Engine, Error, trees};

/// The greatest common divisor of each number and the product of all others. All records are one batch.
pub(crate) struct SharedFactors {
    engine: Engine,
}

impl SharedFactors {
    pub(crate) fn new(engine: Engine) -> Self {
        Self { engine }
    }
}

/// The numbers of a column, or their divisors.
pub(crate) struct Column<T> {
    numbers: T,
    /// For each piece of records the item of each record, or why it has none.
    places: Vec<Vec<Result<usize, Reason>>>,
}

impl Operation for SharedFactors {
    type Prepared = Column<Result<Batch, Error>>;
    type Computed = Column<GroupAnswers>;

    fn layout(&self) -> Layout {
        let answer = AnswerField::Octets("result");
        Layout {
            required: &["n"],
            optional: &[],
            notation: Notation::Number,
            others: OtherFields::Ignore,
            answer,
        }
    }

    fn files(&self) -> Option<FileRules> {
        None
    }

    fn is_whole(&self) -> bool {
        true
    }

    fn prepare(&self, records: Vec<Records>) -> Self::Prepared {
        let (mut numbers, mut places) = (Vec::new(), Vec::with_capacity(records.len()));
        for piece in &records {
            let mut errors = piece.errors().iter();
            let mut items = Vec::with_capacity(piece.len());
            for record in 0..piece.len() {
                let number = match piece.value(record, 0) {
                    Some(value) => Number::new(value).map(Number::shortened).map_err(Reason::from),
                    None => Err(errors.next().map_or("no number".into(), |(_, reason)| reason.clone())),
                };
                items.push(number.map(|number| {
                    numbers.push(number);
                    numbers.len() - 1
                }));
            }
            places.push(items);
        }
        let bits = numbers.iter().map(|number| number.bits).max().unwrap_or(1);
        let numbers = Batch::try_zeros(bits, numbers.len()).map(|mut batch| {
            numbers.iter().enumerate().for_each(|(item, number)| number.copy_to(batch.get_mut(item)));
            batch
        });
        Column { numbers, places }
    }

    fn compute(&self, Column { numbers, places }: Self::Prepared) -> Result<Self::Computed, Failure> {
        let divisors = numbers.and_then(|numbers| trees::batch_gcd(&self.engine, &numbers));
        Ok(Column { numbers: GroupAnswers::new(divisors.map(|divisors| vec![divisors])), places })
    }

    fn finish(&self, Column { numbers, places }: Self::Computed) -> Vec<Answers> {
        let octets = numbers.octets();
        let answer = |places: Vec<Result<usize, Reason>>| {
            let mut answers = Answers::with_room(octets * places.len(), places.len());
            places.into_iter().for_each(|place| match place {
                Ok(item) => numbers.append(item, &mut answers),
                Err(reason) => answers.push_error(reason),
            });
            answers
        };
        places.into_iter().map(answer).collect()
    }
}
