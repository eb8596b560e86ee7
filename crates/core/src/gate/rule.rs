//! Rules: which calls a list of rules allows, asks about or forbids.

use globset::GlobBuilder;

use crate::definition::{Rule, RuleAction};
use crate::gate::Subject;
use crate::gate::command::{Command, Part, Pattern};

/// The first rule of the list that matches the call.
pub(super) fn first_match<'a>(
    rules: &'a [Rule],
    subject: &Subject<'_>,
    command: Option<&Command>,
) -> Option<(usize, &'a Rule)> {
    rules.iter().enumerate().find(|(_, rule)| matches(rule, subject, command))
}

/// Every criterion that the rule names must hold. A rule that releases must cover *all* of a compound call;
/// one that holds back needs to meet *any* part of it.
fn matches(rule: &Rule, subject: &Subject<'_>, command: Option<&Command>) -> bool {
    let releases = rule.action == RuleAction::Allow;
    named(&rule.tools, subject.tool)
        && named(&rule.agents, subject.agent)
        && (rule.categories.is_empty() || rule.categories.contains(&subject.category))
        && (rule.commands.is_empty() || commands(&rule.commands, command, releases))
        && (rule.paths.is_empty() || paths(&rule.paths, subject, command, releases))
}

/// Anchored and in full: `read_file` does not free `read_file_and_delete`.
fn named(names: &[String], name: &str) -> bool {
    names.is_empty() || names.iter().any(|each| each == "*" || each == name)
}

fn commands(patterns: &[String], command: Option<&Command>, releases: bool) -> bool {
    let Some(command) = command else { return false };
    if releases {
        let covered = |part: &Part| patterns.iter().any(|pattern| part.matches(pattern));
        command.opaque.is_none() && command.parts.iter().all(|part| covered(part) && !part.redirected)
    } else {
        let covered = |part: &Part| patterns.iter().any(|pattern| part.may_match(pattern));
        command.parts.iter().chain(&command.guesses).any(covered)
    }
}

fn paths(globs: &[String], subject: &Subject<'_>, command: Option<&Command>, releases: bool) -> bool {
    let covered = |path: &str| {
        globs.iter().any(|glob| {
            GlobBuilder::new(glob)
                .literal_separator(true)
                .build()
                // A glob that can not be read holds back and never releases.
                .map_or(!releases, |glob| glob.compile_matcher().is_match(path))
        })
    };
    match (subject.path, command) {
        // `src/../secrets` is not in `src`, and where `src/link/..` leads nobody can tell from its name.
        (Some(path), _) if releases => {
            !path.split('/').any(|name| name == "..")
                && plain(path, subject.workspace).is_some_and(|path| covered(&path))
        }
        (Some(path), _) => covered(path) || plain(path, subject.workspace).is_none_or(|path| covered(&path)),
        (None, Some(command)) if !releases => {
            let parts = command.parts.iter().chain(&command.guesses);
            // Of a redirection's file nobody knows whether its pattern was quoted.
            let files = |part: &Part| -> Vec<(String, bool)> {
                let files = part.files.iter().map(|file| (file.clone(), file.contains(['*', '?', '['])));
                part.arguments()
                    .map(|(word, becomes)| (word.to_owned(), becomes.is_some()))
                    .chain(files)
                    .collect()
            };
            parts.flat_map(files).any(|(word, expands)| {
                let covered = |path: &str| {
                    let may_be = |glob: &String| Pattern::of_shell(path).meets(&Pattern::of_glob(glob));
                    covered(path) || (expands && globs.iter().any(may_be))
                };
                // `--file=secrets/key` names a file too.
                let value = word.split_once('=').map_or(word.as_str(), |(_, value)| value);
                [word.as_str(), value].into_iter().any(|path| {
                    covered(path) || plain(path, subject.workspace).is_some_and(|path| covered(&path))
                })
            })
        }
        (None, Some(_) | None) => false,
    }
}

/// A path relative to the workspace without `.`, `..` and doubled `/`; `None` if it leads out of it.
fn plain(path: &str, workspace: &str) -> Option<String> {
    let path = if path.starts_with('/') {
        let inside = path.strip_prefix(workspace).filter(|_| !workspace.is_empty())?;
        if inside.is_empty() { inside } else { inside.strip_prefix('/')? }
    } else {
        path
    };
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop()?;
            }
            name => names.push(name),
        }
    }
    Some(names.join("/"))
}
