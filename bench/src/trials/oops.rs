//! `oops` (crate `oops-sh`) with the same commands. Like Holdshort, it runs a command over an overlay and applies the
//! changes later. It works on a whole folder, without a gate, a journal or preconditions.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::COMMITTED;

/// The program `oops`, with which trials are compared, and its data folder.
pub(super) struct Oops {
    program: PathBuf,
    home: PathBuf,
}

/// Durations of commands that `oops` runs. Each call of `oops` is a separate process.
pub(super) struct Measured {
    pub(super) version: String,
    /// Durations of the command `true`, one list for each size of the workspace.
    pub(super) tried: Vec<Vec<Duration>>,
    pub(super) committed: Vec<Duration>,
}

impl Oops {
    pub(super) fn new(program: &Path, folder: &Path) -> Result<Self> {
        let home = folder.join("oops");
        std::fs::create_dir_all(&home)?;
        Ok(Self { program: program.to_owned(), home })
    }

    pub(super) fn version(&self) -> Result<String> {
        let told = Command::new(&self.program).arg("--version").output().context("`oops` does not start")?;
        Ok(String::from_utf8_lossy(&told.stdout).trim().to_owned())
    }

    /// Runs the command `true` with `oops` and discards its changes. Returns the duration.
    pub(super) fn tried(&self, workspace: &Path) -> Result<Duration> {
        let began = Instant::now();
        self.does(workspace, &["run", "true"])?;
        let took = began.elapsed();
        // If `true` left no changes, `undo` fails. This is harmless.
        let _ = self.does(workspace, &["undo"]);
        Ok(took)
    }

    /// Commits with `oops` as many new files as the measurement of Holdshort does. Returns the duration.
    pub(super) fn committed(&self, workspace: &Path) -> Result<Duration> {
        std::fs::create_dir_all(workspace)?;
        let line = format!("for n in $(seq {COMMITTED}); do echo $n > file-$n; done");
        self.does(workspace, &["run", &line])?;
        let began = Instant::now();
        self.does(workspace, &["commit"])?;
        let took = began.elapsed();
        ensure!(
            workspace.join(format!("file-{COMMITTED}")).exists(),
            "`oops commit` did not commit the last file"
        );
        Ok(took)
    }

    fn does(&self, workspace: &Path, arguments: &[&str]) -> Result<()> {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(workspace).env("HOME", &self.home);
        command.env("XDG_STATE_HOME", &self.home).env("XDG_DATA_HOME", &self.home);
        let told = command.output()?;
        let said = String::from_utf8_lossy(&told.stderr).into_owned();
        ensure!(told.status.success(), "`oops {}` ended with {}: {said}", arguments.join(" "), told.status);
        Ok(())
    }
}
