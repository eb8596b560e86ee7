//! The workflows that a server offers: the shipped ones, and those in a folder. A workflow in the folder replaces a
//! shipped one with the same name.
//!
//! The caller reads the files. A single invalid file makes the whole library an error.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use holdshort_core::definition::{Definition, EXTERNAL};
use holdshort_core::people::Deciders;
use holdshort_core::tool;

use crate::extend::Bases;
use crate::problem::{Problem, Problems};
use crate::rehearsal::{self, Script};
use crate::shipped::{Shipped, external, rehearsals, samples, texts};
use crate::workflow;
use crate::yaml::Position;

/// A workflow in the server's workflow folder: `(file name, text of the workflow, text of its rehearsal)`. The file
/// name is only needed for problems. The rehearsal is the file `rehearsal.yaml` next to the workflow.
pub type Override = (String, String, Option<String>);

#[derive(Clone, Debug, Default)]
pub struct Library {
    workflows: BTreeMap<String, Arc<Definition>>,
    rehearsals: BTreeMap<String, Rehearsal>,
    /// Names that other systems use for workflows. Each entry has such a name, and the name of the workflow in this
    /// library.
    aliases: Vec<(&'static str, &'static str)>,
}

/// Rehearsal (scripted replies) of one workflow. A shipped rehearsal is parsed when it is first played, because parsing
/// all of them would delay the start. A test ensures that shipped rehearsals are valid.
#[derive(Clone, Debug)]
enum Rehearsal {
    Parsed(Script),
    Shipped { text: &'static str, parsed: OnceLock<Option<Script>> },
}

impl Library {
    /// Creates the library from the shipped workflows, the workflows of packs, and `external`. An override replaces the
    /// workflow with the same name and its rehearsal. `external` cannot be replaced.
    pub fn new(
        catalogue: &[tool::Spec],
        packs: &[&'static Shipped],
        deciders: &Deciders,
        overrides: Vec<Override>,
    ) -> Result<Self, Vec<Problem>> {
        let mut library = Self::default();
        let mut problems = Vec::new();
        library.workflows.insert(EXTERNAL.to_owned(), Arc::new(external()));
        for (name, text) in texts(packs) {
            let file = format!("workflows/{name}/workflow.yaml");
            let added = library.add(catalogue, deciders, &file, text, None, &Bases::shipped(packs));
            problems.extend(added.err().into_iter().flatten());
        }
        for (name, text) in rehearsals(packs) {
            let parsed = OnceLock::new();
            library.rehearsals.insert(name.to_owned(), Rehearsal::Shipped { text, parsed });
        }
        let aliased = |shipped: &'static Shipped| {
            let name = shipped.name;
            shipped.aliases.iter().map(move |alias| (*alias, name))
        };
        library.aliases = samples(packs).flat_map(aliased).collect();
        let texts = overrides.iter().map(|(_, workflow, _)| workflow.as_str());
        let bases = Bases::shipped(packs).and(texts);
        let mut files = BTreeMap::new();
        for (file, workflow, rehearsal) in overrides {
            match library.add(catalogue, deciders, &file, &workflow, rehearsal.as_deref(), &bases) {
                Ok((name, place)) => {
                    if let Some(other) = files.insert(name.clone(), file.clone()) {
                        problems.extend(taken(&file, &name, place, &other));
                    }
                }
                Err(found) => problems.extend(found),
            }
        }
        if problems.is_empty() { Ok(library) } else { Err(problems) }
    }

    pub fn get(&self, name: &str) -> Option<Arc<Definition>> {
        self.workflows.get(name).cloned()
    }

    /// Returns the names of all workflows in alphabetical order, including `external`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.workflows.keys().map(String::as_str)
    }

    /// Returns the names that other systems use for workflows, each with the workflow's name in this library.
    pub fn aliases(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.aliases.iter().copied()
    }

    pub fn has_rehearsal(&self, name: &str) -> bool {
        self.rehearsals.contains_key(name)
    }

    pub fn rehearsal(&self, name: &str) -> Option<&Script> {
        match self.rehearsals.get(name)? {
            Rehearsal::Parsed(script) => Some(script),
            Rehearsal::Shipped { text, parsed } => {
                parsed.get_or_init(|| rehearsal::parse(name, text).ok()).as_ref()
            }
        }
    }

    fn add(
        &mut self,
        catalogue: &[tool::Spec],
        deciders: &Deciders,
        file: &str,
        workflow: &str,
        rehearsal: Option<&str>,
        bases: &Bases,
    ) -> Result<(String, Position), Vec<Problem>> {
        let (definition, place) = workflow::parse_placed(file, workflow, catalogue, deciders, bases)?;
        let name = definition.name.clone();
        self.rehearsals.remove(&name);
        if let Some(text) = rehearsal {
            let script = rehearsal::parse_for(&rehearsal_path(file), text, &definition, catalogue)?;
            self.rehearsals.insert(name.clone(), Rehearsal::Parsed(script));
        }
        self.workflows.insert(name.clone(), Arc::new(definition));
        Ok((name, place))
    }
}

fn taken(file: &str, name: &str, place: Position, other: &str) -> Vec<Problem> {
    let mut problems = Problems::for_file(file);
    let message = format!("the workflow `{name}` is also defined in {other}");
    problems.push(place, "name".to_owned(), message, None);
    problems.finish::<()>(None).err().unwrap_or_default()
}

/// Returns the path of the rehearsal that belongs to the workflow file `file`, for error messages.
fn rehearsal_path(file: &str) -> String {
    match file.rfind(['/', '\\']) {
        Some(end) => format!("{}rehearsal.yaml", &file[..=end]),
        None => "rehearsal.yaml".to_owned(),
    }
}
