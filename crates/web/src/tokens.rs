//! The two tokens in the data folder: one for the operator, and one for agents. The tokens are created
//! once and stored in `tokens.json` of the data folder. The tokens must never be logged or shown.

use std::path::Path;

use holdshort_core::actor::Role;
use holdshort_core::digest::Digest;
use holdshort_store::Store;
use serde::{Deserialize, Serialize};

use crate::identity::{AuthMethod, Principal};
use crate::secrets::{self, Error};

const FILE: &str = "tokens.json";
const MEND: &str = "If others may have read the file, or if it is damaged, delete it; new tokens are \
    created at the next start. Nodes also store their tokens in their shared database; docs/nodes.md \
    explains how to replace them";
/// Name under which nodes with a common database store the tokens that they share.
const AGREED: &str = "tokens";
/// Minimum length of the operator's and the agents' token, in bytes. An attacker could guess a shorter token.
const TOKEN_BYTES: usize = 32;

/// Content of the file `tokens.json`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    operator: String,
    agent: String,
}

pub struct Tokens {
    pub operator: String,
    pub agent: String,
    operator_digest: Digest,
    agent_digest: Digest,
}

impl Tokens {
    /// Reads the tokens from `tokens.json`, or creates the file if it is missing. The caller must have locked the data
    /// folder.
    pub fn open(data: &Path) -> Result<Self, Error> {
        let path = data.join(FILE);
        let stored = match secrets::read::<Stored>(&path, MEND)? {
            Some(stored) if stored.is_sound() => stored,
            Some(_) => return Err(Error::Malformed { path, mend: MEND }),
            None => {
                let stored = Stored {
                    operator: format!("hs_op_{}", secrets::draw()?),
                    agent: format!("hs_ag_{}", secrets::draw()?),
                };
                secrets::write(&path, &stored)?;
                stored
            }
        };
        Ok(Self::from_stored(stored))
    }

    /// Replaces the tokens with those of the first node, if several nodes share a database. Writes the new tokens into
    /// `tokens.json`.
    pub async fn agree<E>(self, data: &Path, store: &Store) -> Result<Self, E>
    where
        E: From<Error> + From<holdshort_store::Error>,
    {
        let offered = format!("{} {}", self.operator, self.agent);
        let agreed = store.agree(AGREED, &offered).await?;
        if agreed == offered {
            return Ok(self);
        }
        let stored = Stored::agreed(&agreed).ok_or(Error::Disagreed { name: AGREED })?;
        tracing::warn!(
            "this node now uses the tokens that the other nodes share; docs/nodes.md explains how to \
            replace them"
        );
        secrets::write(&data.join(FILE), &stored)?;
        Ok(Self::from_stored(stored))
    }

    fn from_stored(stored: Stored) -> Self {
        Self {
            operator_digest: Digest::of_bytes(stored.operator.as_bytes()),
            agent_digest: Digest::of_bytes(stored.agent.as_bytes()),
            operator: stored.operator,
            agent: stored.agent,
        }
    }

    /// Returns the principal of the operator's or the agents' token, or `None` for any other token. Compares digests,
    /// so that the duration reveals nothing about the tokens.
    pub fn principal_of(&self, token: &str) -> Option<Principal> {
        let digest = Digest::of_bytes(token.as_bytes());
        if digest == self.operator_digest {
            Some(Principal::local_operator(AuthMethod::Token))
        } else {
            (digest == self.agent_digest).then(|| Principal::of_role(Role::Agent))
        }
    }
}

impl Stored {
    /// Parses the tokens as stored in the database: the operator's and the agents' token, separated by a space.
    fn agreed(text: &str) -> Option<Self> {
        let (operator, agent) = text.split_once(' ')?;
        let stored = Self { operator: operator.to_owned(), agent: agent.to_owned() };
        stored.is_sound().then_some(stored)
    }

    fn is_sound(&self) -> bool {
        let Self { operator, agent } = self;
        operator.len() >= TOKEN_BYTES && agent.len() >= TOKEN_BYTES && operator != agent
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn tokens_are_made_once() {
        let data = tempfile::tempdir().unwrap();
        let first = Tokens::open(data.path()).unwrap();
        let second = Tokens::open(data.path()).unwrap();
        assert_eq!((&first.operator, &first.agent), (&second.operator, &second.agent));
        assert_eq!((first.operator.len(), &first.operator[..6], &first.agent[..6]), (70, "hs_op_", "hs_ag_"));
        let who = [&*first.operator, &*first.agent, "hs_op_", ""].map(|token| second.principal_of(token));
        let operator = Principal::local_operator(AuthMethod::Token);
        assert_eq!(who, [Some(operator), Some(Principal::of_role(Role::Agent)), None, None]);
    }

    #[test]
    fn what_nodes_agree_on_is_two_tokens() {
        let data = tempfile::tempdir().unwrap();
        let Tokens { operator, agent, .. } = Tokens::open(data.path()).unwrap();
        assert!(Stored::agreed(&format!("{operator} {agent}")).is_some());
        for broken in ["", " ", &operator, &format!("{operator} "), &format!("{operator} {operator}")] {
            assert!(Stored::agreed(broken).is_none(), "{broken}");
        }
    }

    #[test]
    fn a_file_that_holds_something_else_is_never_replaced() {
        for text in ["", "{}", r#"{"operator":"short","agent":"hs_ag_00000000000000000000000000000000"}"#] {
            let data = tempfile::tempdir().unwrap();
            let path = data.path().join(FILE);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            assert!(matches!(Tokens::open(data.path()), Err(Error::Malformed { .. })), "{text}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}
