//! Named limits of credentials. Hitting one is a refusal.

use std::time::Duration;

/// Size of a token.
pub const TOKEN_BYTES: usize = 8 * 1_024;
/// Length of an actor id in a token, the same as for a person's name.
pub const SUBJECT_BYTES: usize = 128;
/// Length of a display name, the same as for a person. A longer one is not shown.
pub const NAME_BYTES: usize = 128;
const _: () = assert!(SUBJECT_BYTES == holdshort_core::limits::NAME_BYTES && NAME_BYTES == SUBJECT_BYTES);
/// Values of the claim of roles, and of the claim of groups.
pub const CLAIM_VALUES: usize = 500;
/// Length of one such value.
pub const CLAIM_VALUE_BYTES: usize = 200;
/// Size of a set of keys.
pub const JWKS_BYTES: usize = 256 * 1_024;
/// Keys of a set.
pub const JWKS_KEYS: usize = 100;
/// Time limit for fetching a set.
pub const JWKS_TIME: Duration = Duration::from_secs(5);
/// Age at which a set is fetched again, if nothing else is configured.
pub const JWKS_AGE_SECONDS: u64 = 600;
/// Minimum time between two fetches of a set, if nothing else is configured.
pub const JWKS_PAUSE_SECONDS: u64 = 30;
/// Age up to which a set is valid that cannot be fetched again, if nothing else is configured: a day.
pub const JWKS_KEPT_SECONDS: u64 = 86_400;
/// Accepted difference between clocks, if nothing else is configured.
pub const LEEWAY_SECONDS: u64 = 60;
/// Maximum of the accepted difference.
pub const LEEWAY_MOST_SECONDS: u64 = 600;
/// Minimum length of a secret for HS256, HS384 and HS512: as long as a digest of the first (RFC 7518, 3.2).
pub const SECRET_BYTES: usize = 32;
/// Size of a file that holds a secret.
pub const SECRET_FILE_BYTES: u64 = 64 * 1_024;
/// Issuers of tokens.
pub const ISSUERS: usize = 20;

/// Size of a provider's configuration.
pub const DISCOVERY_BYTES: usize = 256 * 1_024;
/// Age at which the configuration is fetched again: an hour.
pub const DISCOVERY_AGE: Duration = Duration::from_hours(1);
/// Age up to which the configuration is valid while the provider is unreachable: a day.
pub const DISCOVERY_KEPT: Duration = Duration::from_hours(24);
/// Minimum time between two fetches.
pub const DISCOVERY_PAUSE: Duration = Duration::from_secs(2);
/// Size of a provider's answer with tokens.
pub const PROVIDER_BYTES: usize = 256 * 1_024;
/// Time limit for a request to a provider.
pub const PROVIDER_TIME: Duration = Duration::from_secs(10);
/// Validity of a login after a sign-in at a provider, if nothing else is configured: 12 hours.
pub const SESSION_SECONDS: u64 = 12 * 3_600;
/// Maximum of that validity: 30 days.
pub const SESSION_MOST_SECONDS: u64 = 30 * 24 * 3_600;
