//! Limits of API keys, webhooks and browsers with push notifications.

/// Maximum active keys of agents and services. A further one is refused with `limit_reached`: revoke keys that are no
/// longer needed.
pub const KEYS: usize = 1_000;

/// Maximum webhooks that are registered with the API. A further one is refused with `invalid_request`: remove one.
pub const WEBHOOKS: usize = 50;

/// Maximum browsers with push notifications. A further one is refused with `invalid_request`.
pub const PUSH: usize = 5_000;

/// Maximum browsers of one person with push notifications. A further one replaces the oldest.
pub const PUSH_OF_PERSON: usize = 10;

/// Maximum revoked keys in the list of keys. The key that was revoked first leaves the list; the journal keeps it.
pub const KEYS_REVOKED: usize = 1_000;

/// Maximum bytes of the name of a key. A longer name is refused with `invalid_request`.
pub const KEY_NAME_BYTES: usize = 64;

/// Maximum time for which a replaced secret stays valid. A longer time is refused with `invalid_request`.
pub const KEY_OVERLAP_MS: u64 = 30 * 24 * 60 * 60 * 1_000;
