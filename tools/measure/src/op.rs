//! The operations that can be measured.

use modmill::Op;
use std::fmt;
use std::str::FromStr;

/// An operation that can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BenchOp {
    /// A call of the engine, from the caller's numbers to the answers.
    Call(Op),
    /// Remainders of numbers that are twice as long as their moduli.
    Reduce,
    /// A chain of Montgomery products or squares on GPUs. Nothing is copied between the products.
    Chain(Op),
    /// An RSA operation, padding included.
    Rsa(RsaOp),
    /// An operation on one modulus, or on the numbers of a column together.
    Column(ColumnOp),
}

/// An operation on one modulus, or on the numbers of a column together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnOp {
    /// Powers of one base by secret exponents.
    PowFixedBase,
    /// Powers of one base by public exponents.
    PowFixedBaseVartime,
    /// Products of two powers by secret exponents.
    MultiPow,
    /// The product of all numbers of a column.
    ProductMod,
    /// The sum of the products of two columns.
    SumProducts,
    /// The factors that each number of a column shares with all others.
    BatchGcd,
}

impl ColumnOp {
    pub(crate) const ALL: [Self; 6] = [
        Self::PowFixedBase,
        Self::PowFixedBaseVartime,
        Self::MultiPow,
        Self::ProductMod,
        Self::SumProducts,
        Self::BatchGcd,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::PowFixedBase => "pow_fixed_base",
            Self::PowFixedBaseVartime => "pow_fixed_base_vartime",
            Self::MultiPow => "multi_pow",
            Self::ProductMod => "product_mod",
            Self::SumProducts => "sum_products",
            Self::BatchGcd => "batch_gcd",
        }
    }
}

/// An RSA operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RsaOp {
    /// SHA-256 digests to PKCS #1 v1.5 signatures.
    Sign,
    /// PKCS #1 v1.5 signatures to verdicts.
    Verify,
    /// OAEP ciphertexts to messages.
    Decrypt,
}

impl RsaOp {
    pub(crate) const ALL: [Self; 3] = [Self::Sign, Self::Verify, Self::Decrypt];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sign => "rsa_sign",
            Self::Verify => "rsa_verify",
            Self::Decrypt => "rsa_decrypt",
        }
    }
}

/// The name of remainders.
const REDUCE: &str = "reduce";

/// The ending of a chain's name.
const CHAIN: &str = "_chain";

impl BenchOp {
    /// The engine's operation that does most of the work.
    pub(crate) fn op(self) -> Op {
        match self {
            Self::Call(op) | Self::Chain(op) => op,
            Self::Reduce => Op::MulMod,
            Self::Rsa(RsaOp::Verify) => Op::PowVartime,
            Self::Rsa(RsaOp::Sign | RsaOp::Decrypt) => Op::Pow,
            Self::Column(op) => op.plain(),
        }
    }

    pub(crate) fn is_power(self) -> bool {
        matches!(self, Self::Call(Op::Pow | Op::PowVartime))
    }
}

impl fmt::Display for BenchOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(op) => write!(f, "{op}"),
            Self::Reduce => write!(f, "{REDUCE}"),
            Self::Chain(op) => write!(f, "{op}{CHAIN}"),
            Self::Rsa(op) => write!(f, "{}", op.name()),
            Self::Column(op) => write!(f, "{}", op.name()),
        }
    }
}

impl FromStr for BenchOp {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(&op) = RsaOp::ALL.iter().find(|op| op.name() == text) {
            return Ok(Self::Rsa(op));
        }
        if let Some(&op) = ColumnOp::ALL.iter().find(|op| op.name() == text) {
            return Ok(Self::Column(op));
        }
        if text == REDUCE {
            return Ok(Self::Reduce);
        }
        let of_items =
            |name: &str| Op::OF_ITEMS.iter().copied().find(|op| op.name().eq_ignore_ascii_case(name));
        let chain = text.strip_suffix(CHAIN).and_then(of_items);
        match chain {
            Some(op @ (Op::MulMod | Op::SquareMod)) => Ok(Self::Chain(op)),
            _ => of_items(text).map(Self::Call).ok_or_else(|| {
                let items: Vec<_> = Op::OF_ITEMS.iter().map(|op| op.name()).collect();
                let rsa = RsaOp::ALL.map(RsaOp::name).join(", ");
                let columns = ColumnOp::ALL.map(ColumnOp::name).join(", ");
                let items = items.join(", ");
                format!(
                    "unknown operation {text:?}; known: {items}, {REDUCE}, mul_mod{CHAIN}, square_mod{CHAIN}, {rsa}, {columns}"
                )
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for text in [
            "mul",
            "pow_vartime",
            "div_rem",
            "reduce",
            "mul_mod_chain",
            "rsa_sign",
            "rsa_verify",
            "multi_pow",
        ] {
            assert_eq!(text.parse::<BenchOp>().unwrap().to_string(), text);
        }
        assert!("pow_chain".parse::<BenchOp>().unwrap_err().contains("isqrt, reduce, mul_mod_chain"));
    }
}
