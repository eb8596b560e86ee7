//! Running a program and passing on what it prints.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The root of the project.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs to the end; an exit code other than 0 is an error that names the step.
pub(crate) fn step(name: &str, command: &mut Command) -> Result<()> {
    println!("\n== {name}");
    let status = command.status().with_context(|| format!("{name}: can not start {command:?}"))?;
    if !status.success() {
        bail!("{name} failed ({status})");
    }
    Ok(())
}

/// Runs to the end, shows every line of its standard output and hands it to `each`.
pub(crate) fn lines(name: &str, command: &mut Command, mut each: impl FnMut(&str)) -> Result<bool> {
    println!("\n== {name}");
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("{name}: can not start {command:?}"))?;
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            let line = line.with_context(|| format!("{name}: its output can not be read"))?;
            println!("{line}");
            each(&line);
        }
    }
    Ok(child.wait().with_context(|| format!("{name}: can not be awaited"))?.success())
}
