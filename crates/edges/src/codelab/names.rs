//! Names of agents and tools. Messages may use Holdshort's names or the IDE's names. Frames use the IDE's names
//! (contract B15).

use holdshort_core::definition::Definition;
use serde_json::Value;

/// Pairs of Holdshort's name and the IDE's name of the same thing.
type Names = &'static [(&'static str, &'static str)];

const AGENTS: Names = &[("coder", "code")];
const TOOLS: Names = &[("search_files", "search_in_code")];
/// Arguments of tools that have a different name in the IDE: the tool, Holdshort's name of the argument, the IDE's
/// name.
const ARGUMENTS: &[(&str, &str, &str)] = &[("search_files", "pattern", "query")];

fn theirs(names: Names, name: &str) -> &str {
    names.iter().find(|(ours, _)| *ours == name).map_or(name, |(_, theirs)| theirs)
}

/// Returns the name that the IDE uses for an agent.
pub(super) fn agent(name: &str) -> &str {
    theirs(AGENTS, name)
}

/// Returns the name that the workflow uses for an agent. `name` is the workflow's name or the IDE's name of the agent.
pub(super) fn agent_of<'n>(definition: &Definition, name: &'n str) -> &'n str {
    let is_known = |name: &str| definition.agents.contains_key(name);
    let other = AGENTS.iter().find_map(|(ours, theirs)| match name {
        _ if name == *theirs => Some(*ours),
        _ if name == *ours => Some(*theirs),
        _ => None,
    });
    other.filter(|other| !is_known(name) && is_known(other)).unwrap_or(name)
}

/// Returns the name that the IDE uses for a tool.
pub(super) fn tool(name: &str) -> &str {
    theirs(TOOLS, name)
}

/// Returns the arguments of a call with the names that the IDE uses.
pub(super) fn arguments(tool: &str, arguments: &Value) -> Value {
    let mut arguments = renamed(tool, arguments.clone(), |ours, theirs| (ours, theirs));
    // The IDE needs a path to list a folder.
    if tool == "list_files"
        && let Some(fields) = arguments.as_object_mut()
    {
        fields.entry("path").or_insert_with(|| Value::from("."));
    }
    arguments
}

/// Renames the edited arguments of a call from the IDE's names to Holdshort's names.
pub(super) fn edited(tool: &str, arguments: Value) -> Value {
    renamed(tool, arguments, |ours, theirs| (theirs, ours))
}

fn renamed(
    tool: &str,
    mut arguments: Value,
    from_to: fn(&'static str, &'static str) -> (&'static str, &'static str),
) -> Value {
    if let Some(fields) = arguments.as_object_mut() {
        for (_, ours, theirs) in ARGUMENTS.iter().filter(|(of, _, _)| *of == tool) {
            let (from, to) = from_to(ours, theirs);
            if let Some(value) = fields.remove(from) {
                fields.entry(to).or_insert(value);
            }
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_goes_out_has_the_names_of_the_ide_and_comes_back_under_ours() {
        assert_eq!((agent("coder"), agent("code"), agent("debug")), ("code", "code", "debug"));
        assert_eq!((tool("search_files"), tool("read_file")), ("search_in_code", "read_file"));
        let table = [
            ("search_files", json!({ "pattern": "x" }), json!({ "query": "x" })),
            ("search_in_code", json!({ "query": "x" }), json!({ "query": "x" })),
            ("list_files", json!({}), json!({ "path": "." })),
            ("list_files", json!({ "path": "src" }), json!({ "path": "src" })),
            ("read_file", json!({ "path": "a" }), json!({ "path": "a" })),
        ];
        for (name, ours, theirs) in table {
            assert_eq!(arguments(name, &ours), theirs, "{name}");
        }
        assert_eq!(edited("search_files", json!({ "query": "y" })), json!({ "pattern": "y" }));
    }
}
