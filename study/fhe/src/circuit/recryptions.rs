//! The choice of the wires that are recrypted.

use super::noises::{Noises, Pair, pair};
use super::step::Operation;
use super::{Circuit, Gate, PlanError, Scheme, Wire};
use std::collections::{HashMap, HashSet};

/// How many gates the search for fewer recryptions may compute. Some tenths of a second, where one recryption
/// takes about as long.
const MOST_WORK: usize = 4_000_000;

/// Finds wires to recrypt so that every wire is safe, gate by gate in the order of the batches, and then
/// fewer of them.
pub(super) fn find<S: Scheme>(
    circuit: &Circuit,
    noises: &mut Noises<'_, S>,
    batches: &[(usize, Operation, Vec<Wire>)],
) -> Result<(), PlanError> {
    // A wire that some gate asks to be recrypted is so for the gates before that one, too. In other instances
    // these may then have more noise: rounds go on until nothing is added.
    let mut is_settled = false;
    while !is_settled {
        is_settled = true;
        for (level, operation, wires) in batches {
            let gates: Vec<Gate> = wires.iter().map(|wire| circuit.gates()[wire.index()]).collect();
            let chosen = choose(&gates, noises).map_err(|gate| PlanError::TooDeep {
                operation: operation.name(),
                level: *level,
                levels: circuit.cost().depth,
                budget: noises.least_of_gate(gate),
                can_recrypt: noises.scheme.after_recrypt(noises.scheme.noise_of_constant()).is_some(),
            })?;
            is_settled &= chosen.is_empty();
            chosen.into_iter().for_each(|wire| noises.mark(wire));
            wires.iter().for_each(|&wire| noises.make(wire));
        }
    }
    improve(circuit, noises);
    Ok(())
}

/// The wires to recrypt before a batch of gates, so that all of them have safe outputs. The error is a gate
/// that is unsafe whatever is recrypted.
///
/// First come the wires that some gate cannot do without. For each gate that is left either operand will do:
/// the wires are taken by how many of those gates they serve, which is the greedy way to a small cover of
/// edges by nodes.
fn choose<S: Scheme>(gates: &[Gate], noises: &Noises<'_, S>) -> Result<Vec<Wire>, Gate> {
    let mut chosen: HashSet<Wire> = HashSet::new();
    let mut open: Vec<Pair> = Vec::new();
    for &gate in gates {
        if noises.is_safe(gate, [false; 2]) {
            continue;
        }
        let operands = pair(gate);
        let can = operands.map(|wire| wire.is_some_and(|wire| noises.gains(wire)));
        let helps = |recrypted: [bool; 2]| {
            let is_possible = recrypted.iter().zip(can).all(|(&wanted, can)| can || !wanted);
            is_possible && noises.is_safe(gate, recrypted)
        };
        match (helps([true, false]), helps([false, true])) {
            (true, true) => open.push(operands),
            (true, false) => chosen.extend(operands[0]),
            (false, true) => chosen.extend(operands[1]),
            (false, false) if helps([true, true]) => chosen.extend(operands.into_iter().flatten()),
            (false, false) => return Err(gate),
        }
    }
    loop {
        open.retain(|gate| !gate.iter().flatten().any(|wire| chosen.contains(wire)));
        let mut serves: HashMap<Wire, usize> = HashMap::new();
        open.iter().flatten().flatten().for_each(|&wire| *serves.entry(wire).or_default() += 1);
        // Among equals the wire with the most readers, then the first.
        let best = serves
            .into_iter()
            .max_by_key(|&(wire, count)| (count, noises.uses(wire), std::cmp::Reverse(wire)));
        match best {
            Some((wire, _)) => _ = chosen.insert(wire),
            None => break,
        }
    }
    let mut chosen: Vec<Wire> = chosen.into_iter().collect();
    chosen.sort_unstable();
    Ok(chosen)
}

/// Looks for fewer recryptions: drops those that others have made needless, and tries each wire instead of
/// others, as long as it makes at least two of them needless.
fn improve<S: Scheme>(circuit: &Circuit, noises: &mut Noises<'_, S>) {
    let wires = || (0..circuit.gates().len()).map(Wire::new);
    let mut recrypted: Vec<Wire> = wires().filter(|&wire| noises.is_recrypted(wire)).collect();
    drop_needless(noises, &mut recrypted);
    loop {
        let before = recrypted.len();
        for wire in wires() {
            if noises.work > MOST_WORK {
                return;
            }
            if noises.uses(wire) == 0 || !noises.gains(wire) {
                continue;
            }
            let mark = noises.mark_of_log();
            let mut others = recrypted.clone();
            if noises.toggle(wire) && drop_needless(noises, &mut others) >= 2 {
                noises.keep();
                recrypted = others;
                recrypted.push(wire);
            } else {
                noises.undo(mark);
            }
        }
        if recrypted.len() == before {
            return;
        }
    }
}

/// Takes back those of some recryptions without which everything is safe; how many that were.
fn drop_needless<S: Scheme>(noises: &mut Noises<'_, S>, recrypted: &mut Vec<Wire>) -> usize {
    let before = recrypted.len();
    recrypted.retain(|&wire| {
        let mark = noises.mark_of_log();
        let is_needed = !noises.toggle(wire);
        if is_needed {
            noises.undo(mark);
        }
        is_needed
    });
    before - recrypted.len()
}
