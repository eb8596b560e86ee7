//! Config keys that are accepted but have no effect (contract E40). The client's form sends all its keys with every
//! mode, so these keys cannot be rejected. Their values are checked as strictly as other values. The client receives
//! the reason why each of these keys has no effect.

use holdshort_core::definition::Definition;
use holdshort_core::schema::Problem;

use super::RUN;
use super::mode::{Chosen, Kind};
use super::raw_config::{RawConfig, Reader};

/// Key of a config that has no effect. `key` is in the client's spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedKey {
    pub key: String,
    pub why: String,
}

#[derive(Clone, Copy)]
enum ValueType {
    Flag,
    Count,
    Text,
}

const PAPERS: &str = "is for reading papers and scans, which no mode of this server does";
const MODELS: &str = "is not used: an agent without its own model uses `model`";

/// Keys of the web UI's form that have no effect in any mode (contracts A17, A32): key, type of the value, reason.
const ROWS: [(&str, ValueType, &str); 12] = [
    (
        "max_turns",
        ValueType::Count,
        "is not used: a person's turns have no limit, and end with `done` or `exit`",
    ),
    (
        "session_name",
        ValueType::Text,
        "is used only when a session is created: POST /edges/mars/api/sessions",
    ),
    ("additional_context", ValueType::Text, "is not used: agents work only on the task"),
    ("default_model", ValueType::Text, MODELS),
    ("default_formatter_model", ValueType::Text, MODELS),
    ("summarizer_model", ValueType::Text, PAPERS),
    ("save_markdown", ValueType::Flag, PAPERS),
    ("save_json", ValueType::Flag, PAPERS),
    ("save_text", ValueType::Flag, PAPERS),
    ("max_workers", ValueType::Count, PAPERS),
    ("max_depth", ValueType::Count, PAPERS),
    ("ocr_output_dir", ValueType::Text, PAPERS),
];

/// Config key that is rejected instead of reported as unused. Otherwise a client could believe that this key decides
/// what happens when an interrupt expires.
const NEVER_IDLE: &str = "default_on_timeout";

/// Returns the config keys that have no effect. `definition` contains only the agents that are used. Unknown keys are
/// added to `problems`.
pub(super) fn find_unused_keys(
    top: &RawConfig,
    (chosen, has_variants): (&[Chosen], bool),
    (definition, base): (&Definition, &Definition),
    problems: &mut Vec<Problem>,
) -> Vec<UnusedKey> {
    let phases = || chosen.iter().map(|phase| phase.kind.as_str()).collect::<Vec<_>>().join(", ");
    let mut idle = Vec::new();
    for (key, item) in top.items() {
        let agent = ["_model", "_instructions"].iter().find_map(|end| key.strip_suffix(end));
        let why = if key == "hitl_variant" {
            (!has_variants).then(|| "is used only in the mode `hitl-interactive`".to_owned())
        } else if RUN.contains(&key) || chosen.iter().any(|phase| phase.heeds(key)) {
            None
        } else if let Some(agent) = agent.filter(|agent| base.agents.contains_key(*agent)) {
            (!definition.agents.contains_key(agent))
                .then(|| format!("is not used: no phase of this task uses the agent `{agent}`"))
        } else if Kind::ALL.iter().any(|kind| kind.keys().contains(&key)) {
            let why = format!("has no effect in this task: its phases are {}", phases());
            if key == NEVER_IDLE {
                problems.push(Problem::new(&item.pointer, why));
                continue;
            }
            Some(why)
        } else if let Some((name, holds, why)) = ROWS.into_iter().find(|(name, ..)| *name == key) {
            check(name, holds, top, problems);
            Some(why.to_owned())
        } else {
            problems.push(Problem::new(&item.pointer, "is not a known key"));
            None
        };
        let written = item.pointer.strip_prefix("/config/").unwrap_or(key);
        idle.extend(why.map(|why| UnusedKey { key: written.to_owned(), why }));
    }
    idle
}

fn check(name: &str, holds: ValueType, top: &RawConfig, problems: &mut Vec<Problem>) {
    let mut reader = Reader { own: top, top: None, keys: &[], problems };
    match holds {
        ValueType::Flag => {
            reader.flag(name);
        }
        ValueType::Count => {
            reader.count(name, 0);
        }
        ValueType::Text => {
            reader.text(name);
        }
    }
}
