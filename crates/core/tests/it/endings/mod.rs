//! Replies that really end the work, and replies that do not.

pub(crate) mod finish;
mod flow;

use holdshort_core::reply::{CallableTool, announced, find_request, written_call};
use serde_json::{Value, json};

/// Returns the lines of a table after its first line. Each line is one text, with `\n` for a line break.
fn rows(table: &str) -> impl Iterator<Item = String> {
    table.lines().skip(1).map(|line| line.replace("\\n", "\n"))
}

#[test]
fn a_reply_that_asks_or_announces_is_seen_and_an_honest_end_is_not_stopped() {
    let asks: Vec<String> = rows(include_str!("asks.txt")).collect();
    let announces: Vec<String> = rows(include_str!("announces.txt")).collect();
    let ends: Vec<String> = rows(include_str!("ends.txt")).collect();
    let sizes = [asks.len(), announces.len(), ends.len()];
    assert!(sizes.iter().zip([150, 35, 100]).all(|(size, least)| *size >= least), "{sizes:?} rows");
    let missed: Vec<&String> = asks.iter().filter(|text| find_request(text).is_none()).collect();
    let done: Vec<_> =
        announces.iter().filter(|text| find_request(text).is_some() || announced(text).is_none()).collect();
    let stopped: Vec<_> = ends
        .iter()
        .filter_map(|text| Some((text, find_request(text).or_else(|| announced(text))?)))
        .collect();
    assert_eq!((missed, done, stopped), (Vec::new(), Vec::new(), Vec::new()), "missed, and stopped for what");
}

/// The asking sentence of a reply is found, so that it can be shown to a person.
#[test]
fn the_sentence_that_asks_is_named() {
    let table = [
        ("I looked. Should I proceed? Reply with yes or no.", "Should I proceed?"),
        ("I found two.\n\nWhich one?\n\n```\na\nb\n```", "Which one?"),
        ("How do you run it?\n\n```\nmake\n```", ""),
        ("I found two. **Which one do you want?**", "Which one do you want?"),
    ];
    for (text, sentence) in table {
        assert_eq!(find_request(text).unwrap_or_default(), sentence, "{text}");
    }
}

fn parameters(names: &[&str]) -> Value {
    let properties: serde_json::Map<_, _> =
        names.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect();
    json!({ "type": "object", "properties": properties, "required": names })
}

/// A tool call that is written as text is recognised, with the name of its tool. Documentation of a tool is not
/// mistaken for a call.
#[test]
fn a_tool_call_as_text_is_seen_and_documentation_is_not() {
    let calls = [
        "```json\n{\"tool\": \"run_command\", \"arguments\": {\"command\": \"ls\"}}\n```",
        "I will look.\n```json\n{\"tool\": \"run_command\", \"command\": \"ls\"}\n```\nThen I go on.",
        "```\n{\"name\": \"run_command\", \"parameters\": {\"command\": \"ls\"}}\n```",
        "{\"name\": \"run_command\", \"arguments\": {\"command\": \"ls\"}}",
        "{\"name\": \"run_command\", \"arguments\": \"{\\\"command\\\": \\\"ls\\\"}\"}",
        "Let me run it: {\"function\": \"run_command\", \"args\": {\"command\": \"ls\"}}",
        "[{\"name\": \"run_command\", \"arguments\": {\"command\": \"ls\"}}]",
        "{\"tool_calls\": [{\"type\": \"function\", \"function\": {\"name\": \"run_command\", \"arguments\": \"{}\"}}]}",
        "{\"type\": \"function\", \"name\": \"run_command\", \"parameters\": {\"command\": \"ls\"}}",
        "{\"run_command\": {\"command\": \"ls\"}}",
        "{\"action\": \"run_command\", \"action_input\": {\"command\": \"ls\"}}",
        "{\"recipient_name\": \"functions.run_command\", \"parameters\": {\"command\": \"ls\"}}",
        "{\"name\": \"run_command\", \"arguments\": {\"command\": \"echo a\necho b\"}}",
        "<tool_call>\n{\"name\": \"run_command\", \"arguments\": {\"command\": \"ls\"}}\n</tool_call>",
        "<tool_call>run_command\n<arg_key>command</arg_key>\n<arg_value>ls</arg_value>\n</tool_call>",
        "<function=run_command>{\"command\": \"ls\"}</function>",
        "```xml\n<function=run_command>\n<parameter=command>ls</parameter>\n</function>\n```",
        "[TOOL_CALLS] [{\"name\": \"run_command\", \"arguments\": {\"command\": \"ls\"}}]",
        "<|python_tag|>run_command.call(command=\"ls\")",
        "<run_command>\n<command>ls</command>\n</run_command>",
        "<invoke name=\"run_command\"><parameter name=\"command\">ls</parameter></invoke>",
        "I list the files.\n\nrun_command(command=\"ls\")",
        "run_command(command='ls')",
        "```python\nrun_command(command=\"ls\")\n```",
        "```tool_code\nprint(run_command(command=\"ls\"))\n```",
        "```python\n# look first\nrun_command(command=\"ls\")\nread_file(path=\"a\")\n```",
        "run_command(\n    command=\"ls\",\n)",
        "Thought: I look.\nAction: run_command\nAction Input: {\"command\": \"ls\"}",
        "[run_command(command=\"ls\")]",
        "{\"command\":\"ls\"}",
        "```json\n{\"command\": \"ls\"}\n```",
        "I list the files.\n\n```json\n{\"command\": \"ls\"}\n```",
        "run_command {\"command\":\"ls\"}",
        "I'll look.\nrun_command {\"command\": \"ls\"}",
        "run_command\n{\"command\": \"ls\"}",
        "run_command: {\"command\": \"ls\"}",
        "Tool: run_command\nArguments: {\"command\": \"ls\"}",
        "**Tool:** `run_command`\n**Arguments:**\n```json\n{\"command\": \"ls\"}\n```",
        "Tool call: run_command\nInput: ls",
        "Using tool: run_command\n\n- command: ls",
        "Function call: run_command({\"command\": \"ls\"})",
        "Calling: run_command(command=\"ls\")",
        "Action: run_command[ls]",
        "Action: run_command(\"ls\")",
        "ACTION: run_command\nINPUT: ls",
        "{'name': 'run_command', 'arguments': {'command': 'ls'}}",
        "{name: \"run_command\", arguments: {command: \"ls\"}}",
        "{\n  tool: run_command,\n  command: ls\n}",
        "tool: run_command\narguments:\n  command: ls",
        "```yaml\ntool: run_command\ncommand: ls\n```",
        "```yaml\n- name: run_command\n  arguments:\n    command: ls\n```",
        "```yaml\nrun_command:\n  command: ls\n```",
        "{\"name\":\"functions/run_command\",\"arguments\":{\"command\":\"ls\"}}",
        "{\"name\":\"default_api:run_command\",\"input\":{\"command\":\"ls\"}}",
        "{\"tool_uses\":[{\"recipient_name\":\"functions.run_command\",\"parameters\":{\"command\":\"ls\"}}]}",
        "{\"response\":{\"tool\":\"run_command\",\"command\":\"ls\"}}",
        "{\"thought\": \"I look.\", \"action\": {\"name\": \"run_command\", \"args\": {\"command\": \"ls\"}}}",
        "<run_command command=\"ls\"/>",
        "<run_command command=\"ls\"></run_command>",
        "<tool>run_command</tool><args>{\"command\": \"ls\"}</args>",
        "<call>\n  <name>run_command</name>\n  <command>ls</command>\n</call>",
        "<｜DSML｜invoke name=\"run_command\">",
        "<x:invoke name=\"run_command\"><x:parameter name=\"command\">ls</x:parameter></x:invoke>",
        "result = run_command(command=\"ls\")",
        "```python\nresult = run_command(command=\"ls\")\nprint(result)\n```",
        ">>> run_command(command=\"ls\")",
        "- run_command(command=\"ls\")",
        "run_command command=\"ls\"",
        "run_command --command ls",
        "```\nrun_command {\"command\": \"ls\"}\n```",
    ];
    let others = [
        // The agent does not have this tool, but a text in this form can only be a call.
        ("{\"tool\": \"bash\", \"arguments\": {\"command\": \"ls\"}}", "bash"),
        ("<tool_call>{\"x\": 1}</tool_call>", "<tool_call"),
        ("read_file(path=\"a\")", "read_file"),
        ("{\"name\":\"bash\",\"input\":{\"command\":\"ls\"}}", "bash"),
        ("I list them.\n\n{\"name\": \"bash\", \"input\": {\"command\": \"ls\"}}", "bash"),
        ("{\"name\": \"list_files\", \"arguments\": {\"path\": \".\"}}", "list_files"),
        ("*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch", "*** Begin Patch"),
        ("```\n*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch\n```", "*** Begin Patch"),
    ];
    let none = [
        "I ran the tests: `run_command(command=\"python3 -m unittest\")`, and they pass.",
        "The config is:\n```json\n{\"name\": \"api\", \"port\": 8080}\n```",
        "The request body:\n```json\n{\"name\": \"create_user\", \"arguments\": {\"id\": 1}}\n```",
        "The tool is declared as:\n```json\n{\"type\": \"function\", \"function\": {\"name\": \"run_command\", \
         \"parameters\": {\"type\": \"object\", \"properties\": {\"command\": {\"type\": \"string\"}}}}}\n```",
        "Run it with:\n```sh\npython3 -m unittest\n```",
        "```python\nfrom files import read_file\n\ntext = read_file(\"a.txt\")\nprint(text)\n```",
        "The function `read_file(path)` now closes the file.",
        "{\"subtasks\": [{\"id\": \"s1\", \"description\": \"read_file\"}]}",
        "{\"status\": \"done\", \"files\": [\"a.txt\"]}",
        "Models write `<tool_call>` where they mean a call; the parser takes it out now.",
        "The parser knows these tags:\n```\n<tool_call>\n<function=NAME>\n```",
        "I used run_command three times (once for the tests).",
        "I used run_command to list the files.",
        "An example:\n```python\nread_file(\"a.txt\")\nclose_everything()\n```",
        "run_command was used three times, read_file once.",
        "run_command (the second time) failed; I fixed the path, and it works now.",
        "run_command: used for the tests.",
        "Tool: I used run_command for the tests.",
        "Action: the file was moved.",
        "Tools used:\n- run_command: to run the tests\n- read_file: to read the configuration",
        "`run_command` runs a command.\n\nInput: a line of shell.",
        "I updated the request. Its body is now:\n```json\n{\"command\": \"ls\"}\n```",
        "I wrote the configuration.\n\n```yaml\npath: data\n```",
        "The configuration is fixed:\n```json\n{\"path\": \"data\"}\n```",
        "```json\n{\"path\": \"data\", \"size\": 3}\n```",
        "The user is:\n```json\n{\"name\": \"Ada\", \"input\": {\"path\": \"a\"}}\n```",
        "The table of tools:\n\n| tool | does |\n|---|---|\n| run_command | runs a line |",
        "The function read_file(path) returns the text.",
        "The result of read_file(\"a.txt\") is cached now.",
        "read_file(path) closes the file now.",
        "The declaration is { name: 'run_command', parameters: { type: 'object', properties: {} } }.",
        "The patch format begins with *** Begin Patch and ends with *** End Patch.",
        "<li>run_command</li>",
        "package.json:\n```json\n{\"name\": \"run_command\", \"version\": \"1.0.0\"}\n```",
        "Done: {a, b} and [c].",
    ];
    let (command, path) = (parameters(&["command"]), parameters(&["path"]));
    let tools = [
        CallableTool { name: "run_command", parameters: &command },
        CallableTool { name: "read_file", parameters: &path },
    ];
    let expected =
        calls.map(|text| (text, "run_command")).into_iter().chain(others).chain(none.map(|text| (text, "")));
    let wrong: Vec<_> = expected
        .map(|(text, tool)| (text, tool, written_call(text, &tools).unwrap_or_default()))
        .filter(|(_, tool, found)| tool != found)
        .collect();
    assert_eq!(wrong, Vec::new());
}
