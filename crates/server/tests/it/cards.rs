//! Content of a decision page for each kind of interrupt. Text of an agent is shown only as text.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{PageResponse, Served, created, fetch_page, ok, refusal, text};

async fn page(served: &Served, interrupt: &Value) -> PageResponse {
    let path = format!("/v1/interrupts/{}/links", text(interrupt, "id"));
    let made = created(served.operator().post(&path, &json!({})).await);
    let origin = format!("http://{}", served.address());
    let path = text(&made, "url").strip_prefix(&origin).unwrap().to_owned();
    let page = fetch_page(served.api(None).request(Method::GET, &path)).await;
    assert_eq!(page.status, 200, "{}", page.text);
    page
}

#[tokio::test]
async fn each_kind_shows_what_is_decided() {
    let table = [
        (
            "{tool: run_command, arguments: {command: rm -r build}}",
            &[
                "Tool call",
                "rm -r build",
                "Effect",
                "write the workspace, except files",
                "Sandbox",
                "can do whatever you can do",
                "name=\"confirm\"",
            ][..],
        ),
        (
            "{tool: write_file, arguments: {path: a.txt, content: \"one\\ntwo\\n\"}}",
            &["New file", "a.txt", "+2 −0", "<span class=\"added\">+ one</span>", "@@ -1,0 +1,2 @@"],
        ),
        (
            "{tool: create_plan, arguments: {subtasks: [{id: look, description: Look around, agent: ada, \
             depends_on: []}, {id: fix, description: Repair it, agent: ada, depends_on: [look]}]}}",
            &["Plan", "Look around", "after <code>look</code>", "Request another plan"],
        ),
        (
            "{tool: ask_human, arguments: {question: Which?, context: It matters., choices: [a, b]}}",
            &["Question", "Which?", "It matters.", "type=\"radio\"", "Skip"],
        ),
        (
            "{tool: request_review, arguments: {title: T, content: The text, findings: [no test]}}",
            &["Review", "The text", "Findings", "no test"],
        ),
    ];
    for (call, parts) in table {
        let served =
            Served::playing(&format!("    - text: I say so.\n      calls:\n        - {call}\n")).await;
        let page = page(&served, &served.held().await).await;
        for part in parts.iter().chain(&["agent ada, step work", "<dt>Task</dt><dd><bdi>t</bdi></dd>"]) {
            assert!(page.text.contains(part), "{call}: {part}: {}", page.text);
        }
    }
}

/// The card shows the call of an external agent like a native one. Other fields of the agent are data, and cannot make
/// the call look safer.
#[tokio::test]
async fn a_call_of_another_agent_shows_what_would_run() {
    let served = Served::new().await;
    let ask = json!({
        "kind": "tool_approval", "title": "Clean up", "payload": {"sandbox": "full", "ticket": 4711},
        "call": {
            "tool": "run_command", "arguments": {"command": "rm -r build", "stdin": "yes please"}, "cwd": "/srv/app",
            "workspace": "/srv",
        },
    });
    let asked = created(served.agent().post("/v1/interrupts", &ask).await);
    let page = page(&served, &asked).await;
    for part in ["rm -r build", "srv&#x2f;app", "outside the sandbox of Holdshort", "ticket", "yes please"] {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
    assert!(!page.text.contains("access only to what is listed"), "{}", page.text);
}

/// An agent that names a call in its request cannot add a payload field with a name that cards reserve for calls.
#[tokio::test]
async fn what_cards_show_of_a_call_stands_in_the_call_alone() {
    let served = Served::new().await;
    for name in holdshort_protocol::OF_CALLS {
        let ask = json!({
            "kind": "tool_approval", "title": "t", "payload": {name: "mine"},
            "call": {"tool": "shell", "arguments": {"command": "ls"}},
        });
        let said = served.agent().post("/v1/interrupts", &ask).await;
        let (status, code, at) = refusal(&said);
        assert_eq!((status, code), (422, "invalid_request"), "{name}");
        assert!(at.iter().all(|at| at.starts_with("/payload")), "{name}: {at:?}");
    }
}

/// A person who reads an interrupt gets its card. The agent decides nothing, so it gets none, and lists have none.
#[tokio::test]
async fn a_person_gets_the_card_as_json() {
    let served = Served::new().await;
    let ask = json!({
        "kind": "tool_approval", "title": "Clean up",
        "call": {"tool": "shell", "arguments": {"command": "rm -r build"}},
        "options": [{"id": "approve", "label": "Approve"}, {"id": "reject", "label": "No"}],
    });
    let asked = created(served.agent().post("/v1/interrupts", &ask).await);
    let path = format!("/v1/interrupts/{}", text(&asked, "id"));
    let read = ok(served.operator().get(&path).await);
    let card = &read["card"];
    assert_eq!(read["id"], asked["id"]);
    assert_eq!(
        (&card["kind"], &card["title"], &card["title_by"], &card["replaces"]),
        (&json!("Tool call"), &json!("Clean up"), &json!("speaker"), &json!("/payload/arguments"))
    );
    assert_eq!(card["parts"][0], json!({"part": "command", "text": "rm -r build"}));
    let options = card["options"].as_array().unwrap();
    let shown =
        options.iter().map(|option| json!([option["id"], option["note"], option["tone"], option["key"]]));
    let reject = "rejects it; the agent gets your reason and continues";
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [json!(["approve", null, "go", "a"]), json!(["reject", reject, "stop", "r"])],
        "the label *Approve* already says that the agent continues"
    );
    assert_eq!(ok(served.agent().get(&path).await).get("card"), None);
    let list = ok(served.operator().get("/v1/interrupts").await);
    assert_eq!(list["items"][0].get("card"), None);
}

/// On the decision page, a wrapped line of a change continues below its first character, because its CSS class contains
/// the indentation.
#[tokio::test]
async fn a_line_of_a_change_keeps_its_indentation_where_it_breaks() {
    let served = Served::new().await;
    let line = |op: &str, text: &str| json!({"op": op, "text": text});
    let lines = [
        line(" ", "if a:"),
        line("-", "    b"),
        line("+", "\tb"),
        line("+", &format!("{}c", " ".repeat(99))),
    ];
    let ask = json!({
        "kind": "tool_approval", "title": "t",
        "payload": {"diff": {"added": 2, "removed": 1, "truncated": false, "hunks": [{"old_start": 1, "old_lines": 2,
            "new_start": 1, "new_lines": 3, "lines": lines}]}},
    });
    let asked = created(served.agent().post("/v1/interrupts", &ask).await);
    let page = page(&served, &asked).await.text;
    for class in ["same", "removed i2", "added i4", "added i8"] {
        assert!(page.contains(&format!("<span class=\"{class}\">")), "{class}: {page}");
    }
}

#[tokio::test]
async fn what_an_agent_writes_is_text() {
    const EVIL: &str =
        "<script>alert(1)</script>\"><img src=x onerror=alert(1)>'\u{202e}\u{1b}[2J{{ 7*77777 }}";
    let served = Served::new().await;
    for kind in ["tool_approval", "plan_approval", "checkpoint", "question", "choice", "escalation", "review"]
    {
        let mut ask = json!({
            "kind": kind, "title": EVIL, "message": EVIL,
            "payload": {
                "tool": EVIL, "command": EVIL, "path": EVIL, "question": EVIL, "context": EVIL, "content": EVIL,
                "choices": [EVIL], "arguments": {EVIL: EVIL},
                "plan": {"subtasks": [{"id": EVIL, "description": EVIL, "agent": EVIL, "depends_on": [EVIL]}]},
                "diff": {"added": 1, "removed": 0, "truncated": true, "hunks": [{"old_start": 1, "old_lines": 0,
                    "new_start": 1, "new_lines": 1, "lines": [{"op": "+", "text": EVIL}, {"op": EVIL, "text": EVIL}]}]},
            },
        });
        if kind == "choice" {
            ask["options"] = json!([{"id": "a", "label": EVIL}]);
        }
        let asked = created(served.agent().post("/v1/interrupts", &ask).await);
        let page = page(&served, &asked).await.text;
        for tag in ["<script", "<img src=x", "\u{202e}", "\u{1b}", "544439"] {
            assert!(!page.contains(tag), "{kind}: {tag:?}: {page}");
        }
        assert!(page.contains("&lt;script&gt;alert(1)&lt;&#x2f;script&gt;"), "{kind}: {page}");
        assert!(page.contains("\\u{202e}\\u{1b}[2J"), "{kind}: {page}");
        assert!(page.contains("Look twice"), "{kind}: {page}");
    }
}
