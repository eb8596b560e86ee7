//! Invalid input, each kind of which has its own error and changes nothing.

use futures::stream;
use reqwest::{Body, Method};
use serde_json::{Value, json};

use crate::harness::{Served, created, ok, question, refusal, send_request, text, without_card};

#[tokio::test]
async fn a_body_must_be_json_that_every_reader_understands_alike() {
    let served = Served::new().await;
    let operator = served.operator();
    let table: [(&str, &[u8]); 12] = [
        ("nothing", b""),
        ("no JSON", b"{"),
        ("two values", b"{} {}"),
        ("invalid UTF-8", b"{\"kind\": \"question\", \"title\": \"\xff\xfe\"}"),
        ("an overlong encoding", b"{\"kind\": \"question\", \"title\": \"\xc0\xaf\"}"),
        ("half a surrogate pair", br#"{"kind": "question", "title": "\ud800"}"#),
        ("a key twice", br#"{"kind": "question", "title": "a", "title": "b"}"#),
        ("a key twice, deep inside", br#"{"kind": "question", "title": "a", "payload": [{"x": 1, "x": 2}]}"#),
        ("a huge integer", br#"{"kind": "question", "title": "a", "payload": 9007199254740992}"#),
        (
            "a huger integer",
            br#"{"kind": "question", "title": "a", "payload": 123456789012345678901234567890}"#,
        ),
        ("an endless number", br#"{"kind": "question", "title": "a", "payload": 1e999}"#),
        ("no number", br#"{"kind": "question", "title": "a", "payload": NaN}"#),
    ];
    for path in ["/v1/runs", "/v1/interrupts"] {
        for (what, body) in table {
            let said = operator.post_raw(path, body.to_vec()).await;
            assert_eq!(refusal(&said), (400, "malformed_json", vec![]), "{what}: {}", said.1);
        }
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        assert_eq!(refusal(&operator.post_raw(path, deep).await).1, "malformed_json");
    }
    assert_eq!(ok(operator.get("/v1/runs").await)["items"], json!([]));
}

#[tokio::test]
async fn a_body_has_a_size_and_a_type() {
    let served = Served::new().await;
    let operator = served.operator();
    let mut large = question();
    large["message"] = "x".repeat(5 * 1024 * 1024).into();
    let large = large.to_string();
    let declared = operator.post_raw("/v1/interrupts", large.clone()).await;
    assert_eq!(refusal(&declared), (413, "body_too_large", vec![]));
    let chunks: Vec<_> =
        large.as_bytes().chunks(60_000).map(|chunk| Ok::<_, std::io::Error>(chunk.to_vec())).collect();
    let streamed = operator.post_raw("/v1/interrupts", Body::wrap_stream(stream::iter(chunks))).await;
    assert_eq!(refusal(&streamed), (413, "body_too_large", vec![]));

    for content_type in [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("json")] {
        let mut request = operator.request(Method::POST, "/v1/interrupts").body(question().to_string());
        if let Some(content_type) = content_type {
            request = request.header("content-type", content_type);
        }
        assert_eq!(
            refusal(&send_request(request).await),
            (415, "unsupported_media_type", vec![]),
            "{content_type:?}"
        );
    }
    let request = operator.request(Method::POST, "/v1/interrupts").body(question().to_string());
    created(send_request(request.header("content-type", "Application/JSON; charset=utf-8")).await);
}

#[tokio::test]
async fn what_does_not_fit_is_named() {
    let served = Served::new().await;
    let operator = served.operator();
    let ask = |change: Value| {
        let mut body = question();
        for (key, value) in change.as_object().unwrap() {
            body[key] = value.clone();
        }
        body
    };
    let asks = [
        (ask(json!({"titel": "t"})), "/titel"),
        (ask(json!({"kind": "blessing"})), "/kind"),
        (ask(json!({"kind": "turn"})), "/kind"),
        (ask(json!({"title": " "})), "/title"),
        (ask(json!({"title": "x".repeat(501)})), "/title"),
        (ask(json!({"message": "x".repeat(65 * 1024)})), "/message"),
        (ask(json!({"payload": "x".repeat(257 * 1024)})), "/payload"),
        (ask(json!({"options": [{"id": "bless"}]})), "/options/0/id"),
        (ask(json!({"options": [{"id": "approve_session"}]})), "/options/0/id"),
        (ask(json!({"options": [{"id": "approve"}, {"id": "approve"}]})), "/options/1/id"),
        (ask(json!({"options": [{"id": "approve", "label": ""}]})), "/options/0/label"),
        (ask(json!({"options": [{"id": "approve", "effect": "proceed"}]})), "/options/0/effect"),
        (ask(json!({"expires_in_ms": 0})), "/expires_in_ms"),
        (ask(json!({"expires_in_ms": -1})), "/expires_in_ms"),
        (ask(json!({"expires_in_ms": 9_007_199_254_740_991_u64})), "/expires_in_ms"),
        (ask(json!({"on_expiry": "nonsense"})), "/on_expiry"),
        (ask(json!({"response_schema": {"type": "nonsense"}})), "/response_schema/type"),
        (
            ask(json!({"response_schema": {"items": {"$ref": "https://example.org/a.json"}}})),
            "/response_schema/items/$ref",
        ),
        (
            ask(
                json!({"response_schema": {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}}),
            ),
            "/response_schema/properties/a",
        ),
        (ask(json!({"kind": "choice", "response_schema": {}, "options": [{"id": "a"}]})), "/response_schema"),
        (ask(json!({"assignment": {"approvers": [""]}})), "/assignment/approvers/0"),
        (ask(json!({"assignment": {"approvers": []}})), "/assignment/approvers"),
        (ask(json!({"assignment": {}})), "/assignment/approvers"),
        (
            ask(json!({"assignment": {"approvers": ["operator", "release-manager"]}})),
            "/assignment/approvers/1",
        ),
        (ask(json!({"assignment": {"approver": []}})), "/assignment/approver"),
        (ask(json!({"assignment": [[]]})), "/assignment"),
        (ask(json!({"options": [["approve"]]})), "/options/0"),
    ];
    for (body, pointer) in asks {
        let said = operator.post("/v1/interrupts", &body).await;
        assert_eq!(refusal(&said), (422, "invalid_request", vec![pointer]), "{}", said.1);
        in_plain_words(&said.1);
    }
    let unknown = operator.post("/v1/interrupts", &ask(json!({"titel": "t"}))).await;
    let message = text(&unknown.1["errors"][0], "message");
    assert!(message.contains("`titel`") && message.contains("`title`"), "{message}");

    let starts = [
        (json!({"workflow": "pair", "inputs": {}}), "/inputs"),
        (json!({"workflow": "external", "input": []}), "/input"),
        (json!({"workflow": "external", "config": {"model": "m"}}), "/config"),
        (json!({"workflow": "pair", "input": {"task": 5}}), "/config/workspace"),
        (json!({"workflow": "pair", "config": {"workspace": "relative"}}), "/config/workspace"),
        (json!({"workflow": "pair", "config": {"gates": {"plan": "show"}}}), "/config/gates/plan"),
        (
            json!({"workflow": "pair", "config": {"gates": {"rules": [{"do": "allow"}]}}}),
            "/config/gates/rules/0",
        ),
        (
            json!({"workflow": "pair", "config": {"gates": {"rules": [{"do": "forbid", "tools": ["writefile"]}]}}}),
            "/config/gates/rules/0/tools/0",
        ),
        (json!([]), ""),
        (json!({"workflow": "pair", "config": ["/workspace"]}), "/config"),
        (json!({"workflow": "pair", "config": {"gates": []}}), "/config/gates"),
        (json!({"workflow": "pair", "config": {"gates": [[], ["before_execution"]]}}), "/config/gates"),
        (json!({"workflow": "pair", "config": {"gates": {"smart": "on"}}}), "/config/gates/smart"),
        (json!({"workflow": "pair", "config": {"gates": {"smart": [["touch"]]}}}), "/config/gates/smart"),
        (
            json!({"workflow": "pair", "config": {"gates": {"rules": [[["run_command"]]]}}}),
            "/config/gates/rules/0",
        ),
        (json!({"workflow": "pair", "config": {"gates": {"plan": {"ask": null}}}}), "/config/gates/plan"),
    ];
    for (body, pointer) in starts {
        let said = operator.post("/v1/runs", &body).await;
        assert_eq!(refusal(&said), (422, "invalid_request", vec![pointer]), "{body} {}", said.1);
        in_plain_words(&said.1);
    }
    assert_eq!(ok(operator.get("/v1/runs").await)["items"], json!([]), "nothing was started");
}

/// Checks that the message of the first error does not contain the names of Rust types.
fn in_plain_words(refused: &Value) {
    let message = text(&refused["errors"][0], "message");
    for word in ["struct", "enum", "u64", "Option"] {
        assert!(!message.contains(word), "{message}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_said_to_be_unknown() {
    let served = Served::new().await;
    let operator = served.operator();
    let said = operator.post("/v1/runs", &json!({"workflow": "nonsense"})).await;
    assert_eq!(refusal(&said), (422, "unknown_workflow", vec![]));
    assert_eq!(
        said.1["known"],
        json!([
            "autonomous",
            "codelab",
            "codelab_ide",
            "copilot",
            "error_recovery",
            "external",
            "full_interactive",
            "pair",
            "research",
            "review_plan",
            "step_by_step",
        ])
    );

    for session in ["ses_00000000000000000000000000", "nonsense"] {
        let said = operator.post("/v1/runs", &json!({"workflow": "external", "session": session})).await;
        assert_eq!(refusal(&said), (422, "unknown_session", vec![]), "{session}");
    }
    for run in ["run_00000000000000000000000000", "nonsense"] {
        let said =
            operator.post("/v1/interrupts", &json!({"kind": "question", "title": "t", "run": run})).await;
        assert_eq!(refusal(&said), (404, "not_found", vec![]), "{run}");
    }
    for id in ["run_00000000000000000000000000", "run_1", "int_00000000000000000000000000", "%ff", "..%2f"] {
        for path in ["", "/result", "/events"] {
            assert_eq!(operator.get(&format!("/v1/runs/{id}{path}")).await.0, 404, "{id}{path}");
        }
        for verb in ["messages", "pause", "resume", "cancel", "finish", "fork"] {
            let said = operator.post(&format!("/v1/runs/{id}/{verb}"), &json!({"nonsense": 1})).await;
            assert_eq!(said.0, 404, "{id}/{verb}");
        }
    }
    for path in [
        "/v1/interrupts/int_1",
        "/v1/sessions/ses_00000000000000000000000000",
        "/v1/sessions/x/grants",
        "/v1",
        "/nothing",
    ] {
        assert_eq!(refusal(&operator.get(path).await), (404, "not_found", vec![]), "{path}");
    }
    assert_eq!(operator.delete("/v1/grants/gra_00000000000000000000000000").await.0, 404);
    let response = operator.request(Method::DELETE, "/v1/runs").send().await.unwrap();
    assert_eq!(response.headers()["allow"], "POST,GET,HEAD");
    assert_eq!(refusal(&crate::harness::read(response).await), (405, "method_not_allowed", vec![]));
}

#[tokio::test]
async fn a_query_must_be_understood() {
    let served = Served::new().await;
    let operator = served.operator();
    let asked = operator.ask().await;
    let (run, interrupt) = (text(&asked, "run"), text(&asked, "id"));
    for path in [
        "/v1/runs?stauts=failed".to_owned(),
        "/v1/runs?status=lost".to_owned(),
        "/v1/runs?status=failed&status=waiting".to_owned(),
        "/v1/runs?limit=0".to_owned(),
        "/v1/runs?limit=201".to_owned(),
        "/v1/runs?limit=many".to_owned(),
        "/v1/runs?session=nonsense".to_owned(),
        "/v1/runs?cursor=nonsense".to_owned(),
        "/v1/grants?status=lost".to_owned(),
        "/v1/grants?cursor=nonsense".to_owned(),
        "/v1/interrupts?kind=blessing".to_owned(),
        "/v1/interrupts?run=nonsense".to_owned(),
        format!("/v1/interrupts/{interrupt}?wait=61"),
        format!("/v1/interrupts/{interrupt}?wait=-1"),
        format!("/v1/runs/{run}/events?since=-1"),
        format!("/v1/runs/{run}/events?since=x"),
    ] {
        assert_eq!(refusal(&operator.get(&path).await), (400, "invalid_query", vec![]), "{path}");
    }
}

#[tokio::test]
async fn strange_characters_are_data() {
    let served = Served::new().await;
    let strange = "\u{0}\u{7}\u{1b}[31mred\u{1b}]0;title\u{7}\u{202e}gpj.exe\u{2066}\u{200b}\r\n</script>";
    let question = |id: &str| {
        json!({
            "kind": "choice", "title": strange, "message": strange, "payload": {strange: [strange]},
            "options": [{"id": id, "label": strange}]
        })
    };
    // The id of an option appears in lines of the record, so it must have the form of a name.
    let refused = served.agent().post("/v1/interrupts", &question(strange)).await;
    assert_eq!(refusal(&refused), (422, "invalid_request", vec!["/options/0/id"]));
    let asked = created(served.agent().post("/v1/interrupts", &question("go")).await);
    let decided = ok(served.operator().decide(&asked, &json!({"option": "go", "text": strange})).await);
    let served = served.restart().await;
    let path = format!("/v1/interrupts/{}", text(&asked, "id"));
    let read = without_card(ok(served.operator().get(&path).await));
    assert_eq!(read, decided);
    assert_eq!(
        (&read["title"], &read["options"][0]["label"], &read["payload"], &read["resolution"]["text"]),
        (&json!(strange), &json!(strange), &json!({strange: [strange]}), &json!(strange))
    );
}

#[tokio::test]
async fn a_body_where_none_is_expected_must_be_empty() {
    let served = Served::new().await;
    let operator = served.operator();
    let run = operator.start_external().await;
    let path = format!("/v1/runs/{}/pause", text(&run, "id"));
    assert_eq!(
        refusal(&operator.post(&path, &json!({"for": "ever"})).await),
        (422, "invalid_request", vec!["/for"])
    );
    assert_eq!(ok(send_request(operator.request(Method::POST, &path)).await)["status"], "paused");
    assert_eq!(ok(operator.post(&path, &json!({})).await)["status"], "paused");
    let resume = format!("/v1/runs/{}/resume", text(&run, "id"));
    assert_eq!(ok(send_request(operator.request(Method::POST, &resume)).await)["status"], "running");
    let message = format!("/v1/runs/{}/messages", text(&run, "id"));
    assert_eq!(
        refusal(&operator.post(&message, &json!({"text": ""})).await),
        (422, "invalid_request", vec!["/text"])
    );
    let cancel = format!("/v1/runs/{}/cancel", text(&run, "id"));
    let cancelled = ok(operator.post(&cancel, &json!({"text": "enough"})).await);
    assert_eq!(
        (&cancelled["status"], &cancelled["end_reason"], &cancelled["end_message"]),
        (&json!("cancelled"), &json!("cancelled"), &json!("enough"))
    );
    assert_eq!(refusal(&operator.post(&resume, &json!({})).await), (409, "run_ended", vec![]));
}
