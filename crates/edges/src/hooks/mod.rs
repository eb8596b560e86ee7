//! Hooks of coding agents: reads the payload that a CLI sends to its hook, and writes the answer that the CLI expects.
//!
//! PURE: no I/O, no clock. The program `holdshort hook run` (crate `cli`) reads files, asks the server and waits. This
//! module never decides about a call. An answer that a CLI would ignore becomes a denial, because a CLI runs the tool
//! if it ignores an answer. Start at `event.rs` for the types, `calls.rs` for the tools, `change.rs` for the changes of
//! files, and at the file of a CLI for its payloads and answers.

mod calls;
mod change;
mod claude;
mod codex;
mod cursor;
mod event;
mod gemini;
mod patch;
mod questions;

use holdshort_core::json;
use serde_json::{Map, Value};

pub use calls::{CallKind, HookCall};
pub use change::FileChange;
pub use event::{Cli, EventKind, HookEvent, Printed, Unreadable, Verdict};
pub use questions::{HookQuestion, QuestionForm};

use event::Fields;

/// Reads the payload of a CLI's hook.
pub fn read(cli: Cli, payload: &[u8]) -> Result<HookEvent, Unreadable> {
    let value = json::parse(payload)?;
    if let Some(why) = json::unsafe_part(&value) {
        return Err(Unreadable::Unsafe(why));
    }
    let Value::Object(fields) = value else { return Err(Unreadable::Unsafe("is not an object")) };
    let fields = Fields(fields);
    match cli {
        Cli::Claude => claude::read(&fields),
        Cli::Codex => codex::read(&fields),
        Cli::Gemini => gemini::read(&fields),
        Cli::Cursor => cursor::read(&fields),
    }
}

/// Translates a call of Claude Code without the rest of a hook's payload. `cwd`: folder of the call.
pub(crate) fn claude_call(name: &str, input: Map<String, Value>, cwd: Option<&str>) -> HookCall {
    claude::call_of(name, input, cwd)
}

/// Writes the answer in the form of the CLI.
pub fn answer(cli: Cli, event: &HookEvent, verdict: &Verdict) -> Printed {
    let written = match cli {
        Cli::Claude => claude::answer(event, verdict),
        Cli::Codex => codex::answer(event, verdict),
        Cli::Gemini => gemini::answer(event, verdict),
        Cli::Cursor => cursor::answer(event, verdict),
    };
    written.unwrap_or_else(|| {
        Printed::failure(&format!("Holdshort cannot give this answer to {} at `{}`", cli.title(), event.name))
    })
}
