//! `hook rules`: prints or writes rules to start with, for all coding agents.

use std::io::Write;
use std::path::Path;

use crate::exit::Exit;
use crate::new_file::NewFile;
use crate::output::{print_message, print_text};
use crate::program_name::holdshort;

pub(crate) const STARTER_RULES: &str = include_str!("starter_rules.yaml");

/// Writes the starter rules into a new file. Without a file, prints the rules.
pub(crate) fn rules(file: Option<&Path>) -> anyhow::Result<Exit> {
    let Some(path) = file else {
        print_text(STARTER_RULES.trim_end());
        return Ok(Exit::Ok);
    };
    let mut new = NewFile::create(path)?;
    new.write_all(STARTER_RULES.as_bytes())?;
    new.finish()?;
    let shown = path.display();
    print_message(&format!(
        "{shown} has the starter rules. Start the server with: {} serve --rules {shown}",
        holdshort()
    ));
    Ok(Exit::Ok)
}
