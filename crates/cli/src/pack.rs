//! A pack: an extension for one domain, for example tools that read one kind of data, with a workflow and screens.
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
    /// Name of the pack. The workflow that the pack's [`texts`](Self::texts) describe has the same name.
    fn name(&self) -> &'static str;

    /// Tools that the pack adds to the built-in tools of agents.
    fn tools(&self) -> &'static dyn Toolset;

    /// Workflows of the pack, each with a rehearsal, a sample and a documentation page.
    fn workflows(&self) -> &'static [Shipped];

    /// Function that reads the cases that clients of the crew edge (`/crew/…`) send. At most one pack of a binary reads
    /// cases.
    fn read_case(&self) -> Option<ReadCase> {
        None
    }

    /// Texts that describe the pack in the help, in lists and in errors.
    fn texts(&self) -> PackTexts;

    /// Options that the pack adds to the command `run`. Their ids must differ from the ids of all other options of
    /// `run`.
    fn options(&self) -> Vec<Arg>;

    /// Prepares a run, or names the file that `init` is to write, as the pack's options of `run` request. Returns
    /// `None` if no option of the pack is set.
    fn start(&self, arguments: &RunArguments<'_>) -> anyhow::Result<Option<Start>>;

    /// Writes the file that a person edits before a run of the pack's workflow. Returns an error if the file exists.
    fn init(&self, to: Option<&Path>) -> anyhow::Result<()>;

    /// Writes the result files of a run of the pack's workflow, and prints the names of these files. Writes nothing for
    /// other workflows.
    fn leave_files<'a>(&'a self, client: &'a Client, run: &'a str, to: Files<'a>) -> LocalBoxFuture<'a, ()>;

    /// Returns the pack's own screens for the questions of its agents. Returns `None` if the standard card is shown for
    /// all questions.
    fn asker(&self) -> Option<Box<dyn Asker>> {
        None
    }
}

/// Texts of a pack for help, lists and errors.
#[derive(Clone, Copy, Debug)]
pub struct PackTexts {
    /// Subject of the pack's demo, as a phrase in the help text, such as `analysts who ask`.
    pub demo_subject: &'static str,
    /// Name of the thing that `init` writes for the pack, for the help text: `a configuration`.
    pub init_object: &'static str,
    /// Default path of the file that `init` writes for the pack: `` `file.yaml` ``.
    pub init_default_path: &'static str,
    /// Option of the command `run` that starts a run of the pack: `--config FILE`.
    pub start_option: &'static str,
    /// Default folder for the result files of a run of the pack's workflow.
    pub default_output: &'static str,
    /// Hint for a person who starts the pack's workflow without its input.
    pub missing_input_hint: &'static str,
    /// Sentence about the use of `init`, printed at the end of a demo.
    pub init_hint: &'static str,
}

/// Arguments of the command `run`, as a pack receives them.
#[derive(Clone, Copy, Debug)]
pub struct RunArguments<'a> {
    pub workflow: &'a str,
    pub task: Option<&'a str>,
    pub output_dir: Option<&'a Path>,
    /// Values of all options of the command `run`, including the options of packs.
    pub options: &'a ArgMatches,
}

/// Action that a pack has prepared for the command `run`.
#[derive(Debug)]
pub enum Start {
    Run(Box<Prepared>),
    /// Writes the file that `init` creates to this path, and starts no run.
    Init(PathBuf),
}

/// Run that a pack has prepared and that the command line will start.
#[derive(Debug)]
pub struct Prepared {
    pub input: Value,
    /// Working directory of the agents in the prepared run.
    pub workspace: PathBuf,
    /// Configuration of the prepared run, without the workspace. The command line adds the workspace to it.
    pub config: RunConfig,
    /// Folder for the result files of the prepared run.
    pub output: PathBuf,
    /// Folders that were created for the prepared run. They are removed if the run does not start.
    pub made: MadeFolders,
}

/// Folder for the result files of a run, and settings for the message about these files.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    pub folder: &'a Path,
    /// True if the run pauses until a person continues it with `holdshort attach`.
    pub rests: bool,
    /// True if the output is JSON, so that no message is printed.
    pub json: bool,
}

/// Screens of a pack for the questions of one run.
pub trait Asker {
    /// Returns true if the pack itself shows this interrupt and reads its answer.
    fn asks(&self, interrupt: &Interrupt) -> bool;

    /// Returns the lines of the pack's screen for a question. `open` is the number of open questions. Returns `None` if
    /// the pack has no screen for this question, for example because the question has a form; the standard card is then
    /// shown.
    fn screen(&mut self, interrupt: &Interrupt, open: usize, paint: Paint) -> Option<Vec<String>>;

    /// Returns the reaction of a pack's screen to a line that a person typed as an answer.
    fn line(&mut self, prompt: &mut Prompt, line: &str, paint: Paint) -> Reaction;
}
