//! Logins of this terminal: one token for each server, in `servers.json` of the data folder. Only the owner of this
//! file can read it. A token is sent only to the server that issued it.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use anyhow::Context;
use holdshort_http::secret_file;
use reqwest::Url;
use serde::{Deserialize, Serialize};

use crate::data_dir::DataDir;
use crate::exit::usage;
use crate::limits::KEPT_LOGINS_BYTES;

const FILE: &str = "servers.json";

/// Logins of this terminal, by the origin of the server's URL.
type LoginsByServer = BTreeMap<String, Login>;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Login {
    pub token: String,
    pub person: String,
    pub expires_at: String,
}

fn path(data: &DataDir) -> PathBuf {
    data.path.join(FILE)
}

fn read(data: &DataDir) -> anyhow::Result<LoginsByServer> {
    let path = path(data);
    let shown = path.display();
    let bytes = match secret_file::read(&path, KEPT_LOGINS_BYTES) {
        Ok(bytes) => bytes,
        Err(secret_file::Error::Io(error))
            if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
        {
            return Ok(LoginsByServer::new());
        }
        Err(error) => return Err(usage(format!("{shown} {error}"))),
    };
    serde_json::from_slice(&bytes)
        .with_context(|| format!("{shown} does not contain valid logins: delete it"))
}

fn write(data: &DataDir, kept: &LoginsByServer) -> anyhow::Result<()> {
    std::fs::create_dir_all(&data.path).with_context(|| format!("{}", data.path.display()))?;
    // Only the owner may read the file. After a crash, the old file or the new file is complete.
    let mut file = tempfile::NamedTempFile::new_in(&data.path)?;
    file.write_all(&serde_json::to_vec_pretty(kept)?)?;
    let path = path(data);
    file.persist(&path).with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(())
}

fn name(server: &Url) -> String {
    server.origin().ascii_serialization()
}

pub(crate) fn find(data: &DataDir, server: &Url) -> anyhow::Result<Option<Login>> {
    Ok(read(data)?.remove(&name(server)))
}

pub(crate) fn save(data: &DataDir, server: &Url, login: Login) -> anyhow::Result<()> {
    let mut kept = read(data)?;
    kept.insert(name(server), login);
    write(data, &kept)
}

pub(crate) fn remove(data: &DataDir, server: &Url) -> anyhow::Result<()> {
    let mut kept = read(data)?;
    if kept.remove(&name(server)).is_some() { write(data, &kept) } else { Ok(()) }
}
