//! Which files of secrets others may read.

use std::ffi::OsStr;
use std::path::Path;

use holdshort_http::secret_file::exposes_in;

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
