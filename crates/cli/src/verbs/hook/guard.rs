//! Calls that are denied without asking: they touch a protected place, or run a deciding command of this program.
//!
//! Protected places are compared after links are resolved. Command lines are read by `holdshort_command`; a line that
//! the parser cannot read is compared as text and is asked about. The guard is the first of two lines: a person sees
//! every call that the guard lets through and no rule allows.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use holdshort_command::{Command, Part, Pattern, Reach};
use holdshort_edges::hooks::{CallKind, HookCall};
use serde_json::Value;

use super::config::HookConfig;
use super::own_program;
use super::resolved_path::{resolve, resolve_or_keep};

/// Protected places of one installation.
#[derive(Debug)]
pub(in crate::verbs) struct Guard {
    places: Vec<Place>,
    root: PathBuf,
    program: PathBuf,
    home: Option<PathBuf>,
}

#[derive(Debug)]
struct Place {
    /// Path without links.
    path: PathBuf,
    /// Path as configured. It is compared with texts.
    shown: PathBuf,
    /// Device and inode of a file, by which a hard link is recognized.
    file: Option<(u64, u64)>,
    /// True if a search may pass over the place: a file that has no secret, such as settings or the program.
    may_be_searched: bool,
    /// Path of project settings from the root. A coding agent that is started in a subfolder reads the settings of that
    /// subfolder, so files of this name are protected in every folder of the project.
    project_settings: Option<PathBuf>,
}

impl Place {
    /// Returns the reason why a call is denied.
    fn protected(&self) -> String {
        let shown = self.shown.display();
        let subject = match &self.project_settings {
            Some(name) => format!("{shown} is protected, and so is `{}` in every folder", name.display()),
            None => format!("{shown} is protected"),
        };
        format!("{subject}: no tool of an agent may read or change it, and nobody can approve that.")
    }

    /// Returns the ends of paths that are protected in any folder of the project: the settings file and, unless a search
    /// only passes over it, the folder that contains the file.
    fn settings_ends(&self, access: Access) -> impl Iterator<Item = &Path> {
        let file = self.project_settings.as_deref();
        let folder = file.and_then(Path::parent).filter(|_| access != Access::Below);
        file.into_iter().chain(folder).filter(|end| *end != Path::new(""))
    }

    /// Returns true if a file pattern may match a settings file in any folder, or the folder that contains the file.
    fn may_match_settings(&self, pattern: &str, access: Access) -> bool {
        self.settings_ends(access).filter_map(Path::to_str).any(|end| {
            let parts: Vec<&str> = pattern.split('/').collect();
            let last = parts.len().saturating_sub(end.split('/').count());
            Pattern::of_shell(&parts[last..].join("/")).meets(&Pattern::of_word(end))
        })
    }
}

/// Extent of an access to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Named,
    /// Everything below the path is read.
    Below,
    /// Files below the path may be replaced or changed.
    Changes,
    /// The path is removed together with everything below it.
    Removes,
}

/// Programs that change files below the folders that they name.
const CHANGES: [&str; 14] = [
    "cp", "ln", "chmod", "chown", "chgrp", "rsync", "install", "tar", "unzip", "shred", "mount", "unlink",
    "find", "git",
];

/// Arguments that contain prose or the content of a file. A path in such a text touches nothing.
const PROSE: [&str; 17] = [
    "body",
    "comment",
    "content",
    "contents",
    "description",
    "explanation",
    "instruction",
    "message",
    "new_source",
    "new_string",
    "old_string",
    "prompt",
    "query",
    "questions",
    "text",
    "title",
    "todos",
];

/// Words in the names of arguments that name a file or folder.
const FOLDERS: [&str; 6] = ["cwd", "dir", "file", "folder", "path", "root"];

/// Maximum length of a path in the system.
const PATH_BYTES: usize = 4_096;

impl Guard {
    /// `extra`: places that are protected in addition to those of the configuration.
    pub(in crate::verbs) fn new(config: &HookConfig, extra: &[&Path]) -> Self {
        let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let own = [config.key_file.as_path(), config.program.as_path()];
        let all = config.protected.iter().map(PathBuf::as_path).chain(own).chain(extra.iter().copied());
        let root = resolve_or_keep(&config.root);
        let places = all.map(|shown| {
            let path = resolve_or_keep(shown);
            let found = fs::metadata(&path).ok();
            let is_secret = shown == config.key_file || extra.contains(&shown);
            let is_file = found.as_ref().is_some_and(fs::Metadata::is_file);
            Place {
                may_be_searched: is_file && !is_secret,
                project_settings: settings_name(&path, &root)
                    .filter(|_| !is_secret && *shown != config.program),
                file: found.filter(|_| is_file).map(|found| (found.dev(), found.ino())),
                shown: shown.to_owned(),
                path,
            }
        });
        Self { places: places.collect(), root: config.root.clone(), program: config.program.clone(), home }
    }

    /// Returns the reason why the call is denied. `cwd`: absolute working directory of the call.
    pub(super) fn refusal(&self, call: &HookCall, cwd: &Path) -> Option<String> {
        if let Some(place) = self.touched(cwd, Access::Named) {
            return Some(place.protected());
        }
        if let Some(line) = call.command() {
            let line = self.expand(line);
            let command = holdshort_command::parse(&line);
            if let Some(verb) = own_program::find(&command, &line, &self.program, cwd) {
                return Some(own_program::refusal(&verb));
            }
            let touched = self.touched_by_line(&command, &line, cwd).or_else(|| self.named_in(&line));
            return touched.map(Place::protected);
        }
        let mut texts: Vec<(String, String)> =
            call.files.iter().map(|file| ("path".to_owned(), file.clone())).collect();
        let skipped = if call.files.is_empty() { "" } else { "patch" };
        collect("", skipped, &call.arguments, &mut texts);
        if matches!(call.kind, CallKind::Reading | CallKind::Searching) {
            // The coding agent runs the call with its own arguments.
            collect("", skipped, &call.original, &mut texts);
        }
        if call.kind == CallKind::Other
            && let Some(verb) = own_program::find_in_texts(texts.iter().map(|(_, text)| text.as_str()))
        {
            return Some(own_program::refusal(&verb));
        }
        let found = texts.iter().find_map(|(name, text)| {
            let text = self.expand(text.strip_prefix("file://").unwrap_or(text));
            let reads_below = match call.kind {
                CallKind::Searching => true,
                CallKind::Other => FOLDERS.iter().any(|word| name.to_lowercase().contains(word)),
                CallKind::Command | CallKind::Reading | CallKind::Writing | CallKind::Web => false,
            };
            let access = if reads_below { Access::Below } else { Access::Named };
            let is_path = !text.contains('\n') && text.len() < PATH_BYTES;
            let touched = is_path.then(|| self.touched(&cwd.join(&text), access)).flatten();
            touched.or_else(|| self.named_in(&text))
        });
        found.map(Place::protected)
    }

    /// Returns the reason why changes of a trial are not carried out: a path of the root is protected.
    pub(in crate::verbs) fn refusal_of_changes<'a>(
        &self,
        mut paths: impl Iterator<Item = &'a str>,
    ) -> Option<String> {
        paths.find_map(|path| self.touched(&self.root.join(path), Access::Named)).map(Place::protected)
    }

    /// Replaces the home folder where a shell would.
    fn expand(&self, text: &str) -> String {
        let Some(home) = self.home.as_deref().and_then(Path::to_str) else { return text.to_owned() };
        let text = text.replace("${HOME}", home).replace("$HOME", home);
        let words = text.replace(" ~/", &format!(" {home}/")).replace("=~/", &format!("={home}/"));
        match words.strip_prefix("~/") {
            Some(rest) => format!("{home}/{rest}"),
            None if words == "~" => home.to_owned(),
            None => words,
        }
    }

    /// Returns a place whose path occurs in the text, for code and for lines that cannot be parsed.
    fn named_in(&self, text: &str) -> Option<&Place> {
        let holds = |path: &Path| path.to_str().is_some_and(|path| is_path_in(text, path));
        self.places.iter().find(|place| holds(&place.shown) || holds(&place.path))
    }

    fn touched_by_line(&self, command: &Command, line: &str, cwd: &Path) -> Option<&Place> {
        let parts = || command.parts.iter().chain(&command.guesses);
        let hit = parts().find_map(|part| self.touched_by_part(part, cwd));
        // Code on the line, whose words are no words of a shell.
        hit.or_else(|| {
            let is_certain = command.opaque.is_none() && command.unclear.is_none();
            let is_end = |c: char| c.is_whitespace() || "'\"`()[]{},;:=<>|&".contains(c);
            let mut words = line.split(is_end).filter(|word| word.contains('/'));
            if is_certain {
                None
            } else {
                words.find_map(|word| self.touched(&cwd.join(word), Access::Named))
            }
        })
    }

    fn touched_by_part(&self, part: &Part, cwd: &Path) -> Option<&Place> {
        let base = part.program.rsplit('/').next().unwrap_or_default();
        let access = match base {
            "rm" | "rmdir" | "mv" => Access::Removes,
            _ if CHANGES.contains(&base) => Access::Changes,
            _ => Access::Named,
        };
        let folders: Vec<PathBuf> = match &part.folders[..] {
            [] => vec![cwd.to_owned()],
            folders => folders.iter().map(|folder| cwd.join(folder)).collect(),
        };
        let named = part.texts().find_map(|(text, expands)| {
            folders.iter().find_map(|folder| {
                if expands && Pattern::is_in(text) {
                    self.matched(text, folder, access)
                } else {
                    self.touched(&folder.join(text), access)
                }
            })
        });
        named.or_else(|| match part.reach() {
            Reach::Below(paths) => paths.iter().find_map(|(path, _)| {
                folders.iter().find_map(|folder| self.touched(&folder.join(path), Access::Below))
            }),
            Reach::Named | Reach::Anywhere | Reach::Unknown => None,
        })
    }

    /// Returns a place that the file pattern may name.
    fn matched(&self, pattern: &str, folder: &Path, access: Access) -> Option<&Place> {
        // The folders before the first pattern may be links.
        let first = pattern.find(['*', '?', '[']).unwrap_or_default();
        let at = pattern[..first].rfind('/').map_or(0, |at| at + 1);
        let folder = folder.join(&pattern[..at]);
        if let Some(place) = self.touched(&folder, Access::Named) {
            return Some(place);
        }
        let folder = resolve(&folder)?;
        let expands = Pattern::of_shell(&pattern[at..]);
        let whole = folder.join(&pattern[at..]);
        let in_project = whole.strip_prefix(&self.root).ok().and_then(Path::to_str);
        self.places.iter().find(|place| {
            if in_project.is_some_and(|pattern| place.may_match_settings(pattern, access)) {
                return true;
            }
            let above = place.path.ancestors().take_while(|path| path.parent().is_some());
            let mut above = above.take_while(|path| {
                access != Access::Named || *path == place.path || path.starts_with(&self.root)
            });
            above.any(|path| {
                let relative = path.strip_prefix(&folder).ok().and_then(Path::to_str);
                let mut names = relative.into_iter().filter(|name| !name.is_empty());
                names.any(|name| expands.meets(&Pattern::of_word(name)))
            })
        })
    }

    fn touched(&self, path: &Path, access: Access) -> Option<&Place> {
        let Some(path) = resolve(path) else { return self.places.first() };
        let file = fs::metadata(&path).ok().filter(|found| found.is_file() && found.nlink() > 1);
        let file = file.map(|found| (found.dev(), found.ino()));
        self.places.iter().find(|place| {
            let is_above = place.path.starts_with(&path);
            path.starts_with(&place.path)
                || (path.starts_with(&self.root)
                    && place.settings_ends(access).any(|end| path.ends_with(end)))
                || (file.is_some() && place.file == file)
                || match access {
                    // A folder of the project that is named is one that may be changed.
                    Access::Named => is_above && path != self.root && path.starts_with(&self.root),
                    Access::Below => is_above && !place.may_be_searched,
                    Access::Changes => is_above && (path != self.root || !place.may_be_searched),
                    Access::Removes => is_above,
                }
        })
    }
}

/// Returns the path of project settings from the root. Settings are in a folder that begins with a dot.
fn settings_name(path: &Path, root: &Path) -> Option<PathBuf> {
    let name = path.strip_prefix(root).ok()?;
    let is_dotted = |folder: &Path| {
        folder.to_str().is_some_and(|folder| folder.starts_with('.') && !folder.contains('/'))
    };
    name.parent().is_some_and(is_dotted).then(|| name.to_owned())
}

/// Returns true if the path occurs in the text as a whole.
fn is_path_in(text: &str, path: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_');
    path.len() > 1 && text.match_indices(path).any(|(at, found)| ends(&text[at + found.len()..]))
}

/// Collects the texts that may name a place, with the names of their arguments, at any depth.
fn collect(name: &str, skipped: &str, value: &Value, texts: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) if !PROSE.contains(&name) && name != skipped && !text.is_empty() => {
            texts.push((name.to_owned(), text.clone()));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(name, skipped, item, texts)),
        Value::Object(fields) => {
            fields.iter().for_each(|(name, item)| collect(name, skipped, item, texts));
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
