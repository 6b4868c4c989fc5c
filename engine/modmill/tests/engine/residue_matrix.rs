//! Matrices in residues from outside: every placement, with and without a device, and devices that fail.

use modmill::cuda::kernel_seconds;
use modmill::matrix::{
    BitVectors, FileRows, MemoryRows, Placement, ResidueMatrix, ResidueModuli, ResidueVectors, SeededRows,
};
use modmill::{Backend, Engine, Error};
use modmill_cuda::Faults;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const PLACEMENTS: [Placement; 3] = [Placement::Held, Placement::Pinned, Placement::Streamed];

fn rows() -> SeededRows {
    SeededRows::new(&ResidueModuli::largest(3).unwrap(), 90, 21, [4; 32]).unwrap()
}

/// Three vectors of bits, and two of residues.
fn vectors() -> (BitVectors, ResidueVectors) {
    let fill = |words: &mut [u32]| -> Result<(), Error> {
        words.iter_mut().enumerate().for_each(|(place, word)| *word = 0x5bd1_e995 << (place % 5));
        Ok(())
    };
    let moduli = ResidueModuli::largest(3).unwrap();
    let words = (0..2 * 3 * 90u32).map(|place| place.wrapping_mul(0x9e37_79b9) >> 1).collect();
    (BitVectors::filled(3, 90, fill).unwrap(), ResidueVectors::from_words(&moduli, 2, 90, words).unwrap())
}

fn cpu() -> Engine {
    Engine::builder().backend(Backend::Cpu).build().unwrap()
}

/// The products in all placements.
fn products(engine: &Engine) -> Vec<(ResidueVectors, ResidueVectors)> {
    let (bits, residues) = vectors();
    let products = PLACEMENTS.map(|placement| {
        let matrix = ResidueMatrix::new(engine, rows(), placement).unwrap();
        assert_eq!(matrix.multiply_vartime(engine, &bits), matrix.multiply(engine, &bits));
        // Into memory that held something else.
        let moduli = ResidueModuli::largest(3).unwrap();
        let mut sums = ResidueVectors::zeros(&moduli, 3, 21).unwrap();
        sums.as_mut_slice().fill(77);
        matrix.multiply_into(engine, &bits, &mut sums).unwrap();
        assert_eq!(matrix.multiply(engine, &bits).unwrap(), sums);
        (sums, matrix.multiply(engine, &residues).unwrap())
    });
    products.into()
}

#[test]
fn placements_and_devices_agree() {
    let on_cpu = products(&cpu());
    assert!(on_cpu.iter().all(|products| *products == on_cpu[0]));
    let Some(builder) = modmill_testing::emulated::engine(Faults::default()) else { return };
    let gpu = builder.fallback(false).build().unwrap();
    assert_eq!(products(&gpu), on_cpu);
    assert!(kernel_seconds(&gpu) > 0.0);
}

#[test]
fn rows_of_a_file_are_those_of_memory() {
    let engine = cpu();
    let path = std::env::temp_dir().join(format!("modmill-rows-{}", std::process::id()));
    let whole = MemoryRows::copy_of(&rows()).unwrap();
    let bytes: Vec<u8> = whole.words().iter().flat_map(|word| word.to_le_bytes()).collect();
    std::fs::write(&path, bytes).unwrap();
    let file = FileRows::open(&ResidueModuli::largest(3).unwrap(), 90, 21, &path).unwrap();
    let matrix = ResidueMatrix::new(&engine, file, Placement::Streamed).unwrap();
    assert_eq!(matrix.multiply(&engine, &vectors().0).unwrap(), products(&engine)[0].0);
    std::fs::remove_file(&path).unwrap();
    let lost = matrix.multiply(&engine, &vectors().0);
    assert!(matches!(lost, Err(Error::Read { .. })), "{lost:?}");
}

#[test]
fn the_cpu_finishes_what_a_device_could_not() {
    let on_cpu = products(&cpu());
    for after in [0, 1, 2, 5] {
        let faults = Faults { fail_launch_after: Some(after), ..Faults::default() };
        let Some(builder) = modmill_testing::emulated::engine(faults) else { return };
        let gpu = builder.build().unwrap();
        assert_eq!(products(&gpu), on_cpu, "after {after} launches");
        assert!(!gpu.faults().is_empty());
    }
}

#[test]
fn a_matrix_that_does_not_fit_is_an_error() {
    let faults = Faults { out_of_memory_above: Some(4096), ..Faults::default() };
    let Some(builder) = modmill_testing::emulated::engine(faults) else { return };
    let gpu = builder.build().unwrap();
    let held = ResidueMatrix::new(&gpu, rows(), Placement::Held);
    assert!(matches!(held, Err(Error::OutOfMemory { .. })), "{held:?}");
}

#[test]
fn progress_ends_with_all_rows() {
    let engine = cpu();
    let last = Arc::new(AtomicUsize::new(0));
    let seen = last.clone();
    let matrix = ResidueMatrix::new(&engine, rows(), Placement::Streamed).unwrap();
    let matrix = matrix.with_progress(move |done, rows| {
        assert!(done <= rows);
        seen.store(done, Ordering::Relaxed);
    });
    matrix.multiply(&engine, &vectors().0).unwrap();
    assert_eq!(last.load(Ordering::Relaxed), 90);
}

#[test]
fn vectors_that_do_not_fit_are_refused() {
    let engine = cpu();
    let moduli = ResidueModuli::largest(3).unwrap();
    let matrix = MemoryRows::copy_of(&rows()).unwrap();
    let matrix = ResidueMatrix::new(&engine, matrix, Placement::Held).unwrap();
    assert_eq!((matrix.rows(), matrix.columns(), matrix.device_bytes()), (90, 21, 0));
    let short = BitVectors::zeros(1, 89).unwrap();
    assert!(matches!(matrix.multiply(&engine, &short), Err(Error::LengthMismatch { .. })));
    let other = ResidueVectors::zeros(&moduli.first(2).unwrap(), 1, 90).unwrap();
    assert_eq!(matrix.multiply(&engine, &other), Err(Error::OtherModuli));
    let bits = BitVectors::zeros(2, 90).unwrap();
    for (moduli, count, length) in [(&moduli, 1, 21), (&moduli, 2, 20), (&moduli.first(2).unwrap(), 2, 21)] {
        let mut answers = ResidueVectors::zeros(moduli, count, length).unwrap();
        assert!(matrix.multiply_into(&engine, &bits, &mut answers).is_err(), "{answers:?}");
    }
    let none = matrix.multiply(&engine, &BitVectors::zeros(0, 90).unwrap()).unwrap();
    assert_eq!((none.count(), none.length()), (0, 21));
}
