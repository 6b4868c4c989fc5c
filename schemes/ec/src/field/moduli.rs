//! The primes: of coordinates, and of the orders of the groups.

use super::element::{Element, Modulus, Reduction};
use super::limbs::from_hex;

/// Declares the type `$name` of the numbers modulo a prime.
macro_rules! field {
    ($(#[$doc:meta])* $name:ident, $marker:ident, $limbs:literal, $bits:literal, $reduction:expr, $prime:literal) => {
        /// The prime's marker.
        #[derive(Clone, Copy)]
        pub(crate) struct $marker;

        impl Modulus<$limbs> for $marker {
            const PRIME: [u64; $limbs] = from_hex($prime);
            const BITS: usize = $bits;
            const REDUCTION: Reduction = $reduction;
        }

        $(#[$doc])*
        pub(crate) type $name = Element<$marker, $limbs>;
    };
}

field!(
    /// Coordinates of P-256, modulo `2^256 - 2^224 + 2^192 + 2^96 - 1`.
    P256, P256Prime, 4, 256, Reduction::Montgomery,
    "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"
);
field!(
    /// Scalars of P-256.
    N256, N256Prime, 4, 256, Reduction::Montgomery,
    "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
);
field!(
    /// Coordinates of P-384, modulo `2^384 - 2^128 - 2^96 + 2^32 - 1`.
    P384, P384Prime, 6, 384, Reduction::Montgomery,
    "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffff"
);
field!(
    /// Scalars of P-384.
    N384, N384Prime, 6, 384, Reduction::Montgomery,
    "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973"
);
field!(
    /// Coordinates of P-521, modulo `2^521 - 1`.
    P521, P521Prime, 9, 521, Reduction::Mersenne(521),
    "1ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
);
field!(
    /// Scalars of P-521.
    N521, N521Prime, 9, 521, Reduction::Montgomery,
    "1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409"
);
field!(
    /// Coordinates of secp256k1, modulo `2^256 - 2^32 - 977`.
    K256, K256Prime, 4, 256, Reduction::Fold(0x1_0000_03d1),
    "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f"
);
field!(
    /// Scalars of secp256k1.
    NK256, NK256Prime, 4, 256, Reduction::Montgomery,
    "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
);
field!(
    /// Coordinates of Curve25519, modulo `2^255 - 19`.
    P25519, P25519Prime, 4, 255, Reduction::Fold(38),
    "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed"
);
field!(
    /// Scalars of Ed25519, modulo `2^252 + 27742317777372353535851937790883648493`.
    N25519, N25519Prime, 4, 253, Reduction::Montgomery,
    "1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed"
);
