//! `freeze`, `unfreeze`: freeze all runs or one target (a run, a workflow, an agent), and lift freezes.

use holdshort_protocol::{Freeze, FreezeOf, Frozen, Interrupt, List, Run, System, Workflow, plain};
use holdshort_workflow::nearest;

use super::Scene;
use crate::args;
use crate::client::{Client, id_of};
use crate::exit::Exit;
use crate::limits::WARNINGS;
use crate::output::{print_json, print_lines, print_message, print_message_lines};
use crate::plural::count;
use crate::program_name::holdshort;
use crate::shell::quoted;
use crate::terminal::paint::Paint;

/// Prints the freezes that stop work and for which `matters` is true, each with its author and reason.
pub(super) async fn warn(client: &Client, matters: impl Fn(&Frozen) -> bool) {
    let paint = Paint::stderr();
    for line in warnings(&freezes(client).await.held, client.server_arguments(), matters) {
        print_message_lines(&paint.message(&paint.yellow(&line), 0));
    }
}

/// Freezes that the caller may read, and a flag that is true if these are all freezes.
pub(super) struct Freezes {
    pub held: Vec<Frozen>,
    /// True if the list contains all freezes of the server.
    pub is_all: bool,
}

/// Reads the freezes that the caller may know: all freezes, or those on the interrupts that the caller may read.
pub(super) async fn freezes(client: &Client) -> Freezes {
    if let Ok(system) = client.get::<System>("/v1/system").await {
        return Freezes { held: system.freezes, is_all: true };
    }
    let open = client.list("/v1/interrupts", &[("status", "open")]).await.unwrap_or_default();
    let mut freezes: Vec<Frozen> = Vec::new();
    for frozen in open.into_iter().filter_map(|item| serde_json::from_value::<Interrupt>(item).ok()?.frozen) {
        if !freezes.contains(&frozen) {
            freezes.push(frozen);
        }
    }
    Freezes { held: freezes, is_all: false }
}

/// Returns one line for each of the first [`WARNINGS`] freezes for which `matters` is true. If there are more, a last
/// line counts them.
pub(super) fn warnings(freezes: &[Frozen], words: &str, matters: impl Fn(&Frozen) -> bool) -> Vec<String> {
    let matter: Vec<&Frozen> = freezes.iter().filter(|frozen| matters(frozen)).collect();
    let mut lines: Vec<String> = matter.iter().take(WARNINGS).map(|frozen| warning(frozen, words)).collect();
    if matter.len() > WARNINGS {
        let more = matter.len() - WARNINGS;
        let more = count(more, "more freeze");
        lines.push(format!(
            "There are {more} than shown here. `{} doctor --json{words}` lists all freezes.",
            holdshort()
        ));
    }
    lines
}

fn warning(frozen: &Frozen, words: &str) -> String {
    let of = freeze_target(frozen);
    let what = part(&of).map_or_else(|| "Everything".to_owned(), |part| capital(&part));
    let Frozen { reason, by, at, .. } = frozen;
    let why = reason.as_ref().map(|reason| format!(": {}", reason.trim_end_matches('.')));
    let why = why.unwrap_or_default();
    let line = format!(
        "{what} is frozen since {at} by {by}{why}. Decisions are accepted, but start nothing until you run \
         `{}`. For an agent that runs elsewhere, only decisions that stop the agent are accepted.",
        lift(&of, words)
    );
    plain::line(&line).into_owned()
}

/// Prints the freezes that affect a run, or may affect it later through one of its agents.
pub(super) async fn warn_of(client: &Client, run: &Run) {
    let Ok(System { freezes, .. }) = client.get("/v1/system").await else { return };
    let is_of_agent = freezes.iter().any(|frozen| frozen.agent.is_some());
    let agents = if is_of_agent { agents_of(client, &run.workflow).await } else { Vec::new() };
    if !freezes.is_empty() {
        warn(client, |frozen| freeze_covers_run(frozen, run, &agents)).await;
    }
}

pub(super) fn freeze_covers_run(frozen: &Frozen, run: &Run, agents: &[String]) -> bool {
    let Frozen { run: id, workflow, agent, .. } = frozen;
    let is_of_agent = agent.as_ref().is_none_or(|agent| agents.contains(agent));
    id.as_ref().is_none_or(|id| *id == run.id)
        && workflow.as_ref().is_none_or(|name| *name == run.workflow)
        && is_of_agent
}

/// Returns the names of a workflow's agents. Returns none if the server does not list the workflow.
async fn agents_of(client: &Client, workflow: &str) -> Vec<String> {
    let all = workflows(client).await.unwrap_or_default();
    all.into_iter().find(|known| known.name == workflow).map(|known| known.agents).unwrap_or_default()
}

async fn workflows(client: &Client) -> anyhow::Result<Vec<Workflow>> {
    Ok(client.get::<List<Workflow>>("/v1/workflows").await?.items)
}

pub(super) async fn freeze(scene: &Scene, of: args::FreezeOf, reason: String) -> anyhow::Result<Exit> {
    let of = wire(of)?;
    let client = scene.client()?;
    let what = part(&of).unwrap_or_else(|| "anything".to_owned());
    let FreezeOf { run, workflow, agent } = of.clone();
    let body = Freeze { run, workflow, agent, reason };
    let system: System = client.post("/v1/system/freeze", &body).await?;
    let line =
        format!("Frozen: no tool call and no model call of {what} starts. Calls that are running finish.");
    print_system(scene, &system, &[plain::line(&line).into_owned()])?;
    if let Some(doubt) = doubt(&client, &of).await {
        print_message(&doubt);
    }
    Ok(Exit::Ok)
}

/// Returns a warning if no workflow or agent has the name in a freeze, because it is probably misspelled. The name is
/// frozen anyway: a workflow may be added later, and external agents are in no list.
async fn doubt(client: &Client, of: &FreezeOf) -> Option<String> {
    let all = workflows(client).await.ok()?;
    let (name, there) = match of {
        FreezeOf { workflow: Some(name), .. } => {
            // The workflow of external agents has no file, so the list of workflows omits it.
            let external = std::iter::once("external".to_owned());
            (name, all.into_iter().map(|known| known.name).chain(external).collect::<Vec<_>>())
        }
        FreezeOf { agent: Some(name), .. } => {
            (name, all.into_iter().flat_map(|known| known.agents).collect::<Vec<_>>())
        }
        FreezeOf { .. } => return None,
    };
    if there.contains(name) {
        return None;
    }
    let what = if of.agent.is_some() {
        "No workflow on this server has an agent with this name; an agent that runs elsewhere may have this \
         name."
    } else {
        "No workflow on this server has this name."
    };
    let likely = nearest(name, there.iter().map(String::as_str));
    let likely = likely.map(|likely| format!(" Did you mean `{likely}`?")).unwrap_or_default();
    let lift = lift(of, client.server_arguments());
    Some(
        plain::line(&format!("{what}{likely} The name is frozen anyway; `{lift}` lifts the freeze."))
            .into_owned(),
    )
}

pub(super) async fn unfreeze(scene: &Scene, of: args::FreezeOf) -> anyhow::Result<Exit> {
    let of = wire(of)?;
    let client = scene.client()?;
    let before: System = client.get("/v1/system").await?;
    let stood = before.freezes.iter().any(|frozen| self::freeze_target(frozen) == of);
    let system: System = client.post("/v1/system/unfreeze", &of).await?;
    let what = part(&of).map(|part| capital(&plain::line(&part)));
    let mut lines = vec![match (stood, what) {
        (true, _) if system.freezes.is_empty() => {
            "Nothing is frozen any more. The work continues.".to_owned()
        }
        (true, Some(what)) => format!("{what} no longer has its own freeze, but other freezes remain."),
        (true, None) => "The freeze of everything is lifted, but other freezes remain.".to_owned(),
        (false, Some(what)) => format!("{what} has no freeze of its own, so nothing changed."),
        (false, None) if system.freezes.is_empty() => "Nothing is frozen.".to_owned(),
        (false, None) => {
            "The installation as a whole is not frozen, so nothing changed. Other freezes remain.".to_owned()
        }
    }];
    for frozen in &system.freezes {
        lines.push(format!(
            "{}; `{}` lifts it",
            line(frozen),
            lift(&self::freeze_target(frozen), client.server_arguments())
        ));
    }
    print_system(scene, &system, &lines)
}

/// Returns the command with which a person lifts a freeze on the same server.
fn lift(of: &FreezeOf, words: &str) -> String {
    let FreezeOf { run, workflow, agent } = of;
    let named = [("--run", run), ("--workflow", workflow), ("--agent", agent)];
    let named =
        named.into_iter().find_map(|(flag, name)| Some(format!(" {flag} {}", quoted(name.as_ref()?))));
    format!("{} unfreeze{}{words}", holdshort(), named.unwrap_or_default())
}

fn freeze_target(frozen: &Frozen) -> FreezeOf {
    let Frozen { run, workflow, agent, .. } = frozen.clone();
    FreezeOf { run, workflow, agent }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| format!("{}{}", first.to_uppercase(), letters.as_str())).unwrap_or_default()
}

fn print_system(scene: &Scene, system: &System, lines: &[String]) -> anyhow::Result<Exit> {
    if scene.json {
        print_json(system)?;
    } else {
        print_lines(lines);
    }
    Ok(Exit::Ok)
}

fn line(frozen: &Frozen) -> String {
    let what = part(&freeze_target(frozen)).unwrap_or_else(|| "everything".to_owned());
    let Frozen { reason, by, at, .. } = frozen;
    let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    plain::line(&format!("frozen since {at} by {by}: {what}{reason}")).into_owned()
}

/// Describes the target of a freeze, such as `workflow deploy`. Returns `None` for the whole installation.
fn part(of: &FreezeOf) -> Option<String> {
    let FreezeOf { run, workflow, agent } = of;
    let mut named = [("run", run), ("workflow", workflow), ("agent", agent)].into_iter();
    named.find_map(|(kind, name)| Some(format!("{kind} {}", name.as_ref()?)))
}

fn wire(of: args::FreezeOf) -> anyhow::Result<FreezeOf> {
    let args::FreezeOf { run, workflow, agent } = of;
    let run = run.map(|run| id_of(&run, "run").map(str::to_owned)).transpose()?;
    Ok(FreezeOf { run, workflow, agent })
}
