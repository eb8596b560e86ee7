//! The key with which this server signs checkpoints. The key is created at the first start and stored in the data
//! directory.

use std::io;
use std::path::Path;

use data_encoding::BASE64;
use holdshort_engine::evidence::Signer;
use holdshort_web::secrets::{self, Error};
use serde::{Deserialize, Serialize};

pub(crate) const FILE: &str = "checkpoint_key.json";
const MEND: &str = "If the file is damaged, or another person may have read it, delete the file; the next \
    start creates a new signing key";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    /// Private key for signing checkpoints (PKCS #8) in base64.
    pkcs8: String,
}

/// Reads the key that signs checkpoints from its file, or creates a key if the file is missing. If the file was
/// deleted, all further checkpoints are signed with a new key.
pub(crate) fn open(data: &Path) -> Result<Signer, Error> {
    let path = data.join(FILE);
    let malformed = || Error::Malformed { path: path.clone(), mend: MEND };
    let pkcs8 = if let Some(stored) = secrets::read::<Stored>(&path, MEND)? {
        BASE64.decode(stored.pkcs8.as_bytes()).map_err(|_| malformed())?
    } else {
        let drawn = Signer::draw().map_err(io::Error::other);
        let pkcs8 = drawn.map_err(|source| Error::Io { path: path.clone(), source })?;
        secrets::write(&path, &Stored { pkcs8: BASE64.encode(&pkcs8) })?;
        pkcs8
    };
    Signer::from_pkcs8(&pkcs8).map_err(|_| malformed())
}
