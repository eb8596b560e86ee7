//! The coding agents whose hooks are supported, and their time-outs.
//!
//! The formats of their settings are in `settings/`, their versions in `versions.rs`.

use std::fmt;

use clap::ValueEnum;
use holdshort_edges::hooks::Cli;
use serde::{Deserialize, Serialize};

/// Coding agent with a hook that can stop a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CodingCli {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Cursor.
    Cursor,
}

impl CodingCli {
    pub(crate) const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Cursor];

    /// Returns the word of the command line and of file names.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
        }
    }

    /// Returns the name of the product.
    pub(crate) const fn product(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Cursor => "Cursor",
        }
    }

    /// Returns the default name of the agent key.
    pub(crate) const fn key_name(self) -> &'static str {
        match self {
            Self::Claude => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini-cli",
            Self::Cursor => "cursor",
        }
    }

    /// Returns the milliseconds after which the agent stops waiting for its hook. They are written into its settings.
    pub(crate) const fn timeout_ms(self) -> u64 {
        match self {
            Self::Claude | Self::Codex | Self::Cursor => 600_000,
            Self::Gemini => 60_000,
        }
    }

    /// Returns the time-out in the unit of the agent's settings.
    pub(crate) const fn timeout_in_settings(self) -> u64 {
        match self {
            Self::Claude | Self::Codex | Self::Cursor => self.timeout_ms() / 1_000,
            Self::Gemini => self.timeout_ms(),
        }
    }
}

impl From<CodingCli> for Cli {
    fn from(cli: CodingCli) -> Self {
        match cli {
            CodingCli::Claude => Self::Claude,
            CodingCli::Codex => Self::Codex,
            CodingCli::Gemini => Self::Gemini,
            CodingCli::Cursor => Self::Cursor,
        }
    }
}

impl fmt::Display for CodingCli {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.product())
    }
}
