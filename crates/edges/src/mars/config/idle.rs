//! Keys that are accepted without effect (contract E40): a client's form sends all its keys with every mode. Their
//! values are checked as strictly as those of other keys, and each key is reported with the reason.

use holdshort_core::definition::Definition;
use holdshort_core::schema::Problem;

use super::RUN;
use super::given::{Given, Reader};
use super::mode::{Chosen, Kind};

/// Key without effect, in the client's spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idle {
    pub key: String,
    pub why: String,
}

/// Type of a key's value.
#[derive(Clone, Copy)]
enum Holds {
    Flag,
    Count,
    Text,
}

const PAPERS: &str = "is for reading papers and scans, which no mode here does";
const MODELS: &str = "an agent without its own model uses `model`";

/// Keys of the web UI's form without effect in any mode (contracts A17, A32).
const ROWS: [(&str, Holds, &str); 12] = [
    ("max_turns", Holds::Count, "a person's turns have no separate limit: they end with `done` or `exit`"),
    ("session_name", Holds::Text, "is used only when a session is created: POST /edges/mars/api/sessions"),
    ("additional_context", Holds::Text, "agents work only on the task"),
    ("default_model", Holds::Text, MODELS),
    ("default_formatter_model", Holds::Text, MODELS),
    ("summarizer_model", Holds::Text, PAPERS),
    ("save_markdown", Holds::Flag, PAPERS),
    ("save_json", Holds::Flag, PAPERS),
    ("save_text", Holds::Flag, PAPERS),
    ("max_workers", Holds::Count, PAPERS),
    ("max_depth", Holds::Count, PAPERS),
    ("ocr_output_dir", Holds::Text, PAPERS),
];

/// Key that is rejected instead of reported: a client must not believe that it decides an expiry.
const NEVER_IDLE: &str = "default_on_timeout";

/// Returns the keys without effect. `definition` has only the agents in use. Unknown keys are added to `problems`.
pub(super) fn of(
    top: &Given,
    (chosen, has_variants): (&[Chosen], bool),
    (definition, base): (&Definition, &Definition),
    problems: &mut Vec<Problem>,
) -> Vec<Idle> {
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
                .then(|| format!("no phase of this task uses the agent `{agent}`"))
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
        idle.extend(why.map(|why| Idle { key: written.to_owned(), why }));
    }
    idle
}

fn check(name: &str, holds: Holds, top: &Given, problems: &mut Vec<Problem>) {
    let mut reader = Reader { own: top, top: None, keys: &[], problems };
    match holds {
        Holds::Flag => {
            reader.flag(name);
        }
        Holds::Count => {
            reader.count(name, 0);
        }
        Holds::Text => {
            reader.text(name);
        }
    }
}
