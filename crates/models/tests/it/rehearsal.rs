//! The rehearsal: the order of steps, the values of templates, and explicit failures.

use std::collections::BTreeMap;

use holdshort_core::message::{
    Arguments, Call, Failure, FailureKind, Message, Reply, Request, RequestedCall,
};
use holdshort_models::{Model, Rehearsal};
use holdshort_workflow::rehearsal::{Expect, Play, Script, ScriptedCall, Step};
use serde_json::{Value, json};

use super::{call_collecting_text, request, user};

fn says(text: &str) -> Step {
    calls(text, vec![])
}

fn calls(text: &str, calls: Vec<ScriptedCall>) -> Step {
    Step {
        expect: None,
        play: Play::Reply { text: text.into(), calls },
        name: None,
        pause_ms: Some(0),
        again: false,
    }
}

fn scripted(label: &str, tool: &str, arguments: Value) -> ScriptedCall {
    ScriptedCall { name: Some(label.into()), tool: tool.into(), arguments }
}

fn rehearsal(steps: Vec<Step>) -> Rehearsal {
    Rehearsal::new(Script { agents: BTreeMap::from([("pair".into(), steps)]) })
}

fn after(messages: Vec<Message>) -> Request {
    let mut request = request();
    request.messages.extend(messages);
    request
}

fn replied(text: &str, ids: &[&str]) -> Message {
    said_by("pair", text, ids)
}

fn said_by(agent: &str, text: &str, ids: &[&str]) -> Message {
    let call = |id: &&str| Call { id: (*id).into(), tool: "read_file".into(), arguments: json!({}) };
    Message::Assistant { agent: agent.into(), text: text.into(), calls: ids.iter().map(call).collect() }
}

fn result(call: &str, text: &str) -> Message {
    Message::Tool { call: call.into(), name: "read_file".into(), text: text.into() }
}

async fn play(steps: Vec<Step>, request: &Request) -> Result<Reply, Failure> {
    call_collecting_text(&rehearsal(steps), request).await.0
}

async fn text(steps: Vec<Step>, request: &Request) -> String {
    play(steps, request).await.unwrap().text
}

async fn script_failure(steps: Vec<Step>, request: &Request) -> String {
    let failure = play(steps, request).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Script);
    failure.message
}

#[tokio::test]
async fn the_replies_so_far_pick_the_step() {
    let steps = || vec![says("one"), says("two"), says("three")];
    for (messages, expected) in [
        (vec![], "one"),
        (vec![user("and more")], "one"),
        (vec![replied("one", &[])], "two"),
        (vec![said_by("control", "yours", &["h"]), result("h", "pair goes on")], "one"),
        (vec![replied("one", &[]), said_by("control", "yours", &["h"]), result("h", "pair goes on")], "two"),
        (vec![replied("one", &["c"]), result("c", "x"), user("hm"), replied("", &[])], "three"),
    ] {
        assert_eq!(text(steps(), &after(messages)).await, expected);
    }
}

#[tokio::test]
async fn a_script_ends() {
    let message = script_failure(vec![says("one")], &after(vec![replied("one", &[])])).await;
    assert_eq!(
        message,
        "the script for agent `pair` has 1 reply, but the run requested reply 2: add a reply, or add `again: \
        true` to the last reply to repeat it at the end of every turn"
    );
    let other = Request { agent: "other".into(), ..request() };
    assert_eq!(
        script_failure(vec![says("one")], &other).await,
        "the rehearsal has no script for the agent `other`"
    );
}

/// If the rehearsal script allows it, the last reply is repeated for each new message and contains the text of the
/// message.
#[tokio::test]
async fn a_last_reply_is_played_again_where_the_script_says_so() {
    let again = Step { again: true, ..says("You said: {{ messages | join }}") };
    let mut messages = vec![replied("First.", &[])];
    for word in ["one", "two", "three"] {
        messages.push(user(word));
        let steps = vec![says("First."), again.clone()];
        let said = text(steps, &after(messages.clone())).await;
        assert_eq!(said, format!("You said: {word}"));
        messages.push(replied(&said, &[]));
    }
}

#[tokio::test]
async fn templates_see_what_happened() {
    let looked = || calls("", vec![scripted("tree", "a", json!({})), scripted("tests", "b", json!({}))]);
    let request = after(vec![
        replied("", &["id1", "id2"]),
        result("id1", "src\n"),
        result("id2", "2 FAILED"),
        user("hurry"),
        user("please"),
    ]);
    for (template, expected) in [
        ("{{ task }}", "Say hello"),
        ("{{ results.tree }}|{{ results.tests }}", "src\n|2 FAILED"),
        ("{{ last }}", "2 FAILED"),
        ("{{ messages | join(', ') }}", "hurry, please"),
        ("{% if 'FAILED' in results.tests %}They fail.{% else %}Fine.{% endif %}", "They fail."),
        ("{% if results.other is defined %}yes{% else %}no{% endif %}", "no"),
        ("no template } { here\n", "no template } { here\n"),
        ("{{ 1 + 1 }}\n", "2\n"),
        ("<{{ '<&>' }}>", "<<&>>"),
        ("{% raw %}{{ task }}{% endraw %}", "{{ task }}"),
    ] {
        assert_eq!(text(vec![looked(), says(template)], &request).await, expected, "{template}");
    }
}

#[tokio::test]
async fn arguments_are_templates_all_the_way_down() {
    let step = calls(
        "go",
        vec![
            scripted(
                "w",
                "write_file",
                json!({"path": "a", "lines": ["{{ task }}", 1, null], "{{x}}": {"k": "{{ task }}!"}}),
            ),
            scripted("m", "read_file", json!("{\"path\": {{ task }}")),
        ],
    );
    let reply = play(vec![step], &request()).await.unwrap();
    assert_eq!(
        reply.calls,
        [
            RequestedCall {
                tool: "write_file".into(),
                arguments: Arguments::Json(
                    json!({"path": "a", "lines": ["Say hello", 1, null], "{{x}}": {"k": "Say hello!"}})
                ),
            },
            RequestedCall {
                tool: "read_file".into(),
                arguments: Arguments::Malformed("{\"path\": Say hello".into()),
            },
        ]
    );
}

#[tokio::test]
async fn a_template_that_does_not_render_says_where() {
    for (template, part) in [
        ("{{ results.nothing }}", "nothing"),
        ("{{ last }}", "last"),
        ("{{ unknown }}", "unknown"),
        ("{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}", "fuel"),
        ("{{ ", "syntax error"),
    ] {
        let step = Step { name: Some("look".into()), ..says(template) };
        let message = script_failure(vec![step], &request()).await;
        let start =
            "reply 1 (`look`) in the script for agent `pair` has a template that cannot be rendered: ";
        assert!(message.starts_with(start) && message.contains(part), "{message}");
    }
}

#[tokio::test]
async fn an_expectation_holds_or_fails_loudly() {
    let expecting = |contains: &[&str], tools: &[&str]| Step {
        expect: Some(Expect {
            contains: contains.iter().map(|text| (*text).to_owned()).collect(),
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
        }),
        ..says("ok")
    };
    let request = after(vec![user("early"), replied("", &["c"]), result("c", "exit code 1"), user("late")]);
    let steps = |step| vec![says("first"), step];
    assert_eq!(text(steps(expecting(&["exit code", "late"], &["read_file"])), &request).await, "ok");
    for (step, expected) in [
        (
            expecting(&["early"], &[]),
            "requires a message that contains “early”, but the request has these messages: “exit code 1 | \
            late”",
        ),
        (
            expecting(&[], &["run_command"]),
            "requires the tool `run_command`, but the request offers these tools: “read_file”",
        ),
    ] {
        assert_eq!(
            script_failure(steps(step), &request).await,
            format!("reply 2 in the script for agent `pair` {expected}")
        );
    }
}

#[tokio::test]
async fn a_scripted_error_is_that_error() {
    let play_error = Play::Error { kind: FailureKind::Unavailable, message: "down".into() };
    let step = Step { expect: None, play: play_error, name: None, pause_ms: Some(0), again: false };
    let failure = play(vec![step], &request()).await.unwrap_err();
    assert_eq!(
        failure,
        Failure { kind: FailureKind::Unavailable, retry_after_ms: None, message: "down".into() }
    );
}

#[tokio::test]
async fn a_reply_of_nothing_is_a_mistake_in_the_script() {
    let message = script_failure(vec![says("{% if false %}x{% endif %}")], &request()).await;
    assert_eq!(message, "reply 1 in the script for agent `pair` has neither text nor calls");
}

#[tokio::test]
async fn text_comes_word_by_word() {
    let (result, pieces) =
        call_collecting_text(&rehearsal(vec![says("Two words\nand more")]), &request()).await;
    assert_eq!(pieces, ["Two ", "words\n", "and ", "more"]);
    assert_eq!(result.unwrap().text, "Two words\nand more");
}

#[tokio::test(start_paused = true)]
async fn no_reply_takes_longer_than_five_seconds() {
    let started = tokio::time::Instant::now();
    let slow = Step { pause_ms: Some(60_000), ..says("a b c d") };
    call_collecting_text(&rehearsal(vec![slow]), &request()).await.0.unwrap();
    assert_eq!(started.elapsed().as_millis(), 5_000);
}

#[test]
fn it_says_what_it_is() {
    let described = rehearsal(vec![]).describe();
    assert!(described.rehearsal);
    assert_eq!(described.provider, "rehearsal");
}
