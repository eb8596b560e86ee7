//! What a grant remembers: which further calls the same decision covers.

use serde::{Deserialize, Serialize};

use crate::gate::Subject;
use crate::gate::command::{self, Command, Part};

/// Covers a call by its tool's full name and, for a command, by program and subcommand: never by the whole
/// line, which would never match again, and never by less, which would match too much.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matcher {
    pub tool: String,
    /// The canonical workspace it was given for.
    pub workspace: String,
    /// For commands: every part of the line must be one of these, or known to be read-only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Program>,
}

/// A program, its subcommand, and whether the person saw it write.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    pub program: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subcommand: Option<String>,
    /// A grant given for a reading command does not cover the same command where it writes.
    pub writes: bool,
    /// The files that the person saw it redirected to and from. Others are others: a grant for the tests does
    /// not cover the tests with their output in a source file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

impl Program {
    fn of(part: &Part) -> Self {
        Self {
            program: part.program.clone(),
            subcommand: part.subcommand(),
            writes: !part.is_read_only(),
            files: if part.redirected { part.files.clone() } else { Vec::new() },
        }
    }

    fn covers(&self, part: &Part) -> bool {
        self.program == part.program
            && self.subcommand == part.subcommand()
            && (self.writes || part.is_read_only())
            && (!part.redirected || part.files.iter().all(|file| self.files.contains(file)))
    }
}

impl Matcher {
    /// The grant that a person would give with this call before them; `None` where none is safe: an opaque
    /// command, code on the line itself, another user's rights.
    pub fn of(subject: &Subject<'_>) -> Option<Self> {
        let mut commands = Vec::new();
        if let Some(line) = subject.command {
            let command = command::parse(line);
            if command.opaque.is_some() || !command.parts.iter().all(Part::is_memorable) {
                return None;
            }
            commands = command.parts.iter().map(Program::of).collect();
            commands.sort();
            commands.dedup();
        }
        Some(Self { tool: subject.tool.to_owned(), workspace: subject.workspace.to_owned(), commands })
    }

    pub fn covers(&self, subject: &Subject<'_>) -> bool {
        self.covers_parsed(subject, subject.command.map(command::parse).as_ref())
    }

    pub(super) fn covers_parsed(&self, subject: &Subject<'_>, command: Option<&Command>) -> bool {
        if self.tool != subject.tool || self.workspace != subject.workspace {
            return false;
        }
        let Some(command) = command else { return self.commands.is_empty() };
        command.opaque.is_none()
            && command.parts.iter().all(|part| {
                part.is_memorable()
                    && (part.is_read_only() || self.commands.iter().any(|program| program.covers(part)))
            })
    }
}
