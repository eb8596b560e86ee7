//! Grammar of workflow files. Reads YAML into a validated [`Definition`]. Does not run or store it.
//!
//! | key | value (**default**) | read by |
//! |---|---|---|
//! | `name` | `[a-z0-9_-]+`, required; `external` is built in | here |
//! | `extends` | name of the workflow that supplies all keys not written here (**none**) | `extend.rs` |
//! | `description` | text (**empty**) | here |
//! | `input` | JSON Schema of the run's input (**`{task: string}`, required**) | `input` |
//! | `agents.NAME` | `instructions` (required), `asking_instructions` (**none**; sent only while the agent may ask people), `model`, `tools[]` (**none**) · `handoffs[]`: agents, `terminator`, `admin` (**none**) · `ends`: **reply** \| finish | `agents`, `handoffs` |
//! | `tools[]` | `name`, `description`, `runs`: client, required; `parameters` (JSON Schema, **none**), `effect`: read \| **write**, `category` **`code_exec`** | `tools` |
//! | `phases[]` | `id`, `kind`, `needs[]` (**the phase before**; `[]`: none), `gates`; `input`, `limits` of every kind but `checkpoint` and `call` | `phases`, `needs` |
//! | … of `one_shot` | `agent` | `phase_kind` |
//! | … of `checkpoint` | `message` · `ask` **true** · `edit` **false** · `when_no_channel`: **park** \| auto | `phase_kind` |
//! | … of `planning` | `agents`: `planner`, `improver`?, `reviewer`? · `workers[]` (**all other agents**) · `reviews` **1** · `iterations` **3** · `then`: **fail** \| settle · `optional` **false** | `phase_kind` |
//! | … of `control` | `agent` for subtasks that name none · `plan` (**the nearest planning phase before**) · `only` (**all subtasks**) | `phase_kind` |
//! | … of `copilot` | `agent` · `routing`: minimal \| balanced \| aggressive (**no routing**) · `router` (**rules**) · `team[]` (**all other agents**) · `conversational` **false** · `satisfaction` **false** · `simple_words` (**no task is simple**) | `phase_kind` |
//! | … of `call` | `tool`: a reading tool that runs here and requires no arguments · `agent`: agent in whose name the run calls it | `phase_kind` |
//! | … of `idea_generation` | `agents`: `maker`, `critic` · `ideas` **3** · `reviews` **1** | `phase_kind` |
//! | `gates` | `before_step`, `on_error`: ask \| **off** · `after_step`: ask \| `unless_clean` \| **off** · `plan`: **ask** \| show · `mandatory[]`: `after_planning`, `before_file_edit`, `before_execution` or `{before_execution: {trial: true}}`, `before_deploy` (**none**) · `deploy[]`: words and command patterns of `before_deploy` (**push, publish, deploy …**) · `smart`: on \| **off** \| `{keywords[], judge: run \| off \| MODEL}` (**default words, `run`**) · `trial`: on \| **off** · `rules[]` · `same_action`: **ask** \| once · `grants`: `covers`: **call** \| category, `expires_after` · `withhold[]` {`from[]`: reviewer, `fields[]`: JSON pointers into the payload} · `release_ends_step`: on \| **off** · per kind of interrupt `options[]`, `labels`, `reject`, `expires_in`, `on_expiry`, `approvers`, `assignment`, `reminders` {`after`, `every`, `limit` (**10**)}, `escalation[]` {`after`, `approvers`, `groups`, `replace`: true \| **false**}, `working_time`: true \| **false** | `gates`, `smart`, `rules`, `withhold`, `kinds` |
//! | `gates.rules[]` | `do`: allow \| ask \| forbid, required; `reason`; at least one of the criteria in `rules` | `rules` |
//! | `limits` | `rounds` **50**, `tool_calls` **100**, `attempts` **3**, `redos` **2**, `plan_steps` **20**, `parallel` **4**, `continues` **0**, `budget: {tokens, money}`, one of them or both (**none**) | `settings` |
//! | `asking` | `enabled` **true**; false removes the asking tools from every agent | `settings`, `agents` |
//! | `models.NAME` | `window_tokens` (**128,000**), `price: {input_per_million, output_per_million, currency}` (**none**), one of them or both; `default` applies if neither agent nor run names a model | `models` |
//! | `network` | true if commands may reach the network (**false**) | here |
//! | `result` | phase whose text becomes the run's text, if it has one (**the last phase**) | here |
//! | `web` | `allow_addresses[]`: non-public address ranges that `web_fetch` may reach (**none**) | `settings` |
//!
//! The `gates` and `limits` of a phase override single values of the workflow's `gates` and `limits`. A phase can set
//! the three gates around its steps, and the settings of those kinds of interrupts that it opens. Tools are compared by
//! their full names. Every unknown key is an error. All problems of a file are reported together.

mod agents;
mod assignment;
mod gates;
mod handoffs;
mod input;
mod kinds;
mod models;
mod needs;
mod phase_kind;
mod phases;
pub(crate) mod rules;
mod settings;
mod smart;
mod timing;
mod tools;
mod withhold;

use holdshort_core::definition::{Definition, EXTERNAL, Limits, Phase, PhaseKind};
use holdshort_core::people::Deciders;
use holdshort_core::tool;

use crate::extend::{self, Bases};
use crate::item::{Item, Keys};
use crate::problem::{Problem, Problems};
use crate::yaml::{self, Position};
use crate::{bounds, name};

const KEYS: Keys = Keys {
    known: &[
        "name",
        "extends",
        "description",
        "input",
        "agents",
        "phases",
        "gates",
        "limits",
        "asking",
        "network",
        "web",
        "models",
        "tools",
        "result",
    ],
    later: &["mcp_servers"],
};

/// Parses and validates a workflow in which only the operator can decide. The workflow may extend a shipped workflow,
/// but not one of a pack. `file_name` is only needed for problems. `catalogue` contains the tools that agents can have.
pub fn parse(file_name: &str, text: &str, catalogue: &[tool::Spec]) -> Result<Definition, Vec<Problem>> {
    parse_placed(file_name, text, catalogue, &Deciders::local(), &Bases::shipped(&[]))
        .map(|(definition, _)| definition)
}

/// Parses and validates a workflow whose gates may name the people and groups in `deciders`.
pub fn parse_for(
    file_name: &str,
    text: &str,
    catalogue: &[tool::Spec],
    deciders: &Deciders,
) -> Result<Definition, Vec<Problem>> {
    parse_placed(file_name, text, catalogue, deciders, &Bases::shipped(&[])).map(|(definition, _)| definition)
}

/// Parses and validates a workflow that may extend one of the given workflows. Also returns the position of the
/// workflow's name in the file.
pub(crate) fn parse_placed(
    file_name: &str,
    text: &str,
    catalogue: &[tool::Spec],
    deciders: &Deciders,
    bases: &Bases,
) -> Result<(Definition, Position), Vec<Problem>> {
    let mut problems = Problems::for_file(file_name);
    let node = match yaml::parse(text, bounds::WORKFLOW_BYTES) {
        Ok(node) => node,
        Err(yaml::Unreadable { place, message }) => {
            problems.push(place, String::new(), message, None);
            return problems.finish(None);
        }
    };
    let is_good = |text: &str| parse_placed("", text, catalogue, deciders, &Bases::none()).is_ok();
    let definition = match extend::resolve(node, bases, is_good, &mut problems) {
        Ok(node) => read(&Item::top(&node), catalogue, deciders, &mut problems),
        Err(own) => {
            alone(&Item::top(&own), &mut problems);
            None
        }
    };
    problems.finish(definition)
}

fn read(
    top: &Item<'_>,
    catalogue: &[tool::Spec],
    deciders: &Deciders,
    problems: &mut Problems,
) -> Option<(Definition, Position)> {
    let fields = top.fields(&KEYS, problems)?;
    let (name, place) = match fields.need("name", problems) {
        Some(item) => (read_name(item, problems).unwrap_or_default(), item.node.place),
        None => (String::new(), Position::START),
    };
    let description = fields.find("description").and_then(|item| item.text(bounds::TEXT, problems));
    let input = match fields.find("input") {
        Some(item) => input::read(item, problems).unwrap_or_default(),
        None => input::default(),
    };
    let limits = match fields.find("limits") {
        Some(item) => settings::limits(item, Limits::default(), problems),
        None => Limits::default(),
    };
    let network = fields.find("network").and_then(|item| item.flag(problems)).unwrap_or_default();
    let models = fields.find("models").map(|item| models::read(item, problems)).unwrap_or_default();
    let catalogue = &tools::catalogue(fields.find("tools"), catalogue, problems);
    // If `agents` is misspelt, one problem is reported, and not one for every reference to an agent.
    let known = match fields.find("agents") {
        Some(item) => agents::read(item, catalogue, problems),
        None if fields.was_meant("agents") => None,
        None => Some(agents::Agents::default()),
    };
    let known = known.as_ref();
    let who_asks = known.map(|known| known.asking(catalogue));
    let asking =
        fields.find("asking").and_then(|item| settings::asking(item, who_asks, problems)).unwrap_or_default();
    let web = fields.find("web").and_then(|item| settings::web(item, known, problems)).unwrap_or_default();
    let (step_gates, gates) = match fields.find("gates") {
        Some(item) => gates::read(item, known, catalogue, deciders, problems),
        None => Default::default(),
    };
    let around =
        phases::Around { agents: known, gates: step_gates, kinds: &gates.kinds, limits, catalogue, deciders };
    let phases = fields
        .need("phases", problems)
        .and_then(|item| phases::read(item, &around, problems))
        .unwrap_or_default();
    let (agents, mut tools) = known.map(|known| known.resolve(catalogue)).unwrap_or_default();
    let called = phases.iter().filter_map(|phase| phase.kind.called_tool());
    let called = called.filter_map(|tool| catalogue.iter().find(|spec| spec.name == tool));
    tools.extend(called.map(|spec| (spec.name.clone(), spec.clone())));
    let result = fields.find("result").and_then(|item| read_result(item, &phases, problems));
    let description = description.unwrap_or_default();
    let mut definition = Definition {
        name,
        description,
        input,
        agents,
        tools,
        phases,
        gates,
        limits,
        asking,
        models,
        network,
        web,
        result,
    };
    definition.settle_asking();
    if !counts_money(&definition) {
        let item = fields.find("limits").or_else(|| fields.find("phases")).unwrap_or(top);
        problems.at(item, "a budget of `money` needs a price: `models.NAME.price`");
    }
    Some((definition, place))
}

/// Reads the workflow's key `result`: the id of the phase whose text becomes the text of the run.
fn read_result(item: &Item<'_>, phases: &[Phase], problems: &mut Problems) -> Option<String> {
    let named = item.text(bounds::LINE, problems)?;
    match phases.iter().find(|phase| phase.id == named) {
        Some(phase) if matches!(phase.kind, PhaseKind::Checkpoint(_)) => {
            problems.at(item, format!("`{named}` is a checkpoint, which has no result text"));
        }
        Some(_) => return Some(named),
        // The phases could not be read, which is already reported.
        None if phases.is_empty() => {}
        None => {
            let ids = phases.iter().map(|phase| phase.id.as_str());
            problems.unknown(item, &named, format!("there is no phase `{named}`"), ids);
        }
    }
    None
}

/// Returns true if at least one model of the workflow has a price, or if no limit has a budget of money and therefore
/// no price is needed.
fn counts_money(definition: &Definition) -> bool {
    let budgets = definition.phases.iter().map(|phase| phase.limits).chain([definition.limits]);
    let mut prices = definition.models.values().filter_map(|terms| terms.price.as_ref());
    prices.next().is_some() || !budgets.into_iter().any(|limits| limits.budget_money.is_some())
}

/// Checks a workflow whose extended workflow is missing or invalid. Checks only keys that cannot depend on the extended
/// workflow.
fn alone(top: &Item<'_>, problems: &mut Problems) {
    let Some(fields) = top.fields(&KEYS, problems) else { return };
    fields.need("name", problems).and_then(|item| read_name(item, problems));
    fields.find("description").and_then(|item| item.text(bounds::TEXT, problems));
    fields.find("input").and_then(|item| input::read(item, problems));
    fields.find("limits").map(|item| settings::limits(item, Limits::default(), problems));
    fields.find("asking").and_then(|item| settings::asking(item, None, problems));
    fields.find("network").and_then(|item| item.flag(problems));
    fields.find("web").and_then(|item| settings::web(item, None, problems));
    fields.find("models").map(|item| models::read(item, problems));
}

fn read_name(item: &Item<'_>, problems: &mut Problems) -> Option<String> {
    let text = item.text(bounds::NAME, problems)?;
    if text == EXTERNAL {
        problems.at(item, format!("the workflow `{EXTERNAL}` is built in; choose another name"));
        return None;
    }
    name::lower_case(&text, item, problems).then_some(text)
}
