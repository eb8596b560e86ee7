//! Arguments and verbs of the command line.

mod audit;
mod checkpoints;
mod decide;
mod deliveries;
mod freeze;
mod front;
mod keep_content;
mod otlp;
mod people;
mod transfer;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use holdshort_workflow::duration;
use reqwest::Url;

pub(crate) use audit::{Audit, AuditExport, AuditFormat, Receipt, Verify};
pub(crate) use checkpoints::{KeepCheckpoints, checkpoint_every};
pub(crate) use decide::Decide;
pub(crate) use deliveries::Deliveries;
pub(crate) use freeze::FreezeOf;
pub(crate) use front::{Front, callback_network, callback_reach, lease, listen, proxy, public_url};
pub(crate) use keep_content::keep_content;
pub(crate) use otlp::otlp_endpoint;
pub(crate) use people::{Groups, Keys, People, Reassign, Snooze};
pub(crate) use transfer::{Export, Import};

use crate::called::spelled;
use crate::exit;
use crate::log::Format;
use crate::pack::Packs;

/// Agents hold short of risky steps until a person clears them.
///
/// An agent works in a repository and stops where you must speak: a command to allow, an edit to check, a
/// question, a plan. You decide where you are; nothing is lost while you think.
///
/// New here? `holdshort demo` shows it in two minutes, without a model and without touching your files.
#[derive(Debug, Parser)]
#[command(name = "holdshort", version, after_help = help(), disable_help_subcommand = true)]
pub(crate) struct Args {
    /// Print JSON on standard output: one document, or one per line for streams.
    #[arg(long, global = true)]
    pub json: bool,
    #[command(flatten)]
    pub reach: Reach,
    #[command(subcommand)]
    pub verb: Verb,
}

/// Verbs that start a server of their own and refuse `--server`.
const OWN_SERVER: [&str; 2] = ["demo", "serve"];
/// Verbs that work on files of this machine and refuse `--server`.
const NO_SERVER: [&str; 5] = ["backup", "export", "import", "init", "rebuild"];

impl Args {
    /// Returns the grammar, with the options of packs. Verbs that refuse `--server` hide it in their help.
    fn described(packs: Packs) -> Command {
        let mut whole = packs.described(<Self as CommandFactory>::command());
        if let Some(about) = whole.get_long_about().map(ToString::to_string) {
            whole = whole.long_about(spelled(&about));
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

/// How a server is found.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Reach {
    /// The data folder: journal and tokens [default: ~/.local/share/holdshort].
    #[arg(long, global = true, value_name = "DIR", env = "HOLDSHORT_DATA", hide_env = true)]
    pub data: Option<PathBuf>,
    /// The address of a running server [default: the one that uses the data folder].
    #[arg(long, global = true, value_name = "URL", env = "HOLDSHORT_SERVER", hide_env = true)]
    pub server: Option<String>,
}

/// Which model answers the agents.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ModelArgs {
    /// The model that answers the agents; also `HOLDSHORT_MODEL`. Keys come from the environment.
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// An OpenAI-compatible server to ask; also `OPENAI_BASE_URL`.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
}

/// Where the journal is.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct StoreArgs {
    /// A PostgreSQL database that holds the journal, for several servers at a time, such as
    /// `postgres://user:password@host/name` [default: SQLite in the data folder].
    #[arg(long, value_name = "URL", env = "HOLDSHORT_STORE", hide_env_values = true)]
    pub store: Option<String>,
    /// What this node is called among those that share the database [default: the host's name].
    #[arg(long, value_name = "NAME", requires = "store")]
    pub node: Option<String>,
    /// How long the others wait for a node that is silent before they take over its runs, from `2s` to `10m`
    /// [default: 15s].
    #[arg(long, value_name = "TIME", value_parser = lease, requires = "store")]
    pub lease: Option<u64>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// See it work: an agent, a throw-away repository, and you
    Demo {
        /// A shipped workflow: `pair`, one agent in a repository; `copilot`, one that you talk with; `research`, a plan and its parts side by side; `codelab`, an orchestrator and specialists.
        #[arg(default_value = "pair", value_name = "WORKFLOW")]
        workflow: String,
        #[command(flatten)]
        model: ModelArgs,
    },
    /// Start an agent in a repository of yours, and stay beside it
    Run(Run),
    /// Write a commented configuration of a workflow to edit, or a case; never over what is there
    Init {
        /// A workflow that has one.
        workflow: String,
        /// Where to write it.
        file: Option<PathBuf>,
    },
    /// Talk with an agent in a repository of yours: a conversation that can be left and taken up again
    Chat(Chat),
    /// Keep a server running, for you and for agents of other frameworks
    Serve(Box<Serve>),

    /// What waits for a decision
    Inbox {
        /// Those that are decided, too.
        #[arg(long)]
        all: bool,
    },
    /// Look at an interrupt or a run
    Show {
        /// `int_…` or `run_…`.
        id: String,
    },
    /// Decide on an interrupt
    Decide(Decide),
    /// A page without scripts for one interrupt: whoever opens it decides, as you
    Link {
        /// `int_…`
        interrupt: String,
        /// How long it is good for, such as `30m`, `2h` or `7d` [default: 7d].
        #[arg(long, value_name = "TIME", value_parser = duration)]
        expires_in: Option<u64>,
    },
    /// A link that signs your browser in: once, within 15 minutes; with --server, sign this terminal in
    ///
    /// A server elsewhere that has an identity provider signs this terminal in there: open the page that is printed, in
    /// any browser. From then on all commands with the same --server are yours.
    Login {
        /// Whom the link signs in [default: you].
        #[arg(long = "as", value_name = "PERSON")]
        person: Option<String>,
    },
    /// Sign this terminal out of the server that --server names
    Logout {
        /// All your logins, in browsers and terminals, wherever they are.
        #[arg(long)]
        everywhere: bool,
    },
    /// Stay beside a run: see what it does, decide where it holds short
    Attach {
        /// `run_…`
        run: String,
        /// Folder for its reports; without it none are written.
        #[arg(long, value_name = "DIR")]
        output_dir: Option<PathBuf>,
        #[command(flatten)]
        model: ModelArgs,
    },
    /// The plan of a run as a graph: what comes after what, and how each part stands
    Plan {
        /// `run_…`
        run: String,
        /// Go on until the run has ended: every change as it happens.
        #[arg(long)]
        follow: bool,
    },
    /// Tell a run something; its agents hear it with their next request
    Message {
        /// `run_…`
        run: String,
        /// What its agents are to hear.
        text: String,
    },
    /// Stop a run, or a whole session, for a while; what waits for a decision goes on waiting
    Pause {
        /// `run_…`, or `ses_…`: its runs are paused, and none starts.
        id: String,
    },
    /// Interrupt a run: what is at work stops now, and it waits for words
    Interrupt {
        /// `run_…`
        run: String,
        /// The words, where they are known already: it goes on with them.
        #[arg(long)]
        text: Option<String>,
    },
    /// Let a run or a session go on that was stopped
    Resume {
        /// `run_…`, or `ses_…`: its paused runs go on, and others may start.
        id: String,
    },
    /// End a run, or a whole session
    Cancel {
        /// `run_…`, or `ses_…`: its runs are cancelled, and none starts in it any more.
        id: String,
        /// Why a run is ended; it stands in the journal.
        #[arg(long)]
        text: Option<String>,
    },
    /// Stop a command that is tried or runs; the run goes on, and its agent is told
    Stop {
        /// `run_…`
        run: String,
        /// `call_…`; may be left out where one command is at work.
        call: Option<String>,
        /// What its agent is told.
        #[arg(long)]
        text: Option<String>,
    },
    /// Take back what a run changed in its workspace: shown first, and done once it is released
    Undo {
        /// `run_…`
        run: String,
        /// Only what it changed after this event.
        #[arg(long, value_name = "EVENT", default_value_t = 0)]
        to: u64,
    },
    /// Put ignored files that a run wrote into its workspace: shown first, and done once they are released
    Merge {
        /// `run_…`
        run: String,
        /// Files and folders of the workspace; without one, all that the run's layer holds.
        paths: Vec<String>,
    },
    /// What happened in a run, event by event
    Events {
        /// `run_…`
        run: String,
        /// Go on until the run has ended.
        #[arg(long)]
        follow: bool,
        /// Only events after this one.
        #[arg(long, value_name = "SEQ", default_value_t = 0)]
        since: u64,
    },

    /// The workflows that can be started, or whether files of yours are right
    #[command(args_conflicts_with_subcommands = true)]
    Workflows {
        #[command(subcommand)]
        verb: Option<Workflows>,
    },
    /// The sessions, newest first: conversations with a person, and their runs
    Sessions {
        /// Only those in this state.
        #[arg(long, value_name = "STATE", value_parser = ["open", "suspended", "closed"])]
        state: Option<String>,
    },
    /// What people answered, kept per subject: list, search, correct, erase
    Answers(Answers),
    /// Who holds what a run said from being erased; hold it, lift that
    Hold {
        /// `run_…`
        run: String,
        /// Hold it: why, for whoever wants to erase it.
        #[arg(long, value_name = "TEXT", conflicts_with = "lift")]
        reason: Option<String>,
        /// It is not needed any more.
        #[arg(long)]
        lift: bool,
    },
    /// Erase what runs said: of one run, or of all about a subject. What happened, and when, stays
    Erase {
        /// `run_…`
        #[arg(required_unless_present = "subject", conflicts_with = "subject")]
        run: Option<String>,
        /// All runs whose `input.subject` is this.
        #[arg(long, value_name = "NAME")]
        subject: Option<String>,
    },
    /// What was allowed for a session, or for all of them
    Grants {
        /// `ses_…`; a run names its session [default: all sessions].
        session: Option<String>,
    },
    /// Take a grant or a refusal back
    Revoke {
        /// `gra_…` or, of a refusal, `int_…`: `holdshort grants` lists them.
        grant: String,
    },
    /// Who may sign in and decide: list, set, remove, out of the office
    #[command(args_conflicts_with_subcommands = true)]
    People {
        #[command(subcommand)]
        verb: Option<People>,
    },
    /// When somebody of a group is at work: list, set, forget
    #[command(args_conflicts_with_subcommands = true)]
    Groups {
        #[command(subcommand)]
        verb: Option<Groups>,
    },
    /// What channels were told, or are to be told: list, show, retry
    #[command(args_conflicts_with_subcommands = true)]
    Deliveries {
        #[command(subcommand)]
        verb: Option<Deliveries>,
    },
    /// The channels over which people are told, and whether they work
    Channels,
    /// Have others decide on what is open
    Reassign(Reassign),
    /// Have somebody decide in the place of somebody who is asked
    Delegate {
        /// `int_…`
        interrupt: String,
        /// Who decides.
        to: String,
        /// In whose place [default: yours].
        #[arg(long, value_name = "PERSON")]
        from: Option<String>,
        /// Until then, such as `2026-02-07T00:00:00Z` [default: until it is resolved].
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
    },
    /// Put what is open off, for yourself: out of your inbox until then
    Snooze(Snooze),
    /// Take a decision of yours back, as long as others have to agree
    Withdraw {
        /// `int_…`
        interrupt: String,
    },
    /// Names and secrets for agents and services: make, list, rotate, revoke
    #[command(args_conflicts_with_subcommands = true)]
    Keys {
        #[command(subcommand)]
        verb: Option<Keys>,
    },
    /// Stop everything, or a run, a workflow, an agent: no tool and no model call of it starts
    Freeze {
        #[command(flatten)]
        of: FreezeOf,
        /// Why, for whoever wants to go on.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Let it start again
    Unfreeze {
        #[command(flatten)]
        of: FreezeOf,
    },
    /// Check that the journal is as it was written, or print what to keep of it
    #[command(subcommand)]
    Audit(Audit),
    /// What was asked, decided and done of one interrupt, with proof that others can check without Holdshort
    Receipt(Receipt),
    /// The servers that share the journal, and the runs that each drives
    Nodes,
    /// Whether the server can serve; for what starts and watches it
    Ready {
        /// Ask again until it can, for at most this long, such as `30s` or `1m`.
        #[arg(long, value_name = "TIME", value_parser = duration)]
        wait: Option<u64>,
    },
    /// Make every list new from the journal; no server may use it meanwhile
    Rebuild {
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Copy the journal into a folder of its own, also while a server uses it
    Backup {
        /// Where to; it must be empty or not there yet. It is a data folder: `holdshort serve --data FOLDER`.
        folder: PathBuf,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Write the journal, or some runs, into a file; no server may use it meanwhile
    Export(Export),
    /// Take over what such a file holds; what is there already stays as it is
    Import(Import),
    /// What is configured here, and what works. Exits with 2 where the configuration is wrong
    Doctor {
        /// The configuration of the server [default: holdshort.toml in the data folder, if it is there].
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        #[command(flatten)]
        model: ModelArgs,
    },
}

/// Parses a time such as `30m` into milliseconds.
fn duration(text: &str) -> Result<u64, String> {
    duration::parse(text).ok_or_else(|| "is not a duration such as `30m`, `2h` or `7d`".to_owned())
}

#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// The workflow: `pair` is one agent in a repository.
    pub workflow: String,
    /// What is to be done.
    #[arg(conflicts_with = "input")]
    pub task: Option<String>,
    /// The folder that the agent works in, and never leaves.
    #[arg(long, value_name = "PATH")]
    pub workspace: Option<PathBuf>,
    /// The run's input as JSON, for workflows that take more than a task (`-`: standard input).
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Folder for the reports.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["input", "workspace"])]
    pub output_dir: Option<PathBuf>,
    /// Values of all options, those of packs included.
    #[arg(skip)]
    pub options: ArgMatches,
    /// The session it belongs to: grants of that session hold [default: a new one].
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Workflows of your own: a folder that holds one folder or YAML file for each.
    #[arg(long, value_name = "DIR")]
    pub workflows: Option<PathBuf>,
    #[command(flatten)]
    pub model: ModelArgs,
    /// Start it on the running server and come back at once.
    #[arg(long)]
    pub detach: bool,
    /// Nobody will answer: checkpoints whose workflow allows it approve themselves, all else waits.
    #[arg(long)]
    pub unattended: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Chat {
    /// The folder that the agent works in, and never leaves [default: this one].
    #[arg(long, value_name = "PATH", conflicts_with = "session")]
    pub workspace: Option<PathBuf>,
    /// Take up this conversation again.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Who is spoken to [default: `copilot` where the server has it, else `pair`].
    #[arg(long, value_name = "NAME")]
    pub workflow: Option<String>,
    #[command(flatten)]
    pub model: ModelArgs,
}

#[derive(Debug, Default, clap::Args)]
pub(crate) struct Serve {
    /// What is said neither here nor in the environment [default: holdshort.toml in the data folder, if it is there].
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub front: Front,
    /// Workflows of your own: a folder that holds one folder or YAML file for each.
    #[arg(long, value_name = "DIR")]
    pub workflows: Option<PathBuf>,
    #[command(flatten)]
    pub model: ModelArgs,
    /// Who may decide: a file of people. Whom it named before and does not any more has left [default: the people are as
    /// they were].
    #[arg(long, value_name = "FILE")]
    pub people: Option<PathBuf>,
    /// What the installation allows, asks about and forbids, of all agents: a file of rules [default: the rules are as
    /// they were].
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// Where people are told, and of what: a file of channels [default: nowhere but in the browser and the terminal].
    #[arg(long, value_name = "FILE")]
    pub channels: Option<PathBuf>,
    #[command(flatten)]
    pub store: StoreArgs,
    /// Requests a second that each agent of another framework may make, on average; all together may make five times
    /// as many. Beyond that they are told to wait. People are not counted [default: 200].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub agent_requests: Option<u32>,
    /// Requests of signing in that may come from one address in a minute [default: 120].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub sign_in_rate: Option<u32>,
    /// Decisions that one person may make in a minute [default: 6000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub decision_rate: Option<u32>,
    #[command(flatten)]
    pub checkpoints: KeepCheckpoints,
    /// How long what runs said is kept after their end, at least `90d`; then its content is erased [default: for ever].
    #[arg(long, value_name = "TIME", value_parser = keep_content)]
    pub keep_content: Option<u64>,
    /// The form of what is logged on standard error; also `HOLDSHORT_LOG_FORMAT` [default: text].
    #[arg(long, value_name = "FORM")]
    pub log_format: Option<Format>,
    /// Send a trace of each run that has ended to this OpenTelemetry collector (OTLP over HTTP), such as
    /// `http://localhost:4318`; also `OTEL_EXPORTER_OTLP_ENDPOINT` [default: traces go nowhere].
    #[arg(long, value_name = "URL", value_parser = otlp_endpoint)]
    pub otlp_endpoint: Option<Url>,
    /// Start with a journal that lacks this many acknowledged events, as the refused start names them. Every later audit
    /// reports them [default: such a journal is refused].
    #[arg(long, value_name = "EVENTS")]
    pub accept_loss: Option<u64>,
}

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Answers {
    /// Only those about this subject: what `input.subject` of their runs names.
    #[arg(long, value_name = "NAME")]
    pub subject: Option<String>,
    /// Only those that have all these words, in the question or in the answer.
    #[arg(long, value_name = "WORDS")]
    pub search: Option<String>,
    #[command(subcommand)]
    pub verb: Option<AnswersVerb>,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum AnswersVerb {
    /// Say what the answer is from here on; the run that asked has heard the one before
    Correct {
        /// The question: `int_…`.
        interrupt: String,
        /// The answer in words.
        #[arg(long)]
        text: Option<String>,
        /// The answer as JSON, where the question asked for data (`-`: standard input).
        #[arg(long, value_name = "FILE", conflicts_with = "text")]
        edit: Option<PathBuf>,
    },
    /// Keep it no longer: its words leave the journal, too
    Erase {
        /// The question: `int_…`.
        interrupt: String,
    },
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Workflows {
    /// Say what is wrong with workflow files, by line and column; needs no server. Exits with 2 where something is
    Check {
        /// A workflow file, or a folder as `--workflows` takes it.
        #[arg(value_name = "FILE", required = true)]
        paths: Vec<PathBuf>,
        /// Who may decide, as of `serve` [default: the people of the server that works here, or the operator alone].
        #[arg(long, value_name = "FILE")]
        people: Option<PathBuf>,
    },
}

#[cfg(test)]
mod tests;
