//! A pack: an extension for one domain, for example tools for one kind of data with a workflow and screens.
//!
//! The product uses a pack only through this trait. Each binary lists its packs in [`Packs`].

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

/// Extension for one domain: tools, workflows that use these tools, and screens for their runs.
pub trait Pack: Debug + Send + Sync {
    /// Name of the pack. The workflow that the pack's texts describe has the same name.
    fn name(&self) -> &'static str;

    /// Tools for agents, in addition to the built-in tools.
    fn tools(&self) -> &'static dyn Toolset;

    /// Workflows of the pack, each with a rehearsal, a sample and a documentation page.
    fn workflows(&self) -> &'static [Shipped];

    /// Parser of the cases that clients of the crew edge (`/crew/…`) send. At most one pack of a binary has a parser.
    fn read_case(&self) -> Option<ReadCase> {
        None
    }

    /// Texts for help, lists and errors.
    fn texts(&self) -> PackTexts;

    /// Options that the pack adds to `run`. The ids of these options must be unique within `run`.
    fn options(&self) -> Vec<Arg>;

    /// Prepares a run. Returns `None` if no option of the pack is set.
    fn start(&self, arguments: &RunArguments<'_>) -> anyhow::Result<Option<Start>>;

    /// Writes the file that a person edits before a run. Never overwrites an existing file.
    fn init(&self, to: Option<&Path>) -> anyhow::Result<()>;

    /// Writes the files of a run of the pack's workflow, and prints their names. Writes nothing for other workflows.
    fn leave_files<'a>(&'a self, client: &'a Client, run: &'a str, to: Files<'a>) -> LocalBoxFuture<'a, ()>;

    /// Returns the screens for questions of the pack's agents at a terminal. `None` shows the usual card.
    fn asker(&self) -> Option<Box<dyn Asker>> {
        None
    }
}

/// Texts of a pack for help, lists and errors.
#[derive(Clone, Copy, Debug)]
pub struct PackTexts {
    /// Description of the pack's demo for the help text, such as `analysts who ask`.
    pub demo_subject: &'static str,
    /// Object that `init` writes: `a configuration`.
    pub init_object: &'static str,
    /// Default path of the file that `init` writes: `` `file.yaml` ``.
    pub init_default_path: &'static str,
    /// Option of `run` that starts a run of the pack: `--config FILE`.
    pub start_option: &'static str,
    /// Default folder for the files of a run.
    pub default_output: &'static str,
    /// Hint for a person who started the pack's workflow without its input.
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
    /// Values of all options of `run`, including the options of packs.
    pub options: &'a ArgMatches,
}

/// Action of `run` that a pack has prepared.
#[derive(Debug)]
pub enum Start {
    Run(Box<Prepared>),
    /// Start no run. Write the file of `init` to this path instead.
    Init(PathBuf),
}

/// A run that is ready to start.
#[derive(Debug)]
pub struct Prepared {
    pub input: Value,
    /// Working directory of the agents.
    pub workspace: PathBuf,
    /// Settings of the run. The command line adds the workspace.
    pub config: RunConfig,
    /// Folder for the files of the run.
    pub output: PathBuf,
    /// Folders that were created for the run. These folders are removed if the run does not start.
    pub made: MadeFolders,
}

/// Folder for the files of a run, and settings for the message about these files.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    pub folder: &'a Path,
    /// True if the run pauses until a person attaches to it again.
    pub rests: bool,
    /// True if the output is JSON, so that no message is printed.
    pub json: bool,
}

/// Shows the questions of one run on screens of the pack.
pub trait Asker {
    /// Returns true if this asker reads the answer to the interrupt.
    fn asks(&self, interrupt: &Interrupt) -> bool;

    /// Returns the screen of a question. `open` is the number of open questions. Returns `None` if the pack has no
    /// screen for the question, for example for a question with a form. The usual card is then shown.
    fn screen(&mut self, interrupt: &Interrupt, open: usize, paint: Paint) -> Option<Vec<String>>;

    /// Returns the reaction to a line that a person typed as an answer.
    fn line(&mut self, prompt: &mut Prompt, line: &str, paint: Paint) -> Reaction;
}
