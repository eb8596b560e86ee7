//! The compliance crew: agents that examine the transactions of a case, and a report that a person reviews if a rule
//! requires it.
//!
//! `casework` reads the tables of a case, and computes findings according to rules, which are data. `casework` is PURE:
//! no I/O, no clock, no randomness. `tools` contains the tools with which agents receive the findings. `screens` starts
//! a run for the folder of a case, and writes the released report. `workflow` contains the workflow. No crate of the
//! product depends on this one. The program `holdshort` adds [`Compliance`] to its packs. The guide is `docs/guide.md`.

pub mod casework;
pub mod limits;
mod screens;
mod specs;
pub mod tools;
mod workflow;

use std::path::Path;

use clap::Arg;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use holdshort_cli::kit::Client;
use holdshort_cli::pack::{Files, Pack, PackTexts, RunArguments, Start};
use holdshort_server::{CaseError, ReadCase};
use holdshort_tools::Toolset;
use holdshort_workflow::Shipped;
use serde_json::{Map, Value};

/// Name of the pack and of its workflow.
pub const WORKFLOW: &str = "compliance";

/// The compliance crew as a pack of the product.
#[derive(Debug)]
pub struct Compliance;

impl Pack for Compliance {
    fn name(&self) -> &'static str {
        WORKFLOW
    }

    fn tools(&self) -> &'static dyn Toolset {
        &tools::CaseTools
    }

    fn workflows(&self) -> &'static [Shipped] {
        &workflow::SHIPPED
    }

    fn read_case(&self) -> Option<ReadCase> {
        Some(read_case)
    }

    fn texts(&self) -> PackTexts {
        PackTexts {
            demo_subject: "agents that write a compliance report, which you release",
            init_object: "a case",
            init_default_path: "the folder `case`",
            start_option: "--case FOLDER",
            default_output: "`report` in the case",
            missing_input_hint: "name the folder of the case: `holdshort run compliance --case FOLDER`; `holdshort init compliance` \
                  writes a sample",
            init_hint: "writes the folder `case`, a sample case whose tables you replace with your own",
        }
    }

    fn options(&self) -> Vec<Arg> {
        screens::options()
    }

    fn start(&self, arguments: &RunArguments<'_>) -> anyhow::Result<Option<Start>> {
        screens::start(arguments)
    }

    fn init(&self, to: Option<&Path>) -> anyhow::Result<()> {
        screens::init(to)
    }

    fn leave_files<'a>(&'a self, client: &'a Client, run: &'a str, to: Files<'a>) -> LocalBoxFuture<'a, ()> {
        screens::leave_files(client, run, to).boxed_local()
    }
}

/// Reads the compliance case in `folder` for a task that a client sends to the crew edge.
fn read_case(
    folder: &Path,
    named: &str,
    inputs: Map<String, Value>,
) -> Result<Map<String, Value>, CaseError> {
    let begun = tools::prepare_case(folder, named, inputs);
    begun.map(|begun| begun.input).map_err(|error| {
        let member = if matches!(error, tools::CaseError::NoDay) { tools::AS_OF } else { tools::CASE };
        CaseError { member, message: error.to_string() }
    })
}
