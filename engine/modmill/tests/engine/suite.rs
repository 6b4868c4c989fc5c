//! The suite of `modmill-testing` on every path of this machine, and on the engine's own choice.

use modmill::cuda::kernel_seconds;
use modmill::{Backend, Engine, Family, Path};
use modmill_cuda::{Chip, Device, Faults};
use modmill_testing::suite::{Effort, run};

/// Runs the suite and returns how many cases there were and what failed.
fn failures(engine: &Engine, effort: Effort) -> (usize, Vec<String>) {
    let (mut count, mut failures) = (0, Vec::new());
    run(engine, effort, &mut |case| {
        count += 1;
        if let Err(why) = case.outcome {
            failures.push(format!("{}: {why}", case.name));
        }
    });
    (count, failures)
}

/// Runs the suite on the paths of this machine for which `effort` has an answer.
fn paths_pass(effort: impl Fn(Path) -> Option<Effort>) {
    let paths = Engine::new().unwrap().paths();
    let check = |path, effort| {
        let engine = Engine::builder().path(path).fallback(false).threads(1).build().unwrap();
        let (count, failures) = failures(&engine, effort);
        println!("{path}: {count} cases, {} failed", failures.len());
        failures.into_iter().map(move |failure| format!("{path}: {failure}")).collect::<Vec<_>>()
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let wanted = paths.iter().filter_map(|&path| Some((path, effort(path)?)));
        let running: Vec<_> = wanted.map(|(path, effort)| scope.spawn(move || check(path, effort))).collect();
        running.into_iter().flat_map(|path| path.join().unwrap()).collect()
    });
    assert!(
        wrong.is_empty(),
        "{} cases failed; the first:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
}

/// Whether a family is made for long numbers, or for batches of hundreds: short numbers take many times as
/// long.
fn is_slow_for_short_numbers(path: Path) -> bool {
    matches!(path.family, Family::Rns | Family::Fft)
}

#[test]
fn every_path_passes() {
    paths_pass(|path| Some(if is_slow_for_short_numbers(path) { Effort::Brief } else { Effort::Quick }));
}

#[test]
#[ignore = "slow: .ci/run has it"]
fn residues_and_transforms_pass() {
    paths_pass(|path| is_slow_for_short_numbers(path).then_some(Effort::Quick));
}

#[test]
#[ignore = "takes minutes; run with --ignored --release"]
fn every_path_passes_in_full() {
    paths_pass(|_| Some(Effort::Full));
}

#[test]
fn the_choice_of_the_engine_passes() {
    let (count, failures) = failures(&Engine::new().unwrap(), Effort::Quick);
    assert!(count > 1000, "only {count} cases ran");
    assert!(failures.is_empty(), "{} cases failed; the first: {}", failures.len(), failures[0]);
}

/// Chips from Turing to Blackwell.
const CHIPS: [Chip; 5] = [Chip::T4, Chip::A100, Chip::Rtx4090, Chip::H200, Chip::Rtx5090];

/// Runs the suite on emulated devices with the limits of `chips`, each computing by its own choice.
fn chips_pass(chips: &[Chip], effort: Effort) {
    if modmill_testing::emulated::engine(Faults::default()).is_none() {
        return;
    }
    let check = |chip: Chip| {
        let engine = Engine::builder().devices(vec![Device::emulator_like(chip)]).backend(Backend::Cuda);
        let engine = engine.fallback(false).build().unwrap();
        let (count, failures) = failures(&engine, effort);
        println!("{}: {count} cases, {} failed", chip.device_name(), failures.len());
        assert!(kernel_seconds(&engine) > 0.0, "the device computed nothing");
        failures
            .into_iter()
            .map(move |failure| format!("{}: {failure}", chip.device_name()))
            .collect::<Vec<_>>()
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let running: Vec<_> = chips.iter().map(|&chip| scope.spawn(move || check(chip))).collect();
        running.into_iter().flat_map(|chip| chip.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} cases failed; the first:\n{}", wrong.len(), wrong[0]);
}

#[test]
#[ignore = "slow: .ci/run has it"]
fn every_chip_passes() {
    chips_pass(&CHIPS, Effort::Brief);
}

#[test]
#[ignore = "takes an hour of two cores; run with --ignored --release"]
fn every_length_passes_on_every_chip() {
    chips_pass(&CHIPS, Effort::Quick);
}
