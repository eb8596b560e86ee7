//! Calls that a person refused, and the test whether a later call does the same again.
//!
//! A refusal is compared by what the call does: the programs of a command line and the places that they name, the path
//! of a file tool, the address of a page. A call that has none of these is compared by its tool alone, as a grant
//! compares it. In doubt the call asks: that costs one question.

use std::collections::BTreeSet;

use holdshort_command::{Command, Part, normal};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::grant::place;
use super::{Matcher, Reason, Source, Subject};
use crate::definition::is_default;
use crate::digest::Digest;
use crate::session::{Refusal, Session};
use crate::tool::Category;
use crate::web::Target;

/// Code of the reason on the card of a call that was refused before.
pub const CODE: &str = "refused_before";

/// Number of refusals that one card names.
pub(crate) const NAMED: usize = 3;

/// Folder that holds every place. Stands for a place that cannot be told.
const ROOT: &str = "/";

/// A call as refusals compare it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusedCall {
    pub tool: String,
    /// True if the call only reads.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reads: bool,
    pub identity: Identity,
    /// SHA-256 of the arguments as the agent wrote them.
    pub arguments: Digest,
}

/// Part of a call that makes two calls the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Identity {
    /// Programs of a command line. Programs that only read are left out if the line has another one.
    Programs(BTreeSet<RefusedProgram>),
    /// Full path of the file that a tool reads or changes.
    Path(String),
    /// Address of a page without its query.
    Page(String),
    /// The call names nothing that can be compared: every call of the tool.
    Tool,
}

/// A program, its subcommand, and what it names. Options do not make another call of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusedProgram {
    pub program: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subcommand: Option<String>,
    /// Its words as full paths, with the places that links lead to.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub places: BTreeSet<String>,
    /// Folders that it runs in.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub folders: BTreeSet<String>,
    /// Files that it is redirected to and from.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub files: BTreeSet<String>,
}

/// Relation of a later call to a refused one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// The call that was refused, in any spelling.
    Same,
    /// A call that contains what was refused, or a part of it.
    Related,
}

/// Result of comparing a call with the refusals of its session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefusedBefore {
    /// One for each refusal, the latest first.
    pub reasons: Vec<Reason>,
    /// True if each of them refused this very call. Allowing it for the session takes them back.
    pub is_same: bool,
}

impl RefusedCall {
    /// The call as a refusal of it remembers it.
    pub fn to_refuse(subject: &Subject<'_>, arguments: &Value) -> Self {
        let called = Self::of(subject, arguments);
        match subject.command.map(holdshort_command::parse) {
            Some(command) => {
                Self { identity: Identity::Programs(programs_to_refuse(&command, subject)), ..called }
            }
            None => called,
        }
    }

    /// The call as it is compared with refusals.
    pub fn of(subject: &Subject<'_>, arguments: &Value) -> Self {
        let command = subject.command.map(holdshort_command::parse);
        let reads = subject.category == Category::ReadOnly;
        let identity = match (&command, subject.path, subject.url) {
            (Some(command), _, _) => Identity::Programs(programs(command, subject)),
            (None, Some(path), _) => Identity::Path(full_path(path, subject)),
            (None, None, Some(url)) => Identity::Page(address(url)),
            (None, None, None) => Identity::Tool,
        };
        Self { tool: subject.tool.to_owned(), reads, identity, arguments: Digest::of_json(arguments) }
    }

    /// Compares a later call with this one. `None` if it does something else.
    pub fn repeated_by(&self, later: &Self) -> Option<Repeat> {
        // A file whose change was refused may be read.
        let changes_less = later.reads && !self.reads;
        match (&self.identity, &later.identity) {
            (Identity::Programs(refused), Identity::Programs(called)) => {
                if self.arguments == later.arguments || refused == called {
                    return Some(Repeat::Same);
                }
                let meets = refused.iter().any(|one| called.iter().any(|other| one.meets(other)));
                meets.then_some(Repeat::Related)
            }
            (Identity::Path(refused), Identity::Path(called)) => {
                let is_it = refused == called || called == ROOT;
                let is_other_read = later.reads && self.tool != later.tool;
                let repeat = if self.tool == later.tool { Repeat::Same } else { Repeat::Related };
                (is_it && !changes_less && !is_other_read).then_some(repeat)
            }
            (Identity::Page(refused), Identity::Page(called)) => {
                (refused == called && self.tool == later.tool).then_some(Repeat::Same)
            }
            (Identity::Tool, _) | (_, Identity::Tool) if self.tool == later.tool => {
                let is_same = self.arguments == later.arguments;
                Some(if is_same { Repeat::Same } else { Repeat::Related })
            }
            (Identity::Programs(_), Identity::Path(_) | Identity::Page(_) | Identity::Tool)
            | (Identity::Path(_), Identity::Programs(_) | Identity::Page(_) | Identity::Tool)
            | (Identity::Page(_), Identity::Programs(_) | Identity::Path(_) | Identity::Tool)
            | (
                Identity::Tool,
                Identity::Programs(_) | Identity::Path(_) | Identity::Page(_) | Identity::Tool,
            ) => None,
        }
    }

    /// True if a grant may cover it, as far as a card has to say.
    pub(crate) fn may_be_covered(&self, grant: &Matcher) -> bool {
        if grant.category.is_some() {
            return !self.reads;
        }
        match &self.identity {
            Identity::Programs(programs) => programs.iter().any(|refused| {
                let is_it = |granted: &super::Program| {
                    granted.program == refused.program && granted.subcommand == refused.subcommand
                };
                grant.commands.iter().any(is_it)
            }),
            Identity::Path(_) | Identity::Page(_) | Identity::Tool => grant.tool == self.tool,
        }
    }

    /// One line that says what was refused.
    pub fn words(&self) -> String {
        match &self.identity {
            Identity::Programs(programs) => {
                let lines: Vec<String> = programs.iter().map(RefusedProgram::words).collect();
                format!("`{}`", lines.join("; "))
            }
            Identity::Path(path) => format!("`{}` on `{path}`", self.tool),
            Identity::Page(address) => format!("`{}` of `{address}`", self.tool),
            Identity::Tool => format!("a call of `{}`", self.tool),
        }
    }
}

impl RefusedProgram {
    fn of(part: &Part, subject: &Subject<'_>) -> Self {
        let full_paths = |text: &str, expands: bool| {
            let literal = if expands { literal_folder(text) } else { text };
            let is_anywhere =
                part.folders.is_empty() || text.starts_with('~') || (expands && text.contains(".."));
            let located = part.located(literal);
            let named = located.iter().map(|path| full_path(path, subject));
            let resolved = located.iter().map(|path| place(path, subject).unwrap_or_else(|| ROOT.to_owned()));
            let root = is_anywhere.then(|| ROOT.to_owned());
            named.chain(resolved).chain(root).collect::<Vec<String>>()
        };
        let is_file = |text: &str| part.files.iter().any(|file| file == text);
        let written = part.files.iter().filter(|file| *file != "/dev/null");
        let operands: Vec<(&str, bool)> = part.operands().filter(|(text, _)| !is_file(text)).collect();
        let places = operands.iter().flat_map(|(text, expands)| full_paths(text, *expands)).collect();
        let files = written.flat_map(|file| full_paths(file, false)).collect();
        let folders = part.folders.iter().map(|folder| full_path(folder, subject)).collect();
        let is_path = part.program.contains('/');
        let program = if is_path { full_path(&part.program, subject) } else { part.program.clone() };
        // The script of an interpreter is one of its words.
        let subcommand = part.subcommand().filter(|sub| operands.iter().all(|(text, _)| text != sub));
        Self { program, subcommand, places, folders, files }
    }

    /// True if both run the same program on a common place. A program without words works in its folder.
    fn meets(&self, other: &Self) -> bool {
        let is_within = |path: &str, folder: &str| {
            let rest = path.strip_prefix(folder.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let overlap = |ones: &BTreeSet<String>, others: &BTreeSet<String>| {
            ones.iter().any(|one| others.iter().any(|other| is_within(one, other) || is_within(other, one)))
        };
        let theirs = if other.places.is_empty() { &other.folders } else { &other.places };
        let on_places = match (self.places.is_empty(), self.files.is_empty()) {
            (false, _) => overlap(&self.places, theirs),
            (true, true) => overlap(&self.folders, theirs),
            // The redirection is what makes it another call.
            (true, false) => false,
        };
        self.program == other.program
            && self.subcommand == other.subcommand
            && (on_places || overlap(&self.files, &other.files))
    }

    fn words(&self) -> String {
        let name = [Some(self.program.as_str()), self.subcommand.as_deref()];
        let words = name.into_iter().flatten().chain(self.places.iter().map(String::as_str));
        let files = self.files.iter().flat_map(|file| [">", file.as_str()]);
        words.chain(files).collect::<Vec<_>>().join(" ")
    }
}

impl Refusal {
    /// One line for the card of a call that meets this refusal.
    fn reason(&self, repeat: Repeat) -> Reason {
        let what = match repeat {
            Repeat::Same => "this call".to_owned(),
            Repeat::Related => self.call.words(),
        };
        let text = format!("refused before: `{}` refused {what} at {}", self.by, self.at);
        Reason { source: Source::Refusal, code: CODE.to_owned(), rule: None, text }
    }
}

impl Session {
    /// Compares a call with the refusals that stand.
    pub(crate) fn refused_before(&self, call: &RefusedCall) -> RefusedBefore {
        let mut met: Vec<(&Refusal, Repeat)> = self
            .standing_refusals()
            .filter_map(|refusal| Some((refusal, refusal.call.repeated_by(call)?)))
            .collect();
        met.sort_by_key(|(refusal, _)| std::cmp::Reverse(refusal.seq));
        RefusedBefore {
            is_same: !met.is_empty() && met.iter().all(|(_, repeat)| *repeat == Repeat::Same),
            reasons: met.iter().take(NAMED).map(|(refusal, repeat)| refusal.reason(*repeat)).collect(),
        }
    }

    /// Refused calls that a grant would cover otherwise, for the card that offers the grant.
    pub(crate) fn refused_of(&self, grant: &Matcher) -> Vec<String> {
        let mut refused: Vec<&Refusal> =
            self.standing_refusals().filter(|refusal| refusal.call.may_be_covered(grant)).collect();
        refused.sort_by_key(|refusal| std::cmp::Reverse(refusal.seq));
        refused.into_iter().take(NAMED).map(|refusal| refusal.call.words()).collect()
    }
}

/// The programs of a line with those that it may run as well.
fn programs(command: &Command, subject: &Subject<'_>) -> BTreeSet<RefusedProgram> {
    let all = command.parts.iter().chain(&command.guesses);
    all.map(|part| RefusedProgram::of(part, subject)).collect()
}

/// The programs of a line that a refusal of it remembers: those that only read are left out if another one does not.
fn programs_to_refuse(command: &Command, subject: &Subject<'_>) -> BTreeSet<RefusedProgram> {
    let all = || command.parts.iter().chain(&command.guesses);
    let changes_something = all().any(|part| !part.is_read_only());
    let counted = all().filter(|part| !changes_something || !part.is_read_only());
    counted.map(|part| RefusedProgram::of(part, subject)).collect()
}

/// A path in full, without `.` and `..`. One whose folder is not known may be anywhere.
fn full_path(path: &str, subject: &Subject<'_>) -> String {
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

/// The folder of a file pattern, up to its first name that is one.
fn literal_folder(pattern: &str) -> &str {
    let names = pattern.split(['*', '?', '[']).next().unwrap_or_default();
    names.rsplit_once('/').map_or("", |(folder, _)| if folder.is_empty() { ROOT } else { folder })
}

fn address(url: &str) -> String {
    let read = Target::parse(url);
    let address = read.as_ref().map_or(url, Target::as_str);
    address.split(['?', '#']).next().unwrap_or_default().to_owned()
}
