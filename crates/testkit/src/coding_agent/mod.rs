//! Coding agents of other vendors, as real programs with a scripted model: Claude Code, Codex and Gemini CLI.
//!
//! `home.rs` starts an agent in a temporary home directory, `model.rs` is the model of the agent, and `wire.rs`
//! contains the formats of the three APIs. `cargo xtask verify --long` installs the programs. Their versions are in
//! `crates/testkit/agents/package-lock.json`.

mod home;
mod model;
mod wire;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

pub use home::{AgentHome, AgentHook, AgentRun, SecondLine};
pub use model::{AgentModel, CallInput, ScriptedCall};

/// Coding agent of another vendor, which tests run as a real program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CodingAgent {
    Claude,
    Codex,
    Gemini,
}

impl CodingAgent {
    pub const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Gemini];

    /// Returns the name under which people know the coding agent.
    pub fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
        }
    }

    /// Returns the name of the coding agent's npm package, and the name of its program.
    fn package(self) -> (&'static str, &'static str) {
        match self {
            Self::Claude => ("@anthropic-ai/claude-code", "claude"),
            Self::Codex => ("@openai/codex", "codex"),
            Self::Gemini => ("@google/gemini-cli", "gemini"),
        }
    }

    /// Returns the path of the installed coding agent. Panics if it is not installed.
    pub fn program(self) -> PathBuf {
        let program = folder().join("node_modules/.bin").join(self.package().1);
        assert!(program.exists(), "missing {}: run `npm ci` in crates/testkit/agents", program.display());
        program
    }

    /// Returns the version of the coding agent's package that is installed.
    pub fn version(self) -> String {
        let manifest = std::fs::read_to_string(folder().join("package.json")).expect("the file exists");
        let manifest: Value = serde_json::from_str(&manifest).expect("a manifest is JSON");
        let version = manifest["devDependencies"][self.package().0].as_str();
        version.expect("the package is listed").to_owned()
    }

    /// Returns the name of the hook event that precedes the run of a tool.
    pub fn before_tool(self) -> &'static str {
        match self {
            Self::Claude | Self::Codex => "PreToolUse",
            Self::Gemini => "BeforeTool",
        }
    }

    /// Converts a time-out to the unit that the coding agent's settings use.
    fn timeout(self, seconds: u64) -> u64 {
        match self {
            Self::Claude | Self::Codex => seconds,
            Self::Gemini => seconds * 1_000,
        }
    }

    /// Returns the call with which the coding agent's shell tool runs a command line.
    pub fn shell(self, command: &str) -> ScriptedCall {
        let (tool, input) = match self {
            Self::Claude => ("Bash", json!({"command": command, "description": "a step"})),
            Self::Codex => ("exec_command", json!({"cmd": command})),
            Self::Gemini => ("run_shell_command", json!({"command": command, "description": "a step"})),
        };
        ScriptedCall::new(tool, input)
    }
}

/// Returns the folder with the lock file that states which coding agents are installed.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("agents")
}
