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

/// What a provider says of itself.
pub const DISCOVERY_BYTES: usize = 256 * 1_024;
/// How old that may be before it is asked again: an hour.
pub const DISCOVERY_AGE: Duration = Duration::from_hours(1);
/// How long it counts on while the provider can not be asked: a day.
pub const DISCOVERY_KEPT: Duration = Duration::from_hours(24);
/// The least time between two questions.
pub const DISCOVERY_PAUSE: Duration = Duration::from_secs(2);
/// An answer of a provider with tokens.
pub const PROVIDER_BYTES: usize = 256 * 1_024;
/// A whole question to a provider.
pub const PROVIDER_TIME: Duration = Duration::from_secs(10);
/// How long somebody is signed in who signed in at a provider, where nothing else is configured: 12 hours.
pub const SESSION_SECONDS: u64 = 12 * 3_600;
/// How long they are at most: 30 days.
pub const SESSION_MOST_SECONDS: u64 = 30 * 24 * 3_600;
