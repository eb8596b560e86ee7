//! Programs of a command line, with the paths that each program names.

use std::collections::BTreeSet;

use holdshort_command::{Command, Part, normal};
use serde::{Deserialize, Serialize};

use super::paths::{Paths, ROOT, name_or_digest};
use crate::gate::Subject;
use crate::gate::grant::resolve_path;
use crate::json::is_default;
use crate::limits;

/// Program with its subcommand and the paths that the program names. Differences in options are ignored: two calls of a
/// program with the same paths are equal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusedProgram {
    /// Name of the program, or the digest of its path if the command line calls the program by its path.
    pub program: String,
    /// Name of the subcommand, or the digest of its words if the subcommand has several words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subcommand: Option<String>,
    /// Operands of the program as absolute paths, including the targets of links.
    #[serde(default, skip_serializing_if = "is_default")]
    pub places: Paths,
    /// Working directories in which the program may run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub folders: Paths,
    /// Files from which the program's input, or to which its output, is redirected.
    #[serde(default, skip_serializing_if = "is_default")]
    pub files: Paths,
}

/// Maximum number of operands of one program that are compared as paths. A program with more operands is treated as if
/// it named every path.
const OPERANDS: usize = 256;
/// Maximum total number of bytes of the operands of one program that are compared as paths.
const OPERAND_BYTES: usize = 8 * 1024;

/// Program of a command line, with the absolute paths that the program names.
pub(super) struct NamedProgram {
    program: String,
    subcommand: Option<String>,
    places: BTreeSet<String>,
    folders: BTreeSet<String>,
    files: BTreeSet<String>,
    /// True if the program names more paths than are compared.
    pub(super) is_cut: bool,
}

impl NamedProgram {
    fn from_part(part: &Part, subject: &Subject<'_>) -> Self {
        let full_paths = |text: &str, expands: bool| {
            let literal = if expands { literal_folder(text) } else { text };
            let is_anywhere =
                part.folders.is_empty() || text.starts_with('~') || (expands && text.contains(".."));
            let located = part.located(literal);
            let named = located.iter().map(|path| full_path(path, subject));
            let resolved =
                located.iter().map(|path| resolve_path(path, subject).unwrap_or_else(|| ROOT.to_owned()));
            let root = is_anywhere.then(|| ROOT.to_owned());
            named.chain(resolved).chain(root).collect::<Vec<String>>()
        };
        let is_file = |text: &str| part.files.iter().any(|file| file == text);
        let written = part.files.iter().filter(|file| *file != "/dev/null");
        let operands = part.operands().filter(|(text, _)| !is_file(text));
        let operands: Vec<(&str, bool)> = operands.take(OPERANDS + 1).collect();
        let bytes: usize = operands.iter().map(|(text, _)| text.len()).sum();
        let is_cut = operands.len() > OPERANDS || bytes > OPERAND_BYTES;
        let places = if is_cut {
            BTreeSet::from([ROOT.to_owned()])
        } else {
            operands.iter().flat_map(|(text, expands)| full_paths(text, *expands)).collect()
        };
        let files = written.flat_map(|file| full_paths(file, false)).collect();
        let folders = if part.folders.is_empty() {
            BTreeSet::from([ROOT.to_owned()])
        } else {
            part.folders.iter().map(|folder| full_path(folder, subject)).collect()
        };
        let is_path = part.program.contains('/');
        let program = if is_path { full_path(&part.program, subject) } else { part.program.clone() };
        // The script of an interpreter is already recorded as an operand, so it is not recorded as the subcommand as
        // well.
        let subcommand = part.subcommand().filter(|sub| operands.iter().all(|(text, _)| text != sub));
        Self { program, subcommand, places, folders, files, is_cut }
    }

    /// Returns the program in the form that is compared with refusals.
    pub(super) fn digested(&self) -> RefusedProgram {
        self.with_paths(usize::MAX)
    }

    /// Returns the program as the refusal of a call stores it. A program with more than [`limits::REFUSED_PLACES`]
    /// paths is treated as if it named every path.
    pub(super) fn to_refuse(&self) -> RefusedProgram {
        self.with_paths(limits::REFUSED_PLACES)
    }

    fn with_paths(&self, most: usize) -> RefusedProgram {
        let paths = |named: &BTreeSet<String>| {
            if named.len() > most { Paths::root() } else { Paths::from_paths(named) }
        };
        RefusedProgram {
            program: name_or_digest(&self.program),
            subcommand: self.subcommand.as_deref().map(name_or_digest),
            places: paths(&self.places),
            folders: paths(&self.folders),
            files: paths(&self.files),
        }
    }

    pub(super) fn describe(&self) -> String {
        let name = [Some(self.program.as_str()), self.subcommand.as_deref()];
        let words = name.into_iter().flatten().chain(self.places.iter().map(String::as_str));
        let files = self.files.iter().flat_map(|file| [">", file.as_str()]);
        words.chain(files).collect::<Vec<_>>().join(" ")
    }
}

impl RefusedProgram {
    /// Returns true if `self` and `other` are the same program and have a path in common. If a program has no operands,
    /// its working directory is used instead.
    pub(super) fn meets(&self, other: &Self) -> bool {
        if self.program != other.program || self.subcommand != other.subcommand {
            return false;
        }
        let theirs = if other.places.is_empty() { &other.folders } else { &other.places };
        let on_places = match (self.places.is_empty(), self.files.is_empty()) {
            (false, _) => self.places.overlap(theirs),
            (true, false) => false,
            (true, true) => self.folders.overlap(theirs),
        };
        on_places || self.files.overlap(&other.files)
    }
}

/// Returns all programs of a command line, including programs that these programs may start.
pub(super) fn all(command: &Command, subject: &Subject<'_>) -> Vec<NamedProgram> {
    let all = command.parts.iter().chain(&command.guesses);
    all.map(|part| NamedProgram::from_part(part, subject)).collect()
}

/// Returns the programs of a command line that are stored when the command line is refused. If at least one program
/// does more than read, the programs that only read are left out.
pub(super) fn to_refuse(command: &Command, subject: &Subject<'_>) -> Vec<NamedProgram> {
    let all = || command.parts.iter().chain(&command.guesses);
    let changes_something = all().any(|part| !part.is_read_only());
    let counted = all().filter(|part| !changes_something || !part.is_read_only());
    counted.map(|part| NamedProgram::from_part(part, subject)).collect()
}

/// Returns the absolute path without `.` and `..`. If the working directory is unknown, returns [`ROOT`], which stands
/// for any path.
pub(super) fn full_path(path: &str, subject: &Subject<'_>) -> String {
    let known = subject.places.iter().find(|place| place.named == path && !path.is_empty());
    if let Some(place) = known.filter(|_| subject.path.is_some()) {
        return place.resolved.clone().unwrap_or_else(|| ROOT.to_owned());
    }
    if path.starts_with('/') {
        return normal(path);
    }
    let folder = if subject.cwd.is_empty() { subject.workspace } else { subject.cwd };
    if folder.is_empty() { ROOT.to_owned() } else { normal(&format!("{folder}/{path}")) }
}

/// Returns the folder of a file pattern, which is the part before the first name that contains a wildcard.
fn literal_folder(pattern: &str) -> &str {
    let names = pattern.split(['*', '?', '[']).next().unwrap_or_default();
    names.rsplit_once('/').map_or("", |(folder, _)| if folder.is_empty() { ROOT } else { folder })
}
