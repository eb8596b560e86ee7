//! Agent key of a hook: created and revoked over the native API. Its secret is only in `hooks/CLI.key`.
//!
//! A key has the role `agent`: it can ask and read decisions, and never decide.

use std::path::Path;
use std::time::Duration;

use holdshort_http::secret_file;
use holdshort_protocol::{Code, Identity, Key, KeyStatus, KeyWithSecret, MakeKey, Role};
use reqwest::Url;

use super::files;
use super::record::InstalledKey;
use crate::client::{self, Client, segment};
use crate::exit::usage;
use crate::limits::{HOOK_CHECK_MS, HOOK_FILE_BYTES};
use crate::program_name::holdshort;

/// Creates a key, and stores its secret. `folder`: folder in which the server may try commands of the agent.
pub(crate) async fn create(
    client: &Client,
    name: &str,
    folder: Option<&Path>,
    file: &Path,
) -> anyhow::Result<InstalledKey> {
    let folder = folder.and_then(Path::to_str).map(str::to_owned);
    let body = MakeKey { name: name.to_owned(), role: Some(Role::Agent), expires_in_ms: None, folder };
    let made: KeyWithSecret = match client.post("/v1/keys", &body).await {
        Ok(made) => made,
        Err(error) if client::code(&error) == Some(Code::NameTaken) => {
            return Err(usage(format!(
                "the key name `{name}` is already used: choose another name with --name, or revoke the key that `{} keys` lists",
                holdshort()
            )));
        }
        Err(error) => return Err(error),
    };
    let key = InstalledKey { id: made.key.id, name: made.key.name, folder: made.key.folder };
    if let Err(error) = files::replace_private(file, format!("{}\n", made.secret).as_bytes()) {
        // Without its secret the key is useless. If it cannot be revoked, the person sees it in the list of keys.
        let _ = revoke(client, &key).await;
        return Err(error);
    }
    Ok(key)
}

pub(crate) async fn revoke(client: &Client, key: &InstalledKey) -> anyhow::Result<()> {
    client.delete(&format!("/v1/keys/{}", segment(&key.id))).await.map(drop)
}

/// Returns the key whose secret is in this file, if the server still accepts it.
pub(crate) async fn existing(client: &Client, server: &Url, file: &Path) -> Option<InstalledKey> {
    let name = owner(server, file).await.ok()?;
    let keys = client.list("/v1/keys", &[]).await.ok()?;
    let mut keys = keys.into_iter().filter_map(|key| serde_json::from_value::<Key>(key).ok());
    let key = keys.find(|key| key.name == name && key.status == KeyStatus::Live)?;
    Some(InstalledKey { id: key.id, name: key.name, folder: key.folder })
}

/// Reason why the hook cannot ask with its key. Each is a clause.
#[derive(Debug)]
pub(crate) enum KeyProblem {
    /// Every call is denied until the server answers.
    NoServer(String),
    Wrong(String),
}

/// Returns the reason why the key cannot ask this server. `None` if it can.
pub(crate) async fn problem(server: &Url, file: &Path) -> Option<KeyProblem> {
    owner(server, file).await.err()
}

/// Returns the name of the key whose secret is in this file.
async fn owner(server: &Url, file: &Path) -> Result<String, KeyProblem> {
    let secret = secret_file::read_text(file, HOOK_FILE_BYTES)
        .map_err(|error| KeyProblem::Wrong(format!("{} {error}", file.display())))?;
    let asked = async {
        let client = Client::with_token(server.as_str(), &secret, "")?;
        client.get::<Identity>("/v1/login").await
    };
    let time = Duration::from_millis(HOOK_CHECK_MS);
    let Ok(answer) = tokio::time::timeout(time, asked).await else {
        return Err(KeyProblem::NoServer(format!("no answer within {} s", time.as_secs())));
    };
    let identity = answer.map_err(|error| match client::code(&error) {
        Some(Code::Unauthenticated | Code::CredentialExpired) => {
            KeyProblem::Wrong("the agent key was revoked, rotated or has expired".to_owned())
        }
        Some(_) => KeyProblem::Wrong(crate::output::error(&error)),
        None => KeyProblem::NoServer(crate::output::error(&error)),
    })?;
    if identity.roles == [Role::Agent] {
        Ok(identity.person)
    } else {
        let why = format!("the key belongs to `{}`, who is more than an agent", identity.person);
        Err(KeyProblem::Wrong(why))
    }
}
