//! Rehearsal scripts: the content of valid scripts, and the problems of invalid scripts.

use std::collections::BTreeMap;

use holdshort_core::message::FailureKind;
use holdshort_workflow::rehearsal::{Expect, Play, Script, ScriptedCall, Step, parse};
use serde_json::json;

#[test]
fn a_script_is_read_whole() {
    let text = r#"
agents:
  pair:
    - {text: "I look.", name: look, pause_ms: 20, calls: [{as: tree, tool: list_directory}]}
    - error: {kind: unavailable, message: "the provider is down"}
      expect: {contains: [main.py], tools: [read_file]}
    - calls:
        - {tool: write_file, arguments: {path: "{{ results.tree }}", content: "{{ task }} {{ last }}", lines: [1, "x"]}}
    - {text: "That is all.", again: true}
"#;
    let reply = |text: &str, calls| Play::Reply { text: text.into(), calls };
    let call = |name: Option<&str>, tool: &str, arguments| ScriptedCall {
        name: name.map(str::to_owned),
        tool: tool.into(),
        arguments,
    };
    let step = |play| Step { expect: None, play, name: None, pause_ms: None, again: false };
    let steps = vec![
        Step {
            name: Some("look".into()),
            pause_ms: Some(20),
            ..step(reply("I look.", vec![call(Some("tree"), "list_directory", json!({}))]))
        },
        Step {
            expect: Some(Expect { contains: vec!["main.py".into()], tools: vec!["read_file".into()] }),
            ..step(Play::Error { kind: FailureKind::Unavailable, message: "the provider is down".into() })
        },
        step(reply(
            "",
            vec![call(
                None,
                "write_file",
                json!({"path": "{{ results.tree }}", "content": "{{ task }} {{ last }}", "lines": [1, "x"]}),
            )],
        )),
        Step { again: true, ..step(reply("That is all.", vec![])) },
    ];
    assert_eq!(
        parse("rehearsal.yaml", text),
        Ok(Script { agents: BTreeMap::from([("pair".into(), steps)]) })
    );
}

#[test]
fn a_bad_script_is_told_so() {
    let text = r#"
agents:
  pair:
    - {text: "{{ taks }}"}
    - {text: "{% if task %}"}
    - {text: "{{ results.tests }}", calls: [{as: tests, tool: run_command, arguments: {command: "{{ results.tests }}"}}]}
    - {text: "{{ results.test }}", calls: [{as: tests, tool: run_command}, {as: no-label, arguments: [1]}]}
    - {}
    - {error: {kind: script, message: Down.}, text: Hello.}
    - {txt: Hello., expect: {contain: [x]}, pause_ms: 0}
  other:
    - {text: Not the last one., again: true}
    - {calls: [{tool: read_file}], again: true}
"#;
    let problems = parse("r.yaml", text).unwrap_err();
    let said: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "r.yaml:4:14: templates have no variable `taks` (did you mean `task`?)",
            "r.yaml:5:14: not a valid template: unexpected end of input, expected end of block, line 1 of the template",
            "r.yaml:6:14: no call before this one is labelled `tests`",
            "r.yaml:6:97: no call before this one is labelled `tests`",
            "r.yaml:7:14: no call before this one is labelled `test` (did you mean `tests`?)",
            "r.yaml:7:44: an earlier call already has the label `tests`",
            "r.yaml:7:76: the key `tool` is missing",
            "r.yaml:7:81: a name is made of a-z, 0-9 and `_`, no digit first, at most 64 characters; found `no-label`",
            "r.yaml:7:102: arguments must be a mapping",
            "r.yaml:8:7: a step needs a `text`, `calls` or an `error`",
            "r.yaml:9:22: expected `rate_limited`, `unavailable`, `cut`, `timed_out`, `unusable`, `too_long` or `rejected`, found `script`",
            "r.yaml:9:53: a step is either a reply or an error: remove `text` or `error`",
            "r.yaml:10:8: unknown key `txt` (did you mean `text`?)",
            "r.yaml:10:30: unknown key `contain` (did you mean `contains`?)",
            "r.yaml:10:55: expected a whole number from 1 to 600000, found the number 0",
            "r.yaml:12:40: `again` is only allowed on the last reply of an agent, and only if it has no calls",
            "r.yaml:13:43: `again` is only allowed on the last reply of an agent, and only if it has no calls"
        ]
    );
}
