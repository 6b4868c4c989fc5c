//! The state that all doors share.

use crate::batch::Batcher;
use crate::body::Bodies;
use crate::clock::Clock;
use crate::credentials::CredentialIndex;
use crate::generator::Generator;
use crate::key_cache::KeyCache;
use crate::kms::Kms;
use crate::limits::RateLimits;
use crate::metrics::Metrics;
use crate::records::Records;
use crate::settings::Settings;
use crate::shares::Shares;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Bulk requests that are under way at the same time. Each principal has a share of them.
const STREAMS: usize = 1024;

/// The service behind the doors. Each door has a function `router(Arc<Service>) -> axum::Router`.
pub struct Service {
    /// Names and limits.
    pub settings: Settings,
    /// Documents: keys, names, rights.
    pub records: Records,
    /// The memory of requests' bodies.
    pub bodies: Arc<Bodies>,
    /// Operations in batches.
    pub batcher: Batcher,
    /// The time.
    pub clock: Clock,
    /// How often a principal may ask. Doors check it once they know who asks.
    pub limits: RateLimits,
    /// The figures that the service reports.
    pub metrics: Arc<Metrics>,
    /// Whether the kernels of GPUs are compiled, as far as they are compiled beforehand.
    pub is_warm: AtomicBool,
    /// Whether the service is shutting down.
    pub is_draining: AtomicBool,
    /// Credentials by their tokens.
    pub credentials: CredentialIndex,
    /// Whether `/metrics` may be read without a token.
    pub metrics_are_open: bool,
    /// Bulk requests under way, by principal.
    pub(crate) streams: Arc<Shares<String>>,
    /// New keys, a few at a time.
    pub(crate) generator: Generator,
    /// Private keys that were read already.
    pub keys: Arc<KeyCache>,
    /// The state that the KMS interface keeps in memory.
    pub kms: Kms,
}

impl Service {
    /// A service with these documents.
    #[must_use]
    pub fn new(settings: Settings, records: Records, batcher: Batcher) -> Self {
        let metrics = Arc::clone(batcher.metrics());
        Self {
            settings,
            records,
            bodies: Arc::default(),
            batcher,
            clock: Clock::default(),
            limits: RateLimits::default(),
            metrics,
            is_warm: AtomicBool::new(true),
            is_draining: AtomicBool::new(false),
            credentials: CredentialIndex::default(),
            metrics_are_open: false,
            streams: Shares::new(STREAMS),
            generator: Generator::default(),
            keys: Arc::default(),
            kms: Kms::default(),
        }
    }
}
