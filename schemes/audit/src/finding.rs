//! Findings.

use crate::Collection;
use modmill::hex;
use serde::Serialize;

/// The kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Several entries have the same modulus.
    Duplicate,
    /// A prime below 2^16 divides the modulus.
    SmallFactor,
    /// The modulus is prime.
    Prime,
    /// The modulus is a power of another number.
    Power,
    /// Another modulus has a prime of this one, and at least one prime of this one is in no other.
    SharedPrime,
    /// Other moduli have all primes of this one.
    AllPrimesShared,
}

impl Kind {
    /// All kinds, in the order in which the findings of a key are reported.
    pub const ALL: [Self; 6] = [
        Self::Duplicate,
        Self::SmallFactor,
        Self::Prime,
        Self::Power,
        Self::SharedPrime,
        Self::AllPrimesShared,
    ];

    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Duplicate => "duplicate",
            Self::SmallFactor => "small_factor",
            Self::Prime => "prime",
            Self::Power => "power",
            Self::SharedPrime => "shared_prime",
            Self::AllPrimesShared => "all_primes_shared",
        }
    }
}

/// A flaw of a key. A key may have several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The kind.
    pub kind: Kind,
    /// The names of the key.
    pub ids: Vec<String>,
    /// The modulus in hexadecimal.
    pub modulus: String,
    /// The known factors of the modulus in hexadecimal, by rising size: their product is the modulus. A
    /// factor is not always prime. A duplicate has none.
    pub factors: Vec<String>,
    /// The names of other keys that share a factor with this one, at most [`Finding::MAX_PARTNERS`].
    pub partners: Vec<String>,
    /// The number of further partners.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_partners: usize,
    /// The key in its collection.
    #[serde(skip)]
    pub key: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Finding {
    /// The most partners that a finding names: many keys with one prime would otherwise have as many lists as
    /// keys, each as long.
    pub const MAX_PARTNERS: usize = 1000;

    /// The finding as a line of JSON, without a line break.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Text and numbers have a form in JSON.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// A finding about a key with these factors. `partners` are other keys, which have `all` names.
    pub(crate) fn new(
        collection: &Collection,
        (kind, key): (Kind, usize),
        factors: &[Vec<u64>],
        partners: &mut dyn Iterator<Item = usize>,
        all: usize,
    ) -> Self {
        let named = partners.flat_map(|partner| collection.ids(partner)).take(Self::MAX_PARTNERS);
        let partners: Vec<String> = named.map(str::to_owned).collect();
        Self {
            kind,
            ids: collection.ids(key).map(str::to_owned).collect(),
            modulus: hex::format(collection.keys()[key].modulus()),
            factors: factors.iter().map(|factor| hex::format(factor)).collect(),
            more_partners: all - partners.len(),
            partners,
            key,
        }
    }
}
