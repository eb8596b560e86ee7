//! Grants: approvals that also allow later, similar calls.

use serde::{Deserialize, Serialize};

use crate::actor::{self, ResponsiblePeople};
use crate::changeset::{Change, Changeset};
use crate::gate::{Changes, Subject};
use crate::id::{GrantId, InterruptId, RunId};
use crate::json::is_default;
use crate::policy::GrantCovers;
use crate::time::Timestamp;
use crate::tool::{Category, Precondition};
use crate::web::Target;
use holdshort_command::guarded;
use holdshort_command::{Command, Part, normal};

/// Approval of a call that also allows later, similar calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    pub id: GrantId,
    pub matcher: Matcher,
    /// Person who gave the grant.
    pub owner: String,
    /// Creator of the login link with which the owner of the grant signed in, if another person created the link.
    pub let_in_by: Option<String>,
    pub run: RunId,
    pub interrupt: InterruptId,
    pub added_at: Timestamp,
    pub added_seq: u64,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

impl Grant {
    /// Returns the people who are responsible for the grant: its owner, and the creator of the owner's login link.
    pub fn responsible_people(&self) -> ResponsiblePeople<'_> {
        ResponsiblePeople { id: &self.owner, hand: actor::hand(&self.owner, self.let_in_by.as_deref()) }
    }

    /// Returns true if the grant is neither expired nor revoked.
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|at| now < at)
    }
}

/// Criteria by which a grant allows a later call. Every grant applies to only one workspace. For a command, the
/// criteria are its programs with their subcommands, options and operands, the working directory, the files of its
/// redirections, and the files that it executes. For a web tool, the criteria are the tool's full name and the origin
/// of the URL. For any other tool, the criterion is the tool's full name. If the criterion were the complete command
/// line, the grant would allow hardly any later call. With fewer criteria, the grant would allow too many calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matcher {
    pub tool: String,
    /// Canonical path of the workspace to which the grant applies.
    pub workspace: String,
    /// Category whose calls the grant allows. Set only if grants of the workflow apply to categories (contract A24).
    /// Such a grant allows every call of the category, by any tool. `tool` is then the tool of the call for which the
    /// grant was given. The fields below are empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    /// Scheme, host and port of the URLs that the grant allows. Only for web tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Programs in the command line for which the grant was given. Each part of a later command line must match one of
    /// these programs, or must only read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Program>,
    /// Files that the commands execute, with their state at the time of the grant. Includes files that did not exist at
    /// that time. Grants of earlier versions have no such list. Such a grant allows no command that executes a file of
    /// the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<Precondition>,
    /// Top-level files and folders of the workspace that the call changed in its trial. The grant allows no changes
    /// elsewhere, and no deletions. If `None`, there was no trial. The grant then allows changes in the folders of its
    /// programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Vec<String>>,
    /// True if the grant applies only to calls of external agents. If false, the grant applies only to calls of
    /// Holdshort's own agents.
    #[serde(default, skip_serializing_if = "is_default")]
    pub elsewhere: bool,
}

/// Program of a granted command: its name, subcommand and options, and the permission to write.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    pub program: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subcommand: Option<String>,
    /// True if the granted command writes files. A grant for a command that only reads does not allow a command that
    /// writes.
    pub writes: bool,
    /// Absolute paths of the files of the command's redirections, if the command redirects output. A grant for a test
    /// run therefore does not allow a test run that redirects its output to a source file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Options in the command line, with the values that determine the effect of the command. Grants of earlier
    /// versions have no options. Grants without options allow no command that writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<String>>,
    /// Operands of the command in their order, if they determine the effect of the command. Operands do not determine
    /// the effect if they are certainly files or texts. Grants of earlier versions have no operands. Grants without
    /// operands allow no command whose operands determine the effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operands: Option<Vec<String>>,
    /// Absolute working directory of the granted command. Grants of earlier versions have no working directory. Grants
    /// without a working directory allow no command that writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

impl Program {
    /// Builds the entry of a grant for one part of a command line. `None` if the parser does not understand the form of
    /// the call, if the working directory or the file of a redirection is unknown, or if the file is guarded.
    fn from_part(part: &Part, subject: &Subject<'_>) -> Option<Self> {
        if part.is_read_only() {
            return Some(Self {
                program: part.program.clone(),
                subcommand: part.subcommand(),
                writes: false,
                files: Vec::new(),
                options: None,
                operands: None,
                folder: None,
            });
        }
        let [folder] = part.folders.as_slice() else { return None };
        let folder = resolve_path(folder, subject)?;
        let files = if part.redirected { part.files.as_slice() } else { &[] };
        Some(Self {
            program: part.program.clone(),
            subcommand: part.subcommand(),
            writes: true,
            files: files
                .iter()
                .map(|file| {
                    let [file] = part.located(file).try_into().ok()?;
                    let file = resolve_path(&file, subject)?;
                    guarded::guards(file.split('/')).is_none().then_some(file)
                })
                .collect::<Option<_>>()?,
            options: Some(part.shape()?),
            operands: part.told_operands(),
            folder: Some(folder),
        })
    }

    /// Returns true if a grant for this program allows the program `other`, which must be a program that writes.
    fn covers(&self, other: &Self) -> bool {
        self.writes
            && self.options.is_some()
            && self.folder.is_some()
            && (&self.program, &self.subcommand, &self.options, &self.operands, &self.folder)
                == (&other.program, &other.subcommand, &other.options, &other.operands, &other.folder)
            && other.files.iter().all(|file| self.files.contains(file))
    }

    fn describe(&self) -> Option<String> {
        let (options, folder) = (self.options.as_ref()?, self.folder.as_ref()?);
        let name: Vec<&str> =
            std::iter::once(self.program.as_str()).chain(self.subcommand.as_deref()).collect();
        let name = name.join(" ");
        let with = match options.as_slice() {
            [] => "without options".to_owned(),
            options => format!("only with the options `{}`", options.join("` `")),
        };
        let files = match self.files.as_slice() {
            [] => String::new(),
            files => format!(", redirected to or from `{}`", files.join("` `")),
        };
        let operands = match self.operands.as_deref() {
            None => "on any files or names".to_owned(),
            Some([]) => "without other arguments".to_owned(),
            Some(words) => format!("with exactly the arguments `{}`", words.join("` `")),
        };
        Some(format!("`{name}` {with}, {operands}, in `{folder}`{files}"))
    }
}

/// Resolves a path of a call to an absolute path, starting from the call's working directory. Replaces links by their
/// targets, if the inspection of the call has resolved them.
pub(super) fn resolve_path(path: &str, subject: &Subject<'_>) -> Option<String> {
    let known = subject.places.iter().find(|place| place.named == path && !path.is_empty());
    match known {
        Some(place) => place.resolved.clone(),
        None if subject.places.iter().any(|place| place.named.is_empty()) => None,
        None => Some(normal(&format!("{}/{path}", if path.starts_with('/') { "" } else { subject.cwd }))),
    }
}

/// Returns the top-level files and folders in which the changes lie. `None` if a change deletes something, because no
/// grant allows deletions.
fn tops(changes: &Changeset) -> Option<Vec<String>> {
    if changes.deletions().next().is_some() {
        return None;
    }
    let first = |change: &Change| change.path.split('/').next().unwrap_or_default().to_owned();
    let mut tops: Vec<String> = changes.counted().map(first).collect();
    tops.dedup();
    Some(tops)
}

/// Returns the files of the workspace that a command executes. A path that ends with `/` is a working directory, not a
/// file.
fn run_by<'a>(subject: &Subject<'a>) -> impl Iterator<Item = &'a Precondition> + use<'a> {
    subject.preconditions.iter().filter(|file| !file.path.ends_with('/'))
}

impl Matcher {
    /// Returns the grant that a person would give by approving this call. `None` if no grant would be safe. Unsafe
    /// calls are commands that the parser does not understand, code within the command line, and commands that run with
    /// another user's rights. Calls that may write files which a person's own tools execute are unsafe, too. If the
    /// call deleted something in its trial, or if the changes of its trial were erased, the call is also unsafe.
    pub fn for_call(subject: &Subject<'_>) -> Option<Self> {
        let mut commands = Vec::new();
        let mut scripts = Vec::new();
        let origin = match subject.url {
            Some(url) => Some(Target::parse(url).ok()?.origin()),
            None => None,
        };
        if let Some(line) = subject.command {
            let command = holdshort_command::parse(line);
            let is_safe = command.opaque.is_none() && command.own_tools(subject.cwd).is_none();
            if !is_safe || !command.parts.iter().all(Part::is_memorable) {
                return None;
            }
            commands =
                command.parts.iter().map(|part| Program::from_part(part, subject)).collect::<Option<_>>()?;
            commands.sort();
            commands.dedup();
            scripts = run_by(subject).cloned().collect();
        }
        let (tool, workspace) = (subject.tool.to_owned(), subject.workspace.to_owned());
        let within = match subject.changes {
            Changes::Tried { changes, .. } => Some(tops(changes)?),
            // A grant for a file tool covers every path in the workspace to which the tool may write.
            Changes::Untried | Changes::Nothing | Changes::Proposed(_) => None,
            Changes::Erased => return None,
        };
        let elsewhere = subject.elsewhere;
        Some(Self { tool, workspace, category: None, origin, commands, scripts, within, elsewhere })
    }

    /// Returns the grant for every call that has the same category as this call. `None` if the call only reads, or if a
    /// grant would not be safe even for similar calls only.
    fn of_category(subject: &Subject<'_>) -> Option<Self> {
        let Self { tool, workspace, .. } =
            Self::for_call(subject).filter(|_| subject.category != Category::ReadOnly)?;
        Some(Self {
            tool,
            workspace,
            category: Some(subject.category),
            origin: None,
            commands: Vec::new(),
            scripts: Vec::new(),
            within: None,
            elsewhere: subject.elsewhere,
        })
    }

    /// Returns the grant that is offered for this call, as the workflow's settings determine. The grant allows similar
    /// calls, or all calls of the same category.
    pub fn for_coverage(subject: &Subject<'_>, covers: GrantCovers) -> Option<Self> {
        match covers {
            GrantCovers::Call => Self::for_call(subject),
            GrantCovers::Category => Self::of_category(subject).filter(|grant| grant.covers(subject)),
        }
    }

    /// Returns the folders and files to which allowed commands may write: the folders of the programs, and the files of
    /// the redirections. The paths are relative to the workspace. `.` is the whole workspace.
    pub(crate) fn places(&self) -> Vec<String> {
        if self.category.is_some() {
            return vec![".".to_owned()];
        }
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

    /// Returns true if the grant allows the changes that a trial made.
    pub(crate) fn covers_changes(&self, changes: &Changeset) -> bool {
        let is_below = |path: &str, place: &String| {
            let rest = path.strip_prefix(place.as_str());
            place == "." || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let places = self.within.clone().unwrap_or_else(|| self.places());
        changes.deletions().next().is_none()
            && changes.counted().all(|change| places.iter().any(|place| is_below(&change.path, place)))
    }

    pub fn covers(&self, subject: &Subject<'_>) -> bool {
        self.covers_parsed(subject, subject.command.map(holdshort_command::parse).as_ref())
    }

    pub(super) fn covers_parsed(&self, subject: &Subject<'_>, command: Option<&Command>) -> bool {
        if self.workspace != subject.workspace || self.elsewhere != subject.elsewhere {
            return false;
        }
        if let Some(category) = self.category {
            return category == subject.category && self.covers_any(subject, command);
        }
        if self.tool != subject.tool {
            return false;
        }
        let is_there = match (&self.origin, subject.url) {
            (None, None) => true,
            (Some(origin), Some(url)) => Target::parse(url).is_ok_and(|target| target.origin() == *origin),
            (Some(_), None) | (None, Some(_)) => false,
        };
        if !is_there {
            return false;
        }
        let is_of_changes = match subject.changes {
            Changes::Tried { changes, .. } => self.covers_changes(changes),
            Changes::Nothing => true,
            // A grant that is limited to the changes of its trial covers no call with unknown changes.
            Changes::Untried => self.within.is_none(),
            Changes::Proposed(changes) => self.within.is_none() || self.covers_changes(changes),
            Changes::Erased => false,
        };
        if !is_of_changes {
            return false;
        }
        let Some(command) = command else { return self.commands.is_empty() };
        let is_covered = |part: &Part| {
            let seen = || Program::from_part(part, subject);
            part.is_read_only()
                || seen().is_some_and(|part| self.commands.iter().any(|program| program.covers(&part)))
        };
        command.opaque.is_none()
            && command.own_tools(subject.cwd).is_none()
            && command.parts.iter().all(|part| part.is_memorable() && is_covered(part))
            && run_by(subject).all(|script| self.knows(script, command, subject))
    }

    /// Returns true if a grant for a category may allow the call. The parser must fully understand the command of the
    /// call. The known changes of the call must not include a deletion. Each part of a command must belong to the
    /// category, or must only read.
    fn covers_any(&self, subject: &Subject<'_>, command: Option<&Command>) -> bool {
        let is_safe = |command: &Command| {
            let mut categories = command.classes().into_iter().map(Category::from);
            categories.all(|each| each == Category::ReadOnly || each == subject.category)
                && command.opaque.is_none()
                && command.own_tools(subject.cwd).is_none()
                && command.parts.iter().all(Part::is_memorable)
        };
        let changes = match subject.changes {
            Changes::Tried { changes, .. } | Changes::Proposed(changes) => self.covers_changes(changes),
            Changes::Nothing | Changes::Untried => true,
            Changes::Erased => false,
        };
        changes && command.is_none_or(is_safe)
    }

    /// Returns true if the grant allows the command to execute `script`. If the grant lists the file, the file must be
    /// the same as when the grant was given. If the grant does not list the file, the command must name the file as an
    /// argument, and the grant must leave the operands of the command open, as for `pytest`.
    fn knows(&self, script: &Precondition, command: &Command, subject: &Subject<'_>) -> bool {
        match self.scripts.iter().find(|known| known.path == script.path) {
            Some(known) => known == script,
            None => command
                .parts
                .iter()
                .filter(|part| !part.is_read_only() && part.told_operands().is_none())
                .any(|part| {
                    let named = part.arguments.iter().filter(|word| !word.starts_with('-'));
                    let mut named = named.flat_map(|word| part.located(word));
                    named.any(|path| {
                        let full =
                            if path.starts_with('/') { path } else { format!("{}/{path}", subject.cwd) };
                        let inside = normal(&full).strip_prefix(subject.workspace).map(str::to_owned);
                        inside.is_some_and(|inside| inside.trim_start_matches('/') == script.path)
                    })
                }),
        }
    }

    /// Describes the calls that the grant allows, for the person who decides on the grant.
    pub fn describe(&self) -> String {
        if let Some(category) = self.category {
            return format!(
                "every call in this workspace that {} (category `{}`), from any tool, except calls that a \
                 rule asks about and calls that were seen to delete something",
                category.does(),
                category.as_str(),
            );
        }
        if let Some(origin) = &self.origin {
            return format!("every page that `{}` gets from `{origin}`, in this workspace", self.tool);
        }
        if self.commands.is_empty() {
            let inside = if self.elsewhere { ", except calls that name a path outside it" } else { "" };
            return format!("every call of `{}` in this workspace{inside}", self.tool);
        }
        let mut covers: Vec<String> = self.commands.iter().filter_map(Program::describe).collect();
        match self.within.as_deref() {
            None => {}
            Some([]) => covers.push("only while it changes nothing".to_owned()),
            Some(within) => {
                let within = within.join("` `");
                covers.push(format!("only while it changes nothing outside `{within}` and deletes nothing"));
            }
        }
        let present = self.scripts.iter().filter(|script| script.sha256.is_some());
        let scripts: Vec<String> = present.map(|script| format!("`{}`", script.path)).collect();
        if !scripts.is_empty() {
            covers.push(format!(
                "only while the files that these commands run are unchanged: {}",
                scripts.join(", ")
            ));
        }
        covers.push("also every command that only reads".to_owned());
        if self.elsewhere {
            covers.push("except commands that name a path outside this workspace".to_owned());
        }
        covers.join("; ")
    }
}
