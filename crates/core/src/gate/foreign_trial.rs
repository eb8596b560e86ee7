//! Trial of a call of an external agent: the facts on which the gates vote, and the digests to which an approval is
//! bound.
//!
//! The server runs the trial before it opens the interrupt, and the interrupt stores the result. After an approval, the
//! agent sends a one-time secret to get the approved changes. The journal stores only the digest of the secret.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::changeset::Changeset;
use crate::digest::Digest;

/// Digests of a trial. The digests are part of the call. An approval of the call is therefore valid only for these
/// changes and this output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialDigests {
    /// Digest of the changes that the agent may write: all changes of the trial, or only the changes that the approver
    /// chose.
    pub changeset: Digest,
    pub output: Digest,
    /// Digest of the environment variables with which the command ran.
    pub environment: Digest,
}

/// Result of a trial, as the interrupt about the call stores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForeignTrial {
    /// Digest of the secret that the agent sends to use the approval.
    pub secret: Digest,
    pub changeset: Changeset,
    /// Codes of the risks that were found in the changes of the trial. For each of these risks, the gates ask a person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ask_because: Vec<String>,
    pub exit_code: i32,
    pub environment: Digest,
    /// Device and inode of the folder in which the command was tried, as `DEVICE:INODE`.
    pub root: String,
    /// Digest of the output that the tried command printed to this stream.
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

    /// Returns one digest over both output streams and the exit code of the tried command.
    fn output_digest(&self) -> Digest {
        Digest::of_json(&json!({
            "stdout": self.stdout, "stderr": self.stderr, "exit_code": self.exit_code,
        }))
    }

    /// Returns true if the text is the secret of this trial. The comparison takes constant time, so its duration
    /// reveals nothing about the secret.
    pub fn is_secret(&self, text: &str) -> bool {
        let given = Digest::of_bytes(text.as_bytes());
        let differing =
            given.as_bytes().iter().zip(self.secret.as_bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        differing == 0
    }
}

/// Facts about the changes that an external agent's call makes. These facts are not part of the call itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    pub trial: Option<&'a ForeignTrial>,
    /// Reason why the server did not try the call although the agent requested a trial.
    pub untried: Option<&'a str>,
}

/// Result of a trial that an agent requested, as the interrupt about the call gets it.
#[derive(Clone, Debug, PartialEq)]
pub enum AskedTrial {
    Tried(Box<TriedCall>),
    /// The server could not try the call. The value is the reason.
    Untried(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct TriedCall {
    pub trial: ForeignTrial,
    /// Output of the command on each stream, in base64. Stored as erasable content.
    pub streams: Streams,
    /// Description of the trial's changes, for the card that shows the interrupt to people.
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
