//! Tests of the file modes that expose a secret, and of reading files with all other modes.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use holdshort_http::secret_file::{exposes_in, read, read_text};

#[test]
fn the_owner_alone_may_read_and_of_a_credential_whom_its_list_names() {
    const CREDENTIALS: &str = "/run/credentials/holdshort.service";
    let own = format!("{CREDENTIALS}/key");
    let table: &[(&str, u32, Option<&str>, bool)] = &[
        ("/etc/key", 0o600, None, false),
        ("/etc/key", 0o400, None, false),
        ("/etc/key", 0o440, None, true),
        ("/etc/key", 0o604, None, true),
        ("/etc/key", 0o440, Some(CREDENTIALS), true),
        (&own, 0o440, None, true),
        (&own, 0o440, Some(CREDENTIALS), false),
        (&own, 0o460, Some(CREDENTIALS), true),
        (&own, 0o444, Some(CREDENTIALS), true),
        ("/run/credentials/holdshort.service/deeper/key", 0o440, Some(CREDENTIALS), true),
        ("key", 0o440, Some(""), true),
    ];
    for (path, mode, credentials, exposed) in table {
        let told = exposes_in(Path::new(path), *mode, credentials.map(OsStr::new));
        assert_eq!(told, *exposed, "{path} {mode:03o} {credentials:?}");
    }
}

#[test]
fn a_secret_is_read_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    // Content of the file, mode of the file, and the result with a limit of four bytes.
    let table: &[(&[u8], u32, Result<&str, &str>)] = &[
        (b"abcd", 0o600, Ok("abcd")),
        (b" ab\n", 0o400, Ok("ab")),
        (b"abcde", 0o600, Err("has more than 4 bytes")),
        (b"ab", 0o640, Err("is readable by others (mode 640): run `chmod 600`")),
        (b" \n", 0o600, Err("is empty")),
        (b"\xff", 0o600, Err("holds no text")),
    ];
    for (held, mode, wanted) in table {
        let _ = fs::remove_file(&path);
        fs::write(&path, held).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(*mode)).unwrap();
        let text = read_text(&path, 4).map_err(|error| error.to_string());
        assert_eq!(text.as_deref().map_err(String::as_str), *wanted);
        let is_read = held.len() <= 4 && *mode != 0o640;
        assert_eq!(read(&path, 4).ok().as_deref(), is_read.then_some(*held));
    }
    fs::remove_file(&path).unwrap();
    assert!(read(&path, 4).unwrap_err().to_string().starts_with("cannot be read: "));
}
