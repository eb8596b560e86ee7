//! `cargo xtask ui`: the browser app's checks, and its build into `ui/dist`, which is committed and embedded. `verify`
//! builds it elsewhere and refuses a committed one that differs. npm is called for it and for the tests' identity provider alone (`npm.rs`).

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::bundle::{self, Bundle};
use crate::npm;
use crate::run::{root, step, target};

/// Checks the app and brings `ui/dist` up to date.
pub(crate) fn ui() -> Result<()> {
    if let Some(mut npm) = install() {
        step("npm ci", &mut npm)?;
    }
    check()?;
    build(&dist())?;
    bundle::weigh(&Bundle::read(&dist())?)
}

/// Refuses a bundle that is not what the sources say. Needs what `install` installs.
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

/// The tests that drive the real binary in a browser.
pub(crate) fn tests() -> Command {
    script("test", &[])
}

fn check() -> Result<()> {
    step("svelte-check", &mut script("check", &[]))
}

fn build(into: &Path) -> Result<()> {
    let into = into.to_str().context("the folder of the build is no UTF-8 path")?;
    step("the bundle", &mut script("build", &["--outDir", into, "--emptyOutDir", "--logLevel", "warn"]))
}

/// What the app is built with, where it is not there already.
pub(crate) fn install() -> Option<Command> {
    npm::install(&folder())
}

/// A script of `ui/package.json`. The scripts that check, build and test make the types of the API first.
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
