//! Implementation of the verbs, one file per group.

mod answers;
mod assign;
mod attach;
mod audit;
mod audit_export;
mod backup;
mod chat;
mod decide;
mod deliveries;
mod demo;
mod doctor;
mod events;
mod evidence;
mod exec;
pub mod folder;
mod groups;
pub(crate) mod hook;
mod inbox;
mod journal;
mod keeping;
mod keys;
mod links;
pub(crate) mod made_folders;
mod mcp;
mod nodes;
mod people;
mod plan;
mod ready;
mod rebuild;
mod run;
mod serve;
mod sessions;
mod show;
mod sign_in;
mod steer;
mod stop;
mod system;
mod transfer;
mod undo;
mod workflows;

use std::path::Path;

use crate::args::{Args, Audit, Reach, Verb, Workflows};
use crate::client::Client;
use crate::config_file::is_flag_set;
use crate::exit::{Exit, usage};
use crate::pack::Packs;

/// Context of a command: the settings that every command of the program shares.
struct Scene {
    reach: Reach,
    json: bool,
    packs: Packs,
}

impl Scene {
    fn client(&self) -> anyhow::Result<Client> {
        Client::find(&self.reach)
    }
}

pub(crate) async fn perform(args: Args, packs: Packs) -> anyhow::Result<Exit> {
    let scene = Scene { reach: args.reach, json: args.json, packs };
    refuse_server(&scene, &args.verb)?;
    match args.verb {
        Verb::Demo { workflow, model } => demo::demo(&scene, &workflow, model).await,
        Verb::Run(run) => Box::pin(run::run(&scene, run)).await,
        Verb::Init { workflow, file } => init(packs, &workflow, file.as_deref()),
        Verb::Chat(chat) => chat::chat(&scene, chat).await,
        Verb::Serve(serve) => Box::pin(serve::serve(&scene, *serve)).await,
        Verb::Inbox { all } => inbox::inbox(&scene, all).await,
        Verb::Show { id } => show::show(&scene, &id).await,
        Verb::Decide(decide) => Box::pin(decide::decide(&scene, decide)).await,
        Verb::Link { interrupt, expires_in } => links::decision(&scene, &interrupt, expires_in).await,
        Verb::Login { person } => sign_in::login(&scene, person).await,
        Verb::Logout { everywhere } => sign_in::logout(&scene, everywhere).await,
        Verb::Attach { run, output_dir, model } => {
            Box::pin(attach::attach(&scene, &run, output_dir.as_deref(), model)).await
        }
        Verb::Plan { run, follow } => plan::plan(&scene, &run, follow).await,
        Verb::Message { run, text } => steer::message(&scene, &run, text).await,
        Verb::Pause { id } => steer::steer(&scene, &id, steer::PAUSE).await,
        Verb::Interrupt { run, text } => steer::interrupt(&scene, &run, text).await,
        Verb::Resume { id } => steer::steer(&scene, &id, steer::RESUME).await,
        Verb::Cancel { id, text } => steer::cancel(&scene, &id, text).await,
        Verb::Stop { run, call, text } => stop::stop(&scene, &run, call.as_deref(), text).await,
        Verb::Undo { run, to } => undo::undo(&scene, &run, to).await,
        Verb::Merge { run, paths } => undo::merge(&scene, &run, paths).await,
        Verb::Exec(args) => Box::pin(exec::exec(&args)).await,
        Verb::Events { run, follow, since } => events::events(&scene, &run, follow, since).await,
        Verb::Workflows { verb: None } => workflows::workflows(&scene).await,
        Verb::Workflows { verb: Some(Workflows::Check { paths, people }) } => {
            workflows::check(&scene, &paths, people.as_deref()).await
        }
        Verb::Answers(args) => answers::answers(&scene, args).await,
        Verb::Sessions { state } => sessions::sessions(&scene, state.as_deref()).await,
        Verb::Grants { session } => sessions::grants(&scene, session.as_deref()).await,
        Verb::Revoke { grant } => sessions::revoke(&scene, &grant).await,
        Verb::Keys { verb } => keys::keys(&scene, verb).await,
        Verb::People { verb } => people::people(&scene, verb).await,
        Verb::Groups { verb } => groups::groups(&scene, verb).await,
        Verb::Deliveries { verb } => deliveries::deliveries(&scene, verb).await,
        Verb::Channels => deliveries::channels(&scene).await,
        Verb::Reassign(args) => assign::reassign(&scene, args).await,
        Verb::Delegate { interrupt, to, from, until } => {
            assign::delegate(&scene, &interrupt, to, from, until).await
        }
        Verb::Snooze(args) => assign::snooze(&scene, args).await,
        Verb::Withdraw { interrupt } => assign::withdraw(&scene, &interrupt).await,
        Verb::Hold { run, reason, lift } => keeping::hold(&scene, &run, reason, lift).await,
        Verb::Erase { run, subject } => keeping::erase(&scene, run, subject).await,
        Verb::Hook(verb) => Box::pin(hook::hook(&scene, verb)).await,
        Verb::Mcp(args) => Box::pin(mcp::mcp(scene.reach, args)).await,
        Verb::Freeze { of, reason } => system::freeze(&scene, of, reason).await,
        Verb::Unfreeze { of } => system::unfreeze(&scene, of).await,
        Verb::Audit(Audit::Head { store }) => audit::head(&scene, &store).await,
        Verb::Audit(Audit::Verify(verify)) => audit::verify(&scene, &verify).await,
        Verb::Audit(Audit::Export(export)) => audit_export::export(&scene, &export).await,
        Verb::Audit(Audit::Checkpoint { out }) => evidence::checkpoint(&scene, out.as_deref()).await,
        Verb::Receipt(receipt) => evidence::receipt(&scene, &receipt).await,
        Verb::Nodes => nodes::nodes(&scene).await,
        Verb::Ready { wait } => ready::ready(&scene, wait).await,
        Verb::Rebuild { store } => rebuild::rebuild(&scene, &store).await,
        Verb::Backup { folder, store } => backup::backup(&scene, &folder, &store).await,
        Verb::Export(export) => transfer::export(&scene, export).await,
        Verb::Import(import) => transfer::import(&scene, import).await,
        Verb::Doctor { config, model } => doctor::doctor(&scene, config, model).await,
    }
}

/// Implements `init`: writes the file that a person edits before a run of a pack's workflow.
fn init(packs: Packs, workflow: &str, to: Option<&Path>) -> anyhow::Result<Exit> {
    packs.for_workflow(workflow).ok_or_else(|| packs.no_init(workflow))?.init(to)?;
    Ok(Exit::Ok)
}

/// Returns an error if `--server` is given to a verb that uses no server. Verbs that open a journal themselves also
/// reject `HOLDSHORT_SERVER`, because the person would expect the journal of this server. `demo`, `serve` and `init`
/// ignore `HOLDSHORT_SERVER`.
fn refuse_server(scene: &Scene, verb: &Verb) -> anyhow::Result<()> {
    let (verb, is_of_journal) = match verb {
        Verb::Demo { .. } => ("demo", false),
        Verb::Serve(_) => ("serve", false),
        Verb::Init { .. } => ("init", false),
        Verb::Backup { .. } => ("backup", true),
        Verb::Export(_) => ("export", true),
        Verb::Import(_) => ("import", true),
        Verb::Rebuild { .. } => ("rebuild", true),
        _ => return Ok(()),
    };
    let is_said = is_flag_set("--server") || std::env::var_os("HOLDSHORT_SERVER").is_none();
    if scene.reach.server.is_none() || !(is_said || is_of_journal) {
        return Ok(());
    }
    let does = match verb {
        "demo" => "starts its own server",
        "serve" => "starts its own server, and --listen ADDRESS sets its address",
        "init" => "writes files on this machine",
        _ => {
            "uses no server: it reads a data folder of this machine or a database, so run it on the machine \
            of the server with --data DIR"
        }
    };
    let named = if is_said { "--server" } else { "HOLDSHORT_SERVER" };
    Err(usage(format!("`{verb}` {does}. Do not use {named} with `{verb}`")))
}
