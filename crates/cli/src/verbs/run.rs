//! `run`: starts a workflow in the person's repository, on the running server or on a server in this process.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::{Path, PathBuf};

use anyhow::Context;
use holdshort_core::definition::EXTERNAL;
use holdshort_core::people::People;
use holdshort_engine::real::REHEARSAL;
use holdshort_models::Source;
use holdshort_protocol::{Info, Run, RunConfig, StartRun, Status, plain};
use holdshort_server::{AGENT_REQUESTS, PerMinute};
use serde_json::{Value, json};

use super::made_folders::MadeFolders;
use super::{Scene, system};
use crate::args::ModelArgs;
use crate::client::{Client, is_refused_at};
use crate::data_dir::DataDir;
use crate::embed::{self, Embedded, Plan};
use crate::exit::{Exit, no_server, usage};
use crate::log;
use crate::model;
use crate::output::{print_json, print_lines, print_message, print_message_lines, print_text};
use crate::pack::{self, Packs};
use crate::program_name::{holdshort, with_program_name};
use crate::shell::quoted;
use crate::terminal::REHEARSES;
use crate::terminal::card;
use crate::terminal::follow::{self, Form, LeaveReason, Outcome};
use crate::terminal::paint::Paint;

/// End reason of a run that completed only a part of its task.
pub(super) const PARTIAL: &str = "partial";

pub(super) const ANY_PORT: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0));

const NO_REHEARSAL: &str = "without a model, `holdshort demo` plays the rehearsals of shipped workflows on their \
                           samples; for the script next to your own workflow, run `holdshort serve --workflows DIR` and \
                           `holdshort run NAME --model rehearsal`";

pub(super) async fn run(scene: &Scene, mut args: crate::args::Run) -> anyhow::Result<Exit> {
    let prepared = match prepare_with_pack(scene.packs, &args)? {
        Some(pack::Start::Init(to)) => return super::init(scene.packs, &args.workflow, Some(&to)),
        Some(pack::Start::Run(prepared)) => Some(*prepared),
        None if args.output_dir.is_some() => return Err(scene.packs.no_output()),
        None => None,
    };
    let is_prepared = prepared.is_some();
    let (start, files, made) = start(scene.packs, &args, prepared)?;
    let files = files.as_deref();
    let data_dir = DataDir::resolve(scene.reach.data.as_deref())?;
    if scene.reach.server.is_some() || data_dir.listening().is_some() {
        if args.workflows.is_some() {
            return Err(usage(
                "the running server has its own workflows: restart that server with --workflows DIR",
            ));
        }
        return on_server(scene, &args, start, files, made).await;
    }
    if args.detach {
        return Err(no_server(format!(
            "--detach needs a server that keeps running, and none is running: start `{} serve{}`",
            holdshort(),
            data_dir.arguments()
        )));
    }
    embed::in_the_folder()?;
    can_start(scene.packs, &args, is_prepared)?;
    // A model in the configuration of a pack has the same effect as `--model`.
    args.model.model = args.model.model.or_else(|| start.config.as_ref()?.model.clone());
    has_model(&args.model)?;
    log::start("off", log::Format::of_environment()?.unwrap_or_default())?;
    let again = embed::again(&data_dir, &args.model);
    let plan = Plan {
        listen: ANY_PORT,
        data_dir,
        workflows: args.workflows,
        people: None,
        rules: None,
        channels: None,
        model: args.model,
        database: None,
        agent_requests: AGENT_REQUESTS,
        per_minute: PerMinute::default(),
        issuers: Vec::new(),
        provider: None,
        front: holdshort_server::PublicEndpoint::default(),
        callbacks: holdshort_server::Callbacks::default(),
        checkpoints: None,
        keep_content: None,
        crew: holdshort_server::Crew::default(),
        otlp: None,
        packs: scene.packs,
        accept_loss: None,
        json: scene.json,
    };
    let embedded = Embedded::start(plan).await?;
    let exit = started(&embedded, scene, (start, made), &again, files).await;
    end_of(embedded).await;
    exit
}

/// Lets each pack prepare a run with the pack's own options. Returns `None` if no option of a pack is set.
fn prepare_with_pack(packs: Packs, args: &crate::args::Run) -> anyhow::Result<Option<pack::Start>> {
    let arguments = pack::RunArguments {
        workflow: &args.workflow,
        task: args.task.as_deref(),
        output_dir: args.output_dir.as_deref(),
        options: &args.options,
    };
    packs.iter().find_map(|pack| pack.start(&arguments).transpose()).transpose()
}

/// Builds the request that starts a run. Also returns the folder for result files, and the folders that were created
/// for the run.
fn start(
    packs: Packs,
    args: &crate::args::Run,
    prepared: Option<pack::Prepared>,
) -> anyhow::Result<(StartRun, Option<PathBuf>, MadeFolders)> {
    let (input, config, files, made) = if let Some(prepared) = prepared {
        let config = RunConfig { workspace: workspace(Some(&prepared.workspace))?, ..prepared.config };
        (prepared.input, config, Some(prepared.output), prepared.made)
    } else {
        if args.workspace.is_none() {
            described(packs, &args.workflow)?;
        }
        let workspace = workspace(args.workspace.as_deref())?;
        (input(packs, args)?, RunConfig { workspace, ..RunConfig::default() }, None, MadeFolders::default())
    };
    let config = RunConfig { unattended: args.unattended, ..config };
    let (workflow, session) = (args.workflow.clone(), args.session.clone());
    Ok((StartRun { workflow, input, session, config: Some(config) }, files, made))
}

async fn started(
    embedded: &Embedded,
    scene: &Scene,
    (start, made): (StartRun, MadeFolders),
    again: &str,
    files: Option<&Path>,
) -> anyhow::Result<Exit> {
    let client = embedded.client()?;
    let run: Run = client.post("/v1/runs", &start).await?;
    made.keep();
    if !scene.json {
        introduce(&run);
    }
    follow_run(scene, &client, &run.id, Some(again), files).await
}

async fn on_server(
    scene: &Scene,
    args: &crate::args::Run,
    mut start: StartRun,
    files: Option<&Path>,
    made: MadeFolders,
) -> anyhow::Result<Exit> {
    let client = scene.client()?;
    if args.model.base_url.is_some() {
        return Err(usage("the running server has its own model: restart that server with --base-url URL"));
    }
    let info: Info = client.get("/v1/info").await?;
    if let (Some(config), Some(_)) = (&mut start.config, &args.model.model) {
        config.model.clone_from(&args.model.model);
    }
    let run: Value = match client.post("/v1/runs", &start).await {
        Err(error)
            if info.rehearsal && !is_rehearsal(&args.model) && is_refused_at(&error, "/config/model") =>
        {
            return Err(no_model(&client, &args.model));
        }
        answer => answer?,
    };
    made.keep();
    let shown: Run = serde_json::from_value(run.clone())?;
    if args.detach {
        if scene.json {
            print_json(&run)?;
        } else {
            print_text(&shown.id);
            print_message(&format!("The run has started at {}. To follow the run:", client.address()));
            let files = output_words(files);
            print_message(&format!(
                "  {} attach {}{}{files}",
                holdshort(),
                shown.id,
                client.server_arguments()
            ));
        }
        return Ok(Exit::Ok);
    }
    if !scene.json {
        introduce(&shown);
    }
    follow_run(scene, &client, &shown.id, None, files).await
}

/// Returns the error for a run on a server without a model. The option `--model` of this command has no effect on a
/// running server.
pub(super) fn no_model(client: &Client, model: &ModelArgs) -> anyhow::Error {
    let named = if model.model.is_some() {
        ", and the option `--model` of this command has no effect on it"
    } else {
        ""
    };
    usage(format!(
        "the server at {} has no model{named}: stop that server and start it with --model NAME\n  {}",
        client.address(),
        with_program_name(NO_REHEARSAL)
    ))
}

pub(super) fn is_rehearsal(model: &ModelArgs) -> bool {
    model.model.as_deref() == Some(REHEARSAL)
}

/// Checks the workflow and the workspace of the command `run` before anything is started. Other errors are reported
/// later.
fn can_start(packs: Packs, args: &crate::args::Run, is_prepared: bool) -> anyhow::Result<()> {
    let folder = args.workflows.as_deref();
    let open = holdshort_server::open_workflows(folder, &People::default(), &packs.for_server());
    let library = open.map_err(|error| usage(error.to_string()))?;
    let Some(definition) = library.get(&args.workflow) else {
        let known: Vec<&str> = library.names().filter(|name| *name != EXTERNAL).collect();
        let named = plain::line(&args.workflow);
        return Err(usage(format!(
            "there is no workflow `{named}`; the known ones are: {}",
            known.join(", ")
        )));
    };
    if args.workspace.is_none() && !is_prepared && definition.works_on_files() {
        return Err(usage(
            "--workspace PATH is missing: the tools of this workflow need a folder to work in",
        ));
    }
    Ok(())
}

pub(super) fn has_model(args: &ModelArgs) -> anyhow::Result<()> {
    // The script of a rehearsal must be available when the run is resumed, but `attach` cannot find a person's own
    // workflows.
    if is_rehearsal(args) {
        return Err(usage(with_program_name(
            "`rehearsal` is a script, not the name of a provider's model: `holdshort demo` plays shipped scripts. To \
             play your own script, start `holdshort serve --workflows DIR`, then repeat this command",
        )));
    }
    match model::source(args) {
        Ok(Source::Provider(_)) => Ok(()),
        Ok(Source::Missing(missing)) => {
            Err(usage(format!("{missing}\n  {}", with_program_name(NO_REHEARSAL))))
        }
        Err(error) => Err(usage(error.to_string())),
    }
}

fn input(packs: Packs, args: &crate::args::Run) -> anyhow::Result<Value> {
    match (&args.task, &args.input) {
        (_, Some(path)) => {
            let text = file_or_stdin(path)?;
            serde_json::from_str(&text)
                .map_err(|error| usage(format!("{} is not valid JSON: {error}", path.display())))
        }
        (Some(task), None) => Ok(json!({"task": task})),
        (None, None) => {
            described(packs, &args.workflow)?;
            Err(usage("the task is missing: give it as text, or with --input FILE"))
        }
    }
}

/// Returns an error if the workflow belongs to a pack. Called when the task or the workspace is missing, because an
/// option of the pack should have set it.
fn described(packs: Packs, workflow: &str) -> anyhow::Result<()> {
    packs
        .for_workflow(workflow)
        .map_or(Ok(()), |pack| Err(usage(with_program_name(pack.texts().missing_input_hint))))
}

/// Returns the absolute path of the workspace without symbolic links. All other checks of the workspace are left to the
/// server.
pub(super) fn workspace(path: Option<&Path>) -> anyhow::Result<Option<String>> {
    let Some(path) = path else { return Ok(None) };
    let path = path
        .canonicalize()
        .map_err(|error| usage(format!("the workspace {} cannot be opened: {error}", path.display())))?;
    let text = path.into_os_string().into_string();
    text.map(Some).map_err(|path| usage(format!("the path {} is not UTF-8", path.display())))
}

fn introduce(run: &Run) {
    let paint = Paint::stdout();
    let at =
        run.config.workspace.as_deref().map(|path| format!(" in {}", plain::line(path))).unwrap_or_default();
    let line = format!("{} {}", paint.bold(&format!("{}{at}", run.workflow)), paint.dim(&run.id));
    print_lines(&paint.message(&line, 2));
    if run.config.model.as_deref() == Some(REHEARSAL) {
        print_text(&paint.yellow(&format!("  {REHEARSES}")));
    }
}

/// Follows a run in the terminal, and prints the command that follows the run again. `embedded` contains the arguments
/// that start the server in this process again. `files` is the folder for a pack's result files.
pub(super) async fn follow_run(
    scene: &Scene,
    client: &Client,
    run: &str,
    embedded: Option<&str>,
    files: Option<&Path>,
) -> anyhow::Result<Exit> {
    let (packs, json) = (scene.packs, scene.json);
    let form = if json { Form::Json } else { Form::Told };
    if !json && let Ok(found) = client.get::<Run>(&format!("/v1/runs/{run}")).await {
        system::warn_of(client, &found).await;
    }
    let outcome = follow::follow(packs, client, run, form).await?;
    match &outcome {
        Outcome::Ended(run) if !json => ended(run),
        Outcome::Ended(_) => {}
        Outcome::Left(left) => leave(client, run, *left, embedded, files).await,
    }
    // The outcome is already printed, and an error while writing the files does not change it.
    match (&outcome, files) {
        (_, Some(folder)) => {
            // An embedded server stops when the person leaves the run, so the run pauses.
            let rests = embedded.is_some() && matches!(outcome, Outcome::Left(_));
            for pack in packs.iter() {
                pack.leave_files(client, run, pack::Files { folder, rests, json }).await;
            }
        }
        (Outcome::Ended(run), None) if packs.for_workflow(&run.workflow).is_some() && !json => {
            print_message(&format!(
                "  To write the files of the run: {} attach {} --output-dir DIR{}",
                holdshort(),
                run.id,
                client.server_arguments()
            ));
        }
        (Outcome::Ended(_) | Outcome::Left(_), None) => {}
    }
    Ok(outcome.exit())
}

fn ended(run: &Run) {
    let paint = Paint::stdout();
    let why = run.end_message.as_deref().map(|text| format!(": {}", plain::text(text))).unwrap_or_default();
    let reason = run.end_reason.as_deref().unwrap_or_default();
    print_text("");
    let line = match run.status {
        Status::Completed if reason == PARTIAL => {
            let part = "! Completed in part: some of the work was not done.";
            format!("{} {}", paint.yellow(part), paint.dim(&run.id))
        }
        Status::Completed => format!("{} {}", paint.green("✓ Completed."), paint.dim(&run.id)),
        Status::Failed => {
            format!("{} ({}){why} {}", paint.red("✗ Failed"), plain::line(reason), paint.dim(&run.id))
        }
        _ => format!("{}{why} {}", paint.yellow("– Cancelled"), paint.dim(&run.id)),
    };
    line.lines().for_each(|line| print_lines(&paint.message(line, 2)));
    let undone = run.result.get("undone").and_then(Value::as_array).into_iter().flatten();
    for item in undone.filter_map(Value::as_str) {
        print_lines(&paint.message(&format!("  Left undone: {}", plain::line(item)), 4));
    }
    if run.config.model.as_deref() == Some(REHEARSAL) {
        let text = "  This was a rehearsal: the agent's words were scripted, everything else was real.";
        paint.message(text, 2).iter().for_each(|line| print_text(&paint.yellow(line)));
    }
}

async fn leave(client: &Client, run: &str, left: LeaveReason, embedded: Option<&str>, files: Option<&Path>) {
    let open: Vec<Value> =
        client.list("/v1/interrupts", &[("run", run), ("status", "open")]).await.unwrap_or_default();
    let paint = Paint::stderr();
    let tell_folded = |text: &str| print_message_lines(&paint.message(text, 2));
    if left == LeaveReason::Nobody {
        for interrupt in &open {
            if let Ok(interrupt) = serde_json::from_value::<holdshort_protocol::Interrupt>(interrupt.clone())
            {
                let kind = card::kind(interrupt.kind);
                let title = plain::line(&interrupt.title);
                tell_folded(&format!("Holding short: {kind}: {title} ({})", interrupt.id));
            }
        }
    }
    let what = if open.is_empty() { "continues" } else { "waits for a decision" };
    match (embedded, left) {
        (Some(_), _) => tell_folded(&format!(
            "You left the run. The server stops with this process, but the run is kept, {}. To continue the run:",
            if open.is_empty() { "in its journal" } else { "waiting for a decision" }
        )),
        (None, LeaveReason::Nobody) => {
            tell_folded(&format!(
                "There is no terminal in which you could decide. The run {what}. To follow the run:"
            ));
        }
        (None, _) => tell_folded(&format!("You left the run. The run {what}. To follow the run again:")),
    }
    let words = embedded.unwrap_or_else(|| client.server_arguments());
    print_message(&format!("  {} attach {run}{words}{}", holdshort(), output_words(files)));
}

/// Returns the argument `--output-dir` with which another command continues a run with result files. The result is
/// empty if the run has no such files.
pub(super) fn output_words(files: Option<&Path>) -> String {
    files.map(|folder| format!(" --output-dir {}", quoted(&folder.display().to_string()))).unwrap_or_default()
}

/// Stops the server in this process. After a second Ctrl-C, the command does not wait any longer.
pub(super) async fn end_of(embedded: Embedded) {
    tokio::select! {
        () = embedded.stop() => {}
        _ = tokio::signal::ctrl_c() => print_message("Not waiting any longer; the next start of Holdshort resumes the running work."),
    }
}

pub(super) fn file_or_stdin(path: &Path) -> anyhow::Result<String> {
    if path == Path::new("-") {
        return std::io::read_to_string(std::io::stdin())
            .context("standard input cannot be read as UTF-8 text");
    }
    std::fs::read_to_string(path).map_err(|error| usage(format!("{}: {error}", path.display())))
}
