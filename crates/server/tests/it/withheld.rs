//! Withheld values, which no response to a reviewer contains, on any route. Callers who see everything get them.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Api, Served, created, fetch_page, ok, text};
use crate::people::{code, peopled};
use crate::socket::Socket;

/// Value that is withheld from readers. All texts that could reveal the value also contain it.
const SECRET: &str = "DE02-1203-0000";

fn ask(assignment: &Value) -> Value {
    json!({
        "kind": "tool_approval", "title": "Pay to DE02-1203-0000", "message": "To DE02-1203-0000, as always.",
        "payload": {"note": "see DE02-1203-0000", "paid": {"DE02-1203-0000": 5}},
        "options": [{"id": "approve", "label": "Pay DE02-1203-0000"}, {"id": "edit"}, {"id": "reject"}],
        "call": {"tool": "pay", "arguments": {"iban": SECRET, "sum": 5, "items": [{"to": SECRET, "n": 1}]},
                 "workspace": "/srv/pay", "before": "none", "after": "DE02-1203-0000\n"},
        "assignment": assignment,
        "withhold": [{"from": ["reviewer"], "fields": ["/arguments/iban", "/arguments/items/*/to"]}],
    })
}

/// Returns the text of the page at `path` for this caller.
async fn bytes(api: &Api, path: &str) -> String {
    fetch_page(api.request(Method::GET, path)).await.text
}

async fn ask_of(served: &Served, assignment: Value) -> Value {
    created(served.agent().post("/v1/interrupts", &ask(&assignment)).await)
}

/// Opens a socket with the login of this caller.
async fn socket_of(served: &Served, api: &Api) -> Socket {
    let origin = format!("http://localhost:{}", served.address().port());
    let headers = [("cookie", &*api.login().cookie), ("origin", &*origin)];
    let mut socket = Socket::open(served, &headers).await.expect("it opens");
    socket.ask(&json!({"type": "hello", "secret": api.login().secret})).await;
    socket
}

#[tokio::test]
async fn no_byte_of_it_leaves_for_a_reviewer() {
    let served = peopled().await;
    let (anna, ben) = (served.signed_in_as("anna").await, served.signed_in_as("ben").await);
    served.set("audrey", &["auditor", "reviewer"], &["legal"]).await;
    let audrey = served.signed_in_as("audrey").await;
    let (mut socket, mut deciding) = (socket_of(&served, &anna).await, socket_of(&served, &anna).await);
    socket.subscribe(json!({"id": "in", "topic": "inbox"})).await;
    let asked = ask_of(&served, json!({"groups": ["legal"], "quorum": {"required": 2}})).await;
    assert!(asked.to_string().contains(SECRET), "an agent reads what it wrote");
    let path = format!("/v1/interrupts/{}", text(&asked, "id"));
    let mut sent = Vec::new();

    // Reads, lists, waits and comments.
    let card = ok(anna.get(&path).await);
    let places = ["/arguments/iban", "/arguments/items/0/to", "/note", "/paid"];
    assert_eq!(card["withheld"], json!(places));
    assert_eq!(card["payload"]["arguments"]["iban"], json!({"withheld": "/arguments/iban"}));
    assert_eq!(
        (&card["title"], &card["payload"]["arguments"]["sum"]),
        (&json!("Pay to [withheld]"), &json!(5))
    );
    for made in ["action_digest", "approval", "task", "impact", "unseen"] {
        assert_eq!(card.get(made), None, "{made}");
    }
    assert_eq!(card["payload"].get("diff"), None);
    sent.push(card.to_string());
    let said = json!({"text": format!("{SECRET} is known")});
    ok(audrey.post(&format!("{path}/comments"), &said).await);
    for way in [
        path.clone(),
        format!("{path}?wait=0"),
        "/v1/interrupts".to_owned(),
        "/v1/interrupts?status=open&assignee=me".to_owned(),
        format!("{path}/comments"),
        format!("/v1/runs/{}", text(&asked, "run")),
        format!("/v1/runs/{}/events", text(&asked, "run")),
    ] {
        sent.push(bytes(&anna, &way).await);
    }

    // The response to each of these actions contains the card.
    for (verb, body) in [
        ("claim", json!({})),
        ("release", json!({})),
        ("snooze", json!({"until": null})),
        ("comments", json!({"text": "me too"})),
    ] {
        sent.push(ok(anna.post(&format!("{path}/{verb}"), &body).await).to_string());
    }

    // A person who sees the value edits the arguments. The reviewer agrees to the edit, of which they see only the
    // redacted form.
    let mut arguments = json!({"iban": "DE99-SECOND-000", "sum": 6, "items": [{"to": SECRET, "n": 1}]});
    let edit = json!({"option": "edit", "edit": arguments});
    let two = json!({"assignment": {"groups": ["legal"], "approvers": ["operator"]}});
    ok(served.operator().post(&format!("{path}/reassign"), &two).await);
    ok(served.operator().decide(&asked, &edit).await);
    let card = ok(anna.get(&path).await);
    sent.push(card.to_string());
    // Errors do not contain the value.
    arguments = card["votes"][0]["edit"].clone();
    let mut moved = arguments.clone();
    moved["iban"] = json!("DE00");
    let refused = anna.decide(&asked, &json!({"option": "edit", "edit": moved})).await;
    assert_eq!(
        (code(&refused), &refused.1["errors"][0]["pointer"]),
        ((422, "withheld"), &json!("/edit/iban"))
    );
    sent.push(refused.1.to_string());
    let decide =
        json!({"type": "decide", "id": "d", "interrupt": asked["id"], "option": "edit", "edit": arguments});
    let decided = deciding.ask(&decide).await;
    assert_eq!(decided["interrupt"]["resolution"]["by"], json!(["operator", "anna"]), "{decided}");
    sent.push(decided.to_string());
    let late = ben.decide(&asked, &json!({"option": "reject"})).await;
    assert_eq!(code(&late), (409, "already_resolved"));
    sent.push(late.1.to_string());
    sent.push(bytes(&ben, &path).await);
    sent.push(bytes(&ben, "/v1/interrupts?status=resolved").await);

    // Events on the socket, and the list of events.
    let told = socket.events("in", 5).await;
    sent.extend(told.iter().map(Value::to_string));
    assert!(told.iter().any(|event| event["type"] == "interrupt_opened"), "{told:?}");
    sent.push(
        fetch_page(anna.request(Method::GET, "/v1/events").header("accept", "application/json")).await.text,
    );
    for bytes in &sent {
        assert!(!bytes.contains(SECRET) && !bytes.contains("DE99-SECOND"), "{bytes}");
    }
    let digest = text(&asked, "action_digest");
    assert!(sent.iter().all(|bytes| !bytes.contains(digest)), "no digest either");

    // Callers who see everything see the value, and the approved edit is complete.
    let card = ok(served.operator().get(&path).await);
    assert_eq!(card["resolution"]["edit"]["iban"], "DE99-SECOND-000");
    assert!(card["payload"].to_string().contains(SECRET) && card.get("withheld").is_none());
    assert!(bytes(&audrey, &path).await.contains(SECRET), "an auditor sees all, whatever else they are");
    assert!(bytes(&served.agent(), &path).await.contains(SECRET));

    // Her own guess is not redacted, because a redaction would tell her that the guess is right.
    ok(anna.post(&format!("{path}/comments"), &json!({"text": format!("DE01-0000, {SECRET}")})).await);
    assert!(bytes(&anna, &format!("{path}/comments")).await.contains(SECRET));
}

/// The page of a decision link shows only what the creator of the link may see now. In this test, the creator has lost
/// the role of an operator.
#[tokio::test]
async fn no_byte_of_it_is_on_the_page_of_a_link() {
    let served = peopled().await;
    served.set("dora", &["operator"], &["legal"]).await;
    let dora = served.signed_in_as("dora").await;
    let asked = ask_of(&served, json!({"approvers": ["dora"]})).await;
    let made = created(dora.post(&format!("/v1/interrupts/{}/links", text(&asked, "id")), &json!({})).await);
    let origin = format!("http://{}", served.address());
    let path = text(&made, "url").strip_prefix(&origin).expect("an address here").to_owned();
    assert!(bytes(&served.api(None), &path).await.contains(SECRET));
    served.set("dora", &["reviewer"], &["legal"]).await;
    let page = bytes(&served.api(None), &path).await.replace("&#x2f;", "/");
    assert!(page.contains("Withheld from you: /arguments/iban"), "{page}");
    assert!(!page.contains(SECRET), "{page}");
    let form = served
        .api(None)
        .request(Method::POST, &path)
        .header("content-type", "application/x-www-form-urlencoded")
        .body("option=approve");
    let decided = fetch_page(form).await;
    assert!(decided.status == 200 && !decided.text.contains(SECRET), "{}", decided.text);
    let card = ok(served.operator().get(&format!("/v1/interrupts/{}", text(&asked, "id"))).await);
    assert_eq!(card["approval"]["approved"], Value::Null, "as it was asked");
    assert_eq!(card["resolution"]["outcome"], "approved");
}

/// A workflow declares withheld fields for all its interrupts.
#[tokio::test]
async fn a_workflow_withholds_what_its_agents_call_with() {
    let workflow = "name: own\nagents:\n  ada:\n    instructions: Do it.\n    tools: [write_file]\n\
        phases:\n  - {id: work, kind: one_shot, agent: ada}\n\
        gates:\n  withhold:\n    - {from: [reviewer], fields: [/arguments/content]}\n";
    let rehearsal = format!(
        "agents:\n  ada:\n    - text: I write {SECRET} down.\n      calls:\n        - {{tool: write_file, arguments: {{path: a.txt, content: {SECRET}}}}}\n    - text: Done.\n"
    );
    let served = Served::with_workflow_and_rehearsal(workflow, &rehearsal).await;
    served.set("anna", &["reviewer"], &["legal"]).await;
    let anna = served.signed_in_as("anna").await;
    let held = served.held().await;
    let path = format!("/v1/interrupts/{}", text(&held, "id"));
    let to_legal = json!({"assignment": {"groups": ["legal"]}});
    ok(served.operator().post(&format!("{path}/reassign"), &to_legal).await);
    assert!(ok(served.operator().get(&path).await).to_string().contains(SECRET));
    let card = ok(anna.get(&path).await);
    assert!(!card.to_string().contains(SECRET), "{card}");
    assert_eq!((&card["title"], &card["withheld"]), (&json!("write_file"), &json!(["/arguments/content"])));
    assert_eq!(card["payload"].get("diff"), None);
    let edit = json!({"path": "b.txt", "content": {"withheld": "/arguments/content"}});
    let decided = ok(anna.decide(&held, &json!({"option": "edit", "edit": edit})).await);
    assert!(!decided.to_string().contains(SECRET), "{decided}");
    served.ended(text(&held, "run")).await;
    let written = std::fs::read_to_string(served.workspace().join("b.txt")).expect("it is written");
    assert_eq!(written, SECRET);
}
