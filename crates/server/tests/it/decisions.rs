//! The order of refusals of a decision: unknown interrupt, role, repeat, expired, resolved, version, option and schema.

use serde_json::{Value, json};

use crate::harness::{Served, created, ok, refusal, text};

const UNKNOWN: &str = "/v1/interrupts/int_00000000000000000000000000/decisions";

#[tokio::test]
async fn refusals_come_in_one_order() {
    let served = Served::new().await;
    let (agent, operator) = (served.agent(), served.operator());
    let nonsense = json!({"option": "nonsense", "version": 9, "colour": "red"});

    // An unknown interrupt is reported first, for every caller and every body.
    for (api, body) in [(&operator, &nonsense), (&agent, &nonsense)] {
        assert_eq!(refusal(&api.post(UNKNOWN, body).await), (404, "not_found", vec![]));
    }
    // The role is checked before the body.
    let asked = operator.ask().await;
    assert_eq!(refusal(&agent.decide(&asked, &nonsense).await), (403, "forbidden_role", vec![]));

    // A stale version is refused before an invalid option.
    let stale = operator.decide(&asked, &json!({"option": "nonsense", "version": 9})).await;
    assert_eq!((refusal(&stale), &stale.1["version"]), ((409, "stale", vec![]), &json!(1)));
    let wrong = operator.decide(&asked, &json!({"option": "nonsense", "version": 1})).await;
    assert_eq!(refusal(&wrong), (422, "invalid_request", vec!["/option"]));
    assert!(text(&wrong.1, "detail").contains("approve, edit, respond, reject"), "{}", wrong.1);

    // An invalid decision leaves the interrupt open.
    let table = [
        (json!({"option": "respond"}), "/text"),
        (json!({"option": "edit"}), "/edit"),
        (json!({"option": "approve", "edit": {}}), "/edit"),
        (json!({"option": "approve", "text": "x".repeat(65 * 1024)}), "/text"),
        (json!({"option": "approve", "colour": "red"}), "/colour"),
        (json!({"option": 1}), "/option"),
        (json!({}), "/option"),
    ];
    for (decision, pointer) in table {
        let said = operator.decide(&asked, &decision).await;
        assert_eq!(refusal(&said), (422, "invalid_request", vec![pointer]), "{}", said.1);
    }

    let decision = json!({"option": "approve", "text": "go", "version": 1});
    let decided = ok(operator.decide(&asked, &decision).await);
    // A repeat of the same decision returns the existing result. A different decision is refused, and the error
    // contains the existing result.
    assert_eq!(ok(operator.decide(&asked, &decision).await), decided);
    let other = operator.decide(&asked, &json!({"option": "reject", "version": 9})).await;
    assert_eq!(refusal(&other), (409, "already_resolved", vec![]));
    assert_eq!(other.1["resolution"], decided["resolution"]);
}

#[tokio::test]
async fn an_edit_must_fit_the_schema_that_was_asked_for() {
    let served = Served::new().await;
    let question = json!({
        "kind": "tool_approval", "title": "t",
        "response_schema": {"type": "object", "properties": {"branches": {"type": "integer", "maximum": 10}},
                            "required": ["branches"]}
    });
    let asked = created(served.agent().post("/v1/interrupts", &question).await);
    let edit = |edit: Value| json!({"option": "edit", "edit": edit});
    let said = served.operator().decide(&asked, &edit(json!({"branches": 11}))).await;
    assert_eq!(refusal(&said), (422, "invalid_request", vec!["/edit/branches"]));
    let decided = ok(served.operator().decide(&asked, &edit(json!({"branches": 3}))).await);
    let resolution = &decided["resolution"];
    assert_eq!(
        (&resolution["outcome"], &resolution["effect"], &resolution["edit"]),
        (&json!("approved"), &json!("proceed_with_edit"), &json!({"branches": 3}))
    );
}

/// A person answers a question in the form of the agent's schema, for schemas as libraries print them.
#[tokio::test]
async fn a_question_is_answered_in_the_form_that_was_asked_for() {
    let served = Served::new().await;
    let (agent, operator) = (served.agent(), served.operator());
    let printed: Value =
        serde_json::from_str(include_str!("../../../core/tests/schemas/pydantic.json")).unwrap();
    let ask = |schema: &Value| json!({"kind": "question", "title": "What is paid back?", "response_schema": schema});
    let asked = created(agent.post("/v1/interrupts", &ask(&printed["Refund"])).await);
    assert_eq!(
        asked["options"][0],
        json!({
            "id": "answer", "label": "Answer", "effect": "respond", "does": "gives your text to the agent",
            "outcome": "answered", "work": "held", "needs_edit": true,
        })
    );
    let fits = json!({"order": 7, "amount": 20, "lines": [{"sku": "AB-1", "quantity": 1}]});
    let refused: [(Value, &[&str]); 4] = [
        (json!({"option": "answer", "text": "20 EUR"}), &["/edit"]),
        (json!({"option": "answer", "edit": {"amount": 20}}), &["/edit"]),
        (json!({"option": "answer", "edit": "20 EUR"}), &["/edit"]),
        (
            json!({"option": "answer", "edit": {"order": 7, "amount": 900, "lines": [{"sku": "x", "quantity": 1}]}}),
            &["/edit/amount", "/edit/lines/0/sku"],
        ),
    ];
    for (decision, pointers) in refused {
        let said = operator.decide(&asked, &decision).await;
        assert_eq!(refusal(&said), (422, "invalid_request", pointers.to_vec()), "{}", said.1);
    }
    let open = ok(agent.get(&format!("/v1/interrupts/{}", text(&asked, "id"))).await);
    assert_eq!(open["status"], "open");
    let decided = ok(operator.decide(&asked, &json!({"option": "answer", "edit": fits})).await);
    assert_eq!(
        (&decided["resolution"]["outcome"], &decided["resolution"]["edit"]),
        (&json!("answered"), &fits)
    );

    let asked = created(agent.post("/v1/interrupts", &ask(&printed["Currency"])).await);
    let said = operator.decide(&asked, &json!({"option": "answer", "text": "GBP"})).await;
    assert_eq!(refusal(&said), (422, "invalid_request", vec!["/text"]));
    let decided = ok(operator.decide(&asked, &json!({"option": "answer", "text": "EUR"})).await);
    assert_eq!(decided["resolution"]["text"], "EUR");
}

#[tokio::test]
async fn an_edit_of_an_object_is_an_object() {
    let served = Served::new().await;
    let asked = served.operator().ask().await;
    for edit in [json!("all of them"), json!([1])] {
        let said = served.operator().decide(&asked, &json!({"option": "edit", "edit": edit})).await;
        assert_eq!(refusal(&said), (422, "invalid_request", vec!["/edit"]), "{}", said.1);
    }
    ok(served.operator().decide(&asked, &json!({"option": "edit", "edit": {"branches": 3}})).await);
}

#[tokio::test]
async fn the_channel_is_recorded_and_only_known_ones_are() {
    let served = Served::new().await;
    let operator = served.operator();
    for (header, via) in [("cli", "cli"), ("rest", "rest"), ("phone", "rest"), ("", "rest")] {
        let asked = operator.ask().await;
        let path = format!("/v1/interrupts/{}/decisions", text(&asked, "id"));
        let request = operator.request(reqwest::Method::POST, &path).header("x-holdshort-via", header);
        ok(crate::harness::send_request(request.json(&json!({"option": "approve"}))).await);
        let events = ok(operator.get(&format!("/v1/runs/{}/events", text(&asked, "run"))).await);
        let made = events["items"].as_array().unwrap().iter().find(|event| event["type"] == "decision_made");
        assert_eq!(made.unwrap()["actor"], json!({"id": "operator", "role": "operator", "via": via}));
    }
}

/// Starts a server and a run that makes this call. Returns the server, and the interrupt about the call.
async fn held(call: &str) -> (Served, Value) {
    let served = Served::playing(&format!("    - calls:\n        - {call}\n    - {{text: done}}\n")).await;
    std::fs::write(served.workspace().join("a.txt"), "one\n").unwrap();
    let held = served.held().await;
    (served, held)
}

/// An edit of a call with which no tool could run is refused with a JSON pointer to the invalid argument, and the
/// interrupt stays open.
#[tokio::test]
async fn an_edit_that_no_tool_could_carry_out_leaves_it_open() {
    let path = |path: &str| json!({"path": path, "content": "x"});
    let line = |command: &str| json!({ "command": command });
    let old = |old: &str, new: &str| json!({"path": "a.txt", "old": old, "new": new});
    let table = [
        (
            "{tool: run_command, arguments: {command: touch b}}",
            vec![
                (line("  "), "/edit/command"),
                (line("touch b\0"), "/edit/command"),
                (line("# touch b\n  # and c"), "/edit/command"),
                (line("\u{200b} \u{2060}"), "/edit/command"),
                (line(&"x".repeat(33 * 1024)), "/edit/command"),
                (json!({"command": "touch b", "cwd": "../elsewhere"}), "/edit/cwd"),
                (json!({"command": "touch b", "cwd": "nowhere"}), "/edit/cwd"),
                (json!({"command": "touch b", "timeout_s": 0}), "/edit/timeout_s"),
            ],
            line("touch c"),
        ),
        (
            "{tool: write_file, arguments: {path: b.txt, content: x}}",
            vec![
                (path("../b.txt"), "/edit/path"),
                (path("/etc/passwd"), "/edit/path"),
                (path(".git/config"), "/edit/path"),
                (path("sub/.git/hooks/pre-commit"), "/edit/path"),
                (path("a.txt/b"), "/edit/path"),
                (path("."), "/edit/path"),
                (path("sub/"), "/edit/path"),
                (path(&"x".repeat(300)), "/edit/path"),
            ],
            path("c.txt"),
        ),
        (
            "{tool: edit_file, arguments: {path: a.txt, old: one, new: two}}",
            vec![(old("three", "two"), "/edit/old"), (old("one", "one"), "/edit/old")],
            old("one", "three"),
        ),
    ];
    for (call, edits, good) in table {
        let (served, asked) = held(call).await;
        let operator = served.operator();
        for (edit, pointer) in edits {
            let said = operator.decide(&asked, &json!({"option": "edit", "edit": edit})).await;
            assert_eq!(refusal(&said), (422, "invalid_request", vec![pointer]), "{edit}: {}", said.1);
            let stands = ok(operator.get(&format!("/v1/interrupts/{}", text(&asked, "id"))).await);
            assert_eq!((&stands["status"], stands.get("resolution")), (&json!("open"), None));
        }
        let decided = ok(operator.decide(&asked, &json!({"option": "edit", "edit": good})).await);
        assert_eq!(decided["resolution"]["effect"], "proceed_with_edit");
    }
}

/// An edit of a call that needs a file from an earlier call is checked again before the call runs.
#[tokio::test]
async fn an_edit_may_need_what_an_earlier_call_makes() {
    let calls = "    - calls:\n        - {tool: write_file, arguments: {path: new.md, content: one}}\n        \
                 - {tool: edit_file, arguments: {path: a.txt, old: one, new: two}}\n    - {text: done}\n";
    let served = Served::playing(calls).await;
    std::fs::write(served.workspace().join("a.txt"), "one\n").unwrap();
    let operator = served.operator();
    let run = text(&served.held().await, "run").to_owned();
    let open = served.open_of(&run, 2).await;
    let of = |tool: &str| open.iter().find(|each| each["payload"]["tool"] == tool).unwrap().clone();
    let edit = |path: &str| json!({"option": "edit", "edit": {"path": path, "old": "one", "new": "two"}});
    let said = operator.decide(&of("edit_file"), &edit("../new.md")).await;
    assert_eq!(refusal(&said), (422, "invalid_request", vec!["/edit/path"]));
    let decided = ok(operator.decide(&of("edit_file"), &edit("new.md")).await);
    assert_eq!(decided["resolution"]["effect"], "proceed_with_edit");
    ok(operator.decide(&of("write_file"), &json!({"option": "approve"})).await);
    // The edit is valid when its call runs, so the person is not asked again.
    assert_eq!(served.ended(&run).await["status"], "completed");
    assert_eq!(std::fs::read_to_string(served.workspace().join("new.md")).unwrap(), "two");
}

/// An invalid edit of a call is accepted only if an earlier open call could make it valid.
#[tokio::test]
async fn an_edit_that_no_earlier_call_could_mend_is_refused() {
    let edit = |path: &str, old: &str| json!({"path": path, "old": old, "new": "two"});
    let within = |cwd: &str| json!({"command": "touch b", "cwd": cwd});
    let long = "x".repeat(300);
    let edit_file = "{tool: edit_file, arguments: {path: a.txt, old: one, new: two}}";
    let table = [
        (
            "{tool: write_file, arguments: {path: new.md, content: one}}",
            edit_file,
            vec![
                (edit("a.txt", "three"), "/edit/old"),
                (edit("gone.md", "one"), "/edit/path"),
                (edit("new.md/b", "one"), "/edit/path"),
                (edit("a.txt/b", "one"), "/edit/path"),
                (edit(".", "one"), "/edit/path"),
                (edit("sub/", "one"), "/edit/path"),
                (edit(&long, "one"), "/edit/path"),
            ],
            edit("./new.md", "one"),
        ),
        (
            "{tool: run_command, arguments: {command: touch gone.md}}",
            edit_file,
            vec![
                (edit(".", "one"), "/edit/path"),
                (edit("sub/", "one"), "/edit/path"),
                (edit(&long, "one"), "/edit/path"),
            ],
            edit("gone.md", "one"),
        ),
        (
            "{tool: write_file, arguments: {path: sub/new.md, content: one}}",
            "{tool: run_command, arguments: {command: touch b}}",
            vec![(within("other"), "/edit/cwd"), (within("a.txt"), "/edit/cwd")],
            within("sub"),
        ),
    ];
    for (first, second, refused, taken) in table {
        let calls = format!("    - calls:\n        - {first}\n        - {second}\n    - {{text: done}}\n");
        let served = Served::playing(&calls).await;
        std::fs::write(served.workspace().join("a.txt"), "one\n").unwrap();
        let operator = served.operator();
        let run = text(&served.held().await, "run").to_owned();
        let open = served.open_of(&run, 2).await;
        let calls = |each: &&Value| text(&each["payload"], "call_id").to_owned();
        let later = open.iter().max_by_key(calls).unwrap();
        for (edit, pointer) in refused {
            let said = operator.decide(later, &json!({"option": "edit", "edit": edit})).await;
            assert_eq!(refusal(&said), (422, "invalid_request", vec![pointer]), "{first} {edit}: {}", said.1);
        }
        let decided = ok(operator.decide(later, &json!({"option": "edit", "edit": taken})).await);
        assert_eq!(decided["resolution"]["effect"], "proceed_with_edit", "{first}");
    }
}

/// A symbolic link to a missing directory does not prevent the write of a file below it, because the write creates the
/// directory.
#[tokio::test]
async fn a_file_below_a_dangling_link_is_written_where_it_leads() {
    let (served, asked) = held("{tool: write_file, arguments: {path: b.txt, content: x}}").await;
    std::os::unix::fs::symlink("missing", served.workspace().join("dang")).unwrap();
    let edit = json!({"option": "edit", "edit": {"path": "dang/x", "content": "x"}});
    let said = served.operator().decide(&asked, &edit).await;
    assert_eq!(said.0, 200, "{}", said.1);
    assert_eq!(served.ended(text(&asked, "run")).await["status"], "completed");
    assert_eq!(std::fs::read_to_string(served.workspace().join("missing/x")).unwrap(), "x");
}

/// An edit of an external agent's request replaces the whole payload, or the part that the agent named.
#[tokio::test]
async fn sending_back_what_another_agent_showed_is_an_approval() {
    let served = Served::new().await;
    let payloads = [
        ("tool_approval", json!({"order": 4711, "amount": 120})),
        ("plan_approval", json!({"steps": ["a", "b"]})),
        ("checkpoint", json!({"results": {"amount": 120}})),
        ("review", json!({"summary": "A report."})),
    ];
    for (kind, payload) in payloads {
        let question = json!({"kind": kind, "title": "Refund?", "payload": payload});
        let asked = created(served.agent().post("/v1/interrupts", &question).await);
        let shown = json!({"option": "edit", "edit": payload});
        let decided = ok(served.operator().decide(&asked, &shown).await);
        let resolution = &decided["resolution"];
        assert_eq!((&resolution["option"], &resolution["outcome"]), (&json!("approve"), &json!("approved")));
        assert_eq!(resolution.get("edit").filter(|edit| !edit.is_null()), None, "{kind}");
    }
}

#[tokio::test]
async fn sending_back_what_was_shown_is_an_approval() {
    let (served, asked) = held("{tool: write_file, arguments: {path: b.txt, content: x}}").await;
    let shown = json!({"option": "edit", "edit": asked["payload"]["arguments"]});
    let decided = ok(served.operator().decide(&asked, &shown).await);
    let resolution = &decided["resolution"];
    assert_eq!((&resolution["option"], &resolution["effect"]), (&json!("approve"), &json!("proceed")));
    assert_eq!(ok(served.operator().decide(&asked, &shown).await), decided);
}
