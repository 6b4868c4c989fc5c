//! The operator's settings, as far as the doors need them.

/// Names and limits that the doors answer with. `Default` is what the program starts with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The region in ARNs and in the scope of signatures of requests.
    pub region: String,
    /// The twelve digits of the account in ARNs.
    pub account: String,
    /// How far the time of a signed request may be from the server's, in seconds.
    pub skew_s: u64,
    /// How long a replica says that it is ready although it cannot reach the store, in seconds. Meanwhile it
    /// does not see what others change: new keys, revoked grants.
    pub stale_s: u64,
    /// The time that a request may take before it is answered with an error that clients retry, in
    /// milliseconds.
    pub deadline_ms: u64,
    /// The path that the transit engine is mounted at.
    pub transit_mount: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            region: "us-east-1".into(),
            account: "000000000000".into(),
            skew_s: 300,
            stale_s: 30,
            deadline_ms: 30_000,
            transit_mount: "transit".into(),
        }
    }
}
