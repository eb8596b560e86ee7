//! A pack: a domain on top of the product, such as tools over one kind of data, with its workflow and its screens.
//!
//! The product knows a pack only by this trait. The program of a build composes its packs into a list, [`Packs`].

mod list;

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches};
use futures::future::LocalBoxFuture;
use holdshort_protocol::{Interrupt, RunConfig};
use holdshort_server::ReadCase;
use holdshort_tools::Toolset;
use holdshort_workflow::Shipped;
use serde_json::Value;

pub use list::Packs;

use crate::client::Client;
use crate::terminal::paint::Paint;
use crate::terminal::prompt::{Prompt, Reaction};
use crate::verbs::made_folders::MadeFolders;

/// A domain: tools, workflows that use them, and screens around their runs.
pub trait Pack: Debug + Send + Sync {
    /// Name of the pack, and of the workflow that its texts describe.
    fn name(&self) -> &'static str;

    /// Tools for its agents, in addition to the built-in ones.
    fn tools(&self) -> &'static dyn Toolset;

    /// Workflows that it ships, each with its rehearsal, its sample and its page.
    fn workflows(&self) -> &'static [Shipped];

    /// Reader of the cases of the crew edge. At most one pack of a build has one.
    fn read_case(&self) -> Option<ReadCase> {
        None
    }

    /// Texts for help, lists and errors.
    fn texts(&self) -> PackTexts;

    /// Options that it adds to `run`. Their ids must be unique there.
    fn options(&self) -> Vec<Arg>;

    /// Prepares `run`. Returns `None` if none of its options is set.
    fn start(&self, arguments: &RunArguments<'_>) -> anyhow::Result<Option<Start>>;

    /// Writes the file of `init` that a person edits before a run. Never overwrites a file.
    fn init(&self, to: Option<&Path>) -> anyhow::Result<()>;

    /// Writes the files of a run of its workflow, and prints their names. Writes nothing for other workflows.
    fn leave_files<'a>(&'a self, client: &'a Client, run: &'a str, to: Files<'a>) -> LocalBoxFuture<'a, ()>;

    /// Returns the asker for questions of its agents at a terminal. `None` shows the usual card.
    fn asker(&self) -> Option<Box<dyn Asker>> {
        None
    }
}

/// Texts of a pack for help, lists and errors.
#[derive(Clone, Copy, Debug)]
pub struct PackTexts {
    /// Subject of its demo: `analysts who ask`.
    pub demo_subject: &'static str,
    /// Object that `init` writes: `a configuration`.
    pub init_object: &'static str,
    /// Default place of `init`: `` `file.yaml` ``.
    pub init_default_path: &'static str,
    /// Option of `run` that starts its runs: `--config FILE`.
    pub start_option: &'static str,
    /// Default folder for the files of a run.
    pub default_output: &'static str,
    /// Hint for a person who named the workflow and no input.
    pub missing_input_hint: &'static str,
    /// Purpose of `init`, printed at the end of a demo.
    pub init_hint: &'static str,
}

/// Arguments of `run`.
#[derive(Clone, Copy, Debug)]
pub struct RunArguments<'a> {
    pub workflow: &'a str,
    pub task: Option<&'a str>,
    pub output_dir: Option<&'a Path>,
    /// Values of all options of `run`, those of packs included.
    pub options: &'a ArgMatches,
}

/// Task of `run` for a pack.
#[derive(Debug)]
pub enum Start {
    Run(Box<Prepared>),
    /// No run: `init` writes to this place.
    Init(PathBuf),
}

/// A run that can start.
#[derive(Debug)]
pub struct Prepared {
    pub input: Value,
    /// Working directory of its agents.
    pub workspace: PathBuf,
    /// Settings of the run. The CLI adds the workspace.
    pub config: RunConfig,
    /// Folder for the files of the run.
    pub output: PathBuf,
    /// Folders created for the run. They are removed if it does not start.
    pub made: MadeFolders,
}

/// Folder for the files of a run, and the form of the message about them.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    pub folder: &'a Path,
    /// True if the run waits until a person attaches to it again.
    pub rests: bool,
    /// True if output is JSON: no message is printed.
    pub json: bool,
}

/// Asks the questions of one run on screens of its own.
pub trait Asker {
    /// Returns true if this asker shows the interrupt.
    fn asks(&self, interrupt: &Interrupt) -> bool;

    /// Returns the screen of a question. `open` is the number of open questions.
    fn screen(&mut self, interrupt: &Interrupt, open: usize, paint: Paint) -> Vec<String>;

    /// Returns the reaction to a line that answers a question.
    fn line(&mut self, prompt: &mut Prompt, line: &str, paint: Paint) -> Reaction;
}
