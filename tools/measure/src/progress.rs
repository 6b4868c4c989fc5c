//! Progress of a measurement.

/// Learns how far a benchmark or a tuning is.
pub trait Progress {
    /// Something is about to be measured.
    fn measuring(&self, what: String);
    /// A point of a benchmark, or a length of a tuning, is finished.
    fn point_done(&self);
}
