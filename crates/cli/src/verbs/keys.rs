//! `keys`: manages the keys of agents and services.
//!
//! Only the secret goes to standard output, so that it can be piped. Explanations go to standard error.

use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow};
use holdshort_protocol::{Key, KeyStatus, KeyWithSecret, MakeKey, Role, RotateKey, plain};

use super::Scene;
use crate::args::Keys;
use crate::client::id_of;
use crate::exit::Exit;
use crate::output::{print_json, print_message, print_message_lines, print_text};
use crate::program_name::holdshort;
use crate::terminal::paint::Paint;
use crate::terminal::time;

pub(super) async fn keys(scene: &Scene, verb: Option<Keys>) -> anyhow::Result<Exit> {
    match verb.unwrap_or(Keys::List) {
        Keys::Create { name, role, expires_in, folder } => {
            create(scene, name, &role, expires_in, folder.as_deref()).await
        }
        Keys::List => list(scene).await,
        Keys::Rotate { key, overlap } => rotate(scene, &key, overlap).await,
        Keys::Revoke { key } => revoke(scene, &key).await,
    }
}

async fn create(
    scene: &Scene,
    name: String,
    role: &str,
    expires_in_ms: Option<u64>,
    folder: Option<&Path>,
) -> anyhow::Result<Exit> {
    let role: Role = serde_json::from_value(role.into())?;
    let folder = folder.map(canonical).transpose()?;
    let new = MakeKey { name, role: Some(role), expires_in_ms, folder };
    let made: KeyWithSecret = scene.client()?.post("/v1/keys", &new).await?;
    let (name, id) = (plain::line(&made.key.name), &made.key.id);
    let end = made.key.expires_at.as_deref().map(|at| format!(" until {}", time::at(at))).unwrap_or_default();
    let what =
        format!("The key {id} is `{name}`, {}{end}. The secret is shown only once.", kind(made.key.role));
    show(scene, &made, &what)
}

/// Returns the path of an access key's folder with all symbolic links resolved, because the server accepts no other
/// path.
fn canonical(folder: &Path) -> anyhow::Result<String> {
    let found = fs::canonicalize(folder)
        .with_context(|| format!("the folder `{}` of the key cannot be found", folder.display()))?;
    let path = found.into_os_string().into_string();
    path.map_err(|path| anyhow!("the path of the folder `{}` is not UTF-8", path.display()))
}

async fn rotate(scene: &Scene, key: &str, overlap_ms: Option<u64>) -> anyhow::Result<Exit> {
    let path = format!("/v1/keys/{}/rotate", id_of(key, "key")?);
    let made: KeyWithSecret = scene.client()?.post(&path, &RotateKey { overlap_ms }).await?;
    let before = match &made.key.previous_until {
        Some(until) => format!("The previous secret is valid until {}.", time::at(until)),
        None => "The previous secret is no longer valid.".to_owned(),
    };
    let name = plain::line(&made.key.name);
    show(scene, &made, &format!("The new secret of `{name}` is shown only once. {before}"))
}

async fn revoke(scene: &Scene, key: &str) -> anyhow::Result<Exit> {
    let key = scene.client()?.delete(&format!("/v1/keys/{}", id_of(key, "key")?)).await?;
    if scene.json {
        print_json(&key)?;
    } else {
        let key: Key = serde_json::from_value(key)?;
        print_text(&format!(
            "The key `{}` is revoked. Its open connections are closed.",
            plain::line(&key.name)
        ));
    }
    Ok(Exit::Ok)
}

fn show(scene: &Scene, made: &KeyWithSecret, what: &str) -> anyhow::Result<Exit> {
    if scene.json {
        print_json(made)?;
    } else {
        print_text(&made.secret);
        let paint = Paint::stderr();
        let lines = paint.message(what, 0);
        print_message_lines(&lines.iter().map(|line| paint.dim(line)).collect::<Vec<_>>());
    }
    Ok(Exit::Ok)
}

async fn list(scene: &Scene) -> anyhow::Result<Exit> {
    let client = scene.client()?;
    let items = client.list("/v1/keys", &[]).await?;
    if scene.json {
        print_json(&items)?;
        return Ok(Exit::Ok);
    }
    if items.is_empty() {
        print_message(&format!(
            "There are no keys. {} keys create NAME{} creates one.",
            holdshort(),
            client.server_arguments()
        ));
    }
    let paint = Paint::stdout();
    for item in items {
        let key: Key = serde_json::from_value(item)?;
        let state = match (key.status, &key.revoked_at, &key.expires_at) {
            (KeyStatus::Revoked, Some(at), _) => paint.dim(&format!("revoked {}", time::ago(at))),
            (KeyStatus::Revoked, None, _) => paint.dim("revoked"),
            (KeyStatus::Expired, _, Some(at)) => paint.yellow(&format!("expired {}", time::ago(at))),
            (KeyStatus::Expired, _, None) => paint.yellow("expired"),
            (KeyStatus::Live, _, Some(at)) => format!("until {}", time::at(at)),
            (KeyStatus::Live, _, None) => "live".to_owned(),
        };
        print_text(&format!(
            "{}  {}  {}  {state}",
            key.id,
            paint.bold(&plain::line(&key.name)),
            role_label(key.role)
        ));
        let mut told = vec![format!("created {} by {}", time::ago(&key.made_at), plain::line(&key.made_by))];
        told.extend(key.rotated_at.as_deref().map(|at| format!("rotated {}", time::ago(at))));
        told.extend(
            key.previous_until
                .as_deref()
                .map(|at| format!("the previous secret is valid until {}", time::at(at))),
        );
        told.extend(key.last_used_at.as_deref().map(|at| format!("last used {}", time::ago(at))));
        print_text(&paint.dim(&format!("    {}", told.join(", "))));
        if let Some(folder) = &key.folder {
            print_text(&paint.dim(&format!("    commands are tried in {}", plain::line(folder))));
        }
    }
    Ok(Exit::Ok)
}

fn role_label(role: Role) -> &'static str {
    match role {
        Role::Admin => "admin",
        Role::Operator => "operator",
        Role::Reviewer => "reviewer",
        Role::Agent => "agent",
        Role::Auditor => "auditor",
        Role::Engine => "engine",
    }
}

/// Returns a role with the article `a` or `an`.
fn kind(role: Role) -> String {
    let word = role_label(role);
    let article = if word.starts_with(['a', 'e', 'o']) { "an" } else { "a" };
    format!("{article} {word}")
}
