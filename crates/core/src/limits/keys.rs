//! Limits of API keys, webhooks and browsers with push notifications.

/// Maximum number of active keys of agents and services. A further key is refused with `limit_reached`: revoke keys
/// that are no longer needed.
pub const KEYS: usize = 1_000;

/// Maximum number of webhooks registered over the API. A further webhook is refused with `invalid_request`: remove a
/// webhook.
pub const WEBHOOKS: usize = 50;

/// Maximum number of browsers with push notifications. A further browser is refused with `invalid_request`.
pub const PUSH: usize = 5_000;

/// Maximum number of browsers of one person with push notifications. A further browser replaces the person's oldest
/// browser.
pub const PUSH_OF_PERSON: usize = 10;

/// Maximum number of revoked keys in the list of keys. The list omits the keys that were revoked first; the journal
/// keeps them.
pub const KEYS_REVOKED: usize = 1_000;

/// Maximum bytes of the name of a key. A longer name is refused with `invalid_request`.
pub const KEY_NAME_BYTES: usize = 64;

/// Maximum time for which a replaced secret stays valid. A longer time is refused with `invalid_request`.
pub const KEY_OVERLAP_MS: u64 = 30 * 24 * 60 * 60 * 1_000;

/// Maximum bytes of the path of a key's folder. A longer path is refused with `invalid_request`.
pub const KEY_FOLDER_BYTES: usize = 4_096;
