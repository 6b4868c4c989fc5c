//! Certificates.

use crate::files::{create_folder, write_new};
use parking_lot::RwLock;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why connections cannot be encrypted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read or written.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The certificate and the key cannot be used together.
    #[error("the certificate cannot be used: {0}")]
    Certificate(String),
}

impl TlsError {
    fn file(path: &Path, reason: impl ToString) -> Self {
        Self::File { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// The files with certificates.
#[derive(Debug, Clone)]
pub(crate) struct TlsFiles {
    /// The chain of certificates in PEM.
    pub certificate: PathBuf,
    /// The key of the first certificate in PEM.
    pub key: PathBuf,
    /// The certificates of the issuers of clients' certificates, if clients need one.
    pub client_ca: Option<PathBuf>,
}

impl TlsFiles {
    /// A certificate for development in `folder`, which is made on the first run.
    pub(crate) fn development(folder: &Path, client_ca: Option<PathBuf>) -> Result<Self, TlsError> {
        let files = Self {
            certificate: folder.join("development.pem"),
            key: folder.join("development.key"),
            client_ca,
        };
        if files.certificate.exists() && files.key.exists() {
            return Ok(files);
        }
        let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let made = rcgen::generate_simple_self_signed(names)
            .map_err(|error| TlsError::Certificate(error.to_string()))?;
        create_folder(folder).map_err(|error| TlsError::file(folder, error))?;
        let key = zeroize::Zeroizing::new(made.signing_key.serialize_pem());
        for (path, text) in [(&files.key, &key[..]), (&files.certificate, &made.cert.pem())] {
            // One of the two may be left of an earlier run.
            let _ = std::fs::remove_file(path);
            write_new(path, &[text.as_bytes()]).map_err(|error| TlsError::file(path, error))?;
        }
        Ok(files)
    }

    fn load(&self) -> Result<Arc<ServerConfig>, TlsError> {
        let chain = certificates(&self.certificate)?;
        let key =
            PrivateKeyDer::from_pem_file(&self.key).map_err(|error| TlsError::file(&self.key, error))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let wrong = |error: &dyn std::fmt::Display| TlsError::Certificate(error.to_string());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong(&error))?;
        let builder = match &self.client_ca {
            None => builder.with_no_client_auth(),
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates(path)? {
                    roots.add(certificate).map_err(|error| TlsError::file(path, error))?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
                builder.with_client_cert_verifier(verifier.map_err(|error| TlsError::file(path, error))?)
            }
        };
        let mut config = builder.with_single_cert(chain, key).map_err(|error| wrong(&error))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read = || CertificateDer::pem_file_iter(path)?.collect::<Result<Vec<_>, _>>();
    let certificates = read().map_err(|error| TlsError::file(path, error))?;
    match certificates.is_empty() {
        true => Err(TlsError::file(path, "there is no certificate in it")),
        false => Ok(certificates),
    }
}

/// The certificates that connections are accepted with.
pub(crate) struct Tls {
    files: TlsFiles,
    config: RwLock<Arc<ServerConfig>>,
}

impl Tls {
    /// Reads the files.
    pub(crate) fn load(files: TlsFiles) -> Result<Self, TlsError> {
        let config = RwLock::new(files.load()?);
        Ok(Self { files, config })
    }

    /// Reads the files again. New connections use what is in them. If they cannot be used, nothing changes.
    pub(crate) fn reload(&self) -> Result<(), TlsError> {
        let config = self.files.load()?;
        *self.config.write() = config;
        Ok(())
    }

    pub(super) fn acceptor(&self) -> tokio_rustls::TlsAcceptor {
        Arc::clone(&self.config.read()).into()
    }
}
