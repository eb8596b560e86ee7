//! The installation: its policy rules, the freeze that stops every new start, and the keys of agents and services.

pub mod keys;

use serde::{Deserialize, Serialize};

use crate::actor::{self, Actor, Role};
use crate::definition::Rule;
use crate::digest::Digest;
use crate::event::{self, Content, Event};
use crate::id::{KeyId, StreamId};
use crate::rights::{self, Extent, Permission};
use crate::time::Timestamp;
use keys::{Keys, NewKey};

/// What happened to the installation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "facts", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fact {
    /// The rules that hold for every run, before those of its workflow.
    PolicySet {
        rules: Vec<Rule>,
    },
    /// No tool and no model call starts from here on.
    Frozen,
    Unfrozen,
    /// Whoever shows the secret of this digest is `name` from here on.
    KeyMade {
        key: KeyId,
        name: String,
        role: Role,
        digest: Digest,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
    },
    /// The secret of this digest counts from here on; the one before until `previous_until`, or no more.
    KeyRotated {
        key: KeyId,
        digest: Digest,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        previous_until: Option<Timestamp>,
    },
    /// No secret of the key counts any more.
    KeyRevoked {
        key: KeyId,
    },
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct System {
    pub seq: u64,
    pub rules: Vec<Rule>,
    /// Counts `policy_set`: an interrupt names the version that asked.
    pub policy_version: u64,
    pub frozen: bool,
    pub keys: Keys,
    last_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    SetPolicy { rules: Vec<Rule> },
    Freeze,
    Unfreeze,
    MakeKey(NewKey),
    RotateKey { key: KeyId, digest: Digest, overlap_ms: u64 },
    RevokeKey { key: KeyId },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("this role does not change that of the installation")]
    Role,
    #[error(transparent)]
    Key(#[from] keys::Refusal),
}

impl System {
    /// What changes nothing, such as freezing what is frozen, yields no event.
    pub fn handle(&self, now: Timestamp, actor: &Actor, input: Input) -> Result<Vec<Event>, Rejection> {
        let permission = match input {
            Input::SetPolicy { .. }
            | Input::MakeKey(_)
            | Input::RotateKey { .. }
            | Input::RevokeKey { .. } => Permission::Administer,
            Input::Freeze | Input::Unfreeze => Permission::Halt,
        };
        if rights::extent(actor.role, permission) != Extent::All {
            return Err(Rejection::Role);
        }
        let now = self.last_at.map_or(now, |last| now.max(last));
        let fact = match input {
            Input::SetPolicy { rules } => (rules != self.rules).then_some(Fact::PolicySet { rules }),
            Input::Freeze => (!self.frozen).then_some(Fact::Frozen),
            Input::Unfreeze => self.frozen.then_some(Fact::Unfrozen),
            Input::MakeKey(new) => {
                self.keys.may_be_made(&new, now)?;
                if let Some(who) = self.whose(&new.name, now) {
                    return Err(keys::Refusal::NameTaken { name: new.name, who }.into());
                }
                let NewKey { id, name, role, digest, expires_at } = new;
                Some(Fact::KeyMade { key: id, name, role, digest, expires_at })
            }
            Input::RotateKey { key, digest, overlap_ms } => {
                let previous_until = self.keys.may_be_rotated(&key, &digest, overlap_ms, now)?;
                Some(Fact::KeyRotated { key, digest, previous_until })
            }
            Input::RevokeKey { key } => self.keys.may_be_revoked(&key)?.then_some(Fact::KeyRevoked { key }),
        };
        Ok(fact
            .map(|fact| Event {
                stream: StreamId::System,
                at: now,
                actor: actor.clone(),
                fact: event::Fact::System(fact),
                content: Content::none(),
            })
            .into_iter()
            .collect())
    }

    pub fn apply(&mut self, fact: &Fact, by: &Actor, at: Timestamp) {
        self.seq += 1;
        self.last_at = Some(at);
        match fact {
            Fact::PolicySet { rules } => {
                self.rules.clone_from(rules);
                self.policy_version += 1;
            }
            Fact::Frozen => self.frozen = true,
            Fact::Unfrozen => self.frozen = false,
            Fact::KeyMade { key, name, role, digest, expires_at } => {
                let new = NewKey {
                    id: key.clone(),
                    name: name.clone(),
                    role: *role,
                    digest: *digest,
                    expires_at: *expires_at,
                };
                self.keys.made(new, &by.id, at);
            }
            Fact::KeyRotated { key, digest, previous_until } => {
                self.keys.rotated(key, *digest, *previous_until, at);
            }
            Fact::KeyRevoked { key } => self.keys.revoked(key, at),
        }
    }

    /// Whose name this is, as the rest of a sentence that begins with it; `None` where it is nobody's. The one place
    /// that knows: no two who act here are called the same.
    pub fn whose(&self, name: &str, now: Timestamp) -> Option<&'static str> {
        if actor::RESERVED.contains(&name) {
            Some("is a name of Holdshort's own")
        } else if self.keys.named(name, now).is_some() {
            Some("is the name of another key")
        } else {
            None
        }
    }
}
