//! The configuration file.

use crate::audit::{AuditSettings, Sync};
use crate::batch::BatchSettings;
use crate::kms;
use crate::privacy_pass::IssuerSettings;
use crate::settings::Settings;
use crate::transit;
use serde::Deserialize;
use std::fs::File;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The commented file that holds every option with its default.
pub const DEFAULT: &str = include_str!("config/default.toml");

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// The file is not as it should be. The text names line and option.
    #[error("{}", .0.trim_end())]
    Syntax(String),
    /// A value cannot be used.
    #[error("{option}: {problem}")]
    Value {
        /// The option.
        option: &'static str,
        /// The fault, in words.
        problem: String,
    },
}

macro_rules! sections {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $($(#[$field_doc])* pub $field: $type,)* }
    )*};
}

// The options' meanings are in the file of defaults, which is what users read.
#[allow(missing_docs)]
mod parts {
    use super::*;
    sections! {
        /// The whole configuration.
        Config {
            data: PathBuf,
            listen: SocketAddr,
            region: String,
            account: String,
            skew_s: u64,
            deadline_ms: u64,
            drain_s: u64,
            store: StoreConfig,
            tls: TlsConfig,
            limits: LimitsConfig,
            batch: BatchConfig,
            engine: EngineConfig,
            audit: AuditConfig,
            issuer: IssuerConfig,
            metrics: MetricsConfig,
            socket: SocketConfig,
            transit: TransitConfig,
        }
        /// The store of keys.
        StoreConfig { url: String, master_key_file: PathBuf, stale_s: u64, }
        /// Encryption of connections.
        TlsConfig { enabled: bool, certificate: PathBuf, key: PathBuf, client_ca: PathBuf, }
        /// Limits of connections and requests.
        LimitsConfig {
            connections: usize,
            connections_per_address: usize,
            header_timeout_s: u64,
            idle_timeout_s: u64,
            header_bytes: usize,
            headers: usize,
            body_bytes: usize,
            batch_body_bytes: usize,
            all_bodies_bytes: usize,
            body_bytes_per_second: usize,
            write_timeout_s: u64,
            streams: u32,
            requests_per_second: u32,
            burst: u32,
        }
        /// How operations are gathered.
        BatchConfig {
            workers: usize,
            gpu_workers: usize,
            batch_ms: f64,
            gpu_batch_ms: f64,
            most_items: usize,
            queue_ms: u64,
            queue_calls: usize,
        }
        /// The processors that compute.
        EngineConfig { backend: String, warm_bits: Vec<usize>, }
        /// The audit log.
        AuditConfig { sync: String, interval_ms: u64, file_mb: u64, }
        /// Tokens of Privacy Pass.
        IssuerConfig {
            open: bool,
            tokens_per_second: u32,
            burst: u32,
            max_batch: usize,
            directory_max_age_s: u64,
        }
        /// The metrics.
        MetricsConfig { open_on_loopback: bool, }
        /// The socket for programs on the same machine.
        SocketConfig { path: PathBuf, mode: String, }
        /// The transit interface.
        TransitConfig { mount: String, }
    }
}
pub use parts::{
    AuditConfig, BatchConfig, Config, EngineConfig, IssuerConfig, LimitsConfig, MetricsConfig, SocketConfig,
    StoreConfig, TlsConfig, TransitConfig,
};

/// The most bytes of a file of options.
const MOST_BYTES: u64 = 1 << 20;

/// The text of a file that is no longer than a file of options can be.
fn read_limited(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    if File::open(path)?.take(MOST_BYTES + 1).read_to_string(&mut text)? as u64 > MOST_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is longer than 1 MiB"));
    }
    Ok(text)
}

impl Default for Config {
    fn default() -> Self {
        Self::parse("").expect("the file of defaults is right, as a test shows")
    }
}

impl Config {
    /// Reads the file at `path`.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = read_limited(path).map_err(|error| ConfigError::File { path: path.to_owned(), error })?;
        Self::parse(&text).map_err(|error| match error {
            ConfigError::Syntax(text) => ConfigError::Syntax(format!("{}: {text}", path.display())),
            error => error,
        })
    }

    /// Reads options from text. Those that are not in it have their defaults.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let syntax = |error: toml::de::Error| ConfigError::Syntax(error.to_string());
        let given: toml::Table = toml::from_str(text).map_err(syntax)?;
        let mut all: toml::Table = toml::from_str(DEFAULT).map_err(syntax)?;
        if let Some(unknown) = overlay(&mut all, given, "") {
            let line = line_of(text, unknown.rsplit('.').next().unwrap_or_default());
            return Err(ConfigError::Syntax(format!("line {line}: there is no option {unknown}")));
        }
        toml::Value::Table(all).try_into().map_err(|error: toml::de::Error| {
            // Defaults are right, so that the option is one of the text.
            ConfigError::Syntax(error.to_string())
        })
    }

    /// Checks what can be checked without starting.
    pub fn check(&self) -> Result<(), ConfigError> {
        let value = |option, problem: String| Err(ConfigError::Value { option, problem });
        if !self.tls.enabled && !self.listen.ip().is_loopback() {
            let problem = format!(
                "{} can be reached by others: without TLS only loopback addresses are used",
                self.listen
            );
            return value("listen", problem);
        }
        if self.account.len() != 12 || !self.account.bytes().all(|digit| digit.is_ascii_digit()) {
            return value("account", "an account has twelve digits".into());
        }
        if self.region.is_empty()
            || !self.region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        {
            return value("region", "a region has letters, digits and hyphens".into());
        }
        if self.tls.certificate.as_os_str().is_empty() != self.tls.key.as_os_str().is_empty() {
            return value("tls.certificate", "a certificate and its key belong together".into());
        }
        let url = &self.store.url;
        if url != "embedded" && !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return value("store.url", "it is \"embedded\" or begins with postgres://".into());
        }
        if !["auto", "cpu", "cuda"].contains(&&self.engine.backend[..]) {
            return value("engine.backend", "it is \"auto\", \"cpu\" or \"cuda\"".into());
        }
        if self.engine.backend == "cuda" && self.batch.gpu_workers == 0 {
            return value("batch.gpu_workers", "with engine.backend = \"cuda\" it has to be positive".into());
        }
        if !["none", "batch", "interval"].contains(&&self.audit.sync[..]) {
            return value("audit.sync", "it is \"none\", \"batch\" or \"interval\"".into());
        }
        if self.limits.header_bytes < 8192 {
            return value("limits.header_bytes", "at least 8192 octets are needed".into());
        }
        let LimitsConfig { body_bytes, batch_body_bytes, all_bodies_bytes, .. } = self.limits;
        for (option, bytes, most) in [
            ("limits.body_bytes", body_bytes, kms::LONGEST_BODY),
            ("limits.batch_body_bytes", batch_body_bytes, transit::LONGEST_BODY),
        ] {
            if !(1..=most).contains(&bytes) {
                return value(option, format!("it has to be positive, and {most} at most"));
            }
        }
        let least = 2 * body_bytes.max(batch_body_bytes);
        if all_bodies_bytes < least {
            let problem = format!(
                "it has to be {least} at least: one client gets half of it, which has to have room for one of the longest bodies"
            );
            return value("limits.all_bodies_bytes", problem);
        }
        if self.socket.mode().is_none() {
            return value("socket.mode", "it is up to four octal digits, such as \"0660\"".into());
        }
        if !transit::is_mount(&self.transit.mount) {
            let problem =
                "it is a path of letters, digits and _-., and none of Vault's own, as in \"team/transit\""
                    .into();
            return value("transit.mount", problem);
        }
        let positive = [
            ("deadline_ms", self.deadline_ms),
            ("limits.connections", self.limits.connections as u64),
            ("limits.connections_per_address", self.limits.connections_per_address as u64),
            ("limits.header_timeout_s", self.limits.header_timeout_s),
            ("limits.idle_timeout_s", self.limits.idle_timeout_s),
            ("limits.write_timeout_s", self.limits.write_timeout_s),
            ("limits.headers", self.limits.headers as u64),
            ("limits.streams", self.limits.streams.into()),
            ("batch.queue_ms", self.batch.queue_ms),
            ("batch.queue_calls", self.batch.queue_calls as u64),
            ("audit.interval_ms", self.audit.interval_ms),
            ("audit.file_mb", self.audit.file_mb),
        ];
        if let Some((option, _)) = positive.into_iter().find(|(_, number)| *number == 0) {
            return value(option, "it has to be positive".into());
        }
        for (option, ms) in
            [("batch.batch_ms", self.batch.batch_ms), ("batch.gpu_batch_ms", self.batch.gpu_batch_ms)]
        {
            if !(ms > 0.0 && ms <= 10_000.0) {
                return value(option, "it has to be positive, and 10000 at most".into());
            }
        }
        Ok(())
    }

    /// The settings of the doors.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let Self { region, account, skew_s, deadline_ms, .. } = self;
        Settings {
            region: region.clone(),
            account: account.clone(),
            skew_s: *skew_s,
            stale_s: self.store.stale_s,
            deadline_ms: *deadline_ms,
            transit_mount: self.transit.mount.clone(),
        }
    }

    /// The settings of the batcher.
    #[must_use]
    pub fn batch_settings(&self) -> BatchSettings {
        let BatchConfig { workers, gpu_workers, batch_ms, gpu_batch_ms, most_items, queue_ms, queue_calls } =
            self.batch;
        BatchSettings {
            workers: if workers == 0 { BatchSettings::default().workers } else { workers },
            gpu_workers,
            batch: Duration::from_secs_f64(batch_ms / 1e3),
            gpu_batch: Duration::from_secs_f64(gpu_batch_ms / 1e3),
            most_items: if most_items == 0 { usize::MAX } else { most_items },
            queue: Duration::from_millis(queue_ms),
            queue_calls,
        }
    }

    /// The settings of the issuer of tokens.
    #[must_use]
    pub fn issuer_settings(&self) -> IssuerSettings {
        let IssuerConfig { open, tokens_per_second, burst, max_batch, directory_max_age_s } = self.issuer;
        let directory_max_age = Duration::from_secs(directory_max_age_s);
        IssuerSettings { open_issuance: open, tokens_per_second, burst, max_batch, directory_max_age }
    }

    /// The settings of the audit log.
    #[must_use]
    pub fn audit_settings(&self) -> AuditSettings {
        let sync = match &self.audit.sync[..] {
            "none" => Sync::None,
            "batch" => Sync::Batch,
            _ => Sync::Interval(Duration::from_millis(self.audit.interval_ms)),
        };
        AuditSettings { sync, file_bytes: self.audit.file_mb << 20 }
    }
}

impl SocketConfig {
    /// The mode of the socket's file. `None` if the text is no mode.
    #[must_use]
    pub fn mode(&self) -> Option<u32> {
        u32::from_str_radix(&self.mode, 8).ok().filter(|mode| *mode <= 0o777)
    }
}

/// Replaces options in `all` by those of `given`. Returns the name of one that is not in `all`.
fn overlay(all: &mut toml::Table, given: toml::Table, prefix: &str) -> Option<String> {
    for (name, value) in given {
        let full = format!("{prefix}{name}");
        match (all.get_mut(&name), value) {
            (None, _) => return Some(full),
            (Some(toml::Value::Table(inner)), toml::Value::Table(given)) => {
                if let Some(unknown) = overlay(inner, given, &format!("{full}.")) {
                    return Some(unknown);
                }
            }
            (Some(place), value) => *place = value,
        }
    }
    None
}

/// The first line of `text` that begins with `name`, from 1.
fn line_of(text: &str, name: &str) -> usize {
    let begins = |line: &str| line.trim_start_matches([' ', '\t', '[', '"']).starts_with(name);
    text.lines().position(begins).map_or(1, |line| line + 1)
}

#[cfg(test)]
mod tests;
