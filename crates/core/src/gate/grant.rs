//! What a grant remembers: which further calls the same decision covers.

use serde::{Deserialize, Serialize};

use crate::gate::command::{self, Command, Part, normal};
use crate::gate::{Subject, guarded};

/// Covers a call by its tool's full name and, for a command, by program, subcommand, the shape of its options and the
/// folder it runs in: never by the whole line, which would never match again, and never by less, which would match too
/// much.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matcher {
    pub tool: String,
    /// The canonical workspace it was given for.
    pub workspace: String,
    /// For commands: every part of the line must be one of these, or known to be read-only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Program>,
}

/// A program, its subcommand, how it was called, and whether the person saw it write.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    pub program: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subcommand: Option<String>,
    /// A grant given for a reading command does not cover the same command where it writes.
    pub writes: bool,
    /// The files that the person saw it redirected to and from, in full. Others are others: a grant for the tests does
    /// not cover the tests with their output in a source file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The options of the line, sorted, with the values that say what it does. Grants of earlier versions have none,
    /// and cover nothing that writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<String>>,
    /// The folder it runs in, in full. Grants of earlier versions have none, and cover nothing that writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

impl Program {
    /// `None` where nobody can tell how it is called, or where it runs.
    fn of(part: &Part, subject: &Subject<'_>) -> Option<Self> {
        if part.is_read_only() {
            return Some(Self {
                program: part.program.clone(),
                subcommand: part.subcommand(),
                writes: false,
                files: Vec::new(),
                options: None,
                folder: None,
            });
        }
        let [folder] = part.folders.as_slice() else { return None };
        let folder = place(folder, subject)?;
        let files = if part.redirected { part.files.as_slice() } else { &[] };
        Some(Self {
            program: part.program.clone(),
            subcommand: part.subcommand(),
            writes: true,
            files: files
                .iter()
                .map(|file| {
                    let [file] = part.located(file).try_into().ok()?;
                    let file = place(&file, subject)?;
                    guarded::guards(file.split('/')).is_none().then_some(file)
                })
                .collect::<Option<_>>()?,
            options: Some(part.shape()?),
            folder: Some(folder),
        })
    }

    /// Whether it covers `other`, which writes.
    fn covers(&self, other: &Self) -> bool {
        self.writes
            && self.options.is_some()
            && self.folder.is_some()
            && (&self.program, &self.subcommand, &self.options, &self.folder)
                == (&other.program, &other.subcommand, &other.options, &other.folder)
            && other.files.iter().all(|file| self.files.contains(file))
    }

    fn words(&self) -> Option<String> {
        let (options, folder) = (self.options.as_ref()?, self.folder.as_ref()?);
        let name: Vec<&str> =
            std::iter::once(self.program.as_str()).chain(self.subcommand.as_deref()).collect();
        let name = name.join(" ");
        let with = match options.as_slice() {
            [] => "without options".to_owned(),
            options => format!("with the options `{}` and no others", options.join("` `")),
        };
        let files = match self.files.as_slice() {
            [] => String::new(),
            files => format!(", redirected to or from `{}`", files.join("` `")),
        };
        Some(format!("`{name}` {with}, whatever it names, run in `{folder}`{files}"))
    }
}

/// A path from the working directory in full, through links as far as the inspection looked.
fn place(path: &str, subject: &Subject<'_>) -> Option<String> {
    let known = subject.places.iter().find(|place| place.named == path && !path.is_empty());
    match known {
        Some(place) => place.resolved.clone(),
        None if subject.places.iter().any(|place| place.named.is_empty()) => None,
        None => Some(normal(&format!("{}/{path}", if path.starts_with('/') { "" } else { subject.cwd }))),
    }
}

impl Matcher {
    /// The grant that a person would give with this call before them; `None` where none is safe: an opaque
    /// command, code on the line itself, another user's rights, what a person's own tools run.
    pub fn of(subject: &Subject<'_>) -> Option<Self> {
        let mut commands = Vec::new();
        if let Some(line) = subject.command {
            let command = command::parse(line);
            let is_safe = command.opaque.is_none() && command.own_tools(subject.cwd).is_none();
            if !is_safe || !command.parts.iter().all(Part::is_memorable) {
                return None;
            }
            commands = command.parts.iter().map(|part| Program::of(part, subject)).collect::<Option<_>>()?;
            commands.sort();
            commands.dedup();
        }
        Some(Self { tool: subject.tool.to_owned(), workspace: subject.workspace.to_owned(), commands })
    }

    /// Where a command may write that this grant lets through: below the folders of its programs, and in the files
    /// that they are redirected to. From the workspace; `.` is all of it.
    pub(crate) fn places(&self) -> Vec<String> {
        let inside = |path: &String| match path.strip_prefix(&self.workspace)? {
            "" => Some(".".to_owned()),
            rest => rest.strip_prefix('/').map(str::to_owned),
        };
        let named = self.commands.iter().flat_map(|program| program.folder.iter().chain(&program.files));
        let mut places: Vec<String> = named.filter_map(inside).collect();
        places.sort();
        places.dedup();
        places
    }

    pub fn covers(&self, subject: &Subject<'_>) -> bool {
        self.covers_parsed(subject, subject.command.map(command::parse).as_ref())
    }

    pub(super) fn covers_parsed(&self, subject: &Subject<'_>, command: Option<&Command>) -> bool {
        if self.tool != subject.tool || self.workspace != subject.workspace {
            return false;
        }
        let Some(command) = command else { return self.commands.is_empty() };
        let is_covered = |part: &Part| {
            let seen = || Program::of(part, subject);
            part.is_read_only()
                || seen().is_some_and(|part| self.commands.iter().any(|program| program.covers(&part)))
        };
        command.opaque.is_none()
            && command.own_tools(subject.cwd).is_none()
            && command.parts.iter().all(|part| part.is_memorable() && is_covered(part))
    }

    /// What it covers, for the person who is about to give it.
    pub fn words(&self) -> String {
        if self.commands.is_empty() {
            return format!("every call of `{}` in this workspace", self.tool);
        }
        let mut covers: Vec<String> = self.commands.iter().filter_map(Program::words).collect();
        covers.push("commands that only read".to_owned());
        covers.join("; ")
    }
}
