//! `cargo xtask dist --check`: runs the installation commands in `docs/deploy.md`, and starts the installed programs.
//!
//! The code blocks marked `sh dist` run in order, in a folder with the packages, with an empty home folder and without
//! downloads. After them, each program in [`INSTALLED`] must exist.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use super::{read, version};

const PAGE: &str = "docs/deploy.md";
const MARK: &str = "```sh dist\n";

/// Programs that the code blocks of `docs/deploy.md` install, as paths below the home folder.
const INSTALLED: [(&str, &str); 3] = [
    ("the archive", ".local/bin/holdshort"),
    ("the wheel", "holdshort-pip/bin/holdshort"),
    ("the package for npm", "holdshort-npm/node_modules/.bin/holdshort"),
];

pub(super) fn check(packages: &Path) -> Result<()> {
    let version = version(&read("Cargo.toml")?)?;
    let folder = tempfile::tempdir()?;
    let (home, work) = (folder.path().join("home"), folder.path().join("work"));
    fs::create_dir(&home)?;
    fs::create_dir(&work)?;
    for package in fs::read_dir(packages)? {
        let package = package?;
        if package.file_type()?.is_file() {
            fs::copy(package.path(), work.join(package.file_name()))?;
        }
    }
    let place = InstallEnvironment { home: &home, work: &work };
    let blocks = blocks(&read(PAGE)?);
    ensure!(
        blocks.len() >= INSTALLED.len(),
        "{PAGE}: only {} code blocks are marked `sh dist`",
        blocks.len()
    );
    for block in &blocks {
        println!("\n== {PAGE}\n{}", block.trim_end());
        let printed = place.run(Command::new("sh").args(["-e", "-c", block]), &[0])?;
        println!("{}", printed.trim_end());
    }
    for (name, program) in INSTALLED {
        let program = home.join(program);
        let holdshort = |arguments: &[&str], codes: &[i32]| {
            place.run(Command::new(&program).args(arguments), codes).with_context(|| name.to_owned())
        };
        let said = holdshort(&["--version"], &[0])?;
        ensure!(
            said.trim() == format!("holdshort {version}"),
            "{name}: `--version` printed {said} instead of {version}"
        );
        let doctor: serde_json::Value = serde_json::from_str(&holdshort(&["doctor", "--json"], &[0])?)?;
        ensure!(doctor["version"] == version.as_str(), "{name}: {doctor}");
        // Exit code 4 is expected: `demo` runs without a terminal, so it detaches while its run waits for a decision.
        let demo = holdshort(&["demo"], &[4])?;
        ensure!(
            demo.contains("step work starts"),
            "{name}: the demo of the installed program does not start: {demo}"
        );
        println!("\n{name}: {}, sandbox {}; its demo waits for a decision", said.trim(), doctor["sandbox"]);
    }
    Ok(())
}

/// Returns the marked code blocks of a document.
fn blocks(page: &str) -> Vec<String> {
    page.split(MARK).skip(1).filter_map(|rest| Some(rest.split_once("```")?.0.to_owned())).collect()
}

struct InstallEnvironment<'a> {
    home: &'a Path,
    work: &'a Path,
}

impl InstallEnvironment<'_> {
    /// Runs an installation command. Returns its output if its exit code is one of `codes`.
    fn run(&self, command: &mut Command, codes: &[i32]) -> Result<String> {
        let output = command
            .current_dir(self.work)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home)
            .env("TMPDIR", self.work)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("{command:?}"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.code().is_some_and(|code| codes.contains(&code)) {
            bail!("{command:?}: {}\n{text}{}", output.status, String::from_utf8_lossy(&output.stderr));
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_marked_blocks_are_run() {
        let page = "```sh\na\n```\n```sh dist\nb\nc\n```\ntext\n```sh dist\nd\n```\n";
        assert_eq!(blocks(page), ["b\nc\n", "d\n"]);
    }

    #[test]
    fn the_page_installs_each_package() {
        let page = blocks(&read(PAGE).unwrap()).concat();
        for (name, program) in INSTALLED {
            assert!(page.contains(&format!("~/{program} --version\n")), "{name}");
        }
    }
}
