//! `cargo xtask ui`: checks the browser app, and builds it into `ui/dist`, which is committed and embedded. `verify`
//! builds it into another folder, and fails if the committed build differs. `npm.rs` contains all npm commands.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::bundle::{self, Bundle};
use crate::npm;
use crate::run::{root, step, target};

/// Checks the browser app and brings its committed build `ui/dist` up to date.
pub(crate) fn ui() -> Result<()> {
    if let Some(mut npm) = install() {
        step("npm ci", &mut npm)?;
    }
    check()?;
    build(&dist())?;
    bundle::weigh(&Bundle::read(&dist())?)
}

/// Returns an error if the committed build of the browser app differs from a build of the sources. The npm packages of
/// the app must be installed.
pub(crate) fn verify() -> Result<()> {
    check()?;
    let folder = target().join("ui-dist");
    build(&folder)?;
    let built = Bundle::read(&folder)?;
    let differences = built.differences(&Bundle::read(&dist())?);
    if !differences.is_empty() {
        bail!("ui/dist is stale: run `cargo xtask ui`\n  {}", differences.join("\n  "));
    }
    bundle::weigh(&built)
}

/// Returns the command that tests the real binary in a browser.
pub(crate) fn tests() -> Command {
    script("test", &[])
}

fn check() -> Result<()> {
    step("svelte-check", &mut script("check", &[]))
}

fn build(into: &Path) -> Result<()> {
    let into = into.to_str().context("the path of the build folder is not UTF-8")?;
    step("the bundle", &mut script("build", &["--outDir", into, "--emptyOutDir", "--logLevel", "warn"]))
}

/// Returns the command that installs the build tools of the browser app. Returns `None` if they are installed.
pub(crate) fn install() -> Option<Command> {
    npm::install(&folder())
}

/// Returns the command that runs a script of `ui/package.json`. Scripts that check, build or test first generate the
/// types of the API.
fn script(name: &str, arguments: &[&str]) -> Command {
    let mut command = npm::npm(&folder());
    command.args(["run", "--silent", name, "--"]).args(arguments);
    command
}

pub(crate) fn folder() -> PathBuf {
    root().join("ui")
}

fn dist() -> PathBuf {
    folder().join("dist")
}
