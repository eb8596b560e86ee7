//! People who authenticate with tokens of an issuer. Contains the issuer's tokens, and makes a server trust the issuer.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use holdshort_testkit::issuer::Signer;
use holdshort_testkit::server::TestServer;
use serde_json::json;

/// Secret key with which the issuer signs tokens and the server verifies them.
const SECRET: &[u8] = b"a secret of forty bytes, for tests alone";

const CONFIG: &str = r#"
[[identity.jwt]]
issuer = "https://issuer.example"
audience = ["holdshort"]
algorithms = ["HS256"]
secret_file = "issuer.secret"
roles = { readers = "reviewer" }
"#;

pub(crate) fn trust_issuer(server: &TestServer) {
    for (name, bytes) in [("issuer.secret", SECRET), ("holdshort.toml", CONFIG.as_bytes())] {
        let path = server.data().join(name);
        std::fs::write(&path, bytes).expect("written");
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("changed");
    }
}

/// Returns a token of a person with the role reviewer that is valid for 50 minutes. `now` is the server's time in
/// seconds since 1970.
pub(crate) fn token(who: &str, groups: &[&str], now: i64) -> String {
    let claims = json!({
        "iss": "https://issuer.example", "aud": "holdshort", "sub": who, "roles": ["readers"], "groups": groups,
        "iat": now, "exp": now + 3_000,
    });
    Signer::secret(SECRET).token(&json!({"alg": "HS256", "typ": "JWT"}), &claims)
}
