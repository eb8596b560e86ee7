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
        let covered = |part: &Part| patterns.iter().any(|pattern| part.covered_by(pattern));
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
            let covers = |word: &str| {
                covered(word) || plain(word, subject.workspace).is_some_and(|path| covered(&path))
            };
            let patterns = Globs::of(globs, subject.workspace);
            let mut left = MAX_COMPARED;
            let mut may_cover = |word: &str| {
                let path = plain(word, subject.workspace);
                [Some(word), path.as_deref()].into_iter().flatten().any(|word| {
                    let becomes = Pattern::of_shell(word);
                    patterns.that_fit(word).iter().any(|glob| {
                        left -= 1;
                        // Of so many nobody looks at the rest: they may be anything.
                        left == 0 || glob.meets(&becomes)
                    })
                })
            };
            command.parts.iter().chain(&command.guesses).any(|part| {
                // Of a redirection's file nobody knows whether its pattern was quoted.
                let files = part.files.iter().map(|file| (file.as_str(), Pattern::is_in(file)));
                part.words_and_expansions().chain(files).any(|(word, expands)| {
                    // `--file=secrets/key` names a file too.
                    let value = word.split_once('=').map(|(_, value)| value);
                    [Some(word), value]
                        .into_iter()
                        .flatten()
                        .any(|path| covers(path) || (expands && may_cover(path)))
                })
            })
        }
        (None, Some(_) | None) => false,
    }
}

/// How often words that the shell expands are compared with the paths of a rule.
const MAX_COMPARED: usize = 4_000;

/// The paths of a rule, as what a pattern of the shell is compared with: from the workspace, and from the root.
struct Globs {
    relative: Vec<Pattern>,
    absolute: Vec<Pattern>,
}

impl Globs {
    fn of(globs: &[String], workspace: &str) -> Self {
        let absolute = globs.iter().flat_map(|glob| Pattern::of_glob(&format!("{workspace}/{glob}")));
        Self {
            relative: globs.iter().flat_map(|glob| Pattern::of_glob(glob)).collect(),
            absolute: absolute.collect(),
        }
    }

    fn that_fit(&self, word: &str) -> &[Pattern] {
        if word.starts_with('/') { &self.absolute } else { &self.relative }
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
