//! The passes of the transforms: blocks of R interleaved parts, R = 2, 4, 8 or 16.
#![allow(unsafe_code)]

use super::arithmetic::Arithmetic;
use super::field::VectorField;
use crate::fft::point::Point;
use crate::fft::primes::ShoupFactor;
use crate::fft::roots::negative_inverse;
use crate::fft::transform::Transform;

/// Repeats a block with `$k` bound to each literal. Arrays indexed by literals stay in registers.
macro_rules! repeat {
    ($k:ident in $($literal:literal)+, $body:block) => {
        $({ const $k: usize = $literal; $body })+
    };
}

/// Replaces elements of an array by the results of a step.
macro_rules! apply {
    ($step:ident, $c:ident, $x:ident, $roots:expr; $a:expr, $b:expr) => {
        [$x[$a], $x[$b]] = $c.$step([$x[$a], $x[$b]], $roots);
    };
    ($step:ident, $c:ident, $x:ident, $roots:expr; $a:expr, $b:expr, $d:expr, $e:expr) => {
        [$x[$a], $x[$b], $x[$d], $x[$e]] = $c.$step([$x[$a], $x[$b], $x[$d], $x[$e]], $roots);
    };
}

/// One pass over a block of R parts of equal length. `$find` looks up the roots of each level.
macro_rules! pass {
    ($name:ident, $radix:literal: $($k:literal)+; $find:ident $($root:ident $n:literal)+; |$c:ident, $x:ident| $body:block) => {
        fn $name(&self, parts: &mut [&mut [Point]; $radix], node: usize) {
            $(let $root: &[ShoupFactor; $n] = self.$find(node);)+
            self.run(
                #[inline(always)]
                move |$c| {
                    let len = parts[0].len();
                    assert!(parts.iter().all(|part| part.len() == len));
                    let at = parts.each_mut().map(|part| part.as_mut_ptr());
                    for column in 0..len {
                        for vector in 0..A::VECTORS {
                            // SAFETY: every part has `len` points, and parts do not overlap.
                            let mut $x = [$($c.load(unsafe { &*at[$k].add(column) }, vector)),+];
                            $body
                            // SAFETY: as above.
                            $($c.store(unsafe { &mut *at[$k].add(column) }, vector, $x[$k]);)+
                        }
                    }
                },
            );
        }
    };
}

impl<A: Arithmetic> Transform for VectorField<A> {
    pass! {
        forward2, 2: 0 1; below w 1; |c, x| {
            apply!(forward2, c, x, &w[0]; 0, 1);
        }
    }
    pass! {
        forward4, 4: 0 1 2 3; below w 1 v 2; |c, x| {
            apply!(forward4, c, x, [&w[0], &v[0], &v[1]]; 0, 1, 2, 3);
        }
    }
    pass! {
        forward8, 8: 0 1 2 3 4 5 6 7; below w 1 v 2 u 4; |c, x| {
            repeat!(K in 0 1, { apply!(forward4, c, x, [&w[0], &v[0], &v[1]]; K, K + 2, K + 4, K + 6); });
            repeat!(K in 0 1 2 3, { apply!(forward2, c, x, &u[K]; 2 * K, 2 * K + 1); });
        }
    }
    pass! {
        forward16, 16: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15;
        below w 1 v 2 u 4 t 8; |c, x| {
            repeat!(K in 0 1 2 3, { apply!(forward4, c, x, [&w[0], &v[0], &v[1]]; K, K + 4, K + 8, K + 12); });
            repeat!(K in 0 1 2 3, {
                let roots = [&u[K], &t[2 * K], &t[2 * K + 1]];
                apply!(forward4_again, c, x, roots; 4 * K, 4 * K + 1, 4 * K + 2, 4 * K + 3);
            });
        }
    }
    pass! {
        inverse2, 2: 0 1; mirrored w 1; |c, x| {
            apply!(inverse2, c, x, &w[0]; 0, 1);
        }
    }
    pass! {
        inverse4, 4: 0 1 2 3; mirrored w 1 v 2; |c, x| {
            apply!(inverse4, c, x, [&w[0], &v[1], &v[0]]; 0, 1, 2, 3);
        }
    }
    pass! {
        inverse8, 8: 0 1 2 3 4 5 6 7; mirrored w 1 v 2 u 4; |c, x| {
            repeat!(K in 0 1 2 3, { apply!(inverse2, c, x, &u[3 - K]; 2 * K, 2 * K + 1); });
            repeat!(K in 0 1, { apply!(inverse4, c, x, [&w[0], &v[1], &v[0]]; K, K + 2, K + 4, K + 6); });
        }
    }
    pass! {
        inverse16, 16: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15;
        mirrored w 1 v 2 u 4 t 8; |c, x| {
            repeat!(K in 0 1 2 3, {
                apply!(inverse4, c, x, [&u[3 - K], &t[7 - 2 * K], &t[6 - 2 * K]]; 4 * K, 4 * K + 1, 4 * K + 2, 4 * K + 3);
            });
            repeat!(K in 0 1 2 3, { apply!(inverse4, c, x, [&w[0], &v[1], &v[0]]; K, K + 4, K + 8, K + 12); });
        }
    }
}

impl<A: Arithmetic> VectorField<A> {
    /// The roots of the N nodes below `node`, `log2 N` levels down.
    fn below<const N: usize>(&self, node: usize) -> &[ShoupFactor; N] {
        self.roots[N * node..].first_chunk().expect("the table serves the length of the transform")
    }

    /// Minus the inverses of the roots of [`Self::below`], in reverse order.
    fn mirrored<const N: usize>(&self, node: usize) -> &[ShoupFactor; N] {
        match node {
            0 => self.first_mirrored[N - 1..].first_chunk().expect("1 + 2 + 4 + 8 nodes"),
            _ => self.below(negative_inverse(node)),
        }
    }
}
