//! The key with which this server signs checkpoints: made at its first start, kept in its data folder.

use std::path::Path;

use data_encoding::BASE64;
use holdshort_engine::evidence::Signer;
use holdshort_web::secrets::{self, Error};
use serde::{Deserialize, Serialize};

pub(crate) const FILE: &str = "checkpoint_key.json";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    /// In base64.
    pkcs8: String,
}

/// Where the file was taken away, another key signs from here on.
pub(crate) fn open(data: &Path) -> Result<Signer, Error> {
    let path = data.join(FILE);
    let malformed = || Error::Malformed { path: path.clone() };
    let pkcs8 = if let Some(stored) = secrets::read::<Stored>(&path)? {
        BASE64.decode(stored.pkcs8.as_bytes()).map_err(|_| malformed())?
    } else {
        let pkcs8 = Signer::draw().map_err(|_| malformed())?;
        secrets::write(&path, &Stored { pkcs8: BASE64.encode(&pkcs8) })?;
        pkcs8
    };
    Signer::of(&pkcs8).map_err(|_| malformed())
}
