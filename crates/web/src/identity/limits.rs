//! Named limits of credentials. Exceeding a limit is a refusal.

use std::time::Duration;

/// Maximum number of bytes of a token. A larger token is refused with `unauthenticated`.
pub const TOKEN_BYTES: usize = 8 * 1_024;
/// Maximum number of bytes of a token's subject (`sub`), including the prefix of its issuer. A token with a longer
/// subject is refused with `unauthenticated`.
pub const SUBJECT_BYTES: usize = 128;
/// Maximum number of bytes of the display name in a token. A longer name is not shown.
pub const NAME_BYTES: usize = 128;
const _: () = assert!(SUBJECT_BYTES == holdshort_core::limits::NAME_BYTES && NAME_BYTES == SUBJECT_BYTES);
/// Maximum number of roles in a token, and maximum number of groups in a token. A token with more roles or groups is
/// refused with `unauthenticated`.
pub const CLAIM_VALUES: usize = 500;
/// Maximum number of bytes of a role or group in a token. A token with a longer role or group is refused with
/// `unauthenticated`.
pub const CLAIM_VALUE_BYTES: usize = 200;
/// Maximum number of bytes of the key set of an issuer. A larger key set is refused, and the previous key set stays
/// valid.
pub const JWKS_BYTES: usize = 256 * 1_024;
/// Maximum number of keys in a key set. A key set with more keys is refused.
pub const JWKS_KEYS: usize = 100;
/// Time limit for fetching a key set. After this time, the fetch fails.
pub const JWKS_TIME: Duration = Duration::from_secs(5);
/// Default of `jwks_max_age_s`: age at which a key set is fetched again.
pub const JWKS_AGE_SECONDS: u64 = 600;
/// Default of `jwks_pause_s`: minimum time between two fetches of a key set. Until then, the cached key set is used.
pub const JWKS_PAUSE_SECONDS: u64 = 30;
/// Default of `jwks_keep_s`: maximum age of a key set while new fetches fail. After this time, tokens are refused
/// with `identity_unavailable` (503).
pub const JWKS_KEPT_SECONDS: u64 = 86_400;
/// Default of `leeway_s`: accepted difference between the clocks of the issuer and this server. With a larger
/// difference, a token is refused with `unauthenticated` or `credential_expired` (401).
pub const LEEWAY_SECONDS: u64 = 60;
/// Maximum of `leeway_s`. With a higher value, the server does not start.
pub const LEEWAY_MOST_SECONDS: u64 = 600;
/// Minimum number of bytes of a secret for HS256, HS384 and HS512 (RFC 7518, 3.2). With a shorter secret, the server
/// does not start.
pub const SECRET_BYTES: usize = 32;
/// Maximum number of bytes of a file with a secret. With a larger file, the server does not start.
pub const SECRET_FILE_BYTES: u64 = 64 * 1_024;
/// Maximum number of issuers of tokens. With more issuers, the server does not start.
pub const ISSUERS: usize = 20;

/// Maximum number of bytes of a provider's configuration. With a larger configuration, sign-ins are refused with
/// `identity_unavailable` (503).
pub const DISCOVERY_BYTES: usize = 256 * 1_024;
/// Age at which the configuration of an identity provider is fetched again.
pub const DISCOVERY_AGE: Duration = Duration::from_hours(1);
/// Maximum age of a provider's configuration while new fetches fail. After this time, sign-ins are refused with
/// `identity_unavailable` (503).
pub const DISCOVERY_KEPT: Duration = Duration::from_hours(24);
/// Minimum time between two fetches of a provider's configuration. Until then, the cached configuration is used.
pub const DISCOVERY_PAUSE: Duration = Duration::from_secs(2);
/// Maximum number of bytes of a provider's response with tokens. With a larger response, the sign-in is refused with
/// `identity_unavailable` (503).
pub const PROVIDER_BYTES: usize = 256 * 1_024;
/// Time limit of a request to a provider. After this time, the sign-in is refused with `identity_unavailable` (503).
pub const PROVIDER_TIME: Duration = Duration::from_secs(10);
/// Default of `session_s`: validity of a login through a provider. After this time, the browser is signed out.
pub const SESSION_SECONDS: u64 = 12 * 3_600;
/// Maximum of `session_s`. With a higher value, the server does not start.
pub const SESSION_MOST_SECONDS: u64 = 30 * 24 * 3_600;
