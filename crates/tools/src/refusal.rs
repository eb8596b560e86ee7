//! The reason why a call cannot run or is not allowed to run: a stable code, and a message that tells the model what to
//! do.

use holdshort_core::tool::{InspectionOutcome, Outcome};

/// Reason why a tool call is rejected. The message is in lower case and says what to do next.
#[derive(Debug)]
pub struct Refusal {
    pub code: &'static str,
    pub message: String,
}

impl Refusal {
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// Returns the name of the tool's argument that is wrong in a rejection with this code. Returns `None` if the
/// combination of all arguments is wrong.
pub fn argument(tool: &str, code: &str) -> Option<&'static str> {
    Some(match (tool, code) {
        ("run_command", "bad_command" | "too_large") => "command",
        (
            "run_command",
            "bad_path" | "outside_workspace" | "protected_path" | "symlink" | "not_a_directory" | "not_found"
            | "not_readable",
        ) => "cwd",
        ("write_file", "too_large") => "content",
        ("edit_file", "old_not_found" | "old_not_unique" | "nothing_to_change") => "old",
        ("edit_file", "too_large") => "new",
        ("search_codebase", "bad_pattern") => "pattern",
        ("web_fetch", "bad_url" | "address_refused") => "url",
        (
            "read_file" | "list_directory" | "search_codebase" | "write_file" | "edit_file",
            "bad_path" | "outside_workspace" | "protected_path" | "symlink" | "not_a_directory"
            | "not_a_file" | "not_found" | "not_readable" | "not_utf8" | "too_large",
        ) => "path",
        _ => return None,
    })
}

impl From<Refusal> for InspectionOutcome {
    fn from(refusal: Refusal) -> Self {
        Self::Impossible { code: refusal.code, message: refusal.message }
    }
}

impl From<Refusal> for Outcome {
    fn from(refusal: Refusal) -> Self {
        Self::Failed { text: format!("{}: {}", refusal.code, refusal.message) }
    }
}
