//! Products with matrices in residues, against the CPU's, which are tested against `num-bigint`.

use crate::{devices, on_gpus};
use modmill_core::{
    BitVectors, MatrixFactors, MatrixSource, MemoryRows, ResidueModuli, ResidueVectors, SeededRows,
};
use modmill_cuda::{Chip, Cuda, Device, Error, SectionSizes, Settings};
use modmill_testing::rng::Rng;
use std::sync::Mutex;

/// The product by the definition: sums of products of words.
fn expected(matrix: &dyn MatrixSource, factors: MatrixFactors<'_>) -> ResidueVectors {
    let (rows, columns, moduli) = (matrix.rows(), matrix.columns(), matrix.moduli());
    let words = MemoryRows::copy_of(matrix).unwrap();
    let mut answers = ResidueVectors::zeros(moduli, factors.count(), columns).unwrap();
    for vector in 0..factors.count() {
        for (place, modulus) in moduli.words().iter().enumerate() {
            for column in 0..columns {
                let product = |row: usize| {
                    let word = words.words()[(row * moduli.len() + place) * columns + column];
                    let factor = match factors {
                        MatrixFactors::Bits(bits) => u32::from(bits.get(vector, row)),
                        MatrixFactors::Residues(residues) => residues.plane(vector, place)[row],
                    };
                    u128::from(word) * u128::from(factor)
                };
                let sum: u128 = (0..rows).map(product).sum();
                answers.as_mut_slice()[(vector * moduli.len() + place) * columns + column] =
                    (sum % u128::from(modulus.get())) as u32;
            }
        }
    }
    answers
}

fn bits(count: usize, rows: usize, rng: &mut Rng) -> BitVectors {
    let fill = |words: &mut [u32]| -> Result<(), modmill_core::Error> {
        words.iter_mut().for_each(|word| *word = rng.word() as u32);
        // The first vector is all ones.
        let first = words.len().checked_div(count).unwrap_or(0);
        words[..first].fill(u32::MAX);
        Ok(())
    };
    BitVectors::filled(count, rows, fill).unwrap()
}

fn residues(moduli: &ResidueModuli, count: usize, rows: usize, rng: &mut Rng) -> ResidueVectors {
    let mut vectors = ResidueVectors::zeros(moduli, count, rows).unwrap();
    for (index, plane) in vectors.as_mut_slice().chunks_mut(rows).enumerate() {
        let modulus = moduli.words()[index % moduli.len()].get();
        // The first vector is all of the greatest residues.
        let is_first = index < moduli.len();
        plane.iter_mut().for_each(|word| {
            *word = if is_first { modulus - 1 } else { (rng.word() % u64::from(modulus)) as u32 };
        });
    }
    vectors
}

/// Held, pinned and streamed products with these numbers of vectors.
fn check(matrix: &dyn MatrixSource, bit_vectors: &[usize], residue_vectors: &[usize]) {
    check_in(SectionSizes::default(), matrix, bit_vectors, residue_vectors);
}

/// Held, pinned and streamed products with sections of these sizes.
fn check_in(
    sections: SectionSizes,
    matrix: &dyn MatrixSource,
    bit_vectors: &[usize],
    residue_vectors: &[usize],
) {
    check_on(
        &Cuda::on(devices(), Settings { sections, ..Settings::default() }),
        matrix,
        bit_vectors,
        residue_vectors,
    );
}

/// Held, pinned and streamed products on these devices.
fn check_on(cuda: &Cuda, matrix: &dyn MatrixSource, bit_vectors: &[usize], residue_vectors: &[usize]) {
    let held = match cuda.hold_matrix(matrix) {
        Err(Error::NoHostCompiler { reason }) => return println!("skipped: {reason}"),
        held => held.unwrap(),
    };
    let pinned = cuda.pin_matrix(matrix).unwrap();
    let mut rng = Rng::new(matrix.rows() as u64);
    let check = |factors: MatrixFactors<'_>| {
        let expected = expected(matrix, factors);
        let label = format!("{factors:?} by {} x {}", matrix.rows(), matrix.columns());
        // Memory for answers that held something else.
        let mut found = expected.clone();
        let fill = |found: &mut ResidueVectors| found.as_mut_slice().fill(77);
        fill(&mut found);
        cuda.multiply_held(&held, factors, &mut found, &|_, _| ()).unwrap();
        assert!(found == expected, "held: {label}");
        fill(&mut found);
        cuda.multiply_streamed(&pinned, factors, &mut found, &|_, _| ()).unwrap();
        assert!(found == expected, "pinned: {label}");
        let seen = Mutex::new(Vec::new());
        let note = |done: usize, _: usize| seen.lock().unwrap().push(done);
        fill(&mut found);
        cuda.multiply_streamed(matrix, factors, &mut found, &note).unwrap();
        assert!(found == expected, "streamed: {label}");
        assert_eq!(seen.into_inner().unwrap().last(), Some(&matrix.rows()), "{label}");
    };
    bit_vectors.iter().for_each(|&count| check((&bits(count, matrix.rows(), &mut rng)).into()));
    for &count in residue_vectors {
        check((&residues(matrix.moduli(), count, matrix.rows(), &mut rng)).into());
    }
}

#[test]
fn one_vector() {
    let moduli = ResidueModuli::largest(3).unwrap();
    for (rows, columns) in [(1, 1), (31, 16), (32, 17), (65, 5), (300, 40)] {
        let seeded = SeededRows::new(&moduli, rows, columns, [5; 32]).unwrap();
        check(&seeded, &[1], &[1]);
        check(&MemoryRows::copy_of(&seeded).unwrap(), &[1], &[1]);
    }
}

/// One, two and four groups of 64 columns of vectors side by side, and more than fit a block.
#[test]
fn many_vectors_on_tensor_cores() {
    let moduli = ResidueModuli::largest(2).unwrap();
    let seeded = SeededRows::new(&moduli, 70, 35, [6; 32]).unwrap();
    check(&seeded, &[2, 64, 65, 129, 300], &[2, 16, 17, 33, 70]);
    check(&MemoryRows::copy_of(&seeded).unwrap(), &[9], &[9]);
}

/// The greatest residues and factors, and moduli of all lengths, which retry words of their seed.
#[test]
fn extreme_values() {
    let moduli = ResidueModuli::new(&[3, 65_537, 0x8000_000b, u32::MAX - 4]).unwrap();
    let (rows, columns) = (130, 3);
    let row: Vec<u32> = moduli.to_vec().iter().flat_map(|&modulus| [modulus - 1; 3]).collect();
    check(&MemoryRows::new(&moduli, rows, columns, row.repeat(rows)).unwrap(), &[1, 2], &[1, 2]);
    check(&SeededRows::new(&moduli, 40, 20, [8; 32]).unwrap(), &[1], &[1]);
}

/// Sections of 64 rows, so that there are several of them in turn, of which the last has fewer rows.
#[test]
fn many_sections() {
    let moduli = ResidueModuli::largest(2).unwrap();
    let seeded = SeededRows::new(&moduli, 300, 20, [3; 32]).unwrap();
    let sections = SectionSizes { copied: 1, expanded: 1, ..SectionSizes::default() };
    check_in(sections, &seeded, &[1, 3], &[1, 3]);
    check_in(sections, &MemoryRows::copy_of(&seeded).unwrap(), &[1, 3], &[1, 3]);
}

/// Moduli in parts, and pieces of vectors that end within a vector: each part is computed, and copied in and
/// out, by itself.
#[test]
#[ignore = "slow: .ci/run has it"]
fn moduli_in_parts() {
    let moduli = ResidueModuli::largest(5).unwrap();
    let seeded = SeededRows::new(&moduli, 70, 35, [9; 32]).unwrap();
    // A part of one modulus, of two and of three, and all moduli together.
    for vectors in [1, 700, 1000, 1200, 4000, 1 << 20] {
        let sections = SectionSizes { vectors, ..SectionSizes::default() };
        check_in(sections, &seeded, &[1, 2, 9, 65], &[1, 2, 9, 17]);
    }
}

/// More rows than a launch takes, with the greatest residues and factors: sums of bytes reach their bounds.
#[test]
#[ignore = "slow: .ci/run has it"]
fn more_rows_than_a_launch_takes() {
    let moduli = ResidueModuli::new(&[u32::MAX]).unwrap();
    let rows = (1 << 15) + 100;
    let matrix = MemoryRows::new(&moduli, rows, 1, vec![u32::MAX - 1; rows]).unwrap();
    check(&matrix, &[1, 2], &[1, 2]);
}

/// A chip with little shared memory has fewer stages and wider blocks.
#[test]
fn chips_with_less_shared_memory() {
    if on_gpus() {
        return println!("skipped: for emulated devices");
    }
    let moduli = ResidueModuli::largest(2).unwrap();
    let seeded = SeededRows::new(&moduli, 200, 20, [2; 32]).unwrap();
    for chip in [Chip::T4, Chip::Rtx4090] {
        let cuda = Cuda::on(vec![Device::emulator_like(chip)], Settings::default());
        check_on(&cuda, &seeded, &[3], &[2]);
    }
}

#[test]
fn vectors_that_do_not_fit_are_refused() {
    let moduli = ResidueModuli::largest(2).unwrap();
    let matrix = SeededRows::new(&moduli, 10, 4, [0; 32]).unwrap();
    let cuda = Cuda::on(devices(), Settings::default());
    let mut answers = ResidueVectors::zeros(&moduli, 1, 4).unwrap();
    // A vector for fewer rows than there are, and memory for fewer answers.
    for (count, rows) in [(1, 9), (2, 10)] {
        let bits = BitVectors::zeros(count, rows).unwrap();
        match cuda.multiply_streamed(&matrix, (&bits).into(), &mut answers, &|_, _| ()) {
            Err(Error::NoHostCompiler { reason }) => return println!("skipped: {reason}"),
            result => assert!(matches!(result, Err(Error::Call { .. })), "{result:?}"),
        }
    }
}
