//! Texts of runs are erased on request, over the real binary: the texts of one run, or of all runs about a subject. A
//! legal hold prevents the erasure.

use std::fs;
use std::process::Command;

use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::TestServer;
use holdshort_testkit::sink::WebhookSink;
use reqwest::Method;
use serde_json::{Value, json};

use crate::notifications;
use crate::play::{ask, done, one};

const SOLO: &str = "
name: solo
input:
  type: object
  required: [task]
  properties: {task: {type: string}, subject: {type: string}}
agents:
  solo: {instructions: Ask., tools: [ask_human]}
phases:
  - {id: work, kind: one_shot, agent: solo}
gates:
  rules: [{tools: [ask_human], do: allow}]
";

const SECRET: &str = "Zebedee Quartermain";

/// Starts a run about a subject. The agent asks a question, which is answered if `answers` is true. Returns the ids of
/// the run and of the question.
async fn start_asking_run(
    at: (&ScriptedModel, &TestServer),
    subject: &str,
    answers: bool,
) -> (String, String) {
    let (model, server) = at;
    model.script("solo", [one(ask(&format!("Who is {SECRET}?"))), done()]);
    let body =
        json!({"workflow": "solo", "input": {"task": format!("look for {SECRET}"), "subject": subject}});
    let run = server.post("/v1/runs", &body).await.ok()["id"].as_str().unwrap().to_owned();
    let open = server.wait_one(&run).await;
    let question = server.interrupt(open["id"].as_str().unwrap()).await;
    if answers {
        let answer = json!({"option": "answer", "text": format!("{SECRET}, of course")});
        server.decide(&question, &answer).await.ok();
        server.wait_status(&run, &["completed"]).await;
    }
    (run, question["id"].as_str().unwrap().to_owned())
}

/// Checks the receipt of an interrupt with the script of the documentation. Panics if the receipt is invalid. Returns
/// the script's output.
fn checked(server: &TestServer, receipt: &Value, interrupt: &str) -> String {
    let path = server.workspace().join("receipt.json");
    fs::write(&path, receipt.to_string()).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/verify_receipt.py");
    let key = receipt["checkpoint"]["key"].as_str().unwrap();
    let ran = Command::new("python3").arg(script).arg(&path).args([key, interrupt]).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    String::from_utf8(ran.stdout).unwrap()
}

/// Receipts from before and after an erasure prove the same events, and the journal still extends a checkpoint from
/// before the erasure. A proof omits erased content, but contains the event.
#[tokio::test]
async fn what_is_erased_leaves_every_proof_valid() {
    let model = ScriptedModel::start().await;
    let server = TestServer::setup().workflow("solo", SOLO).model(&model).start().await;
    let (run, question) = start_asking_run((&model, &server), "customer 7", true).await;
    let receipt = async || server.get(&format!("/v1/receipts/{question}")).await.ok();
    let before = receipt().await;
    assert!(checked(&server, &before, &question).contains(SECRET));
    server.post("/v1/erasures", &json!({ "run": run })).await.ok();

    let after = receipt().await;
    assert!(!after.to_string().contains(SECRET), "{after}");
    let said = checked(&server, &after, &question);
    assert!(said.contains("(erased, or left out)") && said.contains("good: "), "{said}");
    let proved = |receipt: &Value| -> Vec<(Value, Value)> {
        let events = receipt["events"].as_array().unwrap().iter();
        events.map(|event| (event["head"].clone(), event["index"].clone())).collect()
    };
    // The next event is the erasure.
    assert!(proved(&after).starts_with(&proved(&before)), "{after}");
    let (last, _) = &proved(&after)[proved(&before).len()];
    assert!(last.as_str().unwrap().contains(r#""type":"answer_erased""#), "{last}");
    assert_eq!(after["checkpoint"]["key"], before["checkpoint"]["key"]);
    assert!(checked(&server, &before, &question).contains(SECRET), "whoever kept it has it, and can show it");

    let kept = server.workspace().join("kept.txt");
    fs::write(&kept, before["checkpoint"]["note"].as_str().unwrap()).unwrap();
    let key = before["checkpoint"]["key"].as_str().unwrap();
    let mut verify = server.client_command();
    verify.args(["audit", "verify", "--against"]).arg(&kept).args(["--key", key]);
    let told = verify.output().unwrap();
    let words = String::from_utf8_lossy(&told.stdout);
    assert!(told.status.success() && words.contains("continues from"), "{told:?}");
}

#[tokio::test]
async fn nothing_is_left_of_what_runs_about_a_subject_said() {
    let model = ScriptedModel::start().await;
    let mut server = TestServer::setup().workflow("solo", SOLO).model(&model).start().await;
    let at = (&model, &server);
    let (first, question) = start_asking_run(at, "customer 7", true).await;
    let (held, kept_question) = start_asking_run(at, "customer 7", true).await;
    let (other, _) = start_asking_run(at, "customer 8", true).await;
    let (waiting, _) = start_asking_run(at, "customer 7", false).await;
    let erase = async |body: Value| server.post("/v1/erasures", &body).await;

    for (wrong, pointer) in [
        (json!({}), ""),
        (json!({"run": first, "subject": "customer 7"}), ""),
        (json!({"subject": " "}), "/subject"),
        (json!({"subject": "x".repeat(257)}), "/subject"),
        (json!({"person": "x"}), "/person"),
    ] {
        let refused = erase(wrong.clone()).await;
        let found = refused.body["errors"][0]["pointer"].as_str();
        assert_eq!((refused.status, found), (422, Some(pointer)), "{wrong}");
    }
    assert_eq!(erase(json!({"run": waiting})).await.refusal(), (409, "run_not_ended"));
    let nowhere = json!({"run": "run_01k6f0000000000000000000cc"});
    assert_eq!(erase(nowhere).await.refusal(), (404, "not_found"));
    let agent = server.agent_request(Method::POST, "/v1/erasures").json(&json!({"run": first}));
    assert_eq!(server.send(agent).await.refusal(), (403, "forbidden_role"));

    let ended = server.run(&held).await;
    let path = format!("/v1/runs/{held}/hold");
    assert_eq!(server.post(&path, &json!({"reason": " "})).await.status, 422);
    let told = server.post(&path, &json!({"reason": "Case 114 is open."})).await.ok();
    assert_eq!(
        (&told["hold"]["by"], &told["hold"]["reason"]),
        (&json!("operator"), &json!("Case 114 is open."))
    );
    let again = server.post(&path, &json!({"reason": "Case 114 is open."})).await.ok();
    assert_eq!(again, told, "the same reason again is the same hold");
    let another = server.post(&path, &json!({"reason": "Another."})).await;
    assert_eq!(another.refusal(), (409, "legal_hold"), "who lifts the first would lift both");
    let detail = another.body["detail"].as_str().unwrap();
    assert!(detail.contains("by operator (Case 114 is open.)"), "{detail}");
    let held_now = server.run(&held).await;
    for what in ["updated_at", "duration_ms"] {
        assert_eq!(held_now[what], ended[what], "it ended where it ended");
    }
    assert_eq!(erase(json!({"run": held})).await.refusal(), (409, "legal_hold"));
    let answer = server.request(Method::DELETE, &format!("/v1/answers/{kept_question}"));
    assert_eq!(server.send(answer).await.refusal(), (409, "legal_hold"), "nor one answer of it");

    let told = erase(json!({"subject": "customer 7"})).await.ok();
    assert_eq!(told, json!({"erased": [first], "not_ended": [waiting], "held": [held], "failed": []}));
    let run = server.run(&first).await;
    assert_eq!((&run["status"], &run["input"]), (&json!("completed"), &Value::Null), "{run}");
    assert_eq!(
        (&run["erased"]["by"], &run["erased"]["because"]),
        (&json!("operator"), &json!("request")),
        "{run}"
    );
    assert!(run["updated_at"].as_str() < run["erased"]["at"].as_str(), "{run}");
    assert_eq!(server.interrupt(&question).await["erased"], run["erased"]);
    assert!(held_now.get("erased").is_none(), "{held_now}");
    assert_eq!(server.interrupt(&question).await["resolution"]["outcome"], "answered");
    let kept = server.get("/v1/answers?subject=customer%207").await.ok();
    let kept: Vec<_> = kept["items"].as_array().unwrap().iter().map(|each| each["erased"] == true).collect();
    assert_eq!(kept, [false], "that of the run that is held");
    assert!(server.run(&other).await["input"]["task"].as_str().unwrap().contains(SECRET));
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
    let receipt = server.get(&format!("/v1/receipts/{question}")).await.ok();
    assert!(!receipt.to_string().contains(SECRET), "{receipt}");

    // The option labels of an external agent are erased together with the title.
    let called = format!("Tell {SECRET}");
    let options = json!([{"id": "tell", "label": called}, {"id": "wait"}]);
    let choice = json!({"kind": "choice", "title": format!("What of {SECRET}?"), "options": options});
    let choice = server.post("/v1/interrupts", &choice).await.ok();
    assert_eq!(choice["options"][0]["label"], json!(called));
    let by_itself = choice["run"].as_str().unwrap();
    let opened = server.events_of(by_itself, "interrupt_opened").await.remove(0);
    assert_eq!(opened["data"]["options"][0]["label"], json!(called), "{opened}");
    server.decide(&choice, &json!({"option": "tell"})).await.ok();
    erase(json!({"run": by_itself})).await.ok();
    let left = server.interrupt(choice["id"].as_str().unwrap()).await;
    assert_eq!(
        (&left["options"][0]["label"], &left["options"][2]["label"], &left["resolution"]["option"]),
        (&json!("tell"), &json!("Other answer"), &json!("tell"))
    );

    // After all other runs are erased, no file contains the text.
    server.send(server.request(Method::DELETE, &path)).await.ok();
    server.post(&format!("/v1/runs/{waiting}/cancel"), &json!({})).await.ok();
    let told = erase(json!({"subject": "customer 7"})).await.ok();
    assert_eq!(
        told["erased"].as_array().map(Vec::len),
        Some(2),
        "nobody knows what the first one was about: {told}"
    );
    erase(json!({"run": other})).await.ok();
    let of = |events: Value| {
        events["items"].as_array().unwrap().iter().map(|event| event["type"].clone()).collect::<Vec<_>>()
    };
    let types = of(server.get(&format!("/v1/audit/events?stream={other}")).await.ok());
    assert!(types.contains(&json!("content_erased")), "{types:?}");

    server.stop().await;
    for file in fs::read_dir(server.data()).unwrap().flatten().filter(|file| file.path().is_file()) {
        let bytes = fs::read(file.path()).unwrap();
        let is_there = bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
        assert!(!is_there, "{} still holds it", file.path().display());
    }
    let rebuilt = server.client_command().arg("rebuild").output().unwrap();
    assert!(rebuilt.status.success(), "{rebuilt:?}");
    server.start().await;
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
    let again = server.run(&first).await;
    assert_eq!((&again["status"], &again["erased"]), (&json!("completed"), &run["erased"]));
    assert_eq!(server.interrupt(&question).await["erased"], run["erased"]);
    let listed = server.get("/v1/runs?limit=200").await.ok();
    assert!(
        listed["items"].as_array().unwrap().iter().all(|run| run["erased"]["by"] == "operator"),
        "{listed}"
    );
}

/// A channel sent a title, and the receiver repeated the title in its response. No event contains that title.
#[tokio::test]
async fn what_a_receiver_repeated_is_erased_with_the_run() {
    let sink = WebhookSink::start().await;
    sink.repeat();
    let server = notifications::webhook_setup(&sink, ", title: true").start().await;
    let id =
        notifications::ask(&server, json!({"title": format!("Pay {SECRET}"), "subject": "customer 9"})).await;
    notifications::resolve(&server, &id).await;
    let told = notifications::wait_state(&server, "delivered", 2).await;
    let repeated = async || {
        let mut texts = Vec::new();
        for delivery in &told {
            let path = format!("/v1/deliveries/{}", delivery["id"].as_str().unwrap());
            texts.push(server.get(&path).await.ok().to_string());
        }
        texts.iter().filter(|text| text.contains(SECRET)).count()
    };
    assert_eq!(repeated().await, 2);
    let run = server.interrupt(&id).await["run"].clone();
    for wrong in [json!({"subject": " "}), json!({"subject": "a\nb"}), json!({"subject": "x", "run": run})] {
        let mut body = json!({"kind": "question", "title": "Which?"});
        body.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        let refused = server.post("/v1/interrupts", &body).await;
        assert_eq!(
            (refused.status, &refused.body["errors"][0]["pointer"]),
            (422, &json!("/subject")),
            "{wrong}"
        );
    }
    let told_of = server.post("/v1/erasures", &json!({ "subject": "customer 9" })).await.ok();
    assert_eq!(told_of["erased"], json!([run]), "of what an agent that runs elsewhere asked, too: {told_of}");
    assert_eq!(repeated().await, 0);
    let [one, _] = &notifications::wait_state(&server, "delivered", 2).await[..] else { panic!("both") };
    assert_eq!(one["status"], 200, "that it arrived stays");
}

#[tokio::test]
async fn runs_are_held_and_erased_in_a_terminal() {
    let model = ScriptedModel::start().await;
    let server = TestServer::setup().workflow("solo", SOLO).model(&model).start().await;
    let (run, question) = start_asking_run((&model, &server), "customer 7", true).await;
    let called = |args: &[&str]| {
        let output = server.client_command().args(args).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, said) = called(&["hold", &run, "--reason", "Case 114 is open."]);
    assert_eq!(code, Some(0));
    assert!(
        said.contains("The run is under a legal hold by operator") && said.contains("Case 114"),
        "{said}"
    );
    let (code, said) = called(&["erase", "--subject", "customer 7"]);
    assert_eq!(code, Some(1), "something is left");
    assert!(said.contains("is under a legal hold"), "{said}");
    assert_eq!(called(&["hold", &run, "--reason", "Case 115 is open."]).0, Some(1), "nothing holds it twice");
    let (code, said) = called(&["hold", &run, "--lift"]);
    assert!(
        code == Some(0) && said.contains("no legal hold now. Lifted: the legal hold by operator, "),
        "{said}"
    );
    assert!(said.contains(": Case 114 is open."), "{said}");
    assert!(!called(&["hold", &run, "--lift"]).1.contains("Lifted"), "there was nothing to lift");
    let (code, said) = called(&["erase", &run]);
    assert!(code == Some(0) && said.contains("erased"), "{said}");
    let (code, said) = called(&["hold", &run]);
    assert!(code == Some(0) && said.contains("was erased"), "{said}");
    let (_, said) = called(&["show", &run]);
    assert!(said.contains("(erased)") && said.contains("by operator"), "{said}");
    let (_, said) = called(&["show", &question]);
    assert!(said.contains("erased") && said.contains("by operator"), "{said}");
    let (_, said) = called(&["inbox", "--all"]);
    assert!(said.contains(&question) && said.contains("  (erased)"), "{said}");
    // `events` also lists the events after the end of the run. `events --follow` stops at the end of the run.
    let (code, said) = called(&["events", &run]);
    let at = |kind: &str| said.find(kind).unwrap_or_else(|| panic!("no {kind}: {said}"));
    assert_eq!(code, Some(0));
    assert!(at("run_completed") < at("legal_hold_placed") && at("legal_hold_lifted") < at("content_erased"));
    let (code, said) = called(&["events", &run, "--follow"]);
    assert_eq!(code, Some(0));
    assert!(said.trim_end().lines().last().unwrap().contains("run_completed"), "{said}");
    assert_eq!(called(&["stop", &run]).0, Some(2), "nothing is at work");
    let (_, said) = called(&["events", &run, "--json"]);
    let last: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["data"]["because"]), (&json!("content_erased"), &json!("request")));
    let (_, page) = called(&["receipt", &question, "--html"]);
    assert!(page.contains("(erased)") && !page.contains(SECRET), "{page}");
    // A legal hold that comes after an erasure does not claim to keep the erased content.
    let (code, said) = called(&["hold", &run, "--reason", "The court asks."]);
    assert!(code == Some(0) && said.contains("came too late") && said.contains("was erased"), "{said}");
    assert!(!said.contains("Nothing"), "{said}");
}
