//! People whom an issuer of tokens vouches for: the server that believes it, and their tokens.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use holdshort_testkit::issuer::Signer;
use holdshort_testkit::server::TestServer;
use serde_json::json;

/// What the issuer shares with the server.
const SECRET: &[u8] = b"a secret of forty bytes, for tests alone";

const CONFIG: &str = r#"
[[identity.jwt]]
issuer = "https://issuer.example"
audience = ["holdshort"]
algorithms = ["HS256"]
secret_file = "issuer.secret"
roles = { readers = "reviewer" }
"#;

/// The server believes the issuer from its next start on.
pub(crate) fn believe(server: &TestServer) {
    for (name, bytes) in [("issuer.secret", SECRET), ("holdshort.toml", CONFIG.as_bytes())] {
        let path = server.data().join(name);
        std::fs::write(&path, bytes).expect("written");
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("changed");
    }
}

/// The token of a reviewer, for 50 minutes. `now`: seconds after 1970, by the clock of the server.
pub(crate) fn token(who: &str, groups: &[&str], now: i64) -> String {
    let claims = json!({
        "iss": "https://issuer.example", "aud": "holdshort", "sub": who, "roles": ["readers"], "groups": groups,
        "iat": now, "exp": now + 3_000,
    });
    Signer::secret(SECRET).token(&json!({"alg": "HS256", "typ": "JWT"}), &claims)
}
