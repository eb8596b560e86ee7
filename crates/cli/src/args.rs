//! Commands (verbs) and arguments of the command line.

mod addresses;
mod audit;
mod checkpoints;
mod decide;
mod deliveries;
mod exec;
mod freeze;
mod hook;
mod hook_setup;
mod keep_content;
mod mcp;
mod otlp;
mod people;
mod transfer;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use holdshort_workflow::duration;
use reqwest::Url;

pub(crate) use addresses::{AddressArgs, callback_network, callback_reach, lease, listen, proxy, public_url};
pub(crate) use audit::{Audit, AuditExport, AuditFormat, Receipt, Verify};
pub(crate) use checkpoints::{KeepCheckpoints, checkpoint_every};
pub(crate) use decide::Decide;
pub(crate) use deliveries::Deliveries;
pub(crate) use exec::Exec;
pub(crate) use freeze::FreezeOf;
pub(crate) use hook::{Hook, HookRun};
pub(crate) use hook_setup::{HookInstall, HookStatus, HookUninstall};
pub(crate) use keep_content::keep_content;
pub(crate) use mcp::Mcp;
pub(crate) use otlp::otlp_endpoint;
pub(crate) use people::{Groups, Keys, People, Reassign, Snooze};
pub(crate) use transfer::{Export, Import};

use crate::exit;
use crate::log::Format;
use crate::pack::Packs;
use crate::program_name::with_program_name;

/// Agents hold short of risky steps until a person clears them.
///
/// An agent works in a repository and stops where it needs your decision: a command to allow, an edit to check, a
/// question, a plan. You decide in the terminal or the browser, and nothing is lost while you think.
///
/// New here? `holdshort demo` shows a run in two minutes, without a model and without touching your files.
#[derive(Debug, Parser)]
#[command(name = "holdshort", version, after_help = help())]
pub(crate) struct Args {
    /// Print JSON on standard output: one document, or one per line for streams.
    #[arg(long, global = true, help_heading = "Global options")]
    pub json: bool,
    #[command(flatten)]
    pub reach: Reach,
    #[command(subcommand)]
    pub verb: Verb,
}

/// Commands of the program that start their own server, and therefore reject `--server`.
const OWN_SERVER: [&str; 2] = ["demo", "serve"];
/// Commands of the program that read or write files on this machine, and therefore reject `--server`.
const NO_SERVER: [&str; 5] = ["backup", "export", "import", "init", "rebuild"];

impl Args {
    /// Returns the definition of the command line, including the options of packs. Removes `--server` from the help
    /// text of each command that rejects this option.
    fn described(packs: Packs) -> Command {
        let mut whole = packs.described(<Self as CommandFactory>::command());
        if let Some(about) = whole.get_long_about().map(ToString::to_string) {
            whole = whole.long_about(with_program_name(&about));
        }
        OWN_SERVER.into_iter().chain(NO_SERVER).fold(whole, |command, verb| {
            command.mut_subcommand(verb, |command| {
                command.arg(Arg::new("server").long("server").value_name("URL").hide(true))
            })
        })
    }

    pub(crate) fn parse<I, T>(packs: Packs, arguments: I) -> Result<Self, clap::Error>
    where
        I: IntoIterator<Item = T>,
        T: Into<OsString> + Clone,
    {
        let matches = Self::described(packs).try_get_matches_from(arguments)?;
        let mut args = Self::from_arg_matches(&matches)?;
        if let (Verb::Run(run), Some((_, options))) = (&mut args.verb, matches.subcommand()) {
            run.options = options.clone();
        }
        Ok(args)
    }
}

const ENVIRONMENT: &str = "\
Environment:
  HOLDSHORT_DATA, HOLDSHORT_SERVER   same as --data and --server
  HOLDSHORT_TOKEN                    token to use instead of the one in the
                                     data folder
  SSL_CERT_FILE                      file of certificate authorities to trust,
                                     instead of those of this machine
  HOLDSHORT_MODEL, OPENAI_BASE_URL   same as --model and --base-url
  OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY
                                     keys of providers; with _FILE after the
                                     name, the path of a file with the key
  HOLDSHORT_STORE                    same as --store
  HOLDSHORT_LOG                      what a server logs to standard error:
                                     error, warn, info, debug or trace, or
                                     PART=LEVEL such as holdshort_engine=debug,
                                     separated by commas [serve: warn, others:
                                     off]; access=debug logs each request
  HOLDSHORT_LOG_FORMAT               same as --log-format of serve
  OTEL_EXPORTER_OTLP_ENDPOINT        same as --otlp-endpoint of serve
  OTEL_EXPORTER_OTLP_HEADERS         HTTP headers to send to the collector";

fn help() -> String {
    format!("{ENVIRONMENT}\n\n{}", exit::HELP)
}

/// Arguments that select the server.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Reach {
    /// Data folder, which contains the journal and the tokens [default: ~/.local/share/holdshort; `demo`: a new
    /// temporary folder].
    #[arg(
        long,
        global = true,
        help_heading = "Global options",
        value_name = "DIR",
        env = "HOLDSHORT_DATA",
        hide_env = true
    )]
    pub data: Option<PathBuf>,
    /// Address of a running server [default: the server that uses the data folder].
    #[arg(
        long,
        global = true,
        help_heading = "Global options",
        value_name = "URL",
        env = "HOLDSHORT_SERVER",
        hide_env = true
    )]
    pub server: Option<String>,
}

/// Arguments that select the model.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ModelArgs {
    /// The model that the agents use; also `HOLDSHORT_MODEL`. API keys come from the environment.
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// URL of an OpenAI-compatible server with the model; also `OPENAI_BASE_URL`.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
}

/// Arguments that select the store of the journal.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct StoreArgs {
    /// A PostgreSQL database for the journal, which several servers can use at the same time, such as
    /// `postgres://user:password@host/name` [default: SQLite in the data folder].
    #[arg(long, value_name = "URL", env = "HOLDSHORT_STORE", hide_env_values = true)]
    pub store: Option<String>,
    /// Name of this server (node) among the servers that share the database [default: the host name].
    #[arg(long, value_name = "NAME", requires = "store")]
    pub node: Option<String>,
    /// Time after which other nodes take over the runs of this node if it stops renewing its lease, from `2s` to
    /// `10m` [default: 15s].
    #[arg(long, value_name = "TIME", value_parser = lease, requires = "store")]
    pub lease: Option<u64>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Try Holdshort: an agent works in a throw-away repository, and you decide
    Demo {
        /// A shipped workflow: `pair`, one agent in a repository; `copilot`, an agent that you talk with; `research`, a
        /// plan whose subtasks run in parallel; `codelab`, an orchestrator and specialists.
        #[arg(default_value = "pair", value_name = "WORKFLOW")]
        workflow: String,
        #[command(flatten)]
        model: ModelArgs,
    },
    /// Start an agent in your repository, and follow it
    Run(Run),
    /// Write a commented configuration or a sample case for a workflow; never overwrites a file
    Init {
        /// A workflow that has a configuration or a sample case.
        workflow: String,
        /// Path of the new file.
        file: Option<PathBuf>,
    },
    /// Talk with an agent in your repository: a conversation that you can leave and continue
    Chat(Chat),
    /// Keep a server running, for you and for agents of other frameworks
    Serve(Box<Serve>),

    /// List the interrupts that wait for a decision
    Inbox {
        /// Include resolved interrupts.
        #[arg(long)]
        all: bool,
    },
    /// Show an interrupt or a run
    Show {
        /// Id of an interrupt (`int_…`) or of a run (`run_…`).
        id: String,
    },
    /// Decide on an interrupt
    Decide(Decide),
    /// Print a link to a page without scripts for one interrupt: anyone who opens the link decides as you
    Link {
        /// Id of the interrupt: `int_…`.
        interrupt: String,
        /// Lifetime of the link, such as `30m`, `2h` or `7d` [default: 7d].
        #[arg(long, value_name = "TIME", value_parser = duration)]
        expires_in: Option<u64>,
    },
    /// Print a link that signs your browser in, once and within 15 minutes; with --server, sign this terminal in
    ///
    /// With --server, the identity provider of that server signs this terminal in: open the printed page in any
    /// browser. From then on, all commands with the same --server run as you.
    Login {
        /// Person that the link signs in [default: you].
        #[arg(long = "as", value_name = "PERSON")]
        person: Option<String>,
    },
    /// Sign this terminal out of the server that --server names
    Logout {
        /// End all your logins, in all browsers and terminals.
        #[arg(long)]
        everywhere: bool,
    },
    /// Follow a run: see its events, and decide when it waits for you
    Attach {
        /// Id of the run: `run_…`.
        run: String,
        /// Folder for the report files of the run [default: no files are written].
        #[arg(long, value_name = "DIR")]
        output_dir: Option<PathBuf>,
        #[command(flatten)]
        model: ModelArgs,
    },
    /// Show the plan of a run as a graph, with the dependencies and the state of each subtask
    Plan {
        /// Id of the run: `run_…`.
        run: String,
        /// Print each change until the run has ended.
        #[arg(long)]
        follow: bool,
    },
    /// Send a message to a run; the agents of the run read the message with their next request
    Message {
        /// Id of the run: `run_…`.
        run: String,
        /// The message.
        text: String,
    },
    /// Pause a run or a whole session; open interrupts stay open
    Pause {
        /// Id of a run (`run_…`) or of a session (`ses_…`). With a session, all its runs are paused, and no new run
        /// starts.
        id: String,
    },
    /// Interrupt a run: the current work stops now, and the run waits for a message
    Interrupt {
        /// Id of the run: `run_…`.
        run: String,
        /// Message with which the run continues at once.
        #[arg(long)]
        text: Option<String>,
    },
    /// Resume a paused run or session
    Resume {
        /// Id of a run (`run_…`) or of a session (`ses_…`). With a session, its paused runs continue, and new runs
        /// can start.
        id: String,
    },
    /// Cancel a run or a whole session
    Cancel {
        /// Id of a run (`run_…`) or of a session (`ses_…`). With a session, all its runs are cancelled, and no new
        /// run can start.
        id: String,
        /// Reason for the cancellation; recorded in the journal.
        #[arg(long)]
        text: Option<String>,
    },
    /// Stop a running command, or the trial of a command; the run continues, and the agent gets a message
    Stop {
        /// Id of the run: `run_…`.
        run: String,
        /// Id of the command to stop: `call_…`. Optional if only one command is running.
        call: Option<String>,
        /// Message for the agent that started the command.
        #[arg(long)]
        text: Option<String>,
    },
    /// Show the changes that a run made in its workspace, and undo these changes after your approval
    Undo {
        /// Id of the run: `run_…`.
        run: String,
        /// Undo only the changes after this event.
        #[arg(long, value_name = "EVENT", default_value_t = 0)]
        to: u64,
    },
    /// Show a run's files that Git ignores, and copy these files into the workspace after your approval
    ///
    /// If a command of a run creates a file that Git ignores, such as the output of a build, the file is stored outside
    /// the workspace, and only commands of the same run see it.
    Merge {
        /// Id of the run: `run_…`.
        run: String,
        /// Files and folders to copy, relative to the workspace [default: all files of the run that Git ignores].
        paths: Vec<String>,
    },
    /// Apply an approved command of a coding agent; only the hook of the agent writes this command
    Exec(Exec),
    /// List the events of a run
    Events {
        /// Id of the run: `run_…`.
        run: String,
        /// Print new events until the run has ended.
        #[arg(long)]
        follow: bool,
        /// Print only events with a sequence number higher than this number.
        #[arg(long, value_name = "SEQ", default_value_t = 0)]
        since: u64,
    },

    /// List the workflows that can be started, or check your workflow files
    #[command(args_conflicts_with_subcommands = true)]
    Workflows {
        #[command(subcommand)]
        verb: Option<Workflows>,
    },
    /// List the sessions, newest first: conversations with a person, and their runs
    Sessions {
        /// List only sessions in this state.
        #[arg(long, value_name = "STATE", value_parser = ["open", "suspended", "closed"])]
        state: Option<String>,
    },
    /// Stored answers of people, per subject: list, search, correct, erase
    Answers(Answers),
    /// Show, place or lift a legal hold, which prevents the erasure of a run's content
    Hold {
        /// Id of the run: `run_…`.
        run: String,
        /// Place a legal hold with this reason.
        #[arg(long, value_name = "TEXT", conflicts_with = "lift")]
        reason: Option<String>,
        /// Lift the legal hold.
        #[arg(long)]
        lift: bool,
    },
    /// Erase the content of one run, or of all runs about a subject; events keep their type and time
    Erase {
        /// Id of the run: `run_…`.
        #[arg(required_unless_present = "subject", conflicts_with = "subject")]
        run: Option<String>,
        /// Erase the content of all runs whose `input.subject` has this value.
        #[arg(long, value_name = "NAME")]
        subject: Option<String>,
    },
    /// List the grants (remembered approvals) of a session, or of all sessions; `holdshort revoke` revokes a grant
    Grants {
        /// Id of a session: `ses_…`, as shown with each run [default: all sessions].
        session: Option<String>,
    },
    /// Revoke a grant (a remembered approval) or a refusal (a remembered rejection)
    Revoke {
        /// Id of a grant (`gra_…`), or of the interrupt of a refusal (`int_…`). `holdshort grants` lists both.
        grant: String,
    },
    /// People who may sign in and decide: list, set, remove, mark as out of office
    #[command(args_conflicts_with_subcommands = true)]
    People {
        #[command(subcommand)]
        verb: Option<People>,
    },
    /// Working hours of groups of people: list, set, unset
    #[command(args_conflicts_with_subcommands = true)]
    Groups {
        #[command(subcommand)]
        verb: Option<Groups>,
    },
    /// Deliveries of notifications over channels: list, show, retry
    #[command(args_conflicts_with_subcommands = true)]
    Deliveries {
        #[command(subcommand)]
        verb: Option<Deliveries>,
    },
    /// List the notification channels and their state
    Channels,
    /// Assign an open interrupt to other approvers
    Reassign(Reassign),
    /// Let a delegate decide for an approver
    Delegate {
        /// Id of the interrupt: `int_…`.
        interrupt: String,
        /// Id of the delegate.
        to: String,
        /// Id of the approver that the delegate represents [default: you].
        #[arg(long, value_name = "PERSON")]
        from: Option<String>,
        /// End of the delegation, such as `2026-02-07T00:00:00Z` [default: until the interrupt is resolved].
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
    },
    /// Hide an open interrupt from your inbox for a time
    Snooze(Snooze),
    /// Withdraw your vote before the other approvers have voted
    Withdraw {
        /// Id of the interrupt: `int_…`.
        interrupt: String,
    },
    /// Access keys of agents and services: create, list, rotate, revoke
    #[command(args_conflicts_with_subcommands = true)]
    Keys {
        #[command(subcommand)]
        verb: Option<Keys>,
    },
    /// Put a coding agent behind the gates: its tools run only if a rule or a person allows them
    #[command(subcommand)]
    Hook(Hook),
    /// Serve MCP over standard input and output: tools with which an agent asks people
    ///
    /// An MCP client starts this command. The tools are `request_approval`, `ask_human`, `get_decision` and `permission`.
    /// The command needs an agent key, which cannot decide. A server offers the same tools over HTTP at `/mcp`.
    Mcp(Mcp),
    /// Freeze everything, or one run, workflow or agent: no new tool call or model call starts
    ///
    /// Without --run, --workflow and --agent, everything is frozen. Calls that are already running finish, and you can
    /// still decide. To lift the freeze, pass the same option to `holdshort unfreeze`.
    Freeze {
        #[command(flatten)]
        of: FreezeOf,
        /// Reason for the freeze, shown to everyone whom the freeze affects.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Lift a freeze: pass the same option as to `freeze`
    Unfreeze {
        #[command(flatten)]
        of: FreezeOf,
    },
    /// Verify or export the journal, or print its head (event count and hash) or a signed checkpoint
    #[command(subcommand)]
    Audit(Audit),
    /// Print the receipt of one interrupt, with a proof that can be verified without Holdshort
    Receipt(Receipt),
    /// List the servers that share the journal, and the runs that each server executes
    Nodes,
    /// Check whether the server is ready, for scripts and supervisors
    Ready {
        /// Repeat the check until the server is ready, for at most this time, such as `30s` or `1m` [default: one
        /// check].
        #[arg(long, value_name = "TIME", value_parser = duration)]
        wait: Option<u64>,
    },
    /// Rebuild the lists of runs, sessions, interrupts, grants and answers from the journal, while no server uses the
    /// journal
    Rebuild {
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Copy the journal into a new folder, even while a server uses it
    Backup {
        /// Folder for the copy, new or empty. The copy is a complete data folder: `holdshort serve --data FOLDER`.
        folder: PathBuf,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Write the journal, or some of its runs, to a file, while no server uses the journal
    Export(Export),
    /// Import a file that `export` wrote; existing entries stay unchanged
    Import(Import),
    /// Show the configuration, and report which parts work. Exits with 2 if the configuration is wrong
    Doctor {
        /// The configuration file of the server [default: holdshort.toml in the data folder, if it exists].
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        #[command(flatten)]
        model: ModelArgs,
    },
}

/// Parses a duration such as `30m` into milliseconds.
fn duration(text: &str) -> Result<u64, String> {
    duration::parse(text).ok_or_else(|| "is not a duration such as `30m`, `2h` or `7d`".to_owned())
}

#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// The workflow: `pair` is one agent in a repository.
    pub workflow: String,
    /// The task for the agents.
    #[arg(conflicts_with = "input")]
    pub task: Option<String>,
    /// The folder in which the agents work, and which they cannot leave.
    #[arg(long, value_name = "PATH")]
    pub workspace: Option<PathBuf>,
    /// File with the run's input as JSON, for workflows whose input is more than a task (`-`: standard input).
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Folder for the report files of the run.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["input", "workspace"])]
    pub output_dir: Option<PathBuf>,
    /// Values of all options, including the options of packs.
    #[arg(skip)]
    pub options: ArgMatches,
    /// Session of the run: the grants of that session apply [default: a new session].
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Folder with your own workflows: one folder or YAML file per workflow.
    #[arg(long, value_name = "DIR")]
    pub workflows: Option<PathBuf>,
    #[command(flatten)]
    pub model: ModelArgs,
    /// Start the run on the running server and return at once.
    #[arg(long)]
    pub detach: bool,
    /// Run without a person: checkpoints are approved automatically if the workflow allows that; all other interrupts
    /// wait for a later decision.
    #[arg(long)]
    pub unattended: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Chat {
    /// The folder in which the agent works. The agent cannot leave it [default: the current folder].
    #[arg(long, value_name = "PATH", conflicts_with = "session")]
    pub workspace: Option<PathBuf>,
    /// Continue the conversation of this session.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Workflow to talk to [default: `copilot` if the server has it, else `pair`].
    #[arg(long, value_name = "NAME")]
    pub workflow: Option<String>,
    #[command(flatten)]
    pub model: ModelArgs,
}

#[derive(Debug, Default, clap::Args)]
pub(crate) struct Serve {
    /// Configuration file, overridden by flags and the environment [default: holdshort.toml in the data folder, if it
    /// exists].
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub front: AddressArgs,
    /// Folder with your own workflows: one folder or YAML file per workflow.
    #[arg(long, value_name = "DIR")]
    pub workflows: Option<PathBuf>,
    #[command(flatten)]
    pub model: ModelArgs,
    /// File with the people who may decide. A person who is no longer in the file is removed [default: the stored
    /// people stay unchanged].
    #[arg(long, value_name = "FILE")]
    pub people: Option<PathBuf>,
    /// File with rules for all agents of the installation: which calls are allowed, need a decision, or are forbidden
    /// [default: the stored rules stay unchanged].
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// File of notification channels [default: people see requests only in the browser and the terminal].
    #[arg(long, value_name = "FILE")]
    pub channels: Option<PathBuf>,
    #[command(flatten)]
    pub store: StoreArgs,
    /// Average number of requests per second that each agent of another framework may make; all agents together may
    /// make five times as many. Further requests must wait. People are not limited [default: 200].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub agent_requests: Option<u32>,
    /// Maximum number of sign-in requests per minute from one network address [default: 120].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub sign_in_rate: Option<u32>,
    /// Maximum number of decisions per minute by one person [default: 6000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub decision_rate: Option<u32>,
    #[command(flatten)]
    pub checkpoints: KeepCheckpoints,
    /// Time for which the content of a run is kept after the end of the run, at least `90d`. After this time the
    /// content is erased [default: the content is never erased].
    #[arg(long, value_name = "TIME", value_parser = keep_content)]
    pub keep_content: Option<u64>,
    /// Format of the log on standard error; also `HOLDSHORT_LOG_FORMAT` [default: text].
    #[arg(long, value_name = "FORM")]
    pub log_format: Option<Format>,
    /// Send a trace of each run that has ended to this OpenTelemetry collector (OTLP over HTTP), such as
    /// `http://localhost:4318`; also `OTEL_EXPORTER_OTLP_ENDPOINT` [default: no traces].
    #[arg(long, value_name = "URL", value_parser = otlp_endpoint)]
    pub otlp_endpoint: Option<Url>,
    /// Start the server although this number of acknowledged events is missing from the journal. The error message of
    /// the refused start states the number. Every later audit reports the missing events [default: a server with such a
    /// journal does not start].
    #[arg(long, value_name = "EVENTS")]
    pub accept_loss: Option<u64>,
}

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Answers {
    /// List only answers from runs whose `input.subject` has this value.
    #[arg(long, value_name = "NAME")]
    pub subject: Option<String>,
    /// List only answers that contain all these words, in the question or in the answer.
    #[arg(long, value_name = "WORDS")]
    pub search: Option<String>,
    #[command(subcommand)]
    pub verb: Option<AnswersVerb>,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum AnswersVerb {
    /// Correct an answer for later runs; the run that asked has already used the previous answer
    Correct {
        /// Id of the question: `int_…`.
        interrupt: String,
        /// The new answer as text.
        #[arg(long)]
        text: Option<String>,
        /// File with the new answer as JSON, if the question requires structured data (`-`: standard input).
        #[arg(long, value_name = "FILE", conflicts_with = "text")]
        edit: Option<PathBuf>,
    },
    /// Erase an answer, also in the journal
    Erase {
        /// Id of the question: `int_…`.
        interrupt: String,
    },
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Workflows {
    /// Report errors in workflow files by line and column, without a server. Exits with 2 if there are errors
    Check {
        /// A workflow file, or a folder in the layout of `--workflows`.
        #[arg(value_name = "FILE", required = true)]
        paths: Vec<PathBuf>,
        /// File with people, as for `serve` [default: the people of the running server, or only the operator].
        #[arg(long, value_name = "FILE")]
        people: Option<PathBuf>,
    },
}

#[cfg(test)]
mod tests;
