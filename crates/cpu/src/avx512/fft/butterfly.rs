//! Steps of the transforms: blocks of R interleaved parts, R = 2, 4, 8 or 16, in one pass.
//!
//! Bounds, with p the prime and `2^52 = (5 + e) p`. Forward, words come and go anywhere below `2^52`.
//! Inverse, they come and go below 2p.

use super::{Constants, Field, V, load, store};
use crate::fft::point::Point;
use crate::fft::primes::Factor;
use crate::fft::roots::negative_inverse;
use crate::fft::transform::Transform;
use std::arch::x86_64::*;

/// Splits a block modulo `y^(4 len) - r` into four: `w`, `v` and `iv` are the roots of its node j and
/// of nodes 2j and 2j + 1.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn forward4(c: &Constants, [a, b, x, y]: [V; 4], [w, v, iv]: [&Factor; 3]) -> [V; 4] {
    // In 2p..(3 + e) p; what is added or taken below is in -p..p, twice.
    let a = c.reduce_from(c.minus_two, a);
    let b = c.reduce_from(c.minus_two, b);
    let x = c.mul_add(c.negative, x, w);
    let y = c.mul_add(c.negative, y, w);
    let (a, x) = (_mm512_add_epi64(a, x), _mm512_sub_epi64(a, x));
    let (b, y) = (_mm512_add_epi64(b, y), _mm512_sub_epi64(b, y));
    let b = c.mul_add(c.negative, b, v);
    let y = c.mul_add(c.negative, y, iv);
    [_mm512_add_epi64(a, b), _mm512_sub_epi64(a, b), _mm512_add_epi64(x, y), _mm512_sub_epi64(x, y)]
}

/// Splits a block in two.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn forward2(c: &Constants, [a, x]: [V; 2], w: &Factor) -> [V; 2] {
    let a = c.reduce_from(c.minus_two, a);
    let x = c.mul_add(c.negative, x, w);
    [_mm512_add_epi64(a, x), _mm512_sub_epi64(a, x)]
}

/// Joins four blocks; the factors are minus the inverses of the roots of [`forward4`]. Everything
/// becomes four times as large.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn inverse4(c: &Constants, [a, b, x, y]: [V; 4], [w, v, iv]: [&Factor; 3]) -> [V; 4] {
    let double = _mm512_add_epi64(c.prime, c.prime);
    let (sum, difference) = (_mm512_add_epi64(a, b), _mm512_sub_epi64(_mm512_add_epi64(b, double), a));
    let (other, distance) = (_mm512_add_epi64(x, y), _mm512_sub_epi64(_mm512_add_epi64(y, double), x));
    // Differences are below 4p, so that products are below 9/5 p: in -p..4/5 p and p..14/5 p.
    let b = c.mul_add(c.negative, difference, v);
    let y = c.mul_add(c.prime, distance, iv);
    // In -p..ep and p..(2 + e) p.
    let sum = c.reduce_from(_mm512_set1_epi64(1), sum);
    let other = c.reduce_from(_mm512_set1_epi64(-1), other);
    [
        c.reduce(_mm512_add_epi64(sum, other)),
        c.reduce(_mm512_add_epi64(b, y)),
        c.mul_add(c.zero, _mm512_sub_epi64(other, sum), w),
        c.mul_add(c.zero, _mm512_sub_epi64(y, b), w),
    ]
}

/// Joins two blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn inverse2(c: &Constants, [a, x]: [V; 2], w: &Factor) -> [V; 2] {
    let double = _mm512_add_epi64(c.prime, c.prime);
    let difference = _mm512_sub_epi64(_mm512_add_epi64(x, double), a);
    [c.reduce(_mm512_add_epi64(a, x)), c.mul_add(c.zero, difference, w)]
}

/// Repeats a block with `$k` bound to each literal: arrays indexed by literals stay in registers.
macro_rules! repeat {
    ($k:ident in $($literal:literal)+, $body:block) => {
        $({ const $k: usize = $literal; $body })+
    };
}

/// Replaces elements of an array by what a step makes of them.
macro_rules! apply {
    ($step:ident, $c:expr, $x:ident, $roots:expr; $a:expr, $b:expr) => {
        [$x[$a], $x[$b]] = $step($c, [$x[$a], $x[$b]], $roots);
    };
    ($step:ident, $c:expr, $x:ident, $roots:expr; $a:expr, $b:expr, $d:expr, $e:expr) => {
        [$x[$a], $x[$b], $x[$d], $x[$e]] = $step($c, [$x[$a], $x[$b], $x[$d], $x[$e]], $roots);
    };
}

/// One pass over a block of R parts of equal length; `$find` finds the roots of each level.
macro_rules! pass {
    ($name:ident, $radix:literal: $($k:literal)+; $find:ident $($root:ident $n:literal)+; |$c:ident, $x:ident| $body:block) => {
        #[target_feature(enable = "avx512f,avx512ifma")]
        fn $name(field: &Field, parts: &mut [&mut [Point]; $radix], node: usize) {
            let constants = Constants::new(field.prime());
            let $c = &constants;
            $(let $root: &[Factor; $n] = field.$find(node);)+
            let len = parts[0].len();
            assert!(parts.iter().all(|part| part.len() == len));
            let at = parts.each_mut().map(|part| part.as_mut_ptr());
            for column in 0..len {
                // SAFETY: every part has `len` points, and parts do not overlap.
                let mut $x = [$(load(unsafe { &*at[$k].add(column) })),+];
                $body
                // SAFETY: as above.
                $(store(unsafe { &mut *at[$k].add(column) }, $x[$k]);)+
            }
        }
    };
}

pass! {
    forward_pass2, 2: 0 1; below w 1; |c, x| {
        apply!(forward2, c, x, &w[0]; 0, 1);
    }
}
pass! {
    forward_pass4, 4: 0 1 2 3; below w 1 v 2; |c, x| {
        apply!(forward4, c, x, [&w[0], &v[0], &v[1]]; 0, 1, 2, 3);
    }
}
pass! {
    forward_pass8, 8: 0 1 2 3 4 5 6 7; below w 1 v 2 u 4; |c, x| {
        repeat!(K in 0 1, { apply!(forward4, c, x, [&w[0], &v[0], &v[1]]; K, K + 2, K + 4, K + 6); });
        repeat!(K in 0 1 2 3, { apply!(forward2, c, x, &u[K]; 2 * K, 2 * K + 1); });
    }
}
pass! {
    forward_pass16, 16: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15;
    below w 1 v 2 u 4 t 8; |c, x| {
        repeat!(K in 0 1 2 3, { apply!(forward4, c, x, [&w[0], &v[0], &v[1]]; K, K + 4, K + 8, K + 12); });
        repeat!(K in 0 1 2 3, {
            apply!(forward4, c, x, [&u[K], &t[2 * K], &t[2 * K + 1]]; 4 * K, 4 * K + 1, 4 * K + 2, 4 * K + 3);
        });
    }
}
pass! {
    inverse_pass2, 2: 0 1; mirrored w 1; |c, x| {
        apply!(inverse2, c, x, &w[0]; 0, 1);
    }
}
pass! {
    inverse_pass4, 4: 0 1 2 3; mirrored w 1 v 2; |c, x| {
        apply!(inverse4, c, x, [&w[0], &v[1], &v[0]]; 0, 1, 2, 3);
    }
}
pass! {
    inverse_pass8, 8: 0 1 2 3 4 5 6 7; mirrored w 1 v 2 u 4; |c, x| {
        repeat!(K in 0 1 2 3, { apply!(inverse2, c, x, &u[3 - K]; 2 * K, 2 * K + 1); });
        repeat!(K in 0 1, { apply!(inverse4, c, x, [&w[0], &v[1], &v[0]]; K, K + 2, K + 4, K + 6); });
    }
}
pass! {
    inverse_pass16, 16: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15;
    mirrored w 1 v 2 u 4 t 8; |c, x| {
        repeat!(K in 0 1 2 3, {
            apply!(inverse4, c, x, [&u[3 - K], &t[7 - 2 * K], &t[6 - 2 * K]]; 4 * K, 4 * K + 1, 4 * K + 2, 4 * K + 3);
        });
        repeat!(K in 0 1 2 3, { apply!(inverse4, c, x, [&w[0], &v[1], &v[0]]; K, K + 4, K + 8, K + 12); });
    }
}

impl Field {
    /// The roots of the N nodes below a node, as many levels down as N says.
    fn below<const N: usize>(&self, node: usize) -> &[Factor; N] {
        self.roots[N * node..].first_chunk().expect("the table serves the length of the transform")
    }

    /// Minus their inverses, the last one first.
    fn mirrored<const N: usize>(&self, node: usize) -> &[Factor; N] {
        match node {
            0 => self.first_mirrored[N - 1..].first_chunk().expect("1 + 2 + 4 + 8 nodes"),
            _ => self.below(negative_inverse(node)),
        }
    }
}

/// Minus the inverses of the roots below node 0, the last of each level first: 1, 2, 4 and 8.
pub(super) fn first_mirrored(p: u64, roots: &[Factor]) -> [Factor; 15] {
    std::array::from_fn(|index| {
        let level = (index + 1).ilog2();
        match (2 << level) - 2 - index {
            0 => Factor::new(p - 1, p),
            node => roots[negative_inverse(node)],
        }
    })
}

impl Transform for Field {
    fn forward2(&self, parts: &mut [&mut [Point]; 2], node: usize) {
        // SAFETY: the token proved AVX-512 IFMA when this field was made; so below.
        unsafe { forward_pass2(self, parts, node) }
    }

    fn forward4(&self, parts: &mut [&mut [Point]; 4], node: usize) {
        // SAFETY: as above.
        unsafe { forward_pass4(self, parts, node) }
    }

    fn forward8(&self, parts: &mut [&mut [Point]; 8], node: usize) {
        // SAFETY: as above.
        unsafe { forward_pass8(self, parts, node) }
    }

    fn forward16(&self, parts: &mut [&mut [Point]; 16], node: usize) {
        // SAFETY: as above.
        unsafe { forward_pass16(self, parts, node) }
    }

    fn inverse2(&self, parts: &mut [&mut [Point]; 2], node: usize) {
        // SAFETY: as above.
        unsafe { inverse_pass2(self, parts, node) }
    }

    fn inverse4(&self, parts: &mut [&mut [Point]; 4], node: usize) {
        // SAFETY: as above.
        unsafe { inverse_pass4(self, parts, node) }
    }

    fn inverse8(&self, parts: &mut [&mut [Point]; 8], node: usize) {
        // SAFETY: as above.
        unsafe { inverse_pass8(self, parts, node) }
    }

    fn inverse16(&self, parts: &mut [&mut [Point]; 16], node: usize) {
        // SAFETY: as above.
        unsafe { inverse_pass16(self, parts, node) }
    }
}
