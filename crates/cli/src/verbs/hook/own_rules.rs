//! Rules and sandbox of the coding agent itself. A rewritten command skips rules that concern the original command, and
//! inside a sandbox the rewritten command cannot reach the server. Such a command is not tried.
//!
//! Reads the settings at each call, because they may change at any time. Settings that cannot be read count as rules.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use super::coding_cli::CodingCli;
use super::files;
use super::settings::{self, Folders};

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
        match files::text(&source.path) {
            Ok(Some(text)) => texts.push((source, text)),
            Ok(None) => {}
            Err(why) => return Some(why.to_string()),
        }
    }
    let cwd = cwd.to_string_lossy();
    let found = texts.iter().find_map(|(source, text)| {
        let why = settings::holds_back(cli, source.format, text, line, &cwd)?;
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

fn has_files(folder: &PathBuf) -> bool {
    match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) => !files::is_missing(&error),
    }
}

/// Returns the reason if a parent process of the hook was started with an argument that sets rules or a sandbox of the
/// coding agent. Also returns a reason if the arguments of a parent process cannot be read.
fn started_with(cli: CodingCli) -> Option<String> {
    let unread = || Some(format!("the arguments with which {cli} was started cannot be read"));
    let Some(parent) = rustix::process::getppid() else { return unread() };
    let mut pid = parent.as_raw_nonzero().get();
    while pid != 0 {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let Ok(arguments) = fs::read(folder.join("cmdline")) else { return unread() };
        let words: Vec<_> = arguments.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
        // The agent may be a script, whose interpreter is the first word.
        let is_agent = words.iter().take(2).any(|word| word.contains(cli.word()));
        if let Some(name) = rule_argument(cli, &words, is_agent) {
            return Some(format!("{cli} was started with `{name}`, whose rules a trial would skip"));
        }
        let Ok(status) = fs::read_to_string(folder.join("status")) else { return unread() };
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"));
        let Some(parent) = parent.and_then(|parent| parent.trim().parse().ok()) else { return unread() };
        pid = parent;
    }
    None
}

/// Returns the first argument that sets rules. Other programs give short arguments other meanings, so they count only in
/// a process of the agent.
fn rule_argument(cli: CodingCli, words: &[Cow<'_, str>], is_agent: bool) -> Option<&'static str> {
    let names = settings::rule_arguments(cli).iter().copied();
    names.filter(|name| is_agent || name.starts_with("--")).find(|name| {
        words.iter().any(|word| {
            let rest = word.strip_prefix(name);
            rest.is_some_and(|rest| !name.starts_with("--") || rest.is_empty() || rest.starts_with('='))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_set_rules() {
        let table = [
            (CodingCli::Codex, "codex exec --sandbox read-only x", Some("--sandbox")),
            (CodingCli::Codex, "node /usr/bin/codex -sread-only x", Some("-s")),
            (CodingCli::Codex, "/bin/codex -c sandbox_mode=read-only", Some("-c")),
            (CodingCli::Codex, "codex exec --sandboxes x", None),
            (CodingCli::Codex, "bash -c x", None),
            (CodingCli::Codex, "bash --profile x", Some("--profile")),
            (CodingCli::Claude, "claude --settings={} -p x", Some("--settings")),
            (CodingCli::Claude, "claude -p x", None),
            (CodingCli::Gemini, "node gemini --policy a", Some("--policy")),
            (CodingCli::Cursor, "cursor --policy a", None),
        ];
        for (cli, line, expected) in table {
            let words: Vec<_> = line.split(' ').map(Cow::from).collect();
            let is_agent = words.iter().take(2).any(|word| word.contains(cli.word()));
            assert_eq!(rule_argument(cli, &words, is_agent), expected, "{line}");
        }
    }
}
