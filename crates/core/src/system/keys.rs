//! Keys with which agents and services authenticate: their names, roles and secrets. The journal stores only the
//! SHA-256 of each secret.
//!
//! Each secret has 256 random bits, so nobody can guess it from its digest. The digest therefore needs no salt and no
//! key stretching. In requests with a key, the actor's id is the `name` of the key.

use std::collections::BTreeMap;

use crate::actor::Role;
use crate::digest::Digest;
use crate::id::KeyId;
use crate::limits::{KEY_FOLDER_BYTES, KEY_NAME_BYTES, KEY_OVERLAP_MS, KEYS, KEYS_REVOKED};
use crate::time::{Timestamp, format_duration};

/// Roles that a key can have. A key cannot have the role `admin`. If such a key were stolen, the thief could create
/// more keys.
pub const KEY_ROLES: [Role; 4] = [Role::Agent, Role::Operator, Role::Reviewer, Role::Auditor];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub id: KeyId,
    pub name: String,
    pub role: Role,
    pub made_at: Timestamp,
    /// Id of the actor who created the key.
    pub made_by: String,
    pub rotated_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
    /// Folder in which the server runs trials of this agent's commands. If `None`, there are no trials for this agent.
    pub folder: Option<String>,
    pub revoked_at: Option<Timestamp>,
    digest: Digest,
    previous: Option<Previous>,
}

/// Secret of a key that was replaced by a newer secret and is still valid for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Previous {
    digest: Digest,
    until: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Live,
    Expired,
    Revoked,
}

/// Result of searching a key by its secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyLookup<'a> {
    /// The key is valid until `until`, unless it is rotated or revoked earlier. If `until` is `None`, the key does not
    /// expire.
    Live { key: &'a Key, until: Option<Timestamp> },
    /// The key has expired.
    Expired,
    /// No key has this secret, or the secret was revoked or replaced by a newer one.
    Unknown,
}

/// Properties of a key that is to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewKey {
    pub id: KeyId,
    pub name: String,
    pub role: Role,
    pub digest: Digest,
    pub expires_at: Option<Timestamp>,
    pub folder: Option<String>,
}

/// Reason why an operation on a key is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error(
        "must be 1 to {KEY_NAME_BYTES} characters: lower-case letters a to z, digits, `.`, `_` and `-`, and \
         begin with a letter or digit"
    )]
    Name,
    #[error("must be `agent`, `operator`, `reviewer` or `auditor`")]
    Role,
    #[error("must be later than now")]
    Expiry,
    #[error(
        "must be the absolute path of a directory, of at most {KEY_FOLDER_BYTES} bytes, without `.`, `..` and a final \
         `/`, and not `/` itself"
    )]
    Folder,
    #[error("is only for a key with the role `agent`")]
    FolderRole,
    #[error("must be at most {}", format_duration(KEY_OVERLAP_MS))]
    Overlap,
    #[error("the limit of {KEYS} keys is reached: revoke keys that are no longer needed")]
    Limit,
    #[error("there is no key with this id")]
    Unknown,
    #[error("the key was revoked: create a new one")]
    Revoked,
    #[error("the key has expired: create a new one")]
    Expired,
    /// A key with this secret already exists: two secrets are equal by chance, or the event that created the key was
    /// replayed.
    #[error("a key with this id or secret already exists")]
    Twice,
}

impl Key {
    pub fn status(&self, now: Timestamp) -> Status {
        if self.revoked_at.is_some() {
            Status::Revoked
        } else if self.expires_at.is_some_and(|at| at <= now) {
            Status::Expired
        } else {
            Status::Live
        }
    }

    /// Returns the time until which the previous secret of the key is valid. `None` if no previous secret is valid.
    pub fn previous_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.previous.map(|previous| previous.until).filter(|until| *until > now)
    }
}

/// All keys of the installation. Revoked keys are limited to the latest [`KEYS_REVOKED`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keys {
    by_id: BTreeMap<KeyId, Key>,
    /// Ids of keys by the digests of their secrets, including expired keys.
    by_digest: BTreeMap<Digest, KeyId>,
}

impl Keys {
    pub fn get(&self, id: &KeyId) -> Option<&Key> {
        self.by_id.get(id)
    }

    /// Returns all keys in the order of their ids, the oldest first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &Key> {
        self.by_id.values()
    }

    /// Returns the valid key with this name.
    pub fn find_by_name(&self, name: &str, now: Timestamp) -> Option<&Key> {
        self.all().find(|key| key.name == name && key.status(now) == Status::Live)
    }

    /// Searches for a key by the digest of a secret.
    pub fn find(&self, digest: &Digest, now: Timestamp) -> KeyLookup<'_> {
        let Some(key) = self.by_digest.get(digest).and_then(|id| self.get(id)) else {
            return KeyLookup::Unknown;
        };
        let previous = key.previous.filter(|previous| previous.digest == *digest);
        if previous.is_some_and(|previous| previous.until <= now) {
            return KeyLookup::Unknown;
        }
        match key.status(now) {
            Status::Live => {
                let ends = [key.expires_at, previous.map(|previous| previous.until)];
                KeyLookup::Live { key, until: ends.into_iter().flatten().min() }
            }
            Status::Expired => KeyLookup::Expired,
            Status::Revoked => KeyLookup::Unknown,
        }
    }

    /// Checks that the key can be created. The caller must also check that no other key or person has the name.
    pub(super) fn may_be_made(&self, new: &NewKey, now: Timestamp) -> Result<(), Refusal> {
        if !is_name(&new.name) {
            return Err(Refusal::Name);
        }
        if !KEY_ROLES.contains(&new.role) {
            return Err(Refusal::Role);
        }
        if new.expires_at.is_some_and(|at| at <= now) {
            return Err(Refusal::Expiry);
        }
        if new.folder.is_some() && new.role != Role::Agent {
            return Err(Refusal::FolderRole);
        }
        if new.folder.as_deref().is_some_and(|folder| !is_folder(folder)) {
            return Err(Refusal::Folder);
        }
        if self.by_id.contains_key(&new.id) || self.by_digest.contains_key(&new.digest) {
            return Err(Refusal::Twice);
        }
        if self.all().filter(|key| key.revoked_at.is_none()).count() >= KEYS {
            return Err(Refusal::Limit);
        }
        Ok(())
    }

    /// Checks that the secret of the key can be replaced. Returns the time until which the current secret remains
    /// valid. `None` if the current secret becomes invalid at once.
    pub(super) fn may_be_rotated(
        &self,
        id: &KeyId,
        digest: &Digest,
        overlap_ms: u64,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, Refusal> {
        let key = self.get(id).ok_or(Refusal::Unknown)?;
        match key.status(now) {
            Status::Live => {}
            Status::Expired => return Err(Refusal::Expired),
            Status::Revoked => return Err(Refusal::Revoked),
        }
        if overlap_ms > KEY_OVERLAP_MS {
            return Err(Refusal::Overlap);
        }
        if self.by_digest.contains_key(digest) {
            return Err(Refusal::Twice);
        }
        Ok((overlap_ms > 0).then(|| now.plus_ms(overlap_ms)))
    }

    /// Returns true if the key can be revoked, false if it is already revoked.
    pub(super) fn may_be_revoked(&self, id: &KeyId) -> Result<bool, Refusal> {
        Ok(self.get(id).ok_or(Refusal::Unknown)?.revoked_at.is_none())
    }

    pub(super) fn made(&mut self, new: NewKey, by: &str, at: Timestamp) {
        let NewKey { id, name, role, digest, expires_at, folder } = new;
        self.by_digest.insert(digest, id.clone());
        let key = Key {
            id: id.clone(),
            name,
            role,
            made_at: at,
            made_by: by.to_owned(),
            rotated_at: None,
            expires_at,
            folder,
            revoked_at: None,
            digest,
            previous: None,
        };
        self.by_id.insert(id, key);
    }

    pub(super) fn rotated(&mut self, id: &KeyId, digest: Digest, until: Option<Timestamp>, at: Timestamp) {
        let Some(key) = self.by_id.get_mut(id) else { return };
        if let Some(previous) = key.previous.take() {
            self.by_digest.remove(&previous.digest);
        }
        match until {
            Some(until) => key.previous = Some(Previous { digest: key.digest, until }),
            None => drop(self.by_digest.remove(&key.digest)),
        }
        key.digest = digest;
        key.rotated_at = Some(at);
        self.by_digest.insert(digest, id.clone());
    }

    pub(super) fn revoked(&mut self, id: &KeyId, at: Timestamp) {
        let Some(key) = self.by_id.get_mut(id) else { return };
        key.revoked_at = Some(at);
        self.by_digest.remove(&key.digest);
        if let Some(previous) = key.previous.take() {
            self.by_digest.remove(&previous.digest);
        }
        let revoked = || self.by_id.values().filter_map(|key| Some((key.revoked_at?, &key.id)));
        if revoked().count() > KEYS_REVOKED
            && let Some((_, oldest)) = revoked().min()
        {
            let oldest = oldest.clone();
            self.by_id.remove(&oldest);
        }
    }
}

/// Returns true if the text is a valid name of a key. Names have only one letter case and one script, so that different
/// names do not look alike.
fn is_name(name: &str) -> bool {
    let is_first = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
    (1..=KEY_NAME_BYTES).contains(&name.len())
        && name.bytes().next().is_some_and(is_first)
        && name.bytes().all(|c| is_first(c) || b"._-".contains(&c))
}

/// Returns true if the text is the path of a folder in which the server can run trials of an agent's commands.
fn is_folder(path: &str) -> bool {
    path.len() <= KEY_FOLDER_BYTES
        && path != "/"
        && path.starts_with('/')
        && !path.chars().any(char::is_control)
        && holdshort_command::normal(path) == path
}
