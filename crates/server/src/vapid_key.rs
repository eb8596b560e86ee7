//! The key with which this server identifies itself to push services (VAPID). The key is created at the first start and
//! stored in the data folder. All nodes that use a journal share the key, because a browser accepts only messages that
//! are signed with the key with which it was subscribed.

use std::io;
use std::path::Path;

use data_encoding::BASE64;
use holdshort_notify::Vapid;
use holdshort_store::Store;
use holdshort_web::secrets::{self, Error};
use serde::{Deserialize, Serialize};

use crate::server::StartError;

const FILE: &str = "vapid_key.json";
const MEND: &str = "If the file is damaged, or another person may have read it, delete the file; the next \
    start creates a new key, and browsers must subscribe again. Nodes also store the key in their shared \
    database; docs/nodes.md names the row";
/// Name under which nodes with a common database store the VAPID key.
const AGREED: &str = "vapid_key";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    /// Private VAPID key (PKCS #8) in base64.
    pkcs8: String,
}

/// Reads the VAPID key from its file, or creates it if the file is missing. A key in the shared database takes
/// precedence and is written to the file. After a new key is created, browsers must subscribe again.
pub(crate) async fn open(data: &Path, store: &Store) -> Result<Vapid, StartError> {
    let path = data.join(FILE);
    let stored = if let Some(stored) = secrets::read::<Stored>(&path, MEND)? {
        stored
    } else {
        let drawn = Vapid::draw().map_err(io::Error::other);
        let pkcs8 = drawn.map_err(|source| Error::Io { path: path.clone(), source })?;
        let stored = Stored { pkcs8: BASE64.encode(&pkcs8) };
        secrets::write(&path, &stored)?;
        stored
    };
    let agreed = store.agree(AGREED, &stored.pkcs8).await?;
    let vapid = BASE64.decode(agreed.as_bytes()).ok().and_then(|pkcs8| Vapid::from_pkcs8(&pkcs8).ok());
    let vapid = vapid.ok_or_else(|| Error::Malformed { path: path.clone(), mend: MEND })?;
    if agreed != stored.pkcs8 {
        secrets::write(&path, &Stored { pkcs8: agreed })?;
    }
    Ok(vapid)
}
