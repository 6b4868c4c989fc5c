//! Transforms against their definition, and back, at every length's passes.

use super::{Factor, Input, Length, Output, Transforms, Work};
use crate::call::Numbers;
use crate::device::{Buffer, Contents, Device};
use crate::error::Error;
use modmill_core::goldilocks::{add, mul, pow, reduce, root_of_unity};
use modmill_core::limbs::bits_at;
use modmill_core::transform::PointShape;

/// The emulated device with the kernels; nothing where there is no C++ compiler.
fn transforms() -> Option<(Device, Transforms)> {
    let device = Device::emulator();
    match Transforms::load(&device) {
        Err(Error::NoHostCompiler { reason }) => {
            println!("skipped: {reason}");
            None
        }
        transforms => Some((device, transforms.unwrap())),
    }
}

/// Every number of rows, every first pass, short rows and long ones, and a pass between.
fn lengths() -> impl Iterator<Item = Length> {
    let short = [1, 3, 5].into_iter().flat_map(|rows| (9..=14).map(move |log| (rows, log)));
    let shapes = short.chain([(1, 15), (1, 16), (1, 17)]);
    shapes.map(|(rows, log)| Length { digit_bits: 24, shape: PointShape { rows, columns: 1 << log } })
}

/// A number of `limbs` limbs, of scattered bits, with runs of ones.
fn number(limbs: usize) -> Vec<u64> {
    let limb =
        |i: u64| if i.is_multiple_of(5) { u64::MAX } else { (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) };
    (0..limbs as u64).map(limb).collect()
}

fn numbers(buffer: &Buffer, limbs: usize) -> Numbers {
    Numbers::at(buffer, 0, 2 * limbs as u32)
}

fn download(device: &Device, buffer: &Buffer) -> Vec<u64> {
    let mut staging = device.host_buffer(buffer.bytes(), Contents::Public).unwrap();
    let stream = device.stream().unwrap();
    stream.copy_out(buffer, 0..buffer.bytes(), &mut staging, 0).unwrap();
    stream.synchronize().unwrap();
    staging.limbs().to_vec()
}

/// The power of the root that the point at a place stands for: each pass has put the last digit of what is
/// left of the power to the front of the place. In kept rows the sixteen points of a thread stand one in each
/// sixteenth.
fn power_at(length: &Length, place: usize) -> usize {
    let (row, sixteenth) = (length.row(), length.row() / 16);
    let place = place / row * row + place % sixteenth * 16 + place % row / sixteenth;
    let mut radices = vec![length.first()];
    radices.extend(length.strides().map(|_| 16));
    radices.extend(vec![16; if length.has_long_rows() { 3 } else { 2 }]);
    let (mut power, mut weight, mut rest, mut stride) = (0, 1, place, length.shape.columns);
    for radix in radices {
        stride /= radix;
        power += weight * (rest / stride);
        rest %= stride;
        weight *= radix;
    }
    power
}

#[test]
fn transforms_are_what_their_definition_says() {
    let Some((device, transforms)) = transforms() else { return };
    for length in lengths() {
        let PointShape { rows, columns } = length.shape;
        let limbs = length.shape.points() * 24 / 64;
        // Digits for all points, and for the lower half; and digits twice, from another bit on.
        for (limbs, times, offset) in [(limbs, 1, 0), (limbs / 2, 1, 0), (limbs / 2, 2, 5)] {
            let value = number(limbs);
            let words = device.upload(&value, Contents::Public).unwrap();
            let stream = device.stream().unwrap();
            let buffers = [&words];
            let mut input = Input::plain(numbers(&words, limbs), &buffers);
            if times == 2 {
                (input.addends, input.offset) = (input.numbers, offset);
            }
            let kept = device.buffer(length.bytes(), Contents::Public).unwrap();
            transforms.keep(&stream, &length, input, 1, &kept).unwrap();
            let points = download(&device, &kept);
            let (root, row_root) = (root_of_unity(columns as u64), root_of_unity(rows as u64));
            // A few points of every length, the first and last among them.
            for place in (0..points.len()).step_by(points.len() / 7).chain([1, 17, points.len() - 1]) {
                let (row, power) = (place / columns, power_at(&length, place % columns));
                let step = mul(pow(root, power as u64), pow(row_root, row as u64));
                let digits = (0..length.digits(2 * limbs as u32)).rev();
                let digit = |v: usize| times * bits_at(&value, 24 * v + offset as usize, 24);
                let expected = digits.fold(0, |sum, v| add(mul(sum, step), digit(v)));
                assert_eq!(reduce(points[place]), expected, "{length:?}, {limbs} limbs, {place}");
            }
        }
    }
}

#[test]
fn every_length_has_its_inverse() {
    let Some((device, transforms)) = transforms() else { return };
    for length in lengths() {
        // Times one, twice as long as the shorter of the factors.
        let limbs = (length.shape.points() - 1) * 24 / 128 * 2;
        let value = number(limbs);
        let words = device.upload(&value, Contents::Public).unwrap();
        let one = device.upload(&[1], Contents::Public).unwrap();
        let stream = device.stream().unwrap();
        let workspace = transforms.workspace(&length, 1, 2 * limbs as u32, true, Contents::Public).unwrap();
        let results = device.buffer(8 * limbs, Contents::Public).unwrap();
        let buffers = [&words, &one];
        let input = Input::plain(numbers(&words, limbs), &buffers);
        let output = Output::all(&results, 2 * limbs as u32);
        let factor = Factor::Numbers(numbers(&one, 1));
        let work = Work {
            transforms: &transforms,
            stream: &stream,
            length: &length,
            workspace: &workspace,
            items: 1,
        };
        transforms.multiply(&work, input, factor, output).unwrap();
        stream.synchronize().unwrap();
        assert!(download(&device, &results) == value, "{length:?}");
    }
}
