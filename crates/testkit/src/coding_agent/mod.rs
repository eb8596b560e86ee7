//! Coding agents that people run, as real programs with a scripted model: Claude Code, Codex and Gemini CLI.
//!
//! `home.rs` starts an agent in a temporary home, `model.rs` is its model, `wire.rs` has the formats of the three APIs.
//! `cargo xtask verify --long` installs the programs that `crates/testkit/agents/package-lock.json` names.

mod home;
mod model;
mod wire;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

pub use home::{AgentHome, AgentHook, AgentRun, SecondLine};
pub use model::{AgentModel, CallInput, ScriptedCall};

/// Coding agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CodingAgent {
    Claude,
    Codex,
    Gemini,
}

impl CodingAgent {
    pub const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Gemini];

    /// Returns the name that people know.
    pub fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
        }
    }

    /// Returns the package and the name of the program.
    fn package(self) -> (&'static str, &'static str) {
        match self {
            Self::Claude => ("@anthropic-ai/claude-code", "claude"),
            Self::Codex => ("@openai/codex", "codex"),
            Self::Gemini => ("@google/gemini-cli", "gemini"),
        }
    }

    /// Returns the installed program. Panics if it is not installed.
    pub fn program(self) -> PathBuf {
        let program = folder().join("node_modules/.bin").join(self.package().1);
        assert!(program.exists(), "missing {}: run `npm ci` in crates/testkit/agents", program.display());
        program
    }

    /// Returns the version of the package that is installed.
    pub fn version(self) -> String {
        let manifest = std::fs::read_to_string(folder().join("package.json")).expect("the file exists");
        let manifest: Value = serde_json::from_str(&manifest).expect("a manifest is JSON");
        let version = manifest["devDependencies"][self.package().0].as_str();
        version.expect("the package is listed").to_owned()
    }

    /// Returns the event before a tool runs.
    pub fn before_tool(self) -> &'static str {
        match self {
            Self::Claude | Self::Codex => "PreToolUse",
            Self::Gemini => "BeforeTool",
        }
    }

    /// Returns a time-out in the unit of the agent's settings.
    fn timeout(self, seconds: u64) -> u64 {
        match self {
            Self::Claude | Self::Codex => seconds,
            Self::Gemini => seconds * 1_000,
        }
    }

    /// Returns the call that runs a command line in the agent's shell tool.
    pub fn shell(self, command: &str) -> ScriptedCall {
        let (tool, input) = match self {
            Self::Claude => ("Bash", json!({"command": command, "description": "a step"})),
            Self::Codex => ("exec_command", json!({"cmd": command})),
            Self::Gemini => ("run_shell_command", json!({"command": command, "description": "a step"})),
        };
        ScriptedCall::new(tool, input)
    }
}

/// Returns the folder whose lock file names the programs.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("agents")
}
