//! Trial of a call of an external agent: the facts that the gates vote on, and the digests that an approval is bound to.
//!
//! The server runs the trial before it opens the interrupt, and the interrupt stores the result. The agent receives the
//! released changes with a one-time secret. The journal stores only the secret's digest.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::changeset::Changeset;
use crate::digest::Digest;

/// Digests of a trial. They are part of the call, so an approval of the call is bound to its changes and output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialDigests {
    /// Digest of the changes that the agent carries out: all changes of the trial, or those that the approver kept.
    pub changeset: Digest,
    pub output: Digest,
    /// Digest of the environment variables of the command.
    pub environment: Digest,
}

/// Result of a trial, as the interrupt of the call stores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForeignTrial {
    /// Digest of the secret with which the agent uses the approval.
    pub secret: Digest,
    pub changeset: Changeset,
    /// Codes of findings about the changes. For each finding, a person is asked about the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ask_because: Vec<String>,
    pub exit_code: i32,
    pub environment: Digest,
    /// Device and inode of the folder in which the command was tried, as `DEVICE:INODE`.
    pub root: String,
    /// Digests of what the command printed on each stream.
    pub stdout: Digest,
    pub stderr: Digest,
}

impl ForeignTrial {
    pub fn digests(&self) -> TrialDigests {
        TrialDigests {
            changeset: self.changeset.digest(),
            output: self.output_digest(),
            environment: self.environment,
        }
    }

    /// Returns the digest of both streams and the exit code.
    fn output_digest(&self) -> Digest {
        Digest::of_json(&json!({
            "stdout": self.stdout, "stderr": self.stderr, "exit_code": self.exit_code,
        }))
    }

    /// Returns true if the text is the secret of this trial. The time that the comparison takes does not depend on
    /// where the digests differ.
    pub fn is_secret(&self, text: &str) -> bool {
        let given = Digest::of_bytes(text.as_bytes());
        let differing =
            given.as_bytes().iter().zip(self.secret.as_bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        differing == 0
    }
}

/// Facts about the changes of an external agent's call, besides the call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    pub trial: Option<&'a ForeignTrial>,
    /// Reason why the call was not tried although the agent requested a trial.
    pub untried: Option<&'a str>,
}

/// Trial that an agent requested, for the interrupt that asks about the call.
#[derive(Clone, Debug, PartialEq)]
pub enum AskedTrial {
    Tried(Box<TriedCall>),
    /// The call could not be tried. Contains the reason.
    Untried(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct TriedCall {
    pub trial: ForeignTrial,
    /// Output of each stream, in base64. Stored as erasable content.
    pub streams: Streams,
    /// Description of the changes for the card.
    pub card: Value,
}

/// Output of a command, in base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Streams {
    pub stdout: String,
    pub stderr: String,
}

impl AskedTrial {
    pub fn evidence(&self) -> Evidence<'_> {
        match self {
            Self::Tried(tried) => Evidence { trial: Some(&tried.trial), untried: None },
            Self::Untried(why) => Evidence { trial: None, untried: Some(why) },
        }
    }
}
