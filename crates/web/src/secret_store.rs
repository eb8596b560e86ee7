//! Secrets that give access to other systems and that no event may contain. The journal contains the id under which
//! each secret is stored.
//!
//! Each secret is a file in a subdirectory of the data folder that only its owner may read. If several nodes share a
//! database, the secrets are in the database, together with the nodes' tokens, because any node may have to send with
//! them.
//!
//! A secret is written before the event that refers to its id, and deleted after the event that ends its use. A secret
//! that a crash left behind is [deleted later](sweep_periodically).

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::SystemTime;

use holdshort_core::id::Id;
use holdshort_core::time::Timestamp;
use holdshort_protocol::Code;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::app::{App, blocking};
use crate::limits::{KEPT_SWEEP_TIME, KEPT_UNKNOWN_MS};
use crate::problem::{Answer, Refused};
use crate::secrets::{self, Error};

pub(crate) struct SecretStore {
    /// Name of the directory with the secrets, and prefix of the names of the database rows.
    name: &'static str,
    folder: PathBuf,
    /// Advice for the operator in the log if a file or database row with a secret cannot be used.
    mend: &'static str,
}

impl SecretStore {
    pub(crate) fn open(data: &Path, name: &'static str, mend: &'static str) -> Self {
        Self { name, folder: data.join(name), mend }
    }

    /// Returns the stored secret with this id, or `None` if it is missing or cannot be used. Logs a warning about a
    /// file that other users can read or whose content is invalid.
    pub(crate) async fn find<T>(&self, app: &App, id: &str) -> Answer<Option<T>>
    where
        T: DeserializeOwned + Send + 'static,
    {
        if let Some(database) = app.journal().database() {
            let found = database.shared(&self.shared(id)).await?;
            return Ok(found.and_then(|text| {
                let read = serde_json::from_str(&text);
                if read.is_err() {
                    let mend = self.mend;
                    tracing::error!(name = self.shared(id), "a row of `agreed` has invalid content. {mend}");
                }
                read.ok()
            }));
        }
        let (path, mend) = (self.path(id), self.mend);
        blocking(move || match secrets::read(&path, mend) {
            Err(unusable @ (Error::Exposed { .. } | Error::Malformed { .. })) => {
                tracing::error!(%unusable, "a stored secret cannot be used");
                Ok(None)
            }
            read => read,
        })
        .await
    }

    pub(crate) async fn keep<T>(&self, app: &App, id: &str, value: T) -> Answer<()>
    where
        T: Serialize + Send + 'static,
    {
        if let Some(database) = app.journal().database() {
            let text = serde_json::to_string(&value).map_err(|_| Refused::from_code(Code::Internal))?;
            return Ok(database.share(&self.shared(id), Some(&text)).await?);
        }
        let (folder, path) = (self.folder.clone(), self.path(id));
        blocking(move || {
            make(&folder).map_err(|source| Error::Io { path: folder, source })?;
            secrets::write(&path, &value)
        })
        .await
    }

    pub(crate) async fn forget(&self, app: &App, id: &str) -> Answer<()> {
        if let Some(database) = app.journal().database() {
            return Ok(database.share(&self.shared(id), None).await?);
        }
        self.remove(id).await
    }

    /// Deletes the file of the secret with this id. Secrets in a database are not changed.
    pub(crate) async fn remove(&self, id: &str) -> Answer<()> {
        let path = self.path(id);
        blocking(move || match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Error::Io { path, source }),
            Ok(()) | Err(_) => Ok(()),
        })
        .await
    }

    /// Returns the ids of the secrets that are stored as files in the store's directory.
    pub(crate) async fn file_ids<I>(&self) -> Answer<BTreeSet<I>>
    where
        I: FromStr + Ord + Send + 'static,
    {
        let folder = self.folder.clone();
        blocking(move || {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
            Ok(names.filter_map(|name| name.strip_suffix(".json")?.parse().ok()).collect())
        })
        .await
    }

    /// Removes incomplete files of the secret store that a crash left and that are too old to be still in use by a
    /// process.
    pub(crate) async fn remove_unfinished(&self, app: &App) -> Answer<()> {
        let before = app.now().minus_ms(KEPT_UNKNOWN_MS);
        let folder = self.folder.clone();
        blocking(move || {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.extension().is_some_and(|extension| extension == "new")
                    && entry.metadata().and_then(|known| known.modified()).is_ok_and(|at| moment(at) < before)
                {
                    // If one file causes an error, the remaining files are still removed.
                    if let Err(error) = fs::remove_file(&path) {
                        tracing::warn!(
                            path = %path.display(), %error,
                            "a partly written file, left by a crash, cannot be deleted"
                        );
                    }
                }
            }
            Ok(())
        })
        .await
    }

    pub(crate) async fn all<I>(&self, app: &App) -> Answer<BTreeSet<I>>
    where
        I: FromStr + Ord + Send + 'static,
    {
        let Some(database) = app.journal().database() else { return self.file_ids().await };
        let prefix = self.shared("");
        let names = database.shared_under(&prefix).await?;
        Ok(names.iter().filter_map(|name| name.strip_prefix(&*prefix)?.parse().ok()).collect())
    }

    /// Returns the ids of stored secrets that are older than [`KEPT_UNKNOWN_MS`]. By this age, the event that refers to
    /// a secret is in the journal or will never be written.
    pub(crate) async fn settled<I>(&self, app: &App) -> Answer<BTreeSet<I>>
    where
        I: Id + FromStr + Ord + Send + 'static,
    {
        let before = app.now().minus_ms(KEPT_UNKNOWN_MS);
        let mut kept: BTreeSet<I> = self.all(app).await?;
        kept.retain(|id| id.drawn_at() < before);
        Ok(kept)
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    fn shared(&self, id: &str) -> String {
        format!("{}/{id}", self.name)
    }
}

/// Deletes secrets that are no longer used, at regular intervals. Runs until the future is dropped.
pub async fn sweep_periodically(app: Arc<App>) {
    loop {
        for (of, swept) in [
            ("callbacks", app.callbacks.sweep(&app).await),
            ("webhooks", app.webhooks.sweep(&app).await),
            ("browsers", app.push.sweep(&app, &BTreeSet::new()).await.map(drop)),
        ] {
            if let Err(refused) = swept {
                tracing::warn!(of, why = refused.0.detail, "stored secrets cannot be checked for deletion");
            }
        }
        tokio::time::sleep(KEPT_SWEEP_TIME).await;
    }
}

/// Creates a directory for secrets that only its owner may enter. The parent directory is synced to disk, so that the
/// new directory survives a power failure.
fn make(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    folder.parent().map_or(Ok(()), secrets::sync)
}

fn moment(at: SystemTime) -> Timestamp {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
