//! Compares the paths of a call with the `paths` of a rule.
//!
//! A path of the call is compared by its name. The path is also compared by the targets of its links, which the
//! inspection resolved. A rule that allows matches only if the name and all targets are inside the rule's paths. A rule
//! that asks or forbids matches if the name or any target is inside the rule's paths. If a target is unknown, rules
//! that ask or forbid match, and rules that allow do not match.

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
    let globs = Globs::new(globs, subject.workspace);
    match (subject.path, command) {
        (Some(path), _) if releases => globs.hold(path, path, subject),
        // A file tool writes exactly this file, so the rule is not compared with paths below it.
        (Some(path), _) if subject.category == Category::FileWrite => globs.meet_file(path, subject),
        (Some(path), _) => globs.meet(path) || globs.meet_places(subject),
        (None, Some(command)) if releases => globs.hold_command(command, subject),
        (None, Some(command)) => globs.meet_command(command, subject),
        (None, None) => false,
    }
}

/// Maximum number of comparisons between the shell patterns of a call and the paths of one rule.
const MAX_COMPARED: usize = 4_000;

/// File name that no file can have. If a call names a folder, the comparison with a rule uses this name for any file in
/// the folder.
const ANY_FILE: &str = "\u{1}";

struct Globs<'a> {
    workspace: &'a str,
    /// Compiled paths of the rule. An entry is `None` if the path is malformed. A malformed path matches every path in
    /// rules that ask or forbid, and no path in rules that allow.
    matchers: Vec<Option<GlobMatcher>>,
    /// Paths of the rule as patterns, for the comparison with file patterns of the shell. The paths in `relative` are
    /// relative to the workspace, the paths in `absolute` are absolute.
    relative: Vec<Pattern>,
    absolute: Vec<Pattern>,
}

impl<'a> Globs<'a> {
    fn new(globs: &[String], workspace: &'a str) -> Self {
        let absolute = globs.iter().flat_map(|glob| Pattern::of_glob(&format!("{workspace}/{glob}")));
        Self {
            workspace,
            matchers: globs.iter().map(|glob| changes::matcher(glob)).collect(),
            relative: globs.iter().flat_map(|glob| Pattern::of_glob(glob)).collect(),
            absolute: absolute.collect(),
        }
    }

    /// Returns true if a path relative to the workspace is certainly inside the rule's paths.
    fn cover(&self, path: &str) -> bool {
        self.matchers.iter().flatten().any(|glob| glob.is_match(path))
    }

    /// Returns true if the path may be inside the rule's paths, or if a file below the path may be inside them.
    fn may_cover(&self, path: &str) -> bool {
        let in_it = if path.is_empty() { ANY_FILE.to_owned() } else { format!("{path}/{ANY_FILE}") };
        self.matchers
            .iter()
            .any(|glob| glob.as_ref().is_none_or(|glob| glob.is_match(path) || glob.is_match(&in_it)))
    }

    /// Returns true if a rule that allows matches a path, by its name and by all targets of its links. Returns false
    /// for a path with `..`. For example, `src/../secrets` is not in `src`, and the target of `src/link/..` depends on
    /// the link.
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

    /// Returns true if a rule that asks or forbids matches a file by its name or by a target of its links.
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

    /// Returns true if a rule that asks or forbids matches a path by its name.
    fn meet(&self, path: &str) -> bool {
        self.may_cover(path) || plain(path, self.workspace).is_none_or(|path| self.may_cover(&path))
    }

    /// Returns true if the target of a link in the call's paths may be inside the rule's paths.
    fn meet_places(&self, subject: &Subject<'_>) -> bool {
        subject.places.iter().any(|place| {
            place.resolved.as_deref().is_none_or(|path| {
                self.may_cover(path) || plain(path, self.workspace).is_some_and(|path| self.may_cover(&path))
            })
        })
    }

    /// Returns true if any word of a command, or any of its working directories, may be inside the rule's paths. Every
    /// word is compared, because the parser does not know which arguments of an unknown program are files.
    fn meet_command(&self, command: &Command, subject: &Subject<'_>) -> bool {
        let cwd = Cwd::for_subject(subject);
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

    /// Returns true if this part of the command traverses a folder, or extracts files from commits, and a path that it
    /// may reach is inside the rule's paths.
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

    /// Returns true if any path below this path may be inside the rule's paths.
    fn meet_below(&self, path: &str, expands: bool) -> bool {
        let full = normal(&full(path, self.workspace));
        // A folder above the workspace contains the whole workspace.
        let is_above =
            full == "/" || self.workspace == full || self.workspace.starts_with(&format!("{full}/"));
        let root = format!("{}/", self.workspace);
        let inside = if is_above { Some("") } else { full.strip_prefix(&root) };
        match inside {
            Some(inside) => {
                let below = Pattern::below(inside, expands);
                self.relative.iter().any(|glob| glob.meets(&below))
            }
            // The pattern may expand to the workspace or to a folder above it.
            None if expands => {
                let below = Pattern::below(&full, true);
                self.absolute.iter().any(|glob| glob.meets(&below))
            }
            None => false,
        }
    }

    /// Returns true if the shell may expand a pattern to a path that is inside the rule's paths.
    fn may_become(&self, path: &str, left: &mut usize) -> bool {
        let plain = plain(path, self.workspace).unwrap_or_else(|| normal(&full(path, self.workspace)));
        [path, plain.as_str()].into_iter().any(|path| {
            let becomes = Pattern::of_shell(path);
            let fitting = if path.starts_with('/') { &self.absolute } else { &self.relative };
            fitting.iter().any(|glob| {
                *left = left.saturating_sub(1);
                // If the maximum number of comparisons is reached, all remaining patterns are assumed to match.
                *left == 0 || glob.meets(&becomes)
            })
        })
    }

    /// Returns true if every path of a command is certainly inside the rule's paths. If a part has no operands, its
    /// working directory is compared instead.
    fn hold_command(&self, command: &Command, subject: &Subject<'_>) -> bool {
        let cwd = Cwd::for_subject(subject);
        command.opaque.is_none()
            && !command.names_home
            // A `cd` itself is not compared. The commands after the `cd` are compared in the folder to which it
            // changes.
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

    /// Returns true if a path of the command is inside the rule's paths in each working directory that this part of the
    /// command may have.
    fn hold_operand(&self, part: &Part, text: &str, cwd: &Cwd, subject: &Subject<'_>) -> bool {
        let named = part.located(text);
        !named.is_empty() && named.iter().all(|named| self.hold(&cwd.join(named), named, subject))
    }

    /// Returns true if all files that a pattern matches are inside the rule's paths. The folder of the pattern must be
    /// inside, and the targets of all links that the inspection found in that folder must be inside, too.
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

/// Working directory of a command, relative to the workspace.
struct Cwd(String);

impl Cwd {
    fn for_subject(subject: &Subject<'_>) -> Self {
        let cwd = if subject.cwd.is_empty() { subject.workspace } else { subject.cwd };
        // A working directory outside the workspace stays absolute.
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

/// Returns the paths that a file pattern may stand for, if the shell expands one of its names to `..`. `None` if there
/// are too many such paths.
pub(in crate::gate) fn ways(path: &str, expands: bool) -> Option<Vec<String>> {
    if expands { Pattern::ways(path) } else { Some(vec![path.to_owned()]) }
}

pub(in crate::gate) fn full(path: &str, workspace: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("{workspace}/{path}") }
}

/// Returns the path relative to the workspace, without `.`, `..` and repeated `/`. Does not follow links. `None` if the
/// path is outside the workspace.
pub(in crate::gate) fn plain(path: &str, workspace: &str) -> Option<String> {
    // The workspace is unknown.
    if workspace.is_empty() && (path.starts_with('/') || climbs(path)) {
        return None;
    }
    let full = normal(&full(path, workspace));
    let inside = full.strip_prefix(workspace.trim_end_matches('/'))?;
    if inside.is_empty() { Some(String::new()) } else { inside.strip_prefix('/').map(str::to_owned) }
}

/// Returns true if the path leads out of the folder in which it starts, through `..`.
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

/// Returns true if a path leads through `/proc` or `/dev` entries of a process. Such entries may be links to any path.
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
