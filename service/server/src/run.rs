//! The service as a whole: from a configuration to a drain.

mod background;
mod open_files;

use crate::admin;
use crate::audit::{Audit, AuditError};
use crate::batch::{Batcher, StartError};
use crate::body::Bodies;
use crate::bulk::{self, Keyring};
use crate::clock::Clock;
use crate::config::{Config, ConfigError};
use crate::credentials;
use crate::folders::{warn_of_impostors, warn_of_writers};
use crate::http::{Answering, HttpLimits, Layers, Tls, TlsError, TlsFiles, health_router, layered, listen};
use crate::kms::{self, KmsRing};
use crate::limits::RateLimits;
use crate::master_key::{MasterKey, MasterKeyError};
use crate::metrics::Metrics;
use crate::page;
use crate::privacy_pass::{self, IssuerSettings};
use crate::records::{Kinds, Records, RecordsError, is_new};
use crate::secret::SecretBytes;
use crate::service::Service;
use crate::socket;
#[cfg(feature = "postgres")]
use crate::store::PostgresStore;
use crate::store::{EmbeddedStore, Store, StoreError};
use crate::transit::{self, TransitRing};
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::response::Response;
use http::Method;
use modmill::{Backend, Engine};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use zeroize::Zeroizing;

/// The variable that holds a master key as text.
const MASTER_KEY: &str = "MODMILL_MASTER_KEY";
/// The variable that holds a passphrase instead of a master key.
const MASTER_PASSPHRASE: &str = "MODMILL_MASTER_PASSPHRASE";

/// How long a door has beyond the deadline of a request to answer in its own words.
const GRACE: Duration = Duration::from_secs(5);

/// Why the service does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum RunError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("the store cannot be opened: {0}")]
    Store(#[from] StoreError),
    #[error(transparent)]
    MasterKey(#[from] MasterKeyError),
    #[error(transparent)]
    Records(#[from] RecordsError),
    #[error("the audit log cannot be opened: {0}")]
    Audit(#[from] AuditError),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("the engine does not start: {0}")]
    Engine(#[from] modmill::Error),
    #[error(transparent)]
    Batcher(#[from] StartError),
    #[error("cannot listen on {address}: {error}")]
    Listen { address: std::net::SocketAddr, error: std::io::Error },
    #[error("cannot listen on the socket {path}: {error}", path = path.display())]
    Socket { path: PathBuf, error: std::io::Error },
    #[error("signals cannot be received: {0}")]
    Signals(std::io::Error),
    #[error("requests under way did not end in {0:?}")]
    Drain(Duration),
}

/// The kinds of documents of all doors.
#[must_use]
pub fn kinds() -> Kinds {
    let kinds = kms::kinds(credentials::kinds(Kinds::default()));
    privacy_pass::kinds(transit::kinds(kinds))
}

/// The keys of all doors.
fn rings(service: &Arc<Service>) -> Vec<Arc<dyn Keyring>> {
    let own = || Arc::clone(service);
    vec![Arc::new(KmsRing::new(own())), Arc::new(TransitRing::new(own()))]
}

/// The routes of all doors.
pub fn routes(service: &Arc<Service>, issuer: IssuerSettings) -> Router {
    let own = || Arc::clone(service);
    Router::new()
        .merge(health_router(own()))
        .merge(kms::router(own()))
        .merge(transit::router(own()))
        .merge(bulk::router(own(), rings(service)))
        .merge(privacy_pass::router(own(), issuer))
        .merge(page::router(own()))
        // Bodies are limited by the kind of request.
        .layer(DefaultBodyLimit::disable())
}

/// All doors. Requests of KMS are many and small: they do not go through the routes.
struct Doors {
    service: Arc<Service>,
    routes: Router,
}

impl Answering for Doors {
    async fn answer(&self, request: Request) -> Response {
        match request.method() == Method::POST && request.uri().path() == "/" {
            true => kms::serve(Arc::clone(&self.service), request).await,
            false => self.routes.answer(request).await,
        }
    }
}

/// The reason why a build without the feature `postgres` opens no such store.
#[cfg(not(feature = "postgres"))]
const WITHOUT_POSTGRES: &str =
    "this build has no stores in PostgreSQL; a build with --features postgres, or full, has them";

/// Opens the store that a configuration names.
pub async fn open_store(config: &Config) -> Result<Arc<dyn Store>, StoreError> {
    Ok(match &config.store.url[..] {
        "embedded" => Arc::new(EmbeddedStore::open(&config.data).await?),
        #[cfg(feature = "postgres")]
        url => Arc::new(PostgresStore::connect(url).await?),
        #[cfg(not(feature = "postgres"))]
        _ => return Err(StoreError::Unavailable(WITHOUT_POSTGRES.into())),
    })
}

/// The documents of a store. A new store gets a new master key.
pub async fn open_records(config: &Config, store: Arc<dyn Store>) -> Result<Records, RunError> {
    let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty()).map(Zeroizing::new);
    let file = &config.store.master_key_file;
    warn_of_writers(&config.data);
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        warn_of_writers(folder);
    }
    let master = if !file.as_os_str().is_empty() {
        read_or_create(file.clone(), &*store).await?
    } else if let Some(text) = variable(MASTER_KEY) {
        MasterKey::parse(&text, MASTER_KEY)?
    } else if let Some(text) = variable(MASTER_PASSPHRASE) {
        MasterKey::passphrase(SecretBytes::new(Zeroizing::new(text.as_bytes().to_vec())))?
    } else {
        read_or_create(config.data.join("master.key"), &*store).await?
    };
    Ok(Records::unlock(store, vec![master], kinds()).await?)
}

/// Opens the audit log for a command of the operator, while no service runs. `why` is a line of the log.
pub fn open_audit(config: &Config, why: &str) -> Result<Arc<Audit>, AuditError> {
    let folder = config.data.join("audit");
    Ok(Arc::new(Audit::open_for(why, &folder, &config.audit_settings(), Clock::default())?))
}

async fn read_or_create(path: PathBuf, store: &dyn Store) -> Result<MasterKey, RunError> {
    if path.exists() || !is_new(store).await? {
        return Ok(MasterKey::read(&path)?);
    }
    let key = MasterKey::read_or_create(&path)?;
    tracing::warn!(path = %path.display(), "a new master key was made: keep a copy elsewhere, without it all keys are lost");
    Ok(key)
}

/// Runs the service until SIGTERM or SIGINT. `announce` is told its URL when requests are served.
pub async fn run(mut config: Config, announce: impl FnOnce(&str)) -> Result<(), RunError> {
    config.check()?;
    for refused in crate::harden::harden() {
        tracing::warn!("{refused}");
    }
    open_files::adjust(&mut config);
    let mut terminate = signal(SignalKind::terminate()).map_err(RunError::Signals)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(RunError::Signals)?;
    let mut hang_up = signal(SignalKind::hangup()).map_err(RunError::Signals)?;

    let running = Running::start(&config).await?;
    announce(&running.url);
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = hang_up.recv() => running.reload(),
        }
    }
    tracing::info!("draining");
    match running.stop().await {
        true => Ok(()),
        false => Err(RunError::Drain(Duration::from_secs(config.drain_s))),
    }
}

/// A service that runs.
pub struct Running {
    /// The address of the service.
    pub url: String,
    /// The state that its doors share.
    pub service: Arc<Service>,
    tls: Option<Arc<Tls>>,
    stop: watch::Sender<bool>,
    server: JoinHandle<bool>,
    /// The socket's door, where there is one.
    socket: Option<JoinHandle<bool>>,
    /// Tasks apart from the doors, which end with this value.
    tasks: JoinSet<()>,
    /// Files that are removed at the end.
    sockets: Vec<PathBuf>,
}

impl Running {
    /// Starts a service. It serves requests when this returns.
    pub async fn start(config: &Config) -> Result<Self, RunError> {
        config.check()?;
        let store = open_store(config).await?;
        let records = open_records(config, store).await?;
        let clock = Clock::default();
        let audit =
            Arc::new(Audit::open(&config.data.join("audit"), &config.audit_settings(), clock.clone())?);
        let engine = Arc::new(engine(config)?);
        let metrics = Arc::new(Metrics::default());
        let batcher = Batcher::start(
            Arc::clone(&engine),
            config.batch_settings(),
            Some(Arc::clone(&audit)),
            Arc::clone(&metrics),
        )?;
        let mut service = Service::new(config.settings(), records, batcher);
        service.clock = clock.clone();
        let bodies = Bodies::new(config.limits.all_bodies_bytes)
            .with_least_rate(config.limits.body_bytes_per_second)
            .counted_by(Arc::clone(&metrics));
        service.bodies = Arc::new(bodies);
        service.limits = RateLimits::new(config.limits.requests_per_second, config.limits.burst)
            .counted_by(Arc::clone(&metrics));
        service.metrics_are_open = config.metrics.open_on_loopback && config.listen.ip().is_loopback();
        service.is_warm.store(engine.cuda().is_none(), Ordering::Release);
        let service = Arc::new(service);

        let tls = tls(config)?;
        let unbound = |error| RunError::Listen { address: config.listen, error };
        let listener = TcpListener::bind(config.listen).await.map_err(unbound)?;
        let address = listener.local_addr().map_err(unbound)?;
        let scheme = if tls.is_some() { "https" } else { "http" };

        let (stop, stopped) = watch::channel(false);
        let layers = Layers {
            body_bytes: config.limits.body_bytes,
            batch_body_bytes: config.limits.batch_body_bytes,
            timeout: Duration::from_millis(config.deadline_ms) + GRACE,
            metrics: Arc::clone(&metrics),
        };
        let routes = routes(&service, config.issuer_settings());
        let doors = layered(Doors { service: Arc::clone(&service), routes }, layers);
        let server = tokio::spawn(listen(
            listener,
            tls.clone(),
            doors,
            HttpLimits::of(config),
            metrics,
            stopped.clone(),
        ));
        let mut tasks = JoinSet::new();
        background::start(&mut tasks, config, &service);
        let mut sockets = vec![config.data.join(admin::SOCKET)];
        let mut socket = None;
        let path = &config.socket.path;
        if !path.as_os_str().is_empty() {
            let mode = config.socket.mode().unwrap_or(0o600);
            let unbound = |error| RunError::Socket { path: path.clone(), error };
            let listener = socket::bind(path, mode).map_err(unbound)?;
            path.parent().into_iter().for_each(warn_of_impostors);
            let door = socket::Socket::new(Arc::clone(&service), rings(&service));
            let (limit, drain) = (config.limits.connections, Duration::from_secs(config.drain_s));
            socket = Some(tokio::spawn(async move {
                let ended = door.listen(listener, limit, drain, stopped).await;
                if let Err(error) = &ended {
                    tracing::error!(%error, "the socket takes no more connections");
                }
                ended.is_ok()
            }));
            sockets.push(path.clone());
        }
        let url = format!("{scheme}://{address}");
        Ok(Self { url, service, tls, stop, server, socket, tasks, sockets })
    }

    /// Reads certificates again.
    pub fn reload(&self) {
        match self.tls.as_ref().map(|tls| tls.reload()) {
            None => {}
            Some(Ok(())) => tracing::info!("certificates were read again"),
            Some(Err(error)) => {
                tracing::error!(%error, "certificates cannot be read again; the old ones are used")
            }
        }
    }

    /// Accepts nothing more, answers what is under way, and ends. Returns whether all of it ended in time.
    pub async fn stop(mut self) -> bool {
        self.service.is_draining.store(true, Ordering::Release);
        let _ = self.stop.send(true);
        let mut in_time = self.server.await.unwrap_or(false);
        if let Some(socket) = self.socket {
            in_time &= socket.await.unwrap_or(false);
        }
        self.service.batcher.drain().await;
        if let Some(audit) = self.service.batcher.audit() {
            let (lines, head) = audit.head();
            tracing::info!(lines, head, "the audit log ends here");
            if let Err(error) = audit.sync_now() {
                tracing::error!(%error, "the audit log cannot be forced to the disk");
            }
        }
        self.tasks.shutdown().await;
        for socket in self.sockets {
            let _ = std::fs::remove_file(socket);
        }
        in_time
    }
}

fn engine(config: &Config) -> Result<Engine, modmill::Error> {
    // Without a fallback of its own: the batcher computes again what a GPU could not, and notes that it
    // failed.
    let engine = Engine::builder().fallback(false);
    match &config.engine.backend[..] {
        "cpu" => engine.backend(Backend::Cpu),
        "cuda" => engine.backend(Backend::Cuda),
        _ => engine,
    }
    .build()
}

fn tls(config: &Config) -> Result<Option<Arc<Tls>>, TlsError> {
    if !config.tls.enabled {
        return Ok(None);
    }
    let given = |path: &PathBuf| (!path.as_os_str().is_empty()).then(|| path.clone());
    let client_ca = given(&config.tls.client_ca);
    let files = match (given(&config.tls.certificate), given(&config.tls.key)) {
        (Some(certificate), Some(key)) => TlsFiles { certificate, key, client_ca },
        _ => {
            let files = TlsFiles::development(&config.data.join("tls"), client_ca)?;
            tracing::warn!(
                certificate = %files.certificate.display(),
                "THE CERTIFICATE IS FOR DEVELOPMENT: clients have to be told to trust it; configure tls.certificate and tls.key"
            );
            files
        }
    };
    Ok(Some(Arc::new(Tls::load(files)?)))
}

#[cfg(test)]
mod tests;
