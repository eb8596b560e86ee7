//! Tests of the scripted model from the perspective of its clients.

use holdshort_testkit::model::{Scripted, ScriptedModel};
use serde_json::{Value, json};

fn body(agent: &str, replies: usize) -> Value {
    let mut messages = vec![
        json!({"role": "system", "content": format!("Agent: {agent}\nHelp.")}),
        json!({"role": "user", "content": [{"type": "text", "text": "Hello"}]}),
    ];
    messages.extend((0..replies).map(|_| json!({"role": "assistant", "content": "."})));
    json!({"model": "m", "messages": messages, "tools": [{"type": "function", "function": {"name": "look"}}]})
}

async fn send(server: &ScriptedModel, body: &Value) -> (u16, String) {
    let url = format!("{}/chat/completions", server.base_url());
    let client = holdshort_http::plain().no_proxy().build().unwrap();
    let response = client.post(url).body(body.to_string()).send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

async fn text(server: &ScriptedModel, body: &Value) -> String {
    let (status, body) = send(server, body).await;
    assert_eq!(status, 200, "{body}");
    let body: Value = serde_json::from_str(&body).unwrap();
    body["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn each_agent_has_a_queue() {
    let server = ScriptedModel::start().await;
    server.push("a", Scripted::text("a1"));
    server.push("a", Scripted::text("a2").repeat());
    server.push("b", Scripted::text("b1"));
    for (agent, expected) in [("a", "a1"), ("b", "b1"), ("a", "a2"), ("a", "a2")] {
        assert_eq!(text(&server, &body(agent, 0)).await, expected);
    }
    let agents: Vec<String> = server.requests().into_iter().map(|request| request.agent).collect();
    assert_eq!(agents, ["a", "b", "a", "a"]);
    assert_eq!(server.requests_of("b").len(), 1);
    assert_eq!(server.requests()[0].texts(), ["Agent: a\nHelp.", "Hello"]);
    assert_eq!(server.requests()[0].tools(), ["look"]);
}

#[tokio::test]
async fn what_is_not_scripted_is_a_500_that_says_so() {
    let server = ScriptedModel::start().await;
    server.push("a", Scripted::text("only"));
    server.script("s", [Scripted::text("only")]);
    text(&server, &body("a", 0)).await;
    for (body, expected) in [
        (body("a", 1), "the queue of the agent `a` is empty"),
        (body("b", 0), "nothing is scripted for the agent `b`"),
        (json!({}), "nothing is scripted for the agent ``"),
        (body("s", 1), "the script of the agent `s` has 1 steps, but the request needs step 2"),
    ] {
        let (status, answer) = send(&server, &body).await;
        assert_eq!((status, answer), (500, json!({"error": {"message": expected}}).to_string()));
    }
}

#[tokio::test]
async fn a_script_answers_by_position_however_often_it_is_asked() {
    let server = ScriptedModel::start().await;
    server.script("a", [Scripted::text("0"), Scripted::text("1"), Scripted::text("on").repeat()]);
    for (replies, expected) in [(1, "1"), (0, "0"), (0, "0"), (2, "on"), (7, "on")] {
        assert_eq!(text(&server, &body("a", replies)).await, expected);
    }
}

#[tokio::test]
async fn calls_come_whole_and_in_pieces() {
    let server = ScriptedModel::start().await;
    server.push("a", Scripted::call("look", json!({"path": "a/b/c"})).repeat());
    let (_, whole) = send(&server, &body("a", 0)).await;
    let whole: Value = serde_json::from_str(&whole).unwrap();
    let choice = json!({"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": "", "tool_calls": [
        {"id": "call_0", "type": "function", "function": {"name": "look", "arguments": "{\"path\":\"a/b/c\"}"}},
    ]}});
    assert_eq!(whole["choices"], json!([choice]));

    let mut streamed = body("a", 0);
    streamed["stream"] = true.into();
    streamed["stream_options"] = json!({"include_usage": true});
    let (_, stream) = send(&server, &streamed).await;
    let frames: Vec<&str> = stream.split_terminator("\n\n").collect();
    assert_eq!(frames.len(), 8, "{frames:#?}");
    assert!(frames[6].contains("\"prompt_tokens\":100"));
    assert_eq!(frames[7], "data: [DONE]");
}
