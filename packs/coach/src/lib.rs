//! The coach: agents that read training data, ask the athlete, and write a report in which tools compute every number.
//!
//! `training` reads training data and computes metrics, and `report` renders pages. Both modules are PURE: no I/O, no
//! clock, no randomness. `tools` gives agents the metrics. `screens` starts a run that `coach.yaml` describes, and
//! writes the results of the run as files. `workflow` contains the workflow. No crate of the product depends on this
//! one. The program `holdshort` adds [`Coach`] to its packs. The guide is `docs/guide.md`.

pub mod limits;
pub mod report;
mod screens;
pub mod tools;
pub mod training;
mod workflow;

use std::path::Path;

use clap::Arg;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use holdshort_cli::kit::Client;
use holdshort_cli::pack::{Asker, Files, Pack, PackTexts, RunArguments, Start};
use holdshort_tools::Toolset;
use holdshort_workflow::Shipped;

/// Name of the pack and of its workflow.
pub const WORKFLOW: &str = "coach";

/// The coach as a pack of the product.
#[derive(Debug)]
pub struct Coach;

impl Pack for Coach {
    fn name(&self) -> &'static str {
        WORKFLOW
    }

    fn tools(&self) -> &'static dyn Toolset {
        &tools::Training
    }

    fn workflows(&self) -> &'static [Shipped] {
        &workflow::SHIPPED
    }

    fn texts(&self) -> PackTexts {
        PackTexts {
            demo_subject: "agents that analyse training data and ask the athlete questions",
            init_object: "a configuration",
            init_default_path: "`coach.yaml`",
            start_option: "--config FILE",
            default_output: "the folder that the configuration sets",
            missing_input_hint: "name a configuration file: `holdshort run coach --config coach.yaml`; \
                `holdshort init coach` writes a template",
            init_hint: "writes coach.yaml, with which you run the coach on your own training data and with a model",
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

    fn asker(&self) -> Option<Box<dyn Asker>> {
        Some(Box::<screens::Runner>::default())
    }
}
