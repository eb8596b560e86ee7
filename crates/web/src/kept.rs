//! What lets somebody in elsewhere and is therefore in no event: each under the id of what the journal knows of it.
//!
//! It lies in a file for each in a folder of the data folder, which its owner alone may read, or where several nodes share a
//! database in that database, beside their tokens: any of them sends.
//!
//! It is written before the event that tells of it, and forgotten after the one that ends it. What a crash in between left
//! behind is [swept](keep_swept).

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

pub(crate) struct Kept {
    /// Of the folder, and in front of each id in the database.
    name: &'static str,
    folder: PathBuf,
    /// What to do about one that can not be used.
    mend: &'static str,
}

impl Kept {
    pub(crate) fn open(data: &Path, name: &'static str, mend: &'static str) -> Self {
        Self { name, folder: data.join(name), mend }
    }

    /// `None`: nothing that can be used is kept under this id. Of a file that others may read, or that holds something else,
    /// the log says so.
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
                    tracing::error!(
                        name = self.shared(id),
                        "a row of `agreed` does not hold what it should. {mend}"
                    );
                }
                read.ok()
            }));
        }
        let (path, mend) = (self.path(id), self.mend);
        blocking(move || match secrets::read(&path, mend) {
            Err(unusable @ (Error::Exposed { .. } | Error::Malformed { .. })) => {
                tracing::error!(%unusable, "what is kept can not be used");
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
            let text = serde_json::to_string(&value).map_err(|_| Refused::of(Code::Internal))?;
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

    /// The same of what lies in the folder, wherever else it is kept.
    pub(crate) async fn remove(&self, id: &str) -> Answer<()> {
        let path = self.path(id);
        blocking(move || match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Error::Io { path, source }),
            Ok(()) | Err(_) => Ok(()),
        })
        .await
    }

    /// The ids of what lies in the folder.
    pub(crate) async fn lying<I>(&self) -> Answer<BTreeSet<I>>
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

    /// Removes what a crash has left half written, so long ago that nobody goes on writing it.
    pub(crate) async fn remove_unfinished(&self, app: &App) -> Answer<()> {
        let before = app.now().minus_ms(KEPT_UNKNOWN_MS);
        let folder = self.folder.clone();
        blocking(move || {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.extension().is_some_and(|extension| extension == "new")
                    && entry.metadata().and_then(|known| known.modified()).is_ok_and(|at| moment(at) < before)
                {
                    // One that can not be removed keeps none of the others.
                    if let Err(error) = fs::remove_file(&path) {
                        tracing::warn!(path = %path.display(), %error, "what a crash left half written stays");
                    }
                }
            }
            Ok(())
        })
        .await
    }

    /// The ids of all that is kept.
    pub(crate) async fn all<I>(&self, app: &App) -> Answer<BTreeSet<I>>
    where
        I: FromStr + Ord + Send + 'static,
    {
        let Some(database) = app.journal().database() else { return self.lying().await };
        let prefix = self.shared("");
        let names = database.shared_under(&prefix).await?;
        Ok(names.iter().filter_map(|name| name.strip_prefix(&*prefix)?.parse().ok()).collect())
    }

    /// The ids of what is kept for so long that the event which tells of it is written by now, or never.
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

/// Looks through what is kept, now and then, for what nothing is told of any more. Runs for as long as it is not dropped.
pub async fn keep_swept(app: Arc<App>) {
    loop {
        for (of, swept) in [
            ("agents that are told", app.callbacks.sweep(&app).await),
            ("webhooks", app.webhooks.sweep(&app).await),
            ("browsers", app.push.sweep(&app, &BTreeSet::new()).await.map(drop)),
        ] {
            if let Err(refused) = swept {
                tracing::warn!(of, why = refused.0.detail, "what is kept can not be looked through");
            }
        }
        tokio::time::sleep(KEPT_SWEEP_TIME).await;
    }
}

/// The folder, which its owner alone may enter, outlives a power cut as what lies in it does.
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
