//! The command line. Every verb is a client of the native API. `run`, `demo` and `attach` start a server in this
//! process if they find no running server. Packs can add screens: `pack.rs` defines the trait, and `kit.rs` contains
//! reusable parts.
//!
//! This crate contains no engine logic. This crate never writes to a journal that a server uses: `rebuild` and `import`
//! first lock the journal. Start reading at `args.rs` for the arguments, `verbs/` for the actions, `terminal/` for the
//! screens.

#![expect(clippy::print_stderr, reason = "messages to people go to standard error")]

mod args;
mod client;
mod config_file;
mod data_dir;
mod embed;
mod exit;
pub mod kit;
mod limits;
mod log;
mod login_store;
mod model;
mod new_file;
mod output;
pub mod pack;
mod plural;
mod program_name;
mod shell;
mod stream;
mod terminal;
mod verbs;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::args::{Args, Hook, Verb};
use crate::exit::Exit;
use crate::pack::Packs;

/// Runs the program with these packs as its extensions. `args` starts with the program's name.
pub fn main(args: impl IntoIterator<Item = OsString>, packs: Packs) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    // The sandbox restricts its own process, so this check must come before any thread starts.
    if args.get(1).is_some_and(|verb| verb == holdshort_tools::sandbox::SUBCOMMAND) {
        return holdshort_tools::sandbox::exec(args.into_iter().skip(2));
    }
    if args.get(1).is_some_and(|verb| verb == "hook") {
        verbs::hook::stop_on_panic();
    }
    if let Some(program) = args.first() {
        program_name::set_program_name(program);
    }
    let is_json = args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--json");
    let args = match Args::parse(packs, args) {
        Ok(args) => args,
        Err(error) => {
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Ok };
            if exit == Exit::Usage && is_json {
                output::failed(&exit::usage(error.render().to_string().trim_end()), true);
                return exit.into();
            }
            // Output to a closed pipe is ignored.
            let _ = error.print();
            return exit.into();
        }
    };
    // A coding agent runs its tool if the hook exits with an unexpected code. The hook therefore exits here, with a
    // code that the coding agent knows.
    if let Verb::Hook(Hook::Run(run)) = &args.verb {
        verbs::hook::run(run);
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("holdshort: the runtime cannot start: {error}");
            return Exit::Failed.into();
        }
    };
    let exit = match runtime.block_on(verbs::perform(args, packs)) {
        Ok(exit) => exit,
        Err(error) => {
            output::failed(&error, is_json || log::is_json());
            exit::of_error(&error)
        }
    };
    log::flush();
    // A thread that is still reading from a terminal must not keep the process alive.
    runtime.shutdown_background();
    exit.into()
}
