//! TLS: the certificate and its private key. Both files are read when the server starts, and again when they change.
//!
//! Files that cannot be used never replace a certificate that can be used. If the new files cannot be used, the server
//! keeps the previous certificate. The server reports the error in the log, in `GET /v1/info` and to `holdshort
//! doctor`.

use std::fs::File;
use std::sync::{Arc, PoisonError, RwLock};

use holdshort_core::digest::Digest;
use holdshort_http::secret_file;
use holdshort_web::limits::{CERTIFICATE_BYTES, CERTIFICATE_TIME};
use holdshort_web::public_endpoint::TlsFiles;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

pub(crate) struct Tls {
    files: TlsFiles,
    used: RwLock<Pair>,
    problem: watch::Sender<Option<String>>,
}

/// TLS configuration for connections, made from the certificate and its private key.
#[derive(Clone)]
struct Pair {
    /// Digest of the certificate file and the key file, by which a change of these files is noticed.
    digest: Digest,
    config: Arc<ServerConfig>,
}

/// Returns the reason why the TLS certificate files cannot be used, or `None` if they can.
pub fn tls_problem(files: &TlsFiles) -> Option<String> {
    Pair::read(files).err()
}

impl Tls {
    pub(crate) fn open(files: TlsFiles) -> Result<Arc<Self>, String> {
        let used = RwLock::new(Pair::read(&files)?);
        Ok(Arc::new(Self { files, used, problem: watch::Sender::new(None) }))
    }

    pub(crate) fn config(&self) -> Arc<ServerConfig> {
        self.used.read().unwrap_or_else(PoisonError::into_inner).config.clone()
    }

    /// Returns a receiver for the error in the current certificate files. The received value is `None` while the files
    /// can be used.
    pub(crate) fn problem(&self) -> watch::Receiver<Option<String>> {
        self.problem.subscribe()
    }

    /// Reloads the TLS certificate files at intervals. Never returns.
    pub(crate) async fn keep(self: Arc<Self>) {
        loop {
            sleep(CERTIFICATE_TIME).await;
            let this = self.clone();
            // If reading the files panics, the certificate stays, and the files are read again after the next interval.
            let _ = spawn_blocking(move || this.look()).await;
        }
    }

    fn look(&self) {
        let found = Pair::read(&self.files);
        let problem = found.as_ref().err().cloned();
        let is_new = self.problem.send_if_modified(|told| {
            let is_new = *told != problem;
            told.clone_from(&problem);
            is_new
        });
        match found {
            Err(problem) if is_new => {
                tracing::error!("{problem}; the previous certificate stays in use");
            }
            Err(_) => {}
            Ok(pair) => {
                let mut used = self.used.write().unwrap_or_else(PoisonError::into_inner);
                if pair.digest != used.digest {
                    *used = pair;
                    tracing::warn!(file = %self.files.certificate.display(), "a new certificate is in use");
                }
            }
        }
    }
}

impl Pair {
    fn read(files: &TlsFiles) -> Result<Self, String> {
        let TlsFiles { certificate, key } = files;
        let (chain_shown, key_shown) = (certificate.display(), key.display());
        let opened = File::open(certificate).map_err(secret_file::Error::from);
        let chain_text = opened.and_then(|file| secret_file::bounded(file, CERTIFICATE_BYTES));
        let chain_text = chain_text.map_err(|error| format!("{chain_shown} {error}"))?;
        let key_text = secret_file::read(key, CERTIFICATE_BYTES);
        let key_text = key_text.map_err(|error| format!("{key_shown} {error}"))?;
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&chain_text).collect();
        let chain = chain.ok().filter(|chain| !chain.is_empty());
        let chain = chain.ok_or_else(|| format!("{chain_shown} contains no complete PEM certificate"))?;
        // The cause is left out of the error, because it could contain a part of the key.
        let private = PrivateKeyDer::from_pem_slice(&key_text)
            .map_err(|_| format!("{key_shown} contains no complete PEM private key"))?;
        // The provider is named explicitly. The default provider of the process belongs to the HTTP clients: the crate
        // `http` installs it.
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, private));
        let mut config = config
            .map_err(|error| format!("{chain_shown} and {key_shown} cannot be used together: {error}"))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let digest = Digest::of_parts(&[b"holdshort certificate\n", &chain_text, b"\n", &key_text]);
        Ok(Self { digest, config: Arc::new(config) })
    }
}
