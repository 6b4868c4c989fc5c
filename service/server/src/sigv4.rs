//! AWS Signature Version 4: requests that prove who sent them.
//!
//! ```text
//!  request --canonical--> text --SHA-256--> string to sign --HMAC--> signature
//!                                             ^                ^
//!                                       time and scope    key of the day, region and service
//! ```
//!
//! [`Verifier`] is the server's side, [`Signer`] the client's.

mod authorization;
mod canonical;
mod error;
mod keys;
mod sign;
mod time;
mod verify;

pub use authorization::Authorization;
pub use canonical::{Canonical, canonical_request};
pub use error::SigV4Error;
pub use sign::{SignError, Signer, sign};
pub(crate) use time::since_1970;
pub use time::{http_time, time_of, timestamp};
pub use verify::{Expected, Head, Sender, Verifier};

/// The name of the algorithm.
pub const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// The last part of a scope.
const TERMINATOR: &str = "aws4_request";

/// The text that is signed: algorithm, time, scope, and the hash of the canonical request.
fn string_to_sign(time: &str, region: &str, service: &str, canonical: &[u8]) -> String {
    use crate::sha256::sha256;
    let date = time.get(..8).unwrap_or_default();
    let hash = crate::hex::encode(&sha256(&[canonical]));
    [ALGORITHM, "\n", time, "\n", date, "/", region, "/", service, "/", TERMINATOR, "\n", &hash].concat()
}
