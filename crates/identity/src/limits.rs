//! Named limits of what somebody shows to be let in. Each is a refusal when it is hit.

use std::time::Duration;

/// A token that is looked at.
pub const TOKEN_BYTES: usize = 8 * 1_024;
/// An actor id that a token names: as long as the name of a person may be.
pub const SUBJECT_BYTES: usize = 128;
/// The display name of somebody, as long as that of a person may be; a longer one is not shown.
pub const NAME_BYTES: usize = 128;
const _: () = assert!(SUBJECT_BYTES == holdshort_core::limits::NAME_BYTES && NAME_BYTES == SUBJECT_BYTES);
/// Values of the claim of roles, and of the claim of groups.
pub const CLAIM_VALUES: usize = 500;
/// One of them.
pub const CLAIM_VALUE_BYTES: usize = 200;
/// A set of keys.
pub const JWKS_BYTES: usize = 256 * 1_024;
/// Keys of a set.
pub const JWKS_KEYS: usize = 100;
/// A whole fetch of a set.
pub const JWKS_TIME: Duration = Duration::from_secs(5);
/// How old a set may be before it is fetched again, where nothing else is configured.
pub const JWKS_AGE_SECONDS: u64 = 600;
/// The least time between two fetches of a set, where nothing else is configured.
pub const JWKS_PAUSE_SECONDS: u64 = 30;
/// How long a set counts that can not be fetched again, where nothing else is configured: a day.
pub const JWKS_KEPT_SECONDS: u64 = 86_400;
/// How far clocks may be apart, where nothing else is configured.
pub const LEEWAY_SECONDS: u64 = 60;
/// How far they may be apart at most.
pub const LEEWAY_MOST_SECONDS: u64 = 600;
/// The shortest secret of HS256, HS384 and HS512: as long as a digest of the first (RFC 7518, 3.2).
pub const SECRET_BYTES: usize = 32;
/// A file that holds a secret.
pub const SECRET_FILE_BYTES: u64 = 64 * 1_024;
/// Issuers of tokens.
pub const ISSUERS: usize = 20;
