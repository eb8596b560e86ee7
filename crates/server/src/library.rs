//! Reads the files of a configuration: people, rules, channels, and a directory of workflows. A workflow is either a
//! directory, `DIR/NAME/workflow.yaml` with `rehearsal.yaml` in the same directory, or a single file, `DIR/*.yaml`.
//! This module only reads the files; the crate `workflow` validates workflows.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use holdshort_core::people::{People, Roster};
use holdshort_core::policy::Rule;
use holdshort_core::run::undecidable;
use holdshort_notify::Channels;
use holdshort_web::limits::WORKFLOW_FILES;
use holdshort_workflow::{Library, Override, Problem, bounds, channels_file, people_file, rules_file};

use crate::packs::Packs;

const WORKFLOW: &str = "workflow.yaml";
const REHEARSAL: &str = "rehearsal.yaml";

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{} cannot be read: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error(
        "{} sets approvers or rules, but other users may write to the file (mode {mode:03o}): run `chmod go-w {}`",
        path.display(), path.display()
    )]
    Writable { path: PathBuf, mode: u32 },
    #[error("{} contains no workflow: neither NAME/{WORKFLOW} nor a file ending in .yaml", path.display())]
    Empty { path: PathBuf },
    #[error("{} contains more than {WORKFLOW_FILES} entries", path.display())]
    TooMany { path: PathBuf },
    #[error("{}", lines(.0))]
    Invalid(Vec<Problem>),
    #[error("{}", .0.join("\n"))]
    Undecidable(Vec<String>),
    #[error("{}: {source}", path.display())]
    Channels { path: PathBuf, source: Box<holdshort_notify::Error> },
}

fn lines(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Returns the library of all workflows: the shipped ones, those of packs, and those of a directory. A workflow of the
/// directory replaces another one with the same name.
pub fn open(folder: Option<&Path>, people: &People, packs: &Packs) -> Result<Library, Error> {
    let overrides = folder.map(read).transpose()?.unwrap_or_default();
    let library = Library::new(&packs.catalogue(), &packs.workflows, &people.deciders(), overrides);
    let library = library.map_err(Error::Invalid)?;
    let lacking = library.names().flat_map(|name| lacks(&library, name, people)).collect::<Vec<_>>();
    if lacking.is_empty() { Ok(library) } else { Err(Error::Undecidable(lacking)) }
}

fn lacks(library: &Library, name: &str, people: &People) -> Vec<String> {
    let Some(definition) = library.get(name) else { return Vec::new() };
    let told = undecidable(&definition, people, None);
    told.into_iter().map(|why| format!("the workflow `{name}` would wait forever: {why}")).collect()
}

/// Returns an error if a directory cannot be read or contains no workflow files. The content of the files is not
/// validated, because this requires the people who may decide.
pub(crate) fn can_be_read(folder: &Path) -> Result<(), Error> {
    read(folder).map(drop)
}

/// Workflow files that were read, with the errors found in these files and in their rehearsals.
#[derive(Debug)]
pub struct Checked {
    pub files: Vec<String>,
    pub problems: Vec<Problem>,
}

/// Reads the people file. People and groups are returned in the order of the file.
pub fn people(path: &Path) -> Result<Roster, Error> {
    let text = text_of(path, bounds::PEOPLE_BYTES, |found| of_its_owner(path, found))?;
    people_file::parse(&path.display().to_string(), &text).map_err(Error::Invalid)
}

/// Reads the rules file. Rules are returned in the order of the file.
pub(crate) fn rules(path: &Path) -> Result<Vec<Rule>, Error> {
    let text = text_of(path, bounds::RULES_BYTES, |found| of_its_owner(path, found))?;
    rules_file::parse(&path.display().to_string(), &text).map_err(Error::Invalid)
}

/// Reads the channels file and the files with the secrets of the channels. The path of a secret file is relative to the
/// directory of the channels file, or absolute.
pub(crate) fn channels(path: &Path) -> Result<Channels, Error> {
    let text = text_of(path, bounds::CHANNELS_BYTES, |found| of_its_owner(path, found))?;
    let channels = channels_file::parse(&path.display().to_string(), &text).map_err(Error::Invalid)?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    Channels::open(channels, folder, &|name| std::env::var(name).ok())
        .map_err(|source| Error::Channels { path: path.to_owned(), source: Box::new(source) })
}

/// Checks one workflow file, or a directory with workflows. A single file is read together with all files of its
/// directory, because its workflow may extend another workflow of this directory.
pub fn check(path: &Path, people: &People, packs: &Packs) -> Result<Checked, Error> {
    let found = if path.is_dir() { read(path)? } else { vec![file(path)?] };
    let files: Vec<String> = found.iter().map(|(file, _, _)| file.clone()).collect();
    let beside = if path.is_dir() { Vec::new() } else { neighbours(path) };
    // Errors in the other files of the directory are not reported.
    let own = fs::canonicalize(path).ok();
    let named: Vec<WorkflowName> = found.iter().filter_map(WorkflowName::from_override).collect();
    let others = beside.into_iter().filter(|(file, _, _)| fs::canonicalize(file).ok() != own);
    let alone = found.clone();
    let all = found.into_iter().chain(others).collect();
    let catalogue = packs.catalogue();
    let library =
        |files: Vec<Override>| Library::new(&catalogue, &packs.workflows, &people.deciders(), files);
    let is_own = |problem: &Problem| files.contains(&problem.file);
    let read = match library(all) {
        // The file itself has no errors, but other files of the directory have. Therefore the file is read alone.
        Err(problems) if !problems.iter().any(is_own) => library(alone).or(Err(problems)),
        read => read,
    };
    let problems = match read {
        Ok(library) => named.iter().flat_map(|named| named.lacks(&library, people)).collect(),
        Err(problems) => problems,
    };
    let rehearsals: Vec<String> = files
        .iter()
        .filter(|file| Path::new(file).ends_with(WORKFLOW))
        .map(|file| Path::new(file).with_file_name(REHEARSAL).display().to_string())
        .collect();
    let is_of_these = |problem: &Problem| files.contains(&problem.file) || rehearsals.contains(&problem.file);
    Ok(Checked { problems: problems.into_iter().filter(is_of_these).collect(), files })
}

/// Name of a workflow, and the line of the workflow file that contains this name.
struct WorkflowName {
    file: String,
    name: String,
    line: u64,
}

impl WorkflowName {
    fn from_override((file, text, _): &Override) -> Option<Self> {
        let mut lines = (1..).zip(text.lines());
        let (line, name) = lines.find_map(|(line, text)| Some((line, text.strip_prefix("name:")?)))?;
        let name = name.split(" #").next()?.trim().trim_matches(['"', '\'']);
        Some(Self { file: file.clone(), name: name.to_owned(), line })
    }

    /// Returns an error for each gate of a workflow on which nobody is allowed to decide. The position of the error is
    /// the line with the workflow's name.
    fn lacks(&self, library: &Library, people: &People) -> Vec<Problem> {
        let problem = |message| Problem {
            file: self.file.clone(),
            line: self.line,
            column: 1,
            path: "gates".to_owned(),
            message,
            suggestion: None,
        };
        lacks(library, &self.name, people).into_iter().map(problem).collect()
    }
}

fn file(path: &Path) -> Result<Override, Error> {
    if path.ends_with(WORKFLOW) {
        return pair(path, &path.with_file_name(REHEARSAL));
    }
    Ok((path.display().to_string(), text(path)?, None))
}

/// Returns all workflows in the directory of a workflow file. Returns none if the directory cannot be read as a
/// directory of workflows, for example because it has too many files.
fn neighbours(path: &Path) -> Vec<Override> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = if path.ends_with(WORKFLOW) { folder.join("..") } else { folder.to_owned() };
    read(&folder).unwrap_or_default()
}

fn read(folder: &Path) -> Result<Vec<Override>, Error> {
    let io = |source| Error::Io { path: folder.to_owned(), source };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(io)? {
        paths.push(entry.map_err(io)?.path());
        if paths.len() > WORKFLOW_FILES {
            return Err(Error::TooMany { path: folder.to_owned() });
        }
    }
    // The order in which the file system lists a directory is arbitrary.
    paths.sort();
    let mut overrides = Vec::new();
    for path in paths {
        if path.is_dir() && path.join(WORKFLOW).exists() {
            overrides.push(pair(&path.join(WORKFLOW), &path.join(REHEARSAL))?);
        } else if path.ends_with(WORKFLOW) {
            overrides.push(pair(&path, &folder.join(REHEARSAL))?);
        } else if is_yaml(&path) && !path.ends_with(REHEARSAL) {
            overrides.push((path.display().to_string(), text(&path)?, None));
        }
    }
    if overrides.is_empty() { Err(Error::Empty { path: folder.to_owned() }) } else { Ok(overrides) }
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") && path.is_file()
}

fn pair(workflow: &Path, rehearsal: &Path) -> Result<Override, Error> {
    let script = rehearsal.exists().then(|| text(rehearsal)).transpose()?;
    Ok((workflow.display().to_string(), text(workflow)?, script))
}

fn text(path: &Path) -> Result<String, Error> {
    text_of(path, bounds::WORKFLOW_BYTES.max(bounds::REHEARSAL_BYTES), |_| Ok(()))
}

/// Rejects a people, rules or channels file that other users can write. They could otherwise change the approvers or
/// rules in it.
fn of_its_owner(path: &Path, found: &Metadata) -> Result<(), Error> {
    let mode = found.permissions().mode() & 0o777;
    if mode & 0o022 == 0 { Ok(()) } else { Err(Error::Writable { path: path.to_owned(), mode }) }
}

/// Returns the text of a configuration file. Rejects a file of more than `largest` bytes, and a file whose metadata
/// `check` rejects.
fn text_of(
    path: &Path,
    largest: usize,
    check: impl FnOnce(&Metadata) -> Result<(), Error>,
) -> Result<String, Error> {
    let io = |source| Error::Io { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(io)?;
    let found = file.metadata().map_err(io)?;
    check(&found)?;
    if found.len() > largest as u64 {
        return Err(io(io::Error::other(format!("the file is larger than {largest} bytes"))));
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(io)?;
    Ok(text)
}
