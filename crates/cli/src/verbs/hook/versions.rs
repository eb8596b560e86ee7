//! Versions of the coding agents: how a version is found, and the lowest version on which a hook can hold.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::process::Command;

use super::coding_cli::CodingCli;
use crate::limits::VERSION_MS;
use crate::shell;

/// Version of a coding agent, such as 2.1.332.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Version {
    numbers: [u32; 3],
    /// False for a version before the release of these numbers, such as `0.171.0-alpha.3`.
    is_release: bool,
}

impl Version {
    pub(crate) const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { numbers: [major, minor, patch], is_release: true }
    }

    /// Finds the first version in the output of `--version`.
    fn find(output: &str) -> Option<Self> {
        output.split(|c: char| c.is_whitespace() || "(),".contains(c)).find_map(|word| word.parse().ok())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}{}", if self.is_release { "" } else { "-pre" })
    }
}

impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || format!("`{text}` is not a version such as 2.1.332");
        let text = text.strip_prefix('v').unwrap_or(text);
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (numbers, suffix) = text.split_at(end);
        let parts: Vec<&str> = numbers.split('.').collect();
        let [major, minor, patch] = parts[..] else { return Err(invalid()) };
        let number = |part: &str| part.parse::<u32>().map_err(|_| invalid());
        let numbers = [number(major)?, number(minor)?, number(patch)?];
        match suffix.as_bytes().first() {
            None | Some(b'+') => Ok(Self { numbers, is_release: true }),
            Some(b'-') => Ok(Self { numbers, is_release: false }),
            Some(_) => Err(invalid()),
        }
    }
}

impl TryFrom<String> for Version {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.to_string()
    }
}

/// Lowest version of a coding agent on which a hook can hold.
pub(crate) struct Lowest {
    pub version: Version,
    /// Fault of earlier versions, as a clause after "an earlier version".
    pub reason: &'static str,
}

/// Returns the lowest version of a coding agent on which a hook can hold, with the reason.
pub(crate) const fn lowest(cli: CodingCli) -> Lowest {
    let (version, reason) = match cli {
        CodingCli::Claude => {
            (Version::new(2, 1, 110), "does not compare a call that a hook changed with your own deny rules")
        }
        CodingCli::Codex => {
            (Version::new(0, 131, 0), "reads the changed command of a hook, but runs the original command")
        }
        CodingCli::Gemini => {
            (Version::new(0, 27, 0), "runs no hook unless a setting that it does not document is set")
        }
        CodingCli::Cursor => {
            (Version::new(2, 5, 0), "has no `failClosed`, and runs the command if the hook fails")
        }
    };
    Lowest { version, reason }
}

/// First version of Claude Code that blocks a call if the hook itself fails (`onFailure: "block"`).
pub(crate) const CLAUDE_ON_FAILURE: Version = Version::new(2, 1, 295);

/// Installed program of a coding agent.
#[derive(Clone, Debug)]
pub(crate) struct FoundCli {
    pub program: PathBuf,
    pub version: Version,
}

/// Finds the program of a coding agent in `PATH`, and asks the program for its version. The error is a sentence.
pub(crate) async fn find(cli: CodingCli) -> Result<FoundCli, String> {
    let name = cli.word();
    let program = shell::program(name).ok_or_else(|| {
        format!("`{name}` is not in PATH, so the version of {cli} is unknown: install {cli}, or add its folder to PATH")
    })?;
    let version = version(&program).await?;
    Ok(FoundCli { program, version })
}

async fn version(program: &Path) -> Result<Version, String> {
    let shown = program.display();
    let mut command = Command::new(program);
    // The agent must not read the settings of the folder in which this command runs.
    command.arg("--version").current_dir("/").stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(Duration::from_millis(VERSION_MS), command.output())
        .await
        .map_err(|_| format!("`{shown} --version` did not end within {} s", VERSION_MS / 1_000))?
        .map_err(|error| format!("`{shown} --version` cannot be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{shown} --version` failed ({})", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Version::find(&text).ok_or_else(|| format!("`{shown} --version` prints no version such as 2.1.332"))
}

/// Returns the reason why a hook cannot hold on this version. `None` if it can.
pub(crate) fn problem(cli: CodingCli, version: Version) -> Option<String> {
    let lowest = lowest(cli);
    (version < lowest.version).then(|| {
        format!(
            "{cli} {version} is too old: an earlier version than {} {}. Update {cli}",
            lowest.version, lowest.reason
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_the_output_of_each_agent() {
        let table = [
            ("2.1.332 (Claude Code)\n", Some("2.1.332")),
            ("codex-cli 0.171.0\n", Some("0.171.0")),
            ("codex-cli 0.172.0-alpha.3\n", Some("0.172.0-pre")),
            ("0.54.4\n", Some("0.54.4")),
            ("2.6.11\n0c3f1d\nx64\n", Some("2.6.11")),
            ("v1.2.3+build.7", Some("1.2.3")),
            ("1.2", None),
            ("1.2.3.4", None),
            ("99999999999.0.0", None),
            ("Claude Code", None),
            ("", None),
        ];
        for (output, version) in table {
            let found = Version::find(output).map(|found| found.to_string());
            assert_eq!(found.as_deref(), version, "{output:?}");
        }
    }

    #[test]
    fn a_version_before_the_lowest_one_is_refused_with_the_reason() {
        let table = [
            (CodingCli::Claude, "2.1.109", "2.1.110"),
            (CodingCli::Codex, "0.130.9", "0.131.0"),
            (CodingCli::Gemini, "0.26.0", "0.27.0"),
            (CodingCli::Cursor, "2.4.40", "2.5.0"),
        ];
        for (cli, old, lowest) in table {
            let at = |version: &str| problem(cli, version.parse().unwrap());
            let said = at(old).unwrap();
            assert!(said.contains(old) && said.contains(lowest), "{said}");
            assert_eq!(at(lowest), None);
            assert!(at(&format!("{lowest}-alpha.1")).is_some(), "{cli}: before the release");
        }
    }
}
