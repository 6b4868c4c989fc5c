use super::*;
use crate::field::{N256, P256};

/// The multiples of the generator up to `count`, by additions.
fn small_multiples<G: Group>(count: usize) -> Vec<G::Point> {
    let cached = G::cache(&G::generator());
    let mut points = vec![G::identity()];
    for _ in 0..count {
        points.push(G::add(points.last().unwrap(), &cached));
    }
    points
}

fn scalar<F: Field>(number: u64) -> F {
    F::read_wide(&number.to_be_bytes())
}

/// Every way to a multiple, for scalars at the edges.
fn check<G: Group>() {
    let table = G::generator_table();
    let g = G::generator();
    let small = small_multiples::<G>(40);
    for (number, point) in small.iter().enumerate() {
        let scalar = scalar::<G::Scalar>(number as u64);
        for (scalar, sign) in [(scalar, 1), (-scalar, -1)] {
            let point =
                if sign == 1 { *point } else { G::add(&G::identity(), &G::negate_cached(&G::cache(point))) };
            assert!(G::equal(&table.multiple(scalar), &point), "{number}");
            assert!(G::equal(&table.add_multiple_vartime(G::identity(), scalar), &point), "{number}");
            assert!(G::equal(&multiple::<G>(&g, scalar), &point), "{number}");
            assert!(G::equal(&multiples_vartime::<G, 1>([(g, scalar)]), &point), "{number}");
        }
    }
    // Sums of equal and of opposite points, and of the identity.
    let entries = G::entries(&small[1..]);
    for (i, point) in small.iter().enumerate() {
        assert!(G::equal(&G::double(point), &G::add(point, &G::cache(point))));
        assert!(G::is_identity(&G::add(point, &G::negate_cached(&G::cache(point)))) != 0);
        if i > 0 {
            assert!(G::equal(&G::add_entry(point, &entries[i - 1]), &G::double(point)));
            assert!(G::is_identity(&G::add_entry(point, &G::negate_entry(&entries[i - 1]))) != 0);
            assert!(G::equal(&G::add_entry(&G::identity(), &entries[i - 1]), point));
        }
    }
    // Large scalars: the ways agree, and (a + b) G = a G + b G.
    let mut a = scalar::<G::Scalar>(0x0123_4567_89ab_cdef);
    for _ in 0..4 {
        let b = a.square() + a;
        let (of_a, of_b) = (table.multiple(a), multiple::<G>(&g, b));
        assert!(G::equal(&table.add_multiple_vartime(of_a, b), &table.multiple(a + b)));
        assert!(G::equal(&multiples_vartime::<G, 1>([(of_a, b)]), &table.multiple(a * b)));
        assert!(G::equal(&multiple::<G>(&of_b, a), &table.multiple(a * b)));
        let sum = multiples_vartime::<G, 2>([(g, a), (of_b, a)]);
        assert!(G::equal(&sum, &table.multiple(a + a * b)));
        a = b;
    }
    let multipliers: Vec<u32> =
        (0..40u32).map(|i| i.wrapping_mul(0x9e37_79b9) ^ if i < 3 { u32::MAX } else { 0 }).collect();
    let expected = multipliers.iter().zip(1u64..).fold(G::Scalar::ZERO, |sum, (&z, i)| {
        sum + scalar::<G::Scalar>(u64::from(z)) * scalar::<G::Scalar>(i)
    });
    assert!(G::equal(&sum_of_multiples_vartime::<G>(&entries, &multipliers), &table.multiple(expected)));
}

#[test]
fn multiples_agree() {
    check::<Points<Nist256>>();
    check::<Points<Nist384>>();
    check::<Points<Nist521>>();
    check::<Points<Secp256k1>>();
    check::<Ed25519>();
}

#[test]
fn generators_are_on_their_curves() {
    fn check<C: Weierstrass>() {
        assert_eq!(is_on_curve::<C>(&C::GENERATOR), u64::MAX);
        let [x, y] = C::GENERATOR;
        assert_eq!(is_on_curve::<C>(&[x, y + C::Base::ONE]), 0);
        for flip in [0, 1] {
            let (point, found) = decompress::<C>(x, y.parity() ^ flip);
            assert_eq!((found, point[1].equals(if flip == 0 { y } else { -y })), (u64::MAX, u64::MAX));
        }
    }
    check::<Nist256>();
    check::<Nist384>();
    check::<Nist521>();
    check::<Secp256k1>();
}

#[test]
fn a_multiple_of_p256_is_that_of_nist() {
    // https://csrc.nist.gov: k = 112233445566778899.
    let [x, _] = Points::<Nist256>::entries(&[
        Points::<Nist256>::generator_table().multiple(scalar::<N256>(112_233_445_566_778_899))
    ])[0];
    let expected = P256::constant("339150844ec15234807fe862a86be77977dbfb3ae3d96f4c22795513aeaab82f");
    assert_eq!(x.equals(expected), u64::MAX);
}

#[test]
fn points_of_edwards25519_are_written_and_read() {
    let mut g = [0x66; 32];
    g[0] = 0x58;
    let read = Ed25519::decode(&g).unwrap();
    assert!(Ed25519::equal(&read.point, &Ed25519::generator()) && read.is_canonical);
    assert_eq!(Ed25519::encode(&Ed25519::generator(), Field::ONE), g);
    assert!(!Ed25519::is_of_small_order(&read.point));
    // y = 1 is the identity, with either sign; y = p + 1 is the same.
    for (first, last, canonical) in [(1, 0, true), (1, 0x80, false), (0xee, 0x7f, false)] {
        let mut bytes = [if first == 1 { 0 } else { 0xff }; 32];
        (bytes[0], bytes[31]) = (first, last);
        let read = Ed25519::decode(&bytes).unwrap();
        assert_eq!((Ed25519::is_identity(&read.point), read.is_canonical), (u64::MAX, canonical));
        assert!(Ed25519::is_of_small_order(&read.point));
    }
    let mut two = [0; 32];
    two[0] = 2;
    assert!(Ed25519::decode(&two).is_none());
}
