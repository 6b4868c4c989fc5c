//! Tables of roots on the device.

use crate::device::{Buffer, Contents, Device};
use crate::error::Result;
use modmill_core::goldilocks::{inverse, mul, pow, root_of_unity};
use rayon::prelude::*;
use std::sync::Arc;

/// The contents of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// The factors of a pass: `root^(s k)`, for the root of order `points stride`.
    There {
        /// Points of its transforms.
        points: usize,
        /// How far they are apart.
        stride: usize,
    },
    /// The factors of the way back, over a divisor.
    Back {
        /// Points of its transforms.
        points: usize,
        /// How far they are apart.
        stride: usize,
        /// The divisor of all factors.
        divisor: usize,
    },
    /// Powers of the root of an odd order.
    Roots(usize),
    /// Powers of its inverse.
    InverseRoots(usize),
}

impl Kind {
    /// The table in the memory of a device.
    pub(super) fn upload(self, device: &Device) -> Result<Arc<Buffer>> {
        Ok(Arc::new(device.upload(&self.values(), Contents::Public)?))
    }

    fn values(self) -> Vec<u64> {
        match self {
            Self::There { points, stride } => {
                grid(points, stride, root_of_unity((points * stride) as u64), 1)
            }
            Self::Back { points, stride, divisor } => {
                let root = inverse(root_of_unity((points * stride) as u64));
                grid(points, stride, root, inverse(divisor as u64))
            }
            Self::Roots(order) => powers(root_of_unity(order as u64), order),
            Self::InverseRoots(order) => powers(inverse(root_of_unity(order as u64)), order),
        }
    }
}

fn powers(root: u64, count: usize) -> Vec<u64> {
    std::iter::successors(Some(1), |&power| Some(mul(power, root))).take(count).collect()
}

/// `scale root^(s k)`, row by row.
fn grid(rows: usize, stride: usize, root: u64, scale: u64) -> Vec<u64> {
    const LEAST: usize = 1 << 12;
    let part = stride.min(LEAST);
    let mut table = vec![0; rows * stride];
    table.par_chunks_mut(part).enumerate().for_each(|(index, out)| {
        let (k, s) = ((index * part / stride) as u64, (index * part % stride) as u64);
        let step = pow(root, k);
        let mut value = mul(scale, pow(step, s));
        for entry in out {
            *entry = value;
            value = mul(value, step);
        }
    });
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_powers_of_the_root() {
        for (points, stride) in [(2, 256), (16, 16), (4, 16384)] {
            let there = Kind::There { points, stride }.values();
            let back = Kind::Back { points, stride, divisor: 12 }.values();
            let root = root_of_unity((points * stride) as u64);
            for (place, (&there, &back)) in there.iter().zip(&back).enumerate() {
                assert_eq!(there, pow(root, (place / stride * (place % stride)) as u64));
                assert_eq!(mul(mul(there, back), 12), 1);
            }
        }
    }
}
