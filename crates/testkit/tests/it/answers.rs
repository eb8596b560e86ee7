//! Answers that are stored per subject, over the real binary. Answers are suggested, accepted, reused, corrected and
//! erased, and never shown for a different subject.

use std::fs;
use std::process::Command;
use std::time::Duration;

use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::TestServer;
use reqwest::Method;
use serde_json::{Value, json};

use crate::cluster::database;
use crate::play::{ask, done, one};
use crate::versions::psql;

const HISTORY: &str = "
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

/// Returns the workflow `HISTORY` under the name `again`, with the setting to reuse answers of the last seven days.
fn reusing() -> String {
    format!("{}asking: {{reuse: 7d}}\n", HISTORY.replace("name: solo", "name: again"))
}

async fn server() -> (ScriptedModel, TestServer) {
    let model = ScriptedModel::start().await;
    let setup = TestServer::setup().workflow("solo", HISTORY).workflow("again", &reusing());
    let server = setup.model(&model).start().await;
    (model, server)
}

/// Starts a run whose agent asks this question and then is done. Returns the run's id.
async fn start(at: (&ScriptedModel, &TestServer), workflow: &str, subject: &str, question: &str) -> String {
    let (model, server) = at;
    model.script("solo", [one(ask(question)), done()]);
    let body = json!({"workflow": workflow, "input": {"task": "ask", "subject": subject}});
    let run = server.post("/v1/runs", &body).await.ok();
    run["id"].as_str().unwrap().to_owned()
}

/// Returns the open question of a run, as `GET` of the interrupt returns it.
async fn question(server: &TestServer, run: &str) -> Value {
    let open = server.wait_one(run).await;
    server.interrupt(open["id"].as_str().unwrap()).await
}

async fn answer(server: &TestServer, run: &str, text: &str) -> Value {
    let question = question(server, run).await;
    server.decide(&question, &json!({"option": "answer", "text": text})).await.ok();
    server.wait_status(run, &["completed"]).await;
    question
}

async fn list_answers(server: &TestServer, query: &str) -> Vec<Value> {
    let list = server.get(&format!("/v1/answers{query}")).await.ok();
    list["items"].as_array().unwrap().clone()
}

fn suggested(question: &Value) -> Vec<Value> {
    let all = question["suggestions_from_history"].as_array().cloned().unwrap_or_default();
    all.iter().map(|each| each["answer"].clone()).collect()
}

#[tokio::test]
async fn a_question_is_shown_with_what_its_subject_answered_before() {
    const Q: &str = "Were you ill in May?";
    let (model, mut server) = server().await;
    let first = start((&model, &server), "solo", "athlete-7", Q).await;
    let source = answer(&server, &first, "Yes, a week.").await;
    assert_eq!(suggested(&source), [Value::Null; 0]);

    let second = start((&model, &server), "solo", "athlete-7", "were you ill  in MAY?").await;
    let shown = question(&server, &second).await;
    assert_eq!(suggested(&shown), ["Yes, a week."]);
    let suggestion = &shown["suggestions_from_history"][0];
    assert_eq!(
        (&suggestion["interrupt"], &suggestion["run"], &suggestion["question"], &suggestion["by"]),
        (&source["id"], &json!(first), &json!(Q), &json!("operator"))
    );
    assert!(suggestion["at"].as_str().unwrap().ends_with('Z'));
    // Answers of other runs appear neither with the agent token nor in a list of interrupts.
    let path = format!("/v1/interrupts/{}", shown["id"].as_str().unwrap());
    assert_eq!(server.send(server.agent_request(Method::GET, &path)).await.refusal().1, "forbidden_role");
    assert_eq!(
        server.send(server.agent_request(Method::GET, "/v1/answers")).await.refusal().1,
        "forbidden_role"
    );
    assert_eq!(server.wait_one(&second).await.get("suggestions_from_history"), None);
    server.restart().await;
    assert_eq!(server.interrupt(shown["id"].as_str().unwrap()).await, shown);

    // The journal records the source of an accepted suggestion. A source that belongs to a different subject, or that
    // does not exist, is refused.
    let other = start((&model, &server), "solo", "athlete-8", "Were you ill in June?").await;
    let theirs = question(&server, &other).await;
    assert_eq!(suggested(&theirs), [Value::Null; 0]);
    let taken = json!({"option": "answer", "text": "Yes, a week.", "from": source["id"]});
    let refused = server.decide(&theirs, &taken).await;
    assert_eq!(
        (refused.status, &refused.body["errors"][0]["pointer"]),
        (422, &json!("/from")),
        "{refused:?}"
    );
    let nothing = json!({"option": "answer", "text": "Yes.", "from": "int_x"});
    assert_eq!(server.decide(&shown, &nothing).await.body["errors"][0]["pointer"], "/from");
    let alone = server.decide(&shown, &json!({"option": "answer", "from": source["id"]})).await;
    assert_eq!(alone.body["errors"][0]["pointer"], "/text", "{alone:?}");
    assert!(
        alone.body["errors"][0]["message"].as_str().unwrap().contains("also send the text of that answer"),
        "{alone:?}"
    );
    let decided = server.decide(&shown, &taken).await.ok();
    assert_eq!(
        (&decided["resolution"]["from"], &decided["resolution"]["cause"]),
        (&source["id"], &json!("decision"))
    );
    let made = server.events_of(&second, "decision_made").await;
    assert_eq!(made[0]["data"]["from"], source["id"]);
    server.decide(&theirs, &json!({"option": "answer", "text": "No."})).await.ok();

    let third = start((&model, &server), "solo", "athlete-7", Q).await;
    server.wait_status(&other, &["completed"]).await;
    assert_eq!(suggested(&question(&server, &third).await), ["Yes, a week."], "each answer once");
    answer(&server, &third, "No.").await;
    let last = start((&model, &server), "solo", "athlete-7", "How did you sleep?").await;
    assert_eq!(suggested(&question(&server, &last).await), [Value::Null; 0], "another question");
    assert_eq!(list_answers(&server, "?subject=athlete-7").await.len(), 3);
    assert_eq!(list_answers(&server, "?subject=athlete-8").await.len(), 1);
    assert_eq!(list_answers(&server, "?subject=athlete").await.len(), 0);
    assert_eq!(list_answers(&server, "").await.len(), 4);
    assert_eq!(list_answers(&server, "?q=MAY%20week").await.len(), 2);
    // A query without letters and digits is refused. A blank query does not filter.
    for none in ["?q=*", "?q=%20%2D%20%22"] {
        let refused = server.get(&format!("/v1/answers{none}")).await;
        assert_eq!(refused.refusal(), (400, "invalid_query"), "{none}");
    }
    assert_eq!(list_answers(&server, "?q=%20").await.len(), list_answers(&server, "").await.len());
    let page = server.get("/v1/answers?limit=3").await.ok();
    let next = page["next_cursor"].as_str().unwrap();
    assert_eq!(list_answers(&server, &format!("?cursor={next}")).await.len(), 1);
    assert_eq!(server.get("/v1/answers?who=x").await.refusal().1, "invalid_query");
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
}

#[tokio::test]
async fn an_earlier_answer_counts_without_asking_where_the_workflow_says_so() {
    let (model, server) = server().await;
    let first = start((&model, &server), "again", "athlete-7", "Which shoe size?").await;
    let source = answer(&server, &first, "43").await;
    let second = start((&model, &server), "again", "athlete-7", "which  SHOE size?").await;
    server.wait_status(&second, &["completed"]).await;
    let told = model.requests().last().unwrap().texts().join("\n");
    assert!(told.contains("43"), "{told}");
    let resolved = server.events_of(&second, "interrupt_resolved").await;
    assert_eq!(
        (&resolved[0]["data"]["cause"], &resolved[0]["actor"]["role"]),
        (&json!({"reused": source["id"]}), &json!("engine"))
    );
    let result = server.get(&format!("/v1/runs/{second}/result")).await.ok();
    let asked = &result["result"]["questions"][0];
    assert_eq!(
        (&asked["answer"], &asked["from"], &asked["by"]),
        (&json!("43"), &source["id"], &json!("engine"))
    );
    let reused = &list_answers(&server, "?subject=athlete-7").await[0];
    assert_eq!(
        (&reused["reused"], &reused["from"], &reused["by"]),
        (&json!(true), &source["id"], &json!("engine"))
    );
    let shown = server.interrupt(reused["interrupt"].as_str().unwrap()).await;
    assert_eq!((&shown["resolution"]["cause"], &shown["resolution"]["by"]), (&json!("reused"), &json!([])));

    // Answers about other subjects, and answers to other questions, are not reused.
    let other = start((&model, &server), "again", "athlete-8", "Which shoe size?").await;
    answer(&server, &other, "38").await;
    let last = start((&model, &server), "again", "athlete-7", "Which?").await;
    answer(&server, &last, "This.").await;

    // Erasing an answer also erases the answers that reused it.
    let path = format!("/v1/answers/{}", source["id"].as_str().unwrap());
    let erased = server.send(server.request(Method::DELETE, &path)).await.ok();
    assert_eq!((&erased["erased"], erased.get("answer")), (&json!(true), None));
    let left = list_answers(&server, "?subject=athlete-7").await;
    let left: Vec<_> = left.iter().map(|each| (each["erased"] == true, each["answer"].clone())).collect();
    assert_eq!(left, [(false, json!("This.")), (true, Value::Null), (true, Value::Null)]);
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
}

/// An answer older than the workflow's limit is not reused. The person is asked again, and the old answer is a
/// suggestion.
#[tokio::test]
async fn an_answer_that_is_too_old_is_shown_and_asked_for_again() {
    let model = ScriptedModel::start().await;
    let workflow = reusing().replace("7d", "1ms");
    let server = TestServer::setup().workflow("again", &workflow).model(&model).start().await;
    let first = start((&model, &server), "again", "athlete-7", "Which shoe size?").await;
    answer(&server, &first, "43").await;
    tokio::time::sleep(Duration::from_millis(10)).await;
    let second = start((&model, &server), "again", "athlete-7", "Which shoe size?").await;
    assert_eq!(suggested(&question(&server, &second).await), ["43"]);
}

/// A legal hold on one run keeps the answer that this run reused, but no other copy of the answer.
#[tokio::test]
async fn an_answer_is_erased_wherever_it_was_reused_but_where_it_is_held() {
    let (model, server) = server().await;
    let first = start((&model, &server), "again", "athlete-7", "Which shoe size?").await;
    let source = answer(&server, &first, "43").await;
    let mut runs = Vec::new();
    for _ in 0..3 {
        let run = start((&model, &server), "again", "athlete-7", "Which shoe size?").await;
        server.wait_status(&run, &["completed"]).await;
        runs.push(run);
    }
    let hold = format!("/v1/runs/{}/hold", runs[1]);
    server.post(&hold, &json!({"reason": "Case 114 is open."})).await.ok();

    let path = format!("/v1/answers/{}", source["id"].as_str().unwrap());
    let refused = server.send(server.request(Method::DELETE, &path)).await;
    assert_eq!(refused.refusal(), (409, "legal_hold"));
    let detail = refused.body["detail"].as_str().unwrap();
    assert!(runs.iter().map(|run| detail.contains(run)).eq([false, true, false]), "{detail}");
    let left = async || -> Vec<Value> {
        let kept = list_answers(&server, "?subject=athlete-7").await;
        kept.iter().filter(|each| each["erased"] != true).map(|each| each["run"].clone()).collect()
    };
    assert_eq!(left().await, [json!(runs[1])]);

    server.send(server.request(Method::DELETE, &hold)).await.ok();
    let erased = server.send(server.request(Method::DELETE, &path)).await.ok();
    assert_eq!(erased["erased"], true);
    assert_eq!(left().await, [Value::Null; 0]);
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
}

#[tokio::test]
async fn an_answer_is_corrected_and_erased_and_nothing_is_left_of_it() {
    const SECRET: &str = "a sore left knee";
    let (model, mut server) = server().await;
    let run = start((&model, &server), "solo", "athlete-7", "What hurts?").await;
    let source = answer(&server, &run, SECRET).await;
    let path = format!("/v1/answers/{}", source["id"].as_str().unwrap());
    let correct = format!("{path}/correct");
    for (body, pointer) in
        [(json!({}), "/text"), (json!({"text": " "}), "/text"), (json!({"text": "x", "edit": 1}), "/edit")]
    {
        let refused = server.post(&correct, &body).await;
        assert_eq!(
            (refused.status, refused.body["errors"][0]["pointer"].as_str()),
            (422, Some(pointer)),
            "{body}"
        );
    }
    let agent = server.agent_request(Method::POST, &correct).json(&json!({"text": "x"}));
    assert_eq!(server.send(agent).await.refusal(), (403, "forbidden_role"));
    let nobody = "/v1/answers/int_01k6f0000000000000000000cc";
    assert_eq!(server.send(server.request(Method::DELETE, nobody)).await.refusal(), (404, "not_found"));
    let corrected = server.post(&correct, &json!({"text": format!("{SECRET}, and a hip")})).await.ok();
    assert_eq!(corrected["answer"], format!("{SECRET}, and a hip"));
    assert!(corrected["corrected_at"].is_string());
    let second = start((&model, &server), "solo", "athlete-7", "What hurts?").await;
    let shown = question(&server, &second).await;
    assert_eq!(suggested(&shown), [format!("{SECRET}, and a hip")]);

    server.send(server.request(Method::DELETE, &path)).await.ok();
    server.send(server.request(Method::DELETE, &path)).await.ok();
    // The source of this suggestion was erased after the suggestion was shown.
    let taken = json!({"option": "answer", "text": "my knee", "from": source["id"]});
    let late = server.decide(&shown, &taken).await;
    assert_eq!((late.status, &late.body["errors"][0]["pointer"]), (422, &json!("/from")));
    assert_eq!(server.post(&correct, &json!({"text": "no"})).await.refusal(), (409, "no_answer"));
    assert_eq!(suggested(&question(&server, &second).await), [Value::Null; 0]);
    assert_eq!(list_answers(&server, "?q=knee").await, [Value::Null; 0]);
    let told = server.get("/v1/audit/verify").await.ok();
    assert_eq!(told["intact"], true, "{told}");
    let result = server.get(&format!("/v1/runs/{run}/result")).await.ok();
    let asked = &result["result"]["questions"][0];
    assert_eq!((&asked["erased"], asked.get("answer")), (&json!(true), None), "{result}");
    assert_eq!(result["result"]["text"], "Done.");
    let resolution = &server.interrupt(source["id"].as_str().unwrap()).await["resolution"];
    assert_eq!((&resolution["outcome"], resolution.get("text")), (&json!("answered"), None));
    answer(&server, &second, "Nothing.").await;
    let listed = list_answers(&server, "").await;

    server.stop().await;
    for file in fs::read_dir(server.data()).unwrap().flatten().filter(|file| file.path().is_file()) {
        let bytes = fs::read(file.path()).unwrap();
        let is_there = bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
        assert!(!is_there, "{} still holds it", file.path().display());
    }
    // The rebuilt rows equal the old rows.
    let rebuilt = client(&server, &["rebuild"]);
    assert!(rebuilt.contains("2 answers"), "{rebuilt}");
    server.start().await;
    assert_eq!(list_answers(&server, "").await, listed);
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
    assert_eq!(server.run(&run).await["status"], "completed");
}

fn client(server: &TestServer, args: &[&str]) -> String {
    let mut command: Command = server.client_command();
    let output = command.args(args).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{args:?}: {out}{err}");
    format!("{out}{err}")
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_listed_corrected_and_erased_in_a_terminal() {
    let (model, server) = server().await;
    let run = start((&model, &server), "solo", "athlete-7", "What hurts?").await;
    let source = answer(&server, &run, "My knee.").await;
    let id = source["id"].as_str().unwrap();
    let listed = client(&server, &["answers", "--subject", "athlete-7", "--search", "KNEE"]);
    for part in [id, "athlete-7", "What hurts?", "My knee.", "operator"] {
        assert!(listed.contains(part), "{part}: {listed}");
    }
    assert!(client(&server, &["answers", "--subject", "athlete-8"]).contains("No such answer is stored."));
    let corrected = client(&server, &["answers", "correct", id, "--text", "My hip."]);
    assert!(corrected.contains("My hip.") && corrected.contains("Corrected."), "{corrected}");

    let second = start((&model, &server), "solo", "athlete-7", "What hurts?").await;
    let asked = question(&server, &second).await;
    let asked = asked["id"].as_str().unwrap();
    let shown = client(&server, &["show", asked]);
    assert!(shown.contains("My hip.") && shown.contains("answered before"), "{shown}");
    client(&server, &["decide", asked, "answer", "--from", id]);
    server.wait_status(&second, &["completed"]).await;
    let listed: Value = serde_json::from_str(&client(&server, &["answers", "--json"])).unwrap();
    assert_eq!((&listed[0]["answer"], &listed[0]["from"]), (&json!("My hip."), &json!(id)));

    let erased = client(&server, &["answers", "erase", id]);
    assert!(erased.contains("(erased)"), "{erased}");
    assert!(client(&server, &["answers", "--search", "hip"]).contains("taken from"));
}

/// Checks that a rebuild finds answers from before the table of answers existed. The SQL in `without` removes that
/// table, as in the previous version.
async fn finds_old_answers(
    model: &ScriptedModel,
    server: &mut TestServer,
    verb: &[&str],
    without: impl AsyncFnOnce(&TestServer),
) {
    let first = start((model, server), "solo", "athlete-7", "What hurts?").await;
    let source = answer(server, &first, "My knee.").await;
    let listed = list_answers(server, "").await;
    assert_eq!(listed.len(), 1);
    server.stop().await;
    without(server).await;
    server.start().await;
    assert_eq!(list_answers(server, "").await, [Value::Null; 0], "an upgrade reads no journal");
    let told = server.get("/v1/audit/verify").await.ok();
    assert!(told["damages"].to_string().contains(source["id"].as_str().unwrap()), "{told}");
    server.stop().await;
    let rebuilt = client(server, verb);
    assert!(rebuilt.contains("1 answer"), "{rebuilt}");
    server.start().await;
    assert_eq!(list_answers(server, "").await, listed);
    assert_eq!(list_answers(server, "?q=knee").await, listed);
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
    let second = start((model, server), "solo", "athlete-7", "What hurts?").await;
    assert_eq!(suggested(&question(server, &second).await), ["My knee."]);
}

#[tokio::test]
async fn a_rebuild_finds_what_was_answered_before_there_were_rows_for_it() {
    let (model, mut server) = server().await;
    finds_old_answers(&model, &mut server, &["rebuild"], async |server: &TestServer| {
        let database = rusqlite::Connection::open(server.data().join("holdshort.db")).unwrap();
        let without = "DROP TABLE deliveries; DROP TABLE attempts; DROP TABLE channels; DROP TABLE answer_words; \
                       DROP TABLE answers; ALTER TABLE interrupts DROP COLUMN assigned; PRAGMA user_version = 9";
        database.execute_batch(without).unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rebuild_finds_them_in_a_database_too() {
    let (model, url) = (ScriptedModel::start().await, database().await);
    let setup = TestServer::setup().workflow("solo", HISTORY).model(&model);
    let mut server = setup.database(&url, "one").start().await;
    finds_old_answers(&model, &mut server, &["rebuild", "--store", &url], async |_: &TestServer| {
        let without = "DROP TABLE deliveries, attempts, channels, answers; ALTER TABLE nodes DROP COLUMN knows; \
                       ALTER TABLE interrupts DROP COLUMN assigned; DELETE FROM meta WHERE name = 'least'; \
                       DROP FUNCTION holdshort_claim(bigint, bigint, text[]); \
                       UPDATE meta SET value = 7 WHERE name = 'version'";
        psql(&["--quiet", "--set=ON_ERROR_STOP=1", "--command", without, "--dbname", &url]).await;
    })
    .await;
}

/// The stored answer equals the answer that an audit computes from the journal, whatever the order of keys in the
/// client's JSON.
#[tokio::test]
async fn an_answer_of_data_is_kept_as_the_journal_has_it() {
    const Q: &str = "When will you run?";
    let (model, mut server) = server().await;
    let typed = ("ask_human", json!({"question": Q, "response_schema": {"type": "object"}}));
    let begin = async |script: Vec<_>| {
        model.script("solo", script);
        let body = json!({"workflow": "solo", "input": {"task": "ask", "subject": "athlete-7"}});
        server.post("/v1/runs", &body).await.ok()["id"].as_str().unwrap().to_owned()
    };
    let run = begin(vec![one(typed.clone()), done()]).await;
    let asked = question(&server, &run).await;
    let path = format!("/v1/interrupts/{}/decisions", asked["id"].as_str().unwrap());
    let body = r#"{"option": "answer", "edit": {"hour": 14.0, "day": "tue"}}"#;
    let request = server.request(Method::POST, &path).header("content-type", "application/json").body(body);
    server.send(request).await.ok();
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(
        list_answers(&server, "?subject=athlete-7").await[0]["answer"],
        json!({"day": "tue", "hour": 14})
    );
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], json!(true));

    // A question for text suggests no JSON answer. A question for JSON suggests the answer, and accepts the suggestion
    // only unchanged.
    let other = begin(vec![one(ask(Q)), done()]).await;
    let shown = question(&server, &other).await;
    assert_eq!(suggested(&shown), [Value::Null; 0]);
    let cancel = json!({"option": "cancel"});
    server.decide(&shown, &cancel).await.ok();
    let result = server.get(&format!("/v1/runs/{other}/result")).await.ok();
    assert_eq!(result["result"]["questions"][0]["question"], json!(Q), "{result}");
    let other = begin(vec![one(typed), done()]).await;
    let shown = question(&server, &other).await;
    assert_eq!(suggested(&shown), [json!({"day": "tue", "hour": 14})]);
    let taken = |edit: Value| json!({"option": "answer", "edit": edit, "from": asked["id"]});
    let refused = server.decide(&shown, &taken(json!({"day": "wed"}))).await;
    assert_eq!(refused.refusal(), (422, "invalid_request"));
    server.decide(&shown, &taken(json!({"hour": 14, "day": "tue"}))).await.ok();
    server.restart().await;
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], json!(true));
}
