//! A multiplier, clocked cycle by cycle.

use crate::design::{Design, Stage};
use crate::digits;
use crate::error::Error;
use crate::memory::Memory;
use crate::radix16::RADIX;
use crate::record::{Activities, Activity, Part, Snapshot};
use crate::resolver::Resolver;
use crate::stage::Place;
use crate::twiddle::Twiddles;
use control::Control;
use std::collections::VecDeque;

mod control;
mod input;
mod issue;
mod output;

/// The signals of the world outside in a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ports {
    /// Whether a beat is offered at the input ports of the two operands.
    pub valid: [bool; 2],
    /// Whether the output port's reader takes a beat.
    pub ready: bool,
}

impl Ports {
    /// Beats are offered whenever there is a number to load, and taken at once.
    pub const OPEN: Self = Self { valid: [true; 2], ready: true };
}

/// A product that has left the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    /// The limbs of the product, the least significant first.
    pub limbs: Vec<u64>,
    /// The cycle in which its first beat went in.
    pub first_cycle: u64,
    /// The cycle in which its last beat came out.
    pub last_cycle: u64,
}

impl Product {
    /// The cycles from the first beat in to the last beat out, both counted.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.last_cycle - self.first_cycle + 1
    }
}

/// Words on their way to the memories.
#[derive(Debug, Clone, Default)]
struct Writes {
    words: Vec<(Place, u64)>,
    /// The number of the stage whose last words these are, and the product's.
    ends: Option<(usize, usize)>,
}

/// Rows of results that are being given out.
#[derive(Debug, Clone, Copy)]
struct Unload {
    row: usize,
    parity: bool,
    product: usize,
}

/// A multiplier of [`Design`], clocked cycle by cycle. Every access to a bank goes through its ports.
///
/// ```
/// use modmill_hardware::{Design, Multiplier};
/// let mut machine = Multiplier::new(Design::improved().with_stages(2))?;
/// machine.offer(&[3], &[5])?;
/// machine.run(1, |_| ())?;
/// assert_eq!(machine.products()[0].limbs[0], 15);
/// # Ok::<(), modmill_hardware::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Multiplier {
    design: Design,
    stages: Vec<Stage>,
    names: Vec<String>,
    twiddles: Twiddles,
    cycle: u64,
    memories: [Memory; 2],
    buffers: [Memory; 2],
    /// The digits of the operands that wait or are being loaded.
    waiting: VecDeque<[Vec<u64>; 2]>,
    /// Pairs of operands that were offered in all.
    offered: usize,
    /// Beats of the present operands that are in the buffers or memories.
    beats: [usize; 2],
    control: Control,
    /// The number of the product whose stages run, and of the next one to load.
    product: usize,
    pipeline: VecDeque<Writes>,
    unload: Option<Unload>,
    resolver: Resolver,
    /// Digits on their way to the output port, whose word is the front.
    output: VecDeque<Option<Vec<u64>>>,
    collected: Vec<u64>,
    /// The cycles of the first beats of products that have not left.
    started: VecDeque<u64>,
    products: Vec<Product>,
    activities: Activities,
    snapshots: Option<Vec<Snapshot>>,
}

impl Multiplier {
    /// A multiplier after its reset.
    ///
    /// # Errors
    ///
    /// [`Error::Design`] if the parameters do not fit together.
    pub fn new(design: Design) -> Result<Self, Error> {
        design.check()?;
        let stages = design.sequence();
        Ok(Self {
            design,
            names: stages.iter().map(|&stage| design.stage_name(stage)).collect(),
            stages,
            twiddles: Twiddles::new(),
            cycle: 0,
            memories: ["A", "B"].map(|name| Memory::new(name, RADIX, design.rows())),
            buffers: ["input a", "input b"]
                .map(|name| Memory::new(name, RADIX, design.rows() / 2).with_single_port()),
            waiting: VecDeque::new(),
            offered: 0,
            beats: [0; 2],
            control: Control::Idle,
            product: 0,
            pipeline: vec![Writes::default(); design.latency].into(),
            unload: None,
            resolver: Resolver::new(design.digit_bits),
            output: vec![None; design.resolve].into(),
            collected: Vec::new(),
            started: VecDeque::new(),
            products: Vec::new(),
            activities: Activities::default(),
            snapshots: None,
        })
    }

    /// Keeps a [`Snapshot`] after every stage from now on.
    pub fn keep_snapshots(&mut self) {
        self.snapshots.get_or_insert_default();
    }

    /// The snapshots so far.
    #[must_use]
    pub fn snapshots(&self) -> &[Snapshot] {
        self.snapshots.as_deref().unwrap_or_default()
    }

    /// The activities of the parts so far.
    #[must_use]
    pub fn activities(&self) -> &[Activity] {
        self.activities.all()
    }

    /// The cycles so far.
    #[must_use]
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// The memories A and B.
    #[must_use]
    pub fn memories(&self) -> &[Memory; 2] {
        &self.memories
    }

    /// The name of the stage that issues a step in the next cycle, and the step.
    #[must_use]
    pub fn next_step(&self) -> Option<(&str, usize)> {
        match self.control {
            Control::Run { stage, step } => Some((&self.names[stage], step)),
            _ => None,
        }
    }

    /// The products that have left so far.
    #[must_use]
    pub fn products(&self) -> &[Product] {
        &self.products
    }

    /// Queues two operands, limbs with the least significant first.
    ///
    /// # Errors
    ///
    /// [`Error::OperandTooLong`].
    pub fn offer(&mut self, a: &[u64], b: &[u64]) -> Result<(), Error> {
        let (bits, count) = (self.design.digit_bits, self.design.points() / 2);
        let digits = [digits::split("a", a, bits, count)?, digits::split("b", b, bits, count)?];
        self.waiting.push_back(digits);
        self.offered += 1;
        Ok(())
    }

    /// Clocks the machine with open ports until `count` products have left in all. `progress` is called with
    /// the cycle now and then.
    ///
    /// # Errors
    ///
    /// As [`clock`](Self::clock), and [`Error::Design`] if fewer than `count` pairs were offered.
    pub fn run(&mut self, count: usize, mut progress: impl FnMut(u64)) -> Result<(), Error> {
        if count > self.offered {
            return Err(Error::Design(format!(
                "{count} products are awaited, and {} pairs were offered",
                self.offered
            )));
        }
        while self.products.len() < count {
            self.clock(Ports::OPEN)?;
            if self.cycle.is_multiple_of(256) {
                progress(self.cycle);
            }
        }
        Ok(())
    }

    /// One cycle.
    ///
    /// # Errors
    ///
    /// A schedule that breaks a rule of the memories; it cannot go on after that.
    pub fn clock(&mut self, ports: Ports) -> Result<(), Error> {
        // The input side's registers as they are before this cycle's beats.
        let (full, accepting) = (self.full(), self.accepting());
        let blocked = matches!(self.output.front(), Some(Some(_))) && !ports.ready;
        if !blocked {
            self.give_out();
            let word = self.read_results()?;
            self.output.push_back(word);
            let issued = self.control(full)?;
            self.pipeline.push_back(issued);
            self.write_back()?;
        }
        self.load(accepting, ports.valid)?;
        self.cycle += 1;
        Ok(())
    }

    /// Writes the words whose time in the pipeline is over.
    fn write_back(&mut self) -> Result<(), Error> {
        let writes = self.pipeline.pop_front().unwrap_or_default();
        for (place, word) in writes.words {
            self.memories[place.memory].write(self.cycle, place.bank, place.row, word)?;
        }
        if let (Some((stage, product)), Some(snapshots)) = (writes.ends, &mut self.snapshots) {
            let memories = self.memories.each_ref().map(|memory| memory.words().to_vec());
            snapshots.push(Snapshot {
                product,
                stage: self.names[stage].clone(),
                cycle: self.cycle,
                memories,
            });
        }
        Ok(())
    }

    fn note(&mut self, part: Part, work: &str, product: usize) {
        self.activities.note(part, work, product, self.cycle);
    }
}
