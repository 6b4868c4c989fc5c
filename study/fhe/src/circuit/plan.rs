//! Plans: in which batches the gates of a circuit are computed, and what is recrypted.

use super::noises::Noises;
use super::planner::{Planner, batches};
use super::recryptions::find;
use super::step::{Operation, Step};
use super::{Circuit, PlanError, Scheme};

/// How a scheme computes a circuit: a list of batches, made before anything is computed.
///
/// All AND gates of one depth are one batch, with as many instances of the circuit as are evaluated together;
/// XOR and NOT gates are batches too. Bits are recrypted before gates whose outputs would otherwise have too
/// much noise, in batches and at most once. Where there is a choice, those that serve the most gates are; a
/// search for fewer follows.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(super) steps: Vec<Step>,
    /// The widths of the input words.
    pub(super) widths: Vec<usize>,
    /// The budget of each bit of each input word, as it was planned with.
    pub(super) input_budgets: Vec<Vec<f64>>,
    pub(super) outputs: Vec<usize>,
    pub(super) instances: usize,
    pub(super) levels: usize,
    output_budgets: Vec<f64>,
}

impl Plan {
    /// Plans the evaluation of a circuit on encrypted inputs.
    ///
    /// `inputs` has for each input word its bits, lowest first, of all `instances` of the circuit, one
    /// instance after the other.
    pub fn new<S: Scheme>(
        circuit: &Circuit,
        scheme: &S,
        inputs: &[&S::Bits],
        instances: usize,
    ) -> Result<Self, PlanError> {
        let noise: Vec<Vec<S::Noise>> = inputs.iter().map(|bits| scheme.noise(bits)).collect();
        Self::with_noise(circuit, scheme, &noise, instances)
    }

    /// Plans the evaluation of a circuit on inputs of which only the noise is known, in the order of
    /// [`Plan::new`].
    pub fn with_noise<S: Scheme>(
        circuit: &Circuit,
        scheme: &S,
        inputs: &[Vec<S::Noise>],
        instances: usize,
    ) -> Result<Self, PlanError> {
        if inputs.len() != circuit.inputs().len() {
            return Err(PlanError::Words { expected: circuit.inputs().len(), found: inputs.len() });
        }
        for (word, noise) in circuit.inputs().iter().zip(inputs) {
            let expected = word.width * instances;
            if noise.len() != expected {
                return Err(PlanError::Width { name: word.name.clone(), expected, found: noise.len() });
            }
        }
        let mut noises = Noises::new(circuit, scheme, inputs, instances)?;
        let batches = batches(circuit);
        find(circuit, &mut noises, &batches)?;
        let mut planner = Planner::new(circuit, &noises);
        batches.iter().for_each(|(level, operation, wires)| planner.batch(*level, *operation, wires));
        let budgets = |noise: &Vec<S::Noise>| noise.iter().map(|&noise| scheme.budget(noise)).collect();
        Ok(Self {
            outputs: circuit.output().iter().map(|&wire| planner.number(wire)).collect(),
            output_budgets: circuit.output().iter().map(|&wire| noises.least_read(wire)).collect(),
            steps: planner.steps,
            widths: circuit.inputs().iter().map(|word| word.width).collect(),
            input_budgets: inputs.iter().map(budgets).collect(),
            instances,
            levels: circuit.cost().depth,
        })
    }

    /// How many bits an operation computes, over all instances.
    pub fn count(&self, operation: Operation) -> usize {
        let steps = self.steps.iter().filter(|step| step.operation == operation);
        steps.map(|step| step.count).sum::<usize>() * self.instances
    }

    /// How many instances of the circuit are evaluated together.
    pub fn instances(&self) -> usize {
        self.instances
    }

    /// The depth of the circuit.
    pub fn levels(&self) -> usize {
        self.levels
    }

    /// The number of batches.
    pub fn batches(&self) -> usize {
        self.steps.len()
    }

    /// The budget of each bit of the output, lowest bit first: the least of all instances.
    pub fn output_budgets(&self) -> &[f64] {
        &self.output_budgets
    }

    /// The least budget of all bits that the plan computes; infinite if it computes none.
    pub fn least_budget(&self) -> f64 {
        self.steps.iter().map(|step| step.least_budget).fold(f64::INFINITY, f64::min)
    }
}
