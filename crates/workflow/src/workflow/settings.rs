//! Reads `limits`, `asking` and `web`. The core defines the defaults.

use holdshort_core::asking::{Asking, Deliver, Form};
use holdshort_core::definition::Limits;
use holdshort_core::web::{FETCH, Web};
use ipnet::IpNet;

use super::agents::Agents;
use super::models;
use crate::item::{Item, Keys};
use crate::problem::Problems;
use crate::{bounds, duration};

const LIMITS: Keys = Keys {
    known: &["rounds", "tool_calls", "attempts", "redos", "plan_steps", "parallel", "continues", "budget"],
    later: &[],
};
const BUDGET: Keys = Keys { known: &["tokens", "money"], later: &[] };
const WEB: Keys = Keys { known: &["allow_addresses"], later: &[] };
const ASKING: Keys =
    Keys { known: &["enabled", "form", "deliver", "timeout", "reuse", "pause_siblings"], later: &[] };
const FORM: [(&str, Form); 2] = [("tool", Form::Tool), ("reply", Form::Reply)];
const DELIVER: [(&str, Deliver); 2] = [("at_once", Deliver::AtOnce), ("per_stage", Deliver::PerStage)];

/// Returns the limits of a workflow or a phase. A limit that the file does not state has its value in `base`.
pub(super) fn limits(item: &Item<'_>, base: Limits, problems: &mut Problems) -> Limits {
    let mut limits = base;
    let Some(fields) = item.fields(&LIMITS, problems) else { return limits };
    let counts = [
        ("rounds", &mut limits.rounds),
        ("tool_calls", &mut limits.tool_calls),
        ("attempts", &mut limits.attempts),
        ("redos", &mut limits.redos),
        ("plan_steps", &mut limits.plan_steps),
        ("parallel", &mut limits.parallel),
        ("continues", &mut limits.continues),
    ];
    for (key, limit) in counts {
        let count = fields.find(key).and_then(|item| item.count(bounds::COUNT, problems));
        if let Some(count) = count.and_then(|count| u32::try_from(count).ok()) {
            *limit = count;
        }
    }
    if let Some(item) = fields.find("budget")
        && let Some(fields) = item.fields(&BUDGET, problems)
    {
        if let Some(tokens) = fields.find("tokens") {
            limits.budget_tokens = tokens.count(bounds::TOKENS, problems);
        }
        if let Some(money) = fields.find("money") {
            limits.budget_money = models::money(money, problems);
            if limits.budget_money == Some(0) {
                problems.at(money, "a budget must be more than 0");
            }
        }
        let is_meant =
            ["tokens", "money"].iter().any(|key| fields.find(key).is_some() || fields.was_meant(key));
        if !is_meant {
            problems.at(item, "a budget needs `tokens`, `money`, or both");
        }
    }
    limits
}

/// Reports limits in the file that have no effect in a phase of this kind.
pub(super) fn meaningless(item: &Item<'_>, keys: &[&str], kind: &str, problems: &mut Problems) {
    let Some(fields) = item.fields(&LIMITS, &mut Problems::for_file("")) else { return };
    for key in keys {
        if let Some(item) = fields.find(key) {
            problems.at(item, format!("`{key}` has no effect in a phase of the kind `{kind}`"));
        }
    }
}

/// Reads `asking` of a workflow. `who_asks` is the number of tools with which agents can ask people, or `None` if the
/// agents could not be read.
pub(super) fn asking(item: &Item<'_>, who_asks: Option<usize>, problems: &mut Problems) -> Option<Asking> {
    let fields = item.fields(&ASKING, problems)?;
    let flag = |key: &str, problems: &mut Problems| fields.find(key).and_then(|item| item.flag(problems));
    let form = fields.find("form").and_then(|item| item.one_of(&FORM, problems)).unwrap_or_default();
    if let Some(item) = fields.find("form").filter(|_| form == Form::Reply && who_asks == Some(0)) {
        problems.at(item, "no agent has a tool to ask, such as `ask_human`, so this key has no effect");
    }
    let deliver = fields.find("deliver").and_then(|item| item.one_of(&DELIVER, problems));
    let asking = Asking {
        enabled: flag("enabled", problems).unwrap_or(true),
        form,
        // With `form: reply`, questions are by default delivered together at the end of a stage (contract C8).
        deliver: deliver.unwrap_or(match form {
            Form::Tool => Deliver::AtOnce,
            Form::Reply => Deliver::PerStage,
        }),
        timeout_ms: fields.find("timeout").and_then(|item| duration::read(item, problems)),
        reuse_ms: fields.find("reuse").and_then(|item| duration::read(item, problems)),
        pause_siblings: flag("pause_siblings", problems).unwrap_or(false),
    };
    if !asking.enabled {
        for key in ["deliver", "timeout", "reuse", "pause_siblings"] {
            if let Some(item) = fields.find(key) {
                problems.at(item, format!("asking is disabled, so `{key}` has no effect"));
            }
        }
    }
    Some(asking)
}

/// Reads `web` of a workflow: the address ranges that `web_fetch` may reach. Reports a problem if no agent has the tool
/// `web_fetch`.
pub(super) fn web(item: &Item<'_>, agents: Option<&Agents>, problems: &mut Problems) -> Option<Web> {
    let fields = item.fields(&WEB, problems)?;
    if agents.is_some_and(|agents| !agents.tools().contains(FETCH)) {
        problems.at(item, format!("no agent has the tool `{FETCH}`, so this key has no effect"));
    }
    let ranges = fields.need("allow_addresses", problems)?.texts(bounds::LIST, bounds::NAME, problems)?;
    let mut allow_addresses = Vec::new();
    for (text, item) in ranges {
        match text.parse::<IpNet>() {
            Ok(range) if range.trunc() == range => allow_addresses.push(text),
            Ok(range) => {
                problems.at(
                    &item,
                    format!(
                        "`{text}` has bits set beyond its prefix length; the range is `{}`",
                        range.trunc()
                    ),
                );
            }
            Err(_) => {
                problems.at(&item, "expected a range of addresses such as `192.168.1.0/24` or `::1/128`");
            }
        }
    }
    Some(Web { allow_addresses })
}
