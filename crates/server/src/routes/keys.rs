//! Keys of agents and services. A secret is returned only once, in the response to the request that creates it.

use std::path::Path;

use axum::Json;
use axum::http::StatusCode;
use holdshort_core::actor;
use holdshort_core::id::{Draw, KeyId};
use holdshort_core::system::keys::{self, NewKey, Status};
use holdshort_core::system::{Input, System};
use holdshort_engine::Clock;
use holdshort_protocol::{Code, Key, KeyStatus, KeyWithSecret, List, MakeKey, Role, RotateKey};
use holdshort_tools::Workspace;
use holdshort_web::access;
use holdshort_web::app::{App, detached};
use holdshort_web::auth::Caller;
use holdshort_web::body::{Body, read_strict};
use holdshort_web::limits::EXPIRY_MS;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::Id;
use holdshort_web::view;

use crate::openapi::{MakesKey, Reads, ReadsOne, RevokesKey, RotatesKey};

/// Create a key for an agent or a service.
///
/// The response contains the secret of the key. The secret is shown only once. All actions with the key are recorded
/// under the name of the key.
#[utoipa::path(
    post, path = "/v1/keys", tag = "keys", operation_id = "make_key",
    request_body = MakeKey,
    responses((status = 201, description = "The key and its secret", body = KeyWithSecret), MakesKey)
)]
pub(crate) async fn make(caller: Caller, body: Body) -> Answer<(StatusCode, Json<KeyWithSecret>)> {
    let MakeKey { name, role, expires_in_ms, folder } = body.json().await?;
    if expires_in_ms.is_some_and(|ms| !(1..=EXPIRY_MS).contains(&ms)) {
        return Err(Refused::invalid_at("/expires_in_ms", format!("must be between 1 and {EXPIRY_MS}")));
    }
    if let Some(folder) = folder.clone() {
        let data = caller.app.data.clone();
        let checked = tokio::task::spawn_blocking(move || check_folder(&folder, &data)).await;
        checked.map_err(|_| Refused::from_code(Code::Internal))??;
    }
    let now = caller.app.now();
    let id: KeyId = Draw::new(caller.app.driver.clock().seed(), now).id();
    let (secret, digest) = access::draw()?;
    let new = NewKey {
        id: id.clone(),
        name,
        role: as_stored(role.unwrap_or(Role::Agent)),
        digest,
        expires_at: expires_in_ms.map(|ms| now.plus_ms(ms)),
        folder,
    };
    let key = changed(caller, &id, Input::MakeKey(new)).await?;
    Ok((StatusCode::CREATED, Json(KeyWithSecret { key, secret })))
}

/// List the keys of agents and services, oldest first.
///
/// The list includes expired keys and the last 1,000 revoked keys.
#[utoipa::path(
    get, path = "/v1/keys", tag = "keys", operation_id = "list_keys",
    responses((status = 200, description = "All keys", body = List<Key>), Reads)
)]
pub(crate) async fn list(caller: Caller) -> Answer<Json<List<Key>>> {
    let app = &caller.app;
    let items = app.driver.system().await?.keys.all().map(|key| show(app, key)).collect();
    Ok(Json(List { items, next_cursor: None }))
}

/// Read a key.
#[utoipa::path(
    get, path = "/v1/keys/{id}", tag = "keys", operation_id = "read_key",
    params(("id" = String, Path, example = "key_01k6f0000000000000000000aa")),
    responses((status = 200, description = "The key", body = Key), ReadsOne)
)]
pub(crate) async fn read(caller: Caller, Id(id): Id<KeyId>) -> Answer<Json<Key>> {
    one(&caller.app, &*caller.app.driver.system().await?, &id).map(Json)
}

/// Replace the secret of a key.
///
/// The response contains the new secret. The old secret becomes invalid immediately, or after `overlap_ms`. At that
/// time, the server closes streams and sockets that were opened with the old secret.
#[utoipa::path(
    post, path = "/v1/keys/{id}/rotate", tag = "keys", operation_id = "rotate_key",
    params(("id" = String, Path, example = "key_01k6f0000000000000000000aa")),
    request_body(content = Option<RotateKey>, description = "Optional"),
    responses((status = 200, description = "The key and its new secret", body = KeyWithSecret), RotatesKey)
)]
pub(crate) async fn rotate(caller: Caller, Id(id): Id<KeyId>, body: Body) -> Answer<Json<KeyWithSecret>> {
    let request: RotateKey =
        body.optional().await?.map(|value| read_strict(&value)).transpose()?.unwrap_or_default();
    let (secret, digest) = access::draw()?;
    let input = Input::RotateKey { key: id.clone(), digest, overlap_ms: request.overlap_ms.unwrap_or(0) };
    let key = changed(caller, &id, input).await?;
    Ok(Json(KeyWithSecret { key, secret }))
}

/// Revoke a key.
///
/// The key becomes invalid on every server that uses the journal, and its open streams and sockets are closed. Revoking
/// the key again has no further effect.
#[utoipa::path(
    delete, path = "/v1/keys/{id}", tag = "keys", operation_id = "revoke_key",
    params(("id" = String, Path, example = "key_01k6f0000000000000000000aa")),
    responses((status = 200, description = "The current key", body = Key), RevokesKey)
)]
pub(crate) async fn revoke(caller: Caller, Id(id): Id<KeyId>) -> Answer<Json<Key>> {
    changed(caller, &id, Input::RevokeKey { key: id.clone() }).await.map(Json)
}

/// Changes a key, and returns it. Waits until this server has published the change to its open streams and sockets.
async fn changed(caller: Caller, id: &KeyId, input: Input) -> Answer<Key> {
    let Caller { app, actor, .. } = caller;
    let driver = app.driver.clone();
    let system = detached(async move { driver.change_system(input, actor).await }).await?;
    access::wait_until_published(&app, system.seq).await;
    one(&app, &system, id)
}

/// Checks the folder of a key. It must be the absolute path of an existing directory, without symbolic links, and must
/// not overlap the data folder.
fn check_folder(folder: &str, data: &Path) -> Answer<()> {
    let refuse = |why: String| Err(Refused::invalid_at("/folder", why));
    if !folder.starts_with('/') {
        return refuse("must be an absolute path".to_owned());
    }
    match Workspace::open(Path::new(folder), data) {
        Ok(opened) if opened.path() == folder => Ok(()),
        Ok(opened) => refuse(format!("is not the real path of the directory: send `{}`", opened.path())),
        Err(error) => refuse(error.to_string()),
    }
}

fn one(app: &App, system: &System, id: &KeyId) -> Answer<Key> {
    let key = system.keys.get(id).ok_or_else(|| Refused::not_found("key"))?;
    Ok(show(app, key))
}

fn show(app: &App, key: &keys::Key) -> Key {
    let now = app.now();
    Key {
        id: key.id.to_string(),
        name: key.name.clone(),
        role: view::event::role(key.role),
        status: match key.status(now) {
            Status::Live => KeyStatus::Live,
            Status::Expired => KeyStatus::Expired,
            Status::Revoked => KeyStatus::Revoked,
        },
        made_at: key.made_at.to_string(),
        made_by: key.made_by.clone(),
        expires_at: key.expires_at.map(|at| at.to_string()),
        folder: key.folder.clone(),
        rotated_at: key.rotated_at.map(|at| at.to_string()),
        previous_until: key.previous_until(now).map(|at| at.to_string()),
        revoked_at: key.revoked_at.map(|at| at.to_string()),
        last_used_at: app.used.last_used_at(&key.id).map(|at| at.to_string()),
    }
}

/// Converts a role of the API to a role of the core. The core checks that a key may have the role.
fn as_stored(role: Role) -> actor::Role {
    match role {
        Role::Admin => actor::Role::Admin,
        Role::Operator => actor::Role::Operator,
        Role::Reviewer => actor::Role::Reviewer,
        Role::Agent => actor::Role::Agent,
        Role::Auditor => actor::Role::Auditor,
        Role::Engine => actor::Role::Engine,
    }
}
