//! `hook run`: one call of a coding agent, from its payload to its answer.
//!
//! Every way out of this module is an answer of `reply.rs`. The steps of a call are in
//! `steps.rs`.

use std::env;
use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use holdshort_core::digest::Digest;
use holdshort_edges::hooks::{self, Cli, EventKind, HookEvent, Printed, Verdict};
use holdshort_http::secret_file;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use super::config::{self, HookConfig, RootIdentity};
use super::guard::Guard;
use super::released_command::ReleasedCommand;
use super::reply::Reply;
use super::server::Server;
use super::session::Session;
use super::state::{self, StateFile};
use crate::args::HookRun;
use crate::limits::{HOOK_PAYLOAD_BYTES, KEY_FILE_BYTES};

/// Environment variable of Claude Code that tells how it was started. Without a terminal, the value begins with `sdk`.
const ENTRYPOINT: &str = "CLAUDE_CODE_ENTRYPOINT";

/// Modes of Claude Code in which a tool runs if a deferral is ignored, which happens if the model calls several tools
/// at once.
const MODES_THAT_ALLOW_TOOLS: [&str; 3] = ["acceptEdits", "auto", "bypassPermissions"];

/// Answers one call, and ends the process.
pub(crate) fn run(args: &HookRun) -> ! {
    let reply = Reply::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let answered = match runtime {
        Ok(runtime) => {
            let answered = runtime.block_on(answer(args, &reply));
            // A thread that still reads standard input must not delay the answer.
            runtime.shutdown_background();
            answered
        }
        Err(error) => Err(error).context("the runtime cannot start"),
    };
    match answered {
        Ok(printed) => reply.give(&printed),
        Err(error) => reply.fail(&crate::output::error(&error)),
    }
}

async fn answer(args: &HookRun, reply: &Reply) -> anyhow::Result<Printed> {
    let mut ends = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()]
        .map(signal)
        .into_iter()
        .collect::<Result<Vec<_>, _>>()
        .context("signals cannot be received")?;
    let [terminate, interrupt, hangup] = &mut ends[..] else { bail!("signals cannot be received") };
    tokio::select! {
        answered = decide(args, reply) => answered,
        _ = terminate.recv() => bail!("the hook was stopped, so the call is denied"),
        _ = interrupt.recv() => bail!("the hook was interrupted, so the call is denied"),
        _ = hangup.recv() => bail!("the terminal was closed, so the call is denied"),
    }
}

async fn decide(args: &HookRun, reply: &Reply) -> anyhow::Result<Printed> {
    let file = std::path::absolute(&args.config)?;
    let config = config::read(&file)?;
    let deadline = reply
        .answer_before(Duration::from_millis(config.timeout_ms))
        .context("the clock of the hook cannot start")?;
    if config.cli != args.cli {
        bail!("{} is the configuration of another coding agent", file.display());
    }
    let payload = read_payload().await?;
    let cli = Cli::from(args.cli);
    let event = hooks::read(cli, &payload)
        .with_context(|| format!("the payload of {} cannot be read, so the call is denied", cli.title()))?;
    drop(payload);
    if event.kind == EventKind::Elsewhere {
        return Ok(hooks::answer(cli, &event, &Verdict::NoOpinion));
    }
    check_root(&config)?;
    let key = secret_file::read_text(&config.key_file, KEY_FILE_BYTES);
    let key = key.map_err(|error| anyhow::anyhow!("the agent key {} {error}", config.key_file.display()))?;
    let name = Digest::of_json(&json!([cli.as_str(), event.session, config.root]));
    let defers = args.defer && may_defer(cli, &event);
    let states = state::folder(&file);
    let session = Session {
        cli,
        coding_cli: args.cli,
        guard: Guard::new(&config, &[&file, &states]),
        released: ReleasedCommand::new(&config, &file, &key),
        trial_time: config.tries.then(|| trial_time(&config)),
        server: Server::new(config.server, key)?,
        state: StateFile::open(&file, &name)?,
        root: config.root,
        event: &event,
        reply,
        deadline,
        name,
        defers,
    };
    let verdict = session.decide().await?;
    Ok(hooks::answer(cli, &event, &verdict))
}

/// Reads standard input to its end. A payload beyond the limit is refused.
async fn read_payload() -> anyhow::Result<Vec<u8>> {
    let read = tokio::task::spawn_blocking(|| -> anyhow::Result<Vec<u8>> {
        let input = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
        secret_file::bounded(input, HOOK_PAYLOAD_BYTES)
            .map_err(|error| anyhow::anyhow!("the payload {error}, so the call is denied"))
    });
    read.await.context("the payload cannot be read")?
}

/// Refuses a root that was replaced after the installation.
fn check_root(config: &HookConfig) -> anyhow::Result<()> {
    let shown = config.root.display();
    let found = RootIdentity::of_folder(&config.root)
        .with_context(|| format!("the folder {shown} of the installed hook cannot be read"))?;
    if found != config.root_identity || !is_plain(&config.root) {
        bail!("{shown} is not the folder for which the hook was installed: install the hook again");
    }
    Ok(())
}

/// Returns the maximum time of a trial: a quarter of the time that the coding agent waits for the hook.
fn trial_time(config: &HookConfig) -> Duration {
    Duration::from_millis((config.timeout_ms / 4).max(1))
}

fn is_plain(root: &Path) -> bool {
    root.is_absolute() && root.to_str().is_some_and(|text| holdshort_command::normal(text) == text)
}

/// Returns true if Claude Code ends for a deferred call. In a terminal it ignores the deferral.
fn may_defer(cli: Cli, event: &HookEvent) -> bool {
    let is_headless = env::var(ENTRYPOINT).is_ok_and(|entry| entry.starts_with("sdk"));
    let runs_alone =
        event.permission_mode.as_deref().is_none_or(|mode| MODES_THAT_ALLOW_TOOLS.contains(&mode));
    cli == Cli::Claude && is_headless && !runs_alone && matches!(event.kind, EventKind::Call(_))
}
