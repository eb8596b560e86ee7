//! The installation: its policy rules, and the freeze that stops every new start.

use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::definition::Rule;
use crate::event::{self, Content, Event};
use crate::id::StreamId;
use crate::rights::{self, Extent, Permission};
use crate::time::Timestamp;

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
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct System {
    pub seq: u64,
    pub rules: Vec<Rule>,
    /// Counts `policy_set`: an interrupt names the version that asked.
    pub policy_version: u64,
    pub frozen: bool,
    last_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    SetPolicy { rules: Vec<Rule> },
    Freeze,
    Unfreeze,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("this role changes neither the policy nor the freeze")]
    Role,
}

impl System {
    /// Freezing what is frozen yields no event.
    pub fn handle(&self, now: Timestamp, actor: &Actor, input: Input) -> Result<Vec<Event>, Rejection> {
        let permission = match input {
            Input::SetPolicy { .. } => Permission::Administer,
            Input::Freeze | Input::Unfreeze => Permission::Halt,
        };
        if rights::extent(actor.role, permission) != Extent::All {
            return Err(Rejection::Role);
        }
        let fact = match input {
            Input::SetPolicy { rules } => (rules != self.rules).then_some(Fact::PolicySet { rules }),
            Input::Freeze => (!self.frozen).then_some(Fact::Frozen),
            Input::Unfreeze => self.frozen.then_some(Fact::Unfrozen),
        };
        Ok(fact
            .map(|fact| Event {
                stream: StreamId::System,
                at: self.last_at.map_or(now, |last| now.max(last)),
                actor: actor.clone(),
                fact: event::Fact::System(fact),
                content: Content::none(),
            })
            .into_iter()
            .collect())
    }

    pub fn apply(&mut self, fact: &Fact, at: Timestamp) {
        self.seq += 1;
        self.last_at = Some(at);
        match fact {
            Fact::PolicySet { rules } => {
                self.rules.clone_from(rules);
                self.policy_version += 1;
            }
            Fact::Frozen => self.frozen = true,
            Fact::Unfrozen => self.frozen = false,
        }
    }
}
