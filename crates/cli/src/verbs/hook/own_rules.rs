//! Rules and sandbox of the coding agent itself. A rewritten command skips rules that concern the original command, and
//! inside a sandbox the rewritten command cannot reach the server. Such a command is not tried.
//!
//! Reads the settings at each call, because they may change at any time. Settings that cannot be read count as rules.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use holdshort_http::secret_file;

use super::coding_cli::CodingCli;
use super::files;
use super::settings::{self, Folders};
use crate::limits::SETTINGS_BYTES;

/// Number of processes above the hook whose arguments are read.
const PROCESSES: usize = 4;

/// Returns the reason why the command must not be replaced, as the end of a sentence such as "not tried: …". `cwd`:
/// folder in which the coding agent works. It may have settings of its own.
pub(super) fn why_untriable(cli: CodingCli, root: &Path, cwd: &Path, line: &str) -> Option<String> {
    if cli == CodingCli::Cursor {
        return Some("the own rules of Cursor are unknown, and a trial would skip them".to_owned());
    }
    let Ok(folders) = files::settings_folders() else {
        return Some(format!("the settings of {cli} cannot be found"));
    };
    started_with(cli).or_else(|| in_settings(cli, &folders, root, cwd, line))
}

fn in_settings(cli: CodingCli, folders: &Folders, root: &Path, cwd: &Path, line: &str) -> Option<String> {
    let above = cwd.ancestors().take_while(|folder| folder.starts_with(root) && *folder != root);
    let roots: Vec<&Path> = std::iter::once(root).chain(above).collect();
    let sources = roots.iter().flat_map(|root| settings::sources(cli, folders, root));
    let mut texts = Vec::new();
    for source in sources {
        match read(&source.path) {
            Ok(Some(text)) => texts.push((source, text)),
            Ok(None) => {}
            Err(why) => return Some(format!("{} {why}", source.path.display())),
        }
    }
    // A rule about a path may concern the working directory.
    let line = format!("{} {line}", cwd.strip_prefix(root).unwrap_or(cwd).display());
    let found = texts.iter().find_map(|(source, text)| {
        let why = settings::holds_back(cli, source.format, text, &line)?;
        Some(format!("{} {why}", source.path.display()))
    });
    found
        .or_else(|| {
            let rules = roots.iter().flat_map(|root| settings::rule_folders(cli, folders, root));
            let mut rules = rules.filter(has_files);
            rules.next().map(|folder| format!("{cli} has own rules in {}", folder.display()))
        })
        .or_else(|| settings::sandboxed_by_default(cli, texts.iter().map(|(_, text)| text.as_str())))
}

fn read(path: &Path) -> Result<Option<String>, String> {
    let bytes = match File::open(path) {
        Ok(file) => secret_file::bounded(file, SETTINGS_BYTES).map_err(|error| error.to_string())?,
        Err(error) if files::is_missing(&error) => return Ok(None),
        Err(error) => return Err(format!("cannot be read: {error}")),
    };
    String::from_utf8(bytes).map(Some).map_err(|_| "is not UTF-8".to_owned())
}

fn has_files(folder: &PathBuf) -> bool {
    match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) => !files::is_missing(&error),
    }
}

/// Returns the reason if the coding agent was started with an argument that sets rules. Also returns a
/// reason if the arguments of a parent process cannot be read.
fn started_with(cli: CodingCli) -> Option<String> {
    let unread = || Some(format!("the arguments with which {cli} was started cannot be read"));
    let Some(parent) = rustix::process::getppid() else { return unread() };
    let mut pid = parent.as_raw_nonzero().get();
    for _ in 0..PROCESSES {
        if pid == 0 {
            break;
        }
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let Ok(arguments) = fs::read(folder.join("cmdline")) else { return unread() };
        let mut words = arguments.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let found = words.find(|word| {
            let name = word.split('=').next().unwrap_or_default();
            settings::rule_arguments(cli).contains(&name)
        });
        if let Some(word) = found {
            let name = word.split('=').next().unwrap_or_default();
            return Some(format!("{cli} was started with `{name}`, whose rules a trial would skip"));
        }
        let Ok(status) = fs::read_to_string(folder.join("status")) else { return unread() };
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"));
        let Some(parent) = parent.and_then(|parent| parent.trim().parse().ok()) else { return unread() };
        pid = parent;
    }
    None
}
