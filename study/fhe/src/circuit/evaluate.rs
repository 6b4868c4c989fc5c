//! Runs plans.

use super::plan::Plan;
use super::step::Operation;
use super::{EvaluateError, Scheme};
use std::ops::Deref;

/// The batch that has just been computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// The number of AND gates on the longest path up to here.
    pub level: usize,
    /// The depth of the circuit.
    pub levels: usize,
    /// The operation of the batch.
    pub operation: Operation,
    /// How many bits the batch has.
    pub bits: usize,
    /// How many batches are computed.
    pub done: usize,
    /// How many batches the plan has.
    pub batches: usize,
    /// The least budget of the batch's bits.
    pub least_budget: f64,
}

/// Runs a plan on the inputs that it was made for, in the order of [`Plan::new`], and calls `progress` after
/// each batch. The answer has the bits of the output word, lowest first, of one instance after the other.
///
/// Two pairs of encrypted words of two bits, added together:
///
/// ```
/// use modmill::Engine;
/// use modmill_fhe::circuit::{Builder, Plan, evaluate};
/// use modmill_fhe::gentry_halevi::{GentryHalevi, Setting, generate};
///
/// let mut builder = Builder::new();
/// let (a, b) = (builder.input("a", 2), builder.input("b", 2));
/// let sum = builder.add(&a, &b);
/// let circuit = builder.finish(sum);
///
/// let engine = Engine::new()?;
/// let (public, secret) = generate(&engine, &Setting::custom(32, 128, 8)?, &mut |_| {})?;
/// let server = GentryHalevi::new(&engine, public)?;
/// let a = server.encrypt(&[true, true, false, true])?; // 3 and 2, lowest bits first
/// let b = server.encrypt(&[true, false, true, false])?; // 1 and 1
/// let plan = Plan::new(&circuit, &server, &[&a, &b], 2)?;
/// let sums = evaluate(&plan, &server, &[&a, &b], &mut |_| {})?;
/// assert_eq!(server.decrypt(&secret, &sums)?, [false, false, true, true, true, false]); // 4 and 3
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn evaluate<S: Scheme>(
    plan: &Plan,
    scheme: &S,
    inputs: &[&S::Bits],
    progress: &mut dyn FnMut(Progress),
) -> Result<S::Bits, EvaluateError<S::Error>> {
    check(plan, scheme, inputs)?;
    let mut run = Run::new(plan, scheme, inputs);
    for (done, step) in plan.steps.iter().enumerate() {
        let bits = step.count * plan.instances;
        let left = || run.gather(&by_value(&step.left, plan.instances));
        let right = || run.gather(&by_value(&step.right, plan.instances));
        let answer = match step.operation {
            Operation::Constant(bit) => scheme.constant(bit, bits),
            Operation::Not => scheme.not(&*left()?),
            Operation::Xor => scheme.xor(&*left()?, &*right()?),
            Operation::And => scheme.and(&*left()?, &*right()?),
            Operation::Recrypt => scheme.recrypt(&*left()?),
        };
        run.keep(done, answer.map_err(EvaluateError::Scheme)?);
        let (level, levels) = (step.level, plan.levels);
        let (batches, least_budget) = (plan.steps.len(), step.least_budget);
        progress(Progress {
            level,
            levels,
            operation: step.operation,
            bits,
            done: done + 1,
            batches,
            least_budget,
        });
    }
    let by_instance: Vec<(usize, usize)> = (0..plan.instances)
        .flat_map(|instance| plan.outputs.iter().map(move |&value| (value, instance)))
        .collect();
    match run.gather(&by_instance)? {
        Gathered::Owned(bits) => Ok(bits),
        Gathered::Borrowed(bits) => scheme.join(&[bits]).map_err(EvaluateError::Scheme),
    }
}

/// Refuses inputs that the plan was not made for.
fn check<S: Scheme>(plan: &Plan, scheme: &S, inputs: &[&S::Bits]) -> Result<(), EvaluateError<S::Error>> {
    if inputs.len() != plan.input_budgets.len() {
        return Err(EvaluateError::Inputs { word: inputs.len(), reason: "the number of words differs" });
    }
    for (word, (bits, planned)) in inputs.iter().zip(&plan.input_budgets).enumerate() {
        let noise = scheme.noise(bits);
        let differs = |reason| Err(EvaluateError::Inputs { word, reason });
        if noise.len() != planned.len() {
            return differs("the number of bits differs");
        }
        if noise.iter().zip(planned).any(|(&noise, &planned)| scheme.budget(noise) < planned) {
            return differs("it has more noise");
        }
    }
    Ok(())
}

/// All instances of some values, one value after the other.
fn by_value(values: &[usize], instances: usize) -> Vec<(usize, usize)> {
    values.iter().flat_map(|&value| (0..instances).map(move |instance| (value, instance))).collect()
}

/// Bits for an operation: a batch as it stands, or a new one.
enum Gathered<'a, B> {
    Borrowed(&'a B),
    Owned(B),
}

impl<B> Deref for Gathered<'_, B> {
    type Target = B;

    fn deref(&self) -> &B {
        match self {
            Self::Borrowed(bits) => bits,
            Self::Owned(bits) => bits,
        }
    }
}

/// The place of a value: a batch (the input words first, then the steps), and its number there.
#[derive(Clone, Copy)]
struct Place {
    batch: usize,
    number: usize,
}

/// The batches of a run. A batch is dropped after its last use.
struct Run<'a, S: Scheme> {
    plan: &'a Plan,
    scheme: &'a S,
    inputs: &'a [&'a S::Bits],
    answers: Vec<Option<S::Bits>>,
    places: Vec<Place>,
    /// The last step that reads each step's answers; the number of steps for the output.
    last_uses: Vec<usize>,
}

impl<'a, S: Scheme> Run<'a, S> {
    fn new(plan: &'a Plan, scheme: &'a S, inputs: &'a [&'a S::Bits]) -> Self {
        let counts = plan.widths.iter().copied().chain(plan.steps.iter().map(|step| step.count));
        let places: Vec<Place> = (counts.enumerate())
            .flat_map(|(batch, count)| (0..count).map(move |number| Place { batch, number }))
            .collect();
        let mut last_uses = vec![0; plan.steps.len()];
        let reads = plan.steps.iter().map(|step| (&step.left, &step.right));
        for (step, (left, right)) in reads.chain([(&plan.outputs, &Vec::new())]).enumerate() {
            for &value in left.iter().chain(right) {
                if let Some(answer) = places[value].batch.checked_sub(inputs.len()) {
                    last_uses[answer] = step;
                }
            }
        }
        Self { plan, scheme, inputs, answers: Vec::new(), places, last_uses }
    }

    /// Keeps the answers of a step, and drops what no later step reads.
    fn keep(&mut self, step: usize, answer: S::Bits) {
        self.answers.push(Some(answer));
        for (answer, &last_use) in self.answers.iter_mut().zip(&self.last_uses) {
            if last_use <= step {
                *answer = None;
            }
        }
    }

    fn batch(&self, batch: usize) -> Option<&S::Bits> {
        match batch.checked_sub(self.inputs.len()) {
            None => self.inputs.get(batch).copied(),
            Some(answer) => self.answers.get(answer).and_then(Option::as_ref),
        }
    }

    /// The bits of some values, each with its instance.
    fn gather(&self, values: &[(usize, usize)]) -> Result<Gathered<'_, S::Bits>, EvaluateError<S::Error>> {
        // In an input word an instance follows the other; in a step's answers a value follows the other.
        let places: Vec<(usize, usize)> = values
            .iter()
            .map(|&(value, instance)| {
                let Place { batch, number } = self.places[value];
                match self.plan.widths.get(batch) {
                    Some(width) => (batch, instance * width + number),
                    None => (batch, number * self.plan.instances + instance),
                }
            })
            .collect();
        let mut batches: Vec<usize> = places.iter().map(|place| place.0).collect();
        batches.sort_unstable();
        batches.dedup();
        let mut parts = Vec::with_capacity(batches.len());
        // The index of each place in the joined parts.
        let mut order = vec![0; places.len()];
        let mut next = 0;
        for batch in batches {
            let Some(bits) = self.batch(batch) else { continue };
            let mut selected = Vec::new();
            for (index, place) in places.iter().enumerate().filter(|(_, place)| place.0 == batch) {
                selected.push(place.1);
                order[index] = next;
                next += 1;
            }
            let is_whole = selected.iter().copied().eq(0..self.scheme.len(bits));
            parts.push(match is_whole {
                true => Gathered::Borrowed(bits),
                false => Gathered::Owned(self.scheme.select(bits, &selected).map_err(EvaluateError::Scheme)?),
            });
        }
        let joined = match parts.len() {
            1 => parts.remove(0),
            _ => {
                let parts: Vec<&S::Bits> = parts.iter().map(|part| &**part).collect();
                Gathered::Owned(self.scheme.join(&parts).map_err(EvaluateError::Scheme)?)
            }
        };
        if order.iter().copied().eq(0..order.len()) {
            return Ok(joined);
        }
        Ok(Gathered::Owned(self.scheme.select(&joined, &order).map_err(EvaluateError::Scheme)?))
    }
}
