//! Counts the files that a command would reach: the files at the paths that its command line names, and the files below
//! them. Only the names of files are read, starting at the handle of the workspace, and no link is followed.

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use holdshort_command::Part;
use serde_json::{Value, json};

use crate::limits;
use crate::workspace::Workspace;

/// Returns the files that a command may affect as `{files, at_most?, at_least?}`. `at_most` is true if the command
/// possibly reaches only some of these files. `at_least` is true if there are more files, or folders that cannot be
/// read. Returns `None` if the files of this command are not counted, or if the paths in the command are unknown.
pub(super) fn impact(workspace: &Workspace, cwd: &[String], line: &str) -> Option<Value> {
    let command = holdshort_command::parse(line);
    let moves = |part: &Part| matches!(part.program.as_str(), "cd" | "pushd" | "popd");
    if command.opaque.is_some() || command.parts.iter().any(moves) {
        return None;
    }
    let named: Vec<CommandPaths<'_>> = command.parts.iter().filter_map(command_paths).collect();
    if named.is_empty() {
        return None;
    }
    let at_most = named.iter().any(|named| named.picks);
    // A program whose files are not counted may reach further files. Programs that are known to only read do not.
    let others = command.parts.iter().any(|part| {
        self::command_paths(part).is_none()
            && !part.is_read_only()
            && !RUNS_ANOTHER.contains(&part.program.as_str())
    });
    let mut count = Count { files: 0, left: limits::IMPACT_ENTRIES, more: others };
    let mut places: Vec<Vec<String>> = Vec::new();
    for path in named.iter().flat_map(|named| &named.paths) {
        // Brackets, braces and tildes are not expanded here.
        if path.contains(['[', '{', '~']) {
            return None;
        }
        for place in expanded(workspace, &beneath(workspace, cwd, path)?, &mut count.more) {
            if !places.iter().any(|other| place.starts_with(other)) {
                places.retain(|other| !other.starts_with(&place));
                places.push(place);
            }
        }
    }
    for place in &places {
        count.add_path(workspace, place);
    }
    let mut impact = json!({ "files": count.files });
    for (key, is_so) in [("at_most", at_most), ("at_least", count.more)] {
        if is_so {
            impact[key] = Value::Bool(true);
        }
    }
    Some(impact)
}

/// Programs that run another program, which is given as an argument. The parser of command lines lists this other
/// program as a separate part.
const RUNS_ANOTHER: [&str; 9] = ["sh", "bash", "dash", "env", "nohup", "time", "nice", "timeout", "command"];

/// Paths that one part of a command line (one program with its arguments) names.
struct CommandPaths<'p> {
    paths: Vec<&'p str>,
    /// True if the program possibly reaches only some of the entries below these paths.
    picks: bool,
}

fn command_paths(part: &Part) -> Option<CommandPaths<'_>> {
    let words = || part.arguments.iter().map(String::as_str);
    let (mut paths, picks) = match (part.program.as_str(), part.arguments.first().map(String::as_str)) {
        ("rm" | "rmdir" | "unlink" | "shred" | "truncate", _) => (operands(words()), false),
        // Without `--reference`, the first operand is the mode or the owner, not a path.
        ("chmod" | "chown" | "chgrp", _) if words().any(|word| word.starts_with("--ref")) => {
            (operands(words()), false)
        }
        ("chmod" | "chown" | "chgrp", _) => (operands(words()).into_iter().skip(1).collect(), false),
        ("mv" | "cp", _) if words().any(|word| word.starts_with("-t") || word.starts_with("--target")) => {
            return None;
        }
        ("mv" | "cp", _) => {
            let mut paths = operands(words());
            paths.pop();
            (paths, false)
        }
        ("git", Some("rm")) => (operands(words().skip(1)), false),
        // The value of the option `-e` would be mistaken for a path.
        ("git", Some("clean")) if words().any(|word| word.starts_with("-e") || word.starts_with("--e")) => {
            return None;
        }
        ("git", Some("clean")) => (operands(words().skip(1)), true),
        ("find", _) if words().any(|word| word == "-delete" || word.starts_with("-exec")) => {
            // With these options `find` follows links. The count follows no link, so it would be wrong.
            if words().any(|word| matches!(word, "-L" | "-follow")) {
                return None;
            }
            let paths = words().skip_while(|word| matches!(*word, "-H" | "-P"));
            (paths.take_while(|word| !word.starts_with(['-', '(', '!'])).collect(), true)
        }
        _ => return None,
    };
    if paths.is_empty() && picks {
        paths.push(".");
    }
    Some(CommandPaths { paths, picks })
}

fn operands<'p>(words: impl Iterator<Item = &'p str>) -> Vec<&'p str> {
    let mut only_operands = false;
    let mut paths = Vec::new();
    for word in words {
        if only_operands || !word.starts_with('-') || word == "-" {
            paths.push(word);
        } else if word == "--" {
            only_operands = true;
        }
    }
    paths
}

/// Returns the components of a path in a command line, relative to the workspace. Returns `None` if the path leads out
/// of the workspace.
fn beneath(workspace: &Workspace, cwd: &[String], path: &str) -> Option<Vec<String>> {
    let (mut components, path) = match path.strip_prefix('/') {
        Some(_) => {
            let rest = path.strip_prefix(workspace.path())?;
            (Vec::new(), if rest.is_empty() { rest } else { rest.strip_prefix('/')? })
        }
        None => (cwd.to_vec(), path),
    };
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => {
                components.pop()?;
            }
            other => components.push(other.to_owned()),
        }
    }
    Some(components)
}

/// Expands `*` and `?` in a path as the shell does. Sets `more` to true if some entries of folders were not examined.
fn expanded(workspace: &Workspace, path: &[String], more: &mut bool) -> Vec<Vec<String>> {
    let mut places: Vec<Vec<String>> = vec![Vec::new()];
    for component in path {
        if !component.contains(['*', '?']) {
            for place in &mut places {
                place.push(component.clone());
            }
            continue;
        }
        let mut next = Vec::new();
        for place in places {
            let Some(dir) = open(workspace, &place) else { continue };
            let mut entries = dir.entries().into_iter().flatten();
            let mut names: Vec<String> = entries
                .by_ref()
                .take(limits::IMPACT_ENTRIES)
                .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
                .filter(|name| {
                    name.starts_with('.') == component.starts_with('.') && is_like(name, component)
                })
                .collect();
            *more |= entries.next().is_some();
            names.sort();
            next.extend(names.into_iter().map(|name| [place.clone(), vec![name]].concat()));
        }
        *more |= next.len() > limits::IMPACT_ENTRIES;
        places = next;
        places.truncate(limits::IMPACT_ENTRIES);
    }
    places
}

/// Compares a name with a pattern in which `*` stands for any characters, and `?` for one character.
fn is_like(name: &str, pattern: &str) -> bool {
    let (name, pattern): (Vec<char>, Vec<char>) = (name.chars().collect(), pattern.chars().collect());
    let (mut n, mut p) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((n, p));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => {
                n += 1;
                p += 1;
            }
            Some(_) | None => {
                let Some((from, at)) = star else { return false };
                star = Some((from + 1, at));
                n = from + 1;
                p = at + 1;
            }
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

fn open(workspace: &Workspace, components: &[String]) -> Option<Dir> {
    let mut dir = workspace.dir().try_clone().ok()?;
    for component in components {
        dir = dir.open_dir_nofollow(component).ok()?;
    }
    Some(dir)
}

struct Count {
    files: usize,
    /// Number of directory entries that may still be counted.
    left: usize,
    more: bool,
}

impl Count {
    fn add_path(&mut self, workspace: &Workspace, place: &[String]) {
        let Some((name, folders)) = place.split_last() else {
            return self.folder(workspace.dir(), 0);
        };
        let Some(parent) = open(workspace, folders) else { return };
        match parent.symlink_metadata(name) {
            Ok(found) if found.is_dir() => match parent.open_dir_nofollow(name) {
                Ok(dir) => self.folder(&dir, 0),
                Err(_) => self.more = true,
            },
            Ok(_) => self.files += 1,
            Err(_) => {}
        }
    }

    fn folder(&mut self, dir: &Dir, depth: usize) {
        let Ok(entries) = dir.entries() else {
            self.more = true;
            return;
        };
        for entry in entries {
            if self.left == 0 || depth > limits::IMPACT_DEPTH {
                self.more = true;
                return;
            }
            self.left -= 1;
            let found = entry.and_then(|entry| Ok((entry.file_name(), entry.file_type()?)));
            match found {
                Ok((name, kind)) if kind.is_dir() => match dir.open_dir_nofollow(name) {
                    Ok(dir) => self.folder(&dir, depth + 1),
                    Err(_) => self.more = true,
                },
                Ok(_) => self.files += 1,
                Err(_) => self.more = true,
            }
        }
    }
}
