//! What can be measured.

use super::rsa::RsaOp;
use modmill::Op;
use std::fmt;
use std::str::FromStr;

/// An operation of the engine, chains of Montgomery products on GPUs, or one of RSA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measurand {
    /// A call, from the caller's numbers to the answers.
    Call(Op),
    /// Products or squares one after the other, with nothing copied in between.
    Chain(Op),
    /// From digests to signatures, and the like.
    Rsa(RsaOp),
}

const CHAIN: &str = "_chain";

impl Measurand {
    /// The operation that it is, or is made of.
    pub(crate) fn op(self) -> Op {
        match self {
            Self::Call(op) | Self::Chain(op) => op,
            Self::Rsa(RsaOp::Verify) => Op::PowVartime,
            Self::Rsa(RsaOp::Sign | RsaOp::Decrypt) => Op::Pow,
        }
    }

    pub(crate) fn is_power(self) -> bool {
        matches!(self, Self::Call(Op::Pow | Op::PowVartime))
    }
}

impl fmt::Display for Measurand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(op) => write!(f, "{op}"),
            Self::Chain(op) => write!(f, "{op}{CHAIN}"),
            Self::Rsa(op) => write!(f, "{}", op.name()),
        }
    }
}

impl FromStr for Measurand {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(&op) = RsaOp::ALL.iter().find(|op| op.name() == text) {
            return Ok(Self::Rsa(op));
        }
        let chain = text.strip_suffix(CHAIN).and_then(|op| op.parse().ok());
        match chain {
            Some(op @ (Op::MulMod | Op::SquareMod)) => Ok(Self::Chain(op)),
            _ => text.parse().map(Self::Call).map_err(|unknown: String| {
                let rsa = RsaOp::ALL.map(RsaOp::name).join(", ");
                format!("{unknown}, mul_mod{CHAIN}, square_mod{CHAIN}, {rsa}")
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for text in ["mul", "pow_vartime", "mul_mod_chain", "square_mod_chain", "rsa_sign", "rsa_verify"] {
            assert_eq!(text.parse::<Measurand>().unwrap().to_string(), text);
        }
        assert!("pow_chain".parse::<Measurand>().unwrap_err().contains("gcd, mul_mod_chain"));
    }
}
