//! Rules with `paths`: whether a call touches a path that the rule names.
//!
//! A path is compared by its name and by the target of its links, which the inspection looked up. A rule that allows
//! needs both inside; a rule that holds back needs either. A path whose target is unknown does not count as inside for
//! a rule that allows, and counts as inside for one that holds back.

use globset::GlobMatcher;

use crate::gate::{Subject, changes};
use crate::tool::Category;
use holdshort_command::{Command, Part, Pattern, Reach, normal};

pub(super) fn matches(
    globs: &[String],
    subject: &Subject<'_>,
    command: Option<&Command>,
    releases: bool,
) -> bool {
    let globs = Globs::of(globs, subject.workspace);
    match (subject.path, command) {
        (Some(path), _) if releases => globs.hold(path, path, subject),
        // What is written is a file: nothing lies in it.
        (Some(path), _) if subject.category == Category::FileWrite => globs.meet_file(path, subject),
        (Some(path), _) => globs.meet(path) || globs.meet_places(subject),
        (None, Some(command)) if releases => globs.hold_command(command, subject),
        (None, Some(command)) => globs.meet_command(command, subject),
        (None, None) => false,
    }
}

/// How often words that the shell expands are compared with the paths of a rule.
const MAX_COMPARED: usize = 4_000;

/// A name that no file has: what a rule on all that is in a folder speaks of when the folder is named.
const ANY_FILE: &str = "\u{1}";

/// The paths of a rule.
struct Globs<'a> {
    workspace: &'a str,
    /// `None`: it can not be read, so it holds back and never releases.
    matchers: Vec<Option<GlobMatcher>>,
    /// As what a pattern of the shell is compared with: from the workspace, and from the root.
    relative: Vec<Pattern>,
    absolute: Vec<Pattern>,
}

impl<'a> Globs<'a> {
    fn of(globs: &[String], workspace: &'a str) -> Self {
        let absolute = globs.iter().flat_map(|glob| Pattern::of_glob(&format!("{workspace}/{glob}")));
        Self {
            workspace,
            matchers: globs.iter().map(|glob| changes::matcher(glob)).collect(),
            relative: globs.iter().flat_map(|glob| Pattern::of_glob(glob)).collect(),
            absolute: absolute.collect(),
        }
    }

    /// Whether a path that means the workspace, and no more, is surely inside.
    fn cover(&self, path: &str) -> bool {
        self.matchers.iter().flatten().any(|glob| glob.is_match(path))
    }

    /// Whether a path may be inside, or be a folder with what is.
    fn may_cover(&self, path: &str) -> bool {
        let in_it = if path.is_empty() { ANY_FILE.to_owned() } else { format!("{path}/{ANY_FILE}") };
        self.matchers
            .iter()
            .any(|glob| glob.as_ref().is_none_or(|glob| glob.is_match(path) || glob.is_match(&in_it)))
    }

    /// Whether a rule that allows covers a path, by its name and by each place it leads to. `src/../secrets` is not in
    /// `src`, and where `src/link/..` leads nobody can tell from its name.
    fn hold(&self, path: &str, named: &str, subject: &Subject<'_>) -> bool {
        let by_name = !path.split('/').any(|name| name == "..")
            && plain(path, self.workspace).is_some_and(|path| self.cover(&path));
        let mut places = subject.places.iter().filter(|place| place.named.is_empty() || place.named == named);
        by_name
            && places.all(|place| {
                let resolved = place.resolved.as_deref().and_then(|path| plain(path, self.workspace));
                resolved.is_some_and(|path| self.cover(&path))
            })
    }

    /// Whether a rule that holds back meets a file, by its name or by where it leads.
    fn meet_file(&self, path: &str, subject: &Subject<'_>) -> bool {
        let covers = |path: &str| {
            self.matchers.iter().any(|glob| glob.as_ref().is_none_or(|glob| glob.is_match(path)))
        };
        let leads_there =
            |path: &str| covers(path) || plain(path, self.workspace).is_some_and(|path| covers(&path));
        let mut places = subject.places.iter();
        covers(path)
            || plain(path, self.workspace).is_none_or(|path| covers(&path))
            || places.any(|place| place.resolved.as_deref().is_none_or(leads_there))
    }

    /// Whether a rule that holds back meets a path by its name.
    fn meet(&self, path: &str) -> bool {
        self.may_cover(path) || plain(path, self.workspace).is_none_or(|path| self.may_cover(&path))
    }

    /// Whether it meets a place that a path of the call leads to.
    fn meet_places(&self, subject: &Subject<'_>) -> bool {
        subject.places.iter().any(|place| {
            place.resolved.as_deref().is_none_or(|path| {
                self.may_cover(path) || plain(path, self.workspace).is_some_and(|path| self.may_cover(&path))
            })
        })
    }

    /// Whether a command may be about such a place: by any of its words, for nobody knows of every program which of
    /// them are files, and by the folders it runs in.
    fn meet_command(&self, command: &Command, subject: &Subject<'_>) -> bool {
        let cwd = Cwd::of(subject);
        let mut left = MAX_COMPARED;
        let by_name = |path: &str| {
            self.may_cover(path) || plain(path, self.workspace).is_some_and(|path| self.may_cover(&path))
        };
        let mut meets = |path: &str, expands: bool| {
            by_name(path)
                || leads_through_a_process(path, self.workspace, expands)
                || (expands && self.may_become(path, &mut left))
        };
        command.names_home
            || self.meet_places(subject)
            || command.parts.iter().chain(&command.guesses).any(|part| {
                if part.folders.is_empty() {
                    return true;
                }
                let mut folders = part.folders.iter().map(|folder| cwd.join(folder));
                folders.any(|folder| meets(&folder, false))
                    || self.meet_reach(part, &cwd, subject)
                    || part.texts().any(|(text, expands)| {
                        let Some(ways) = ways(text, expands) else { return true };
                        ways.iter().any(|text| {
                            let mut paths = std::iter::once(text.clone()).chain(cwd.located(part, text));
                            paths.any(|path| meets(&path, expands))
                        })
                    })
            })
    }

    /// Whether what a part goes through holds such a place, or what it takes out of commits.
    fn meet_reach(&self, part: &Part, cwd: &Cwd, subject: &Subject<'_>) -> bool {
        let in_commits = || {
            let names = if part.program == "git" { part.names_in_commits(&cwd.0) } else { Vec::new() };
            names.iter().filter_map(|path| plain(path, self.workspace)).any(|path| self.may_cover(&path))
        };
        let through_links = || {
            let resolved = subject.places.iter().filter_map(|place| place.resolved.as_deref());
            resolved.into_iter().any(|path| self.meet_below(path, false))
        };
        in_commits()
            || match part.reach() {
                Reach::Named | Reach::Unknown => false,
                Reach::Anywhere => true,
                Reach::Below(paths) => {
                    let mut named = paths.iter();
                    named.any(|(path, expands)| {
                        let Some(ways) = ways(path, *expands) else { return true };
                        let mut located = ways.iter().flat_map(|path| cwd.located(part, path));
                        located.any(|path| self.meet_below(&path, *expands))
                    }) || through_links()
                }
            }
    }

    /// Whether something that lies below a path may be inside.
    fn meet_below(&self, path: &str, expands: bool) -> bool {
        let full = normal(&full(path, self.workspace));
        // A folder above the workspace holds all of it.
        let is_above =
            full == "/" || self.workspace == full || self.workspace.starts_with(&format!("{full}/"));
        let root = format!("{}/", self.workspace);
        let inside = if is_above { Some("") } else { full.strip_prefix(&root) };
        match inside {
            Some(inside) => {
                let below = Pattern::below(inside, expands);
                self.relative.iter().any(|glob| glob.meets(&below))
            }
            // Its pattern may become the workspace, or a folder above it.
            None if expands => {
                let below = Pattern::below(&full, true);
                self.absolute.iter().any(|glob| glob.meets(&below))
            }
            None => false,
        }
    }

    /// Whether a file pattern of the shell may become a path of the rule.
    fn may_become(&self, path: &str, left: &mut usize) -> bool {
        let plain = plain(path, self.workspace).unwrap_or_else(|| normal(&full(path, self.workspace)));
        [path, plain.as_str()].into_iter().any(|path| {
            let becomes = Pattern::of_shell(path);
            let fitting = if path.starts_with('/') { &self.absolute } else { &self.relative };
            fitting.iter().any(|glob| {
                *left = left.saturating_sub(1);
                // Of so many nobody looks at the rest: they may be anything.
                *left == 0 || glob.meets(&becomes)
            })
        })
    }

    /// Whether all that a command names is surely inside; where a part names nothing, the folder it runs in is meant.
    fn hold_command(&self, command: &Command, subject: &Subject<'_>) -> bool {
        let cwd = Cwd::of(subject);
        command.opaque.is_none()
            && !command.names_home
            // What changes the folder counts by what runs there.
            && command.parts.iter().filter(|part| part.program != "cd" || !part.is_read_only()).all(|part| {
                let mut operands = part.operands().peekable();
                if operands.peek().is_none() {
                    return self.hold_operand(part, ANY_FILE, &cwd, subject);
                }
                operands.all(|(text, expands)| match text.find(['*', '?', '[']).filter(|_| expands) {
                    Some(at) => self.hold_pattern(part, text, at, &cwd, subject),
                    None => self.hold_operand(part, text, &cwd, subject),
                })
            })
    }

    /// Whether a path that a part names is inside, in each folder that the part may run in.
    fn hold_operand(&self, part: &Part, text: &str, cwd: &Cwd, subject: &Subject<'_>) -> bool {
        let named = part.located(text);
        !named.is_empty() && named.iter().all(|named| self.hold(&cwd.join(named), named, subject))
    }

    /// Whether all that a pattern stands for is inside: it lies in the folder that its names begin with, and the
    /// inspection has looked up what is there through links.
    fn hold_pattern(&self, part: &Part, text: &str, at: usize, cwd: &Cwd, subject: &Subject<'_>) -> bool {
        let (names, pattern) = text.split_at(at);
        let folder = names.rsplit_once('/').map_or("", |(folder, _)| folder);
        let any = format!("{folder}/{ANY_FILE}");
        let any = if folder.is_empty() && !names.starts_with('/') { ANY_FILE } else { &any };
        let located = part.located(text);
        let mut places = subject.places.iter().filter(|place| located.contains(&place.named));
        !pattern.contains('/')
            && !text.rsplit('/').next().is_some_and(Pattern::climbs)
            && self.hold_operand(part, any, cwd, subject)
            && places.all(|place| {
                let resolved = place.resolved.as_deref().and_then(|path| plain(path, self.workspace));
                resolved.is_some_and(|path| self.cover(&path))
            })
    }
}

/// The working directory of a command, from the workspace.
struct Cwd(String);

impl Cwd {
    fn of(subject: &Subject<'_>) -> Self {
        let cwd = if subject.cwd.is_empty() { subject.workspace } else { subject.cwd };
        // One outside of the workspace is named in full.
        Self(plain(cwd, subject.workspace).unwrap_or_else(|| cwd.to_owned()))
    }

    fn join(&self, path: &str) -> String {
        match (self.0.as_str(), path) {
            (cwd, "") => cwd.to_owned(),
            (_, path) if path.starts_with('/') => path.to_owned(),
            ("", path) => path.to_owned(),
            (cwd, path) => format!("{cwd}/{path}"),
        }
    }

    fn located(&self, part: &Part, text: &str) -> Vec<String> {
        part.located(text).iter().map(|path| self.join(path)).collect()
    }
}

/// What a path may be where the shell finds `..` with a pattern of it. `None`: it may be too many.
pub(in crate::gate) fn ways(path: &str, expands: bool) -> Option<Vec<String>> {
    if expands { Pattern::ways(path) } else { Some(vec![path.to_owned()]) }
}

pub(in crate::gate) fn full(path: &str, workspace: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("{workspace}/{path}") }
}

/// A path relative to the workspace without `.`, `..` and doubled `/`, as far as names say; `None` if it leads out of it.
pub(in crate::gate) fn plain(path: &str, workspace: &str) -> Option<String> {
    // Where the workspace is nobody knows.
    if workspace.is_empty() && (path.starts_with('/') || climbs(path)) {
        return None;
    }
    let full = normal(&full(path, workspace));
    let inside = full.strip_prefix(workspace.trim_end_matches('/'))?;
    if inside.is_empty() { Some(String::new()) } else { inside.strip_prefix('/').map(str::to_owned) }
}

/// Whether a path leads above where it starts.
fn climbs(path: &str) -> bool {
    let mut depth = 0_usize;
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." if depth == 0 => return true,
            ".." => depth -= 1,
            _ => depth += 1,
        }
    }
    false
}

/// Whether a path leads through what the system shows of a process, whose folder, root and open files may be anywhere.
fn leads_through_a_process(path: &str, workspace: &str, expands: bool) -> bool {
    let is = |name: &str, words: &[&str]| {
        let may_be = |word: &&str| Pattern::of_shell(name).meets(&Pattern::of_word(word));
        words.contains(&name) || (expands && Pattern::is_in(name) && words.iter().any(may_be))
    };
    let full = full(path, workspace);
    let mut above: Vec<&str> = Vec::new();
    for name in full.split('/').filter(|name| !matches!(*name, "" | ".")) {
        let is_anywhere = match above.as_slice() {
            [root, _, ..] if is(root, &["proc"]) && is(name, &["cwd", "root", "fd", "map_files"]) => true,
            [root, open, ..] if is(root, &["dev"]) && is(open, &["stdin", "stdout", "stderr"]) => true,
            [root, open] if is(root, &["dev"]) && is(open, &["fd"]) => name == "..",
            [root, open, _, ..] => is(root, &["dev"]) && is(open, &["fd"]),
            [..] => false,
        };
        if is_anywhere {
            return true;
        }
        if name == ".." {
            above.pop();
        } else {
            above.push(name);
        }
    }
    false
}
