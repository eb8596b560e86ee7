//! Types of the hooks: the payload that was read, the answer, and the bytes that are printed.

use holdshort_core::json;
use serde_json::{Map, Value};

use super::calls::HookCall;
use super::questions::HookQuestion;

/// Coding agent that runs on a person's machine and starts the hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cli {
    Claude,
    Codex,
    Gemini,
    Cursor,
}

impl Cli {
    pub const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Cursor];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
        }
    }

    /// Returns the name for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Cursor => "Cursor",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cli| cli.as_str() == text)
    }
}

/// Payload of a hook.
#[derive(Clone, Debug, PartialEq)]
pub struct HookEvent {
    /// Name of the event in the CLI, such as `PreToolUse`.
    pub name: String,
    /// Id of the CLI's session.
    pub session: String,
    /// Id of the turn in which the event happened. Cursor sends two events for one command with the same id.
    pub turn: Option<String>,
    /// Working directory of the CLI. It is shown to people and is no proof of the project's folder.
    pub cwd: Option<String>,
    /// Path of the file with the conversation.
    pub transcript: Option<String>,
    /// Id of the tool call. Gemini CLI and some events of the other CLIs have none.
    pub call_id: Option<String>,
    /// Mode in which the CLI answers its own prompts, such as `bypassPermissions`.
    pub permission_mode: Option<String>,
    pub kind: EventKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// A tool is about to run.
    Call(HookCall),
    /// The CLI is about to show its own prompt for a tool, because of its own rules or its sandbox.
    Permission(HookCall),
    /// The agent, or a server of tools, asks the person a question.
    Question(HookQuestion),
    /// A tool has run.
    Done(HookCall),
    /// A question that only the person at the CLI can answer, such as to sign in at a page.
    Elsewhere,
}

/// Answer to a hook, before it is written in the form of a CLI.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The tool may run. `input`: the arguments in the form of the CLI, if a person has edited them.
    Allow {
        input: Option<Value>,
    },
    Deny {
        reason: String,
    },
    /// The CLI ends and calls the hook again when the session is resumed.
    Defer,
    /// The CLI continues as if it had no hook.
    NoOpinion,
    /// Answers to the fields of a form.
    Content(Value),
    /// The question gets no answer.
    Cancel,
    /// Report about a tool that has run, for the person and the agent.
    Tell {
        text: String,
    },
}

/// Output of the hook: exactly these bytes and this exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    pub stdout: String,
    pub stderr: String,
    pub exit: u8,
}

/// Exit code that stops the tool in every CLI, if standard error is not blank.
const BLOCK: u8 = 2;

/// Text that replaces a blank reason. Codex runs the tool if a reason is blank.
const NO_REASON: &str = "The call was denied, without a reason.";

impl Printed {
    /// Returns an answer that stops the tool in every CLI.
    pub fn failure(text: &str) -> Self {
        Self { stdout: String::new(), stderr: format!("{}\n", not_blank(text)), exit: BLOCK }
    }

    pub(super) fn json(value: &Value) -> Self {
        Self { stdout: format!("{value}\n"), stderr: String::new(), exit: 0 }
    }

    pub(super) fn nothing() -> Self {
        Self { stdout: String::new(), stderr: String::new(), exit: 0 }
    }
}

pub(super) fn not_blank(reason: &str) -> &str {
    let reason = reason.trim();
    if reason.is_empty() { NO_REASON } else { reason }
}

/// Error returned for a payload that cannot be translated. The tool must not run.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    #[error("the payload is not valid JSON: {0}")]
    Json(#[from] json::Error),
    #[error("the payload {0}")]
    Unsafe(&'static str),
    #[error("the payload has no valid `{0}`")]
    Field(&'static str),
    #[error("the event `{0}` is not one that this hook answers: install the hook again")]
    Event(String),
}

/// Members of a payload.
pub(super) struct Fields(pub(super) Map<String, Value>);

impl Fields {
    /// Returns a text that is not blank.
    pub(super) fn need(&self, name: &'static str) -> Result<String, Unreadable> {
        self.text(name).ok_or(Unreadable::Field(name))
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.0.get(name)?.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
    }

    /// Returns the arguments of a tool. `None`: they are not an object.
    pub(super) fn input(&self, name: &'static str) -> Result<Map<String, Value>, Unreadable> {
        match self.0.get(name) {
            Some(Value::Object(input)) => Ok(input.clone()),
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_))
            | None => Err(Unreadable::Field(name)),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }
}
