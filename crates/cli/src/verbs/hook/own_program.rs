//! Commands of this program on a command line. An agent may only ask for help: every other command decides, reads what
//! is protected, or carries out an approval.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::LazyLock;

use clap::CommandFactory;
use holdshort_command::{Class, Command, Part};

use crate::args::Args;

const NAME: &str = "holdshort";

/// Arguments with which this program only prints a text.
const HARMLESS: [&str; 6] = ["--help", "--version", "-V", "-h", "help", "version"];

/// Explains to the agent why it must not run this command.
pub(super) fn refusal(verb: &str) -> String {
    format!(
        "An agent must not run `holdshort {verb}`, and no rule allows it. A person runs it in another terminal."
    )
}

/// Commands of this program that an agent must not run.
static COMMANDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let commands = Args::command();
    let names = commands.get_subcommands().map(|command| command.get_name().to_owned());
    names.filter(|name| !HARMLESS.contains(&name.as_str())).collect()
});

fn is_command(word: &str) -> bool {
    COMMANDS.iter().any(|command| command == word)
}

/// Returns the command of this program in texts that the parser does not read, such as code, or the arguments of a tool
/// that may run programs.
pub(super) fn find_in_texts<'a>(texts: impl Iterator<Item = &'a str>) -> Option<String> {
    let is_part = |c: char| c.is_alphanumeric() || "_-/.".contains(c);
    let mut words = texts.flat_map(|text| text.split(move |c| !is_part(c)));
    let is_named = words.by_ref().any(|word| word.rsplit('/').next() == Some(NAME));
    words.find(|word| is_named && is_command(word)).map(str::to_owned)
}

/// Returns the command of this program that the line runs, or may run.
pub(super) fn find(command: &Command, line: &str, program: &Path, cwd: &Path) -> Option<String> {
    // Every program of the line is one that is known to read.
    if command.class() == Class::Reads {
        return None;
    }
    let parts = command.parts.iter().chain(&command.guesses);
    let found = parts.filter_map(|part| of_part(part, program, cwd)).find(|verb| !verb.is_empty());
    if found.is_some() || (command.opaque.is_none() && command.unclear.is_none()) {
        return found;
    }
    // Code: `python3 -c "subprocess.run(['holdshort', 'decide'])"`.
    find_in_texts(std::iter::once(line))
}

/// Returns the command of this program in one part of a line. Empty: the part does not run this program, or only asks
/// for help.
fn of_part(part: &Part, program: &Path, cwd: &Path) -> Option<String> {
    if is_own(&part.program, program, cwd) {
        return verb(part.arguments.iter().map(String::as_str));
    }
    // Programs that run other programs and are in no table: `strace holdshort decide`.
    let at = part.arguments.iter().position(|word| is_own(word, program, cwd))?;
    let next = part.arguments[at + 1..].iter().map(String::as_str);
    verb(next).filter(|verb| is_command(verb))
}

fn verb<'a>(arguments: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    if arguments.clone().all(|argument| HARMLESS.contains(&argument)) {
        return None;
    }
    let mut words = arguments.filter(|argument| !argument.starts_with('-'));
    let known = words.clone().find(|word| is_command(word));
    Some(known.or_else(|| words.next()).unwrap_or("…").to_owned())
}

/// Returns true if the word names this program: by its name, or by a path to the same file.
fn is_own(word: &str, program: &Path, cwd: &Path) -> bool {
    let base = word.rsplit('/').next().unwrap_or_default();
    if base == NAME || program.file_name().is_some_and(|name| name == base) {
        return true;
    }
    let identity = |path: &Path| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    word.contains('/') && identity(&cwd.join(word)).is_some_and(|found| Some(found) == identity(program))
}
