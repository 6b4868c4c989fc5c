//! Products against `num-bigint`, and sections of every size against the whole.

use super::sections::each_section_of;
use crate::backend::{Cpu, Settings};
use modmill_core::matrix::ResidueModuli;
use modmill_core::{Batch, BitVectors, MatrixSource, MemoryRows, ResidueVectors, SeededRows};
use num_bigint::BigUint;

fn cpu(threads: usize) -> Cpu {
    Cpu::new(Settings { threads: Some(threads), ..Settings::default() }).unwrap()
}

fn number(limbs: &[u64]) -> BigUint {
    BigUint::new(limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect())
}

fn numbers(vectors: &ResidueVectors) -> Vec<BigUint> {
    vectors.moduli().compose(vectors).unwrap().iter().map(number).collect()
}

/// The elements of a matrix, row after row.
fn elements(matrix: &dyn MatrixSource) -> Vec<BigUint> {
    let rows = MemoryRows::copy_of(matrix).unwrap();
    let vectors =
        ResidueVectors::from_words(matrix.moduli(), matrix.rows(), matrix.columns(), rows.words().to_vec());
    numbers(&vectors.unwrap())
}

fn expected(matrix: &dyn MatrixSource, factors: &[BigUint]) -> Vec<BigUint> {
    let (elements, columns) = (elements(matrix), matrix.columns());
    let product = number(matrix.moduli().product());
    let sum = |column: usize| -> BigUint {
        factors.iter().enumerate().map(|(row, factor)| factor * &elements[row * columns + column]).sum()
    };
    (0..columns).map(|column| sum(column) % &product).collect()
}

fn check(matrix: &dyn MatrixSource, threads: usize) {
    let (cpu, rows) = (cpu(threads), matrix.rows());
    // All ones, none, every third, and a pattern.
    let fill = |words: &mut [u32]| -> Result<(), modmill_core::Error> {
        let each = words.len() / 4;
        words[..each].fill(u32::MAX);
        words[2 * each..].fill(0x9249_2492);
        words[3 * each..].iter_mut().enumerate().for_each(|(place, word)| *word = 0x1234_5679 << (place % 7));
        Ok(())
    };
    let bits = BitVectors::filled(4, rows, fill).unwrap();
    let sums = cpu.multiply_bits(matrix, &bits, &|_, _| ()).unwrap();
    assert_eq!(cpu.multiply_bits_vartime(matrix, &bits, &|_, _| ()).unwrap(), sums);
    let sums = numbers(&sums);
    for vector in 0..4 {
        let factors: Vec<_> = (0..rows).map(|row| BigUint::from(u8::from(bits.get(vector, row)))).collect();
        assert_eq!(
            sums[vector * matrix.columns()..][..matrix.columns()],
            expected(matrix, &factors),
            "vector {vector} of {rows} rows"
        );
    }
    // M - 1 everywhere, and numbers of all lengths.
    let product = number(matrix.moduli().product());
    let hard = (0..rows).map(|row| (BigUint::from(3u8).pow(row as u32) + 5u8) % &product).collect();
    for factors in [vec![&product - 1u8; rows], hard] {
        let batch = Batch::from_values(factors.iter().map(BigUint::to_u64_digits));
        let vector = matrix.moduli().decompose(&batch).unwrap();
        let products = cpu.multiply_residues(matrix, &vector, &|_, _| ()).unwrap();
        assert_eq!(numbers(&products), expected(matrix, &factors), "{rows} rows");
    }
}

#[test]
fn products_are_those_of_integers() {
    for (count, rows, columns) in [(1, 1, 1), (3, 9, 5), (32, 33, 7), (2, 40, 1100), (5, 513, 3)] {
        let moduli = ResidueModuli::largest(count).unwrap();
        check(&SeededRows::new(&moduli, rows, columns, [1; 32]).unwrap(), 1 + count % 3);
    }
}

/// All residues `m - 1`, and small moduli next to great ones.
#[test]
fn extreme_values() {
    let moduli = ResidueModuli::new(&[3, 65_537, 0x8000_000b, u32::MAX - 4, u32::MAX - 16]).unwrap();
    let (rows, columns) = (100, 3);
    let row: Vec<u32> = moduli.to_vec().iter().flat_map(|&modulus| [modulus - 1; 3]).collect();
    check(&MemoryRows::new(&moduli, rows, columns, row.repeat(rows)).unwrap(), 2);
}

#[test]
fn rows_by_a_vector() {
    let moduli = ResidueModuli::largest(4).unwrap();
    let matrix = SeededRows::new(&moduli, 11, 6, [9; 32]).unwrap();
    let product = number(moduli.product());
    let factors: Vec<_> = (0..6u32).map(|place| (&product - 1u8) >> (20 * place)).collect();
    let vector = moduli.decompose(&Batch::from_values(factors.iter().map(BigUint::to_u64_digits))).unwrap();
    let found = numbers(&cpu(2).multiply_rows(&matrix, &vector, &|_, _| ()).unwrap());
    for (row, elements) in elements(&matrix).chunks(6).enumerate() {
        let sum: BigUint = elements.iter().zip(&factors).map(|(element, factor)| element * factor).sum();
        assert_eq!(found[row], sum % &product);
    }
    assert!(cpu(1).multiply_rows(&matrix, &found_of_length(&moduli, 5), &|_, _| ()).is_err());
}

fn found_of_length(moduli: &ResidueModuli, length: usize) -> ResidueVectors {
    ResidueVectors::zeros(moduli, 1, length).unwrap()
}

#[test]
fn sections_cover_all_rows_in_order() {
    let moduli = ResidueModuli::largest(2).unwrap();
    let seeded = SeededRows::new(&moduli, 10, 3, [2; 32]).unwrap();
    let whole = MemoryRows::copy_of(&seeded).unwrap();
    for words in [1, 6, 7, 18, 59, 60, 1000] {
        for matrix in [&seeded as &dyn MatrixSource, &whole] {
            let (mut seen, mut next) = (Vec::new(), 0);
            each_section_of(matrix, words, &|_, _| (), |section| {
                assert_eq!(section.rows.start, next);
                next = section.rows.end;
                (0..section.rows.len()).for_each(|row| seen.extend_from_slice(section.row(row)));
            })
            .unwrap();
            assert_eq!(seen, whole.words(), "{words} words");
        }
    }
}

#[test]
fn vectors_of_another_length_are_refused() {
    let moduli = ResidueModuli::largest(2).unwrap();
    let matrix = SeededRows::new(&moduli, 10, 3, [2; 32]).unwrap();
    let bits = BitVectors::zeros(1, 9).unwrap();
    assert!(cpu(1).multiply_bits(&matrix, &bits, &|_, _| ()).is_err());
    assert!(cpu(1).multiply_residues(&matrix, &found_of_length(&moduli, 9), &|_, _| ()).is_err());
    let other = ResidueModuli::largest(3).unwrap();
    assert!(cpu(1).multiply_residues(&matrix, &found_of_length(&other, 10), &|_, _| ()).is_err());
    let none = cpu(1).multiply_bits(&matrix, &BitVectors::zeros(0, 10).unwrap(), &|_, _| ()).unwrap();
    assert_eq!(none.count(), 0);
}
