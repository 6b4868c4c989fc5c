//! Measuring: inputs, slices of ours and the peers' turn by turn, checks, and records.

pub(crate) mod chain;
pub(crate) mod contender;
pub(crate) mod inputs;
pub(crate) mod measurand;
pub(crate) mod measure;
pub(crate) mod record;
pub(crate) mod rsa;
pub(crate) mod scribe;
pub(crate) mod sides;
pub(crate) mod table;
