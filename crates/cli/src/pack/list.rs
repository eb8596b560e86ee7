//! List of the packs of a binary: their additions to a server, and texts that name all packs.

use clap::{Arg, Command, Id};
use holdshort_workflow::{Shipped, shipped};

use super::Pack;
use crate::exit::usage;

/// Packs that a binary includes. Empty by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packs(pub &'static [&'static dyn Pack]);

impl Packs {
    pub(crate) fn iter(self) -> impl Iterator<Item = &'static dyn Pack> {
        self.0.iter().copied()
    }

    pub(crate) fn for_workflow(self, workflow: &str) -> Option<&'static dyn Pack> {
        self.iter().find(|pack| pack.workflows().iter().any(|shipped| shipped.name == workflow))
    }

    /// Returns the tools, the workflows and the reader of cases that the packs add to a server.
    pub fn for_server(self) -> holdshort_server::Packs {
        holdshort_server::Packs {
            toolsets: self.iter().map(Pack::tools).collect(),
            workflows: self.iter().flat_map(Pack::workflows).collect(),
            read_case: self.iter().find_map(Pack::read_case),
        }
    }

    /// Returns all built-in workflows and the workflows of packs, sorted by name. Each of them has a sample.
    pub fn samples(self) -> Vec<&'static Shipped> {
        let mut all: Vec<_> = shipped().iter().chain(self.iter().flat_map(Pack::workflows)).collect();
        all.sort_by_key(|shipped| shipped.name);
        all
    }

    /// Returns the error for a workflow for which the command `init` cannot write a file.
    pub(crate) fn no_init(self, workflow: &str) -> anyhow::Error {
        if self.0.is_empty() {
            return usage(format!(
                "`init` cannot write a file for the workflow `{workflow}`: no workflow of this build has a \
                configuration or a case"
            ));
        }
        let listed = self.written(", and ");
        usage(format!(
            "`init` cannot write a file for the workflow `{workflow}`: it only writes files for workflows \
            with a configuration or a case: {listed}"
        ))
    }

    /// Returns the error for the option `--output-dir` with a workflow that writes no files.
    pub(crate) fn no_output(self) -> anyhow::Error {
        let of = self.iter().map(|pack| format!("for `{}` with {}", pack.name(), pack.texts().start_option));
        let of: Vec<String> = of.collect();
        if of.is_empty() {
            return usage(
                "--output-dir has no effect: it is for workflows that write files when they end, and this \
                build has no such workflow",
            );
        }
        usage(format!("--output-dir is {}", of.join(", and ")))
    }

    /// Lists the files that the packs' `init` can write: `` `a` has a configuration, `b` a case ``.
    fn written(self, between: &str) -> String {
        let mut listed: Vec<String> = Vec::new();
        for pack in self.iter() {
            let has = if listed.is_empty() { " has" } else { "" };
            listed.push(format!("`{}`{has} {}", pack.name(), pack.texts().init_object));
        }
        listed.join(between)
    }

    /// Adds the options of packs to the definition of the command line, and the texts of packs to its help.
    pub(crate) fn described(self, command: Command) -> Command {
        let named: Vec<String> = self.iter().map(|pack| format!("`{}`", pack.name())).collect();
        let has_packs = !named.is_empty();
        command
            .mut_subcommand("run", |run| self.run_options(run))
            .mut_subcommand("demo", |demo| demo.mut_arg("workflow", |arg| self.demo_help(arg)))
            .mut_subcommand("init", |init| self.init_help(init).hide(!has_packs))
            .mut_subcommand("attach", |attach| {
                let reports = "without this option, no reports are written";
                let help = format!("Folder for the reports of {}; {reports}", named.join(" or "));
                attach.mut_arg("output_dir", |arg| arg.help(help).hide(!has_packs))
            })
    }

    fn demo_help(self, arg: Arg) -> Arg {
        let own = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let added = self.iter().map(|pack| format!("; `{}`, {}", pack.name(), pack.texts().demo_subject));
        arg.help(own + &added.collect::<String>())
    }

    fn init_help(self, init: Command) -> Command {
        let places: Vec<&str> = self.iter().map(|pack| pack.texts().init_default_path).collect();
        let file = format!("Path of the new file [default: {}]", places.join(", or "));
        let workflow = self.written(", ");
        init.mut_arg("workflow", |arg| arg.help(workflow)).mut_arg("file", |arg| arg.help(file))
    }

    /// Adds the options of packs to the command `run`, before `--output-dir`.
    fn run_options(self, run: Command) -> Command {
        let of_pack = |pack: &'static dyn Pack| pack.options().into_iter().map(move |arg| (pack.name(), arg));
        let added: Vec<(&str, Arg)> = self.iter().flat_map(of_pack).collect();
        let ids: Vec<(&str, Id)> = added.iter().map(|(pack, arg)| (*pack, arg.get_id().clone())).collect();
        let is_option = |arg: &&Arg| !arg.is_positional();
        let mut order: Vec<Id> =
            run.get_arguments().filter(is_option).map(|arg| arg.get_id().clone()).collect();
        let at = order.iter().position(|id| id == "output_dir").unwrap_or(order.len());
        order.splice(at..at, ids.iter().map(|(_, id)| id.clone()));
        // Options of two packs belong to two workflows, so these options conflict.
        let added = added.into_iter().map(|(pack, arg)| {
            arg.conflicts_with_all(ids.iter().filter(|(other, _)| *other != pack).map(|(_, id)| id))
        });
        let outputs =
            self.iter().map(|pack| format!("`{}` [default: {}]", pack.name(), pack.texts().default_output));
        let outputs = outputs.collect::<Vec<_>>().join(" and ");
        let outputs = format!("Folder for the reports of {outputs}");
        let place = |arg: Arg| match order.iter().position(|id| id == arg.get_id()) {
            Some(at) => arg.display_order(at),
            None => arg,
        };
        run.args(added).mut_args(place).mut_arg("output_dir", |arg| arg.help(outputs).hide(self.0.is_empty()))
    }
}
