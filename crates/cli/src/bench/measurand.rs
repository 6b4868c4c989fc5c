//! What can be measured.

use modmill::Op;
use std::fmt;
use std::str::FromStr;

/// An operation of the engine, or chains of Montgomery products on GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measurand {
    /// A call, from the caller's numbers to the answers.
    Call(Op),
    /// Products or squares one after the other, with nothing copied in between.
    Chain(Op),
}

const CHAIN: &str = "_chain";

impl Measurand {
    /// The operation that it is, or is made of.
    pub(crate) fn op(self) -> Op {
        match self {
            Self::Call(op) | Self::Chain(op) => op,
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
        }
    }
}

impl FromStr for Measurand {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let chain = text.strip_suffix(CHAIN).and_then(|op| op.parse().ok());
        match chain {
            Some(op @ (Op::MulMod | Op::SquareMod)) => Ok(Self::Chain(op)),
            _ => text
                .parse()
                .map(Self::Call)
                .map_err(|unknown: String| format!("{unknown}, mul_mod{CHAIN}, square_mod{CHAIN}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for text in ["mul", "pow_vartime", "mul_mod_chain", "square_mod_chain"] {
            assert_eq!(text.parse::<Measurand>().unwrap().to_string(), text);
        }
        assert!("pow_chain".parse::<Measurand>().unwrap_err().contains("inv, mul_mod_chain"));
    }
}
