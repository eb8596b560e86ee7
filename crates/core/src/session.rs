//! Sessions: conversations with a person. Holds grants; a run of the session reads them as its context.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::actor::{Actor, Role};
use crate::event::{self, Content, Event};
use crate::gate::Matcher;
use crate::id::{GrantId, InterruptId, RunId, SessionId, StreamId};
use crate::time::Timestamp;

/// What happened in a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "facts", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fact {
    /// A person allowed a kind of call for the rest of the session.
    GrantAdded {
        grant: GrantId,
        matcher: Matcher,
        run: RunId,
        interrupt: InterruptId,
    },
    GrantRevoked {
        grant: GrantId,
    },
}

/// A remembered decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    pub id: GrantId,
    pub matcher: Matcher,
    pub owner: String,
    pub run: RunId,
    pub interrupt: InterruptId,
    pub added_at: Timestamp,
    pub added_seq: u64,
    pub revoked_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    pub id: SessionId,
    pub seq: u64,
    pub last_at: Timestamp,
    pub grants: BTreeMap<GrantId, Grant>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    Revoke { grant: GrantId },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("only an operator revokes a grant")]
    Role,
    #[error("this session has no such grant")]
    UnknownGrant,
}

impl Session {
    pub fn new(id: SessionId) -> Self {
        Self { id, seq: 0, last_at: Timestamp::from_millis(0), grants: BTreeMap::new() }
    }

    /// Revoking twice is the same as once: the second yields no event.
    pub fn handle(&self, now: Timestamp, actor: &Actor, input: Input) -> Result<Vec<Event>, Rejection> {
        match input {
            Input::Revoke { grant } => {
                if actor.role != Role::Operator {
                    return Err(Rejection::Role);
                }
                let standing = self.grants.get(&grant).ok_or(Rejection::UnknownGrant)?;
                if standing.revoked_at.is_some() {
                    return Ok(Vec::new());
                }
                Ok(vec![self.event(now, actor, Fact::GrantRevoked { grant })])
            }
        }
    }

    /// An event of this session, not applied yet.
    pub fn event(&self, now: Timestamp, actor: &Actor, fact: Fact) -> Event {
        Event {
            stream: StreamId::Session(self.id.clone()),
            at: now.max(self.last_at),
            actor: actor.clone(),
            fact: event::Fact::Session(fact),
            content: Content::none(),
        }
    }

    pub fn apply(&mut self, fact: &Fact, at: Timestamp, actor: &Actor) {
        self.seq += 1;
        self.last_at = at;
        match fact {
            Fact::GrantAdded { grant, matcher, run, interrupt } => {
                self.grants.insert(
                    grant.clone(),
                    Grant {
                        id: grant.clone(),
                        matcher: matcher.clone(),
                        owner: actor.id.clone(),
                        run: run.clone(),
                        interrupt: interrupt.clone(),
                        added_at: at,
                        added_seq: self.seq,
                        revoked_at: None,
                    },
                );
            }
            Fact::GrantRevoked { grant } => {
                if let Some(grant) = self.grants.get_mut(grant) {
                    grant.revoked_at = Some(at);
                }
            }
        }
    }

    /// Grants that still hold.
    pub fn standing(&self) -> impl Iterator<Item = &Grant> {
        self.grants.values().filter(|grant| grant.revoked_at.is_none())
    }
}
