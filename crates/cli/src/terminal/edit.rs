//! Opens a temporary file in `$EDITOR`. Only the owner of the temporary file can read it.

use std::io::{Read, Write};
use std::process::Stdio;

use anyhow::Context;

use crate::shell;

/// Maximum size, in bytes, of a text that a person saves in the editor. The server accepts no larger request.
const BYTES: u64 = 1024 * 1024;

pub(crate) async fn edit(text: &str, suffix: &str) -> anyhow::Result<String> {
    let editor = editor().context("no editor was found; set EDITOR")?;
    let mut file = tempfile::Builder::new().prefix("holdshort-").suffix(suffix).tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    // The editor is started through the shell, as `git` does, because the variable may contain options.
    let status = tokio::process::Command::new("/bin/sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("sh")
        .arg(file.path())
        .stdin(Stdio::inherit())
        .status()
        .await
        .context("the editor cannot be started")?;
    if !status.success() {
        anyhow::bail!("the editor `{editor}` ended with {status}; set EDITOR to another editor");
    }
    // The file is opened again by its name, because some editors save by replacing the file.
    let mut saved = String::new();
    std::fs::File::open(file.path())?
        .take(BYTES + 1)
        .read_to_string(&mut saved)
        .context("the saved file is not text")?;
    if saved.len() as u64 > BYTES {
        anyhow::bail!("the saved file is larger than {} KiB", BYTES / 1024);
    }
    Ok(saved)
}

/// Returns the text editor that the person has configured, or a common editor that is installed.
pub(crate) fn editor() -> Option<String> {
    let set = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let usual = || ["sensible-editor", "nano", "vi"].into_iter().find(|name| shell::program(name).is_some());
    set("VISUAL").or_else(|| set("EDITOR")).or_else(|| usual().map(str::to_owned))
}
