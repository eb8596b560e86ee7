//! Questions to several people, over the real binary: approvers, valid answers, and the result that the agent receives.

use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::{Setup, TestServer};
use reqwest::Method;
use serde_json::{Value, json};

use crate::play::{ask, done, one};

const PEOPLE: &str = "
people:
  anna: {roles: [reviewer]}
  ben: {roles: [reviewer]}
  cleo: {roles: [reviewer]}
  audrey: {roles: [auditor]}
";

/// Returns a server with a workflow that assigns its questions to the people in `whom`, and with an agent that asks
/// once.
fn asking(model: &ScriptedModel, whom: &str) -> Setup {
    let workflow = format!(
        "
name: solo
agents: {{solo: {{instructions: Ask., tools: [ask_human]}}}}
phases: [{{id: work, kind: one_shot, agent: solo}}]
gates: {{question: {whom}}}
"
    );
    model.script("solo", [one(ask("Which one?")), done()]);
    TestServer::setup().workflow("solo", &workflow).people(PEOPLE).model(model)
}

/// A person in a browser, signed in with a login link of the operator.
struct Person<'a> {
    server: &'a TestServer,
    http: reqwest::Client,
    cookie: String,
    secret: String,
}

impl<'a> Person<'a> {
    async fn new(server: &'a TestServer, id: &str) -> Self {
        let link = server.post("/v1/login-links", &json!({ "person": id })).await.ok();
        let (_, code) = link["url"].as_str().expect("a link").split_once('#').expect("a code");
        let http = holdshort_http::plain().no_proxy().build().expect("a client");
        let request = http.post(format!("{}/v1/login", server.base())).json(&json!({ "code": code }));
        let answer = request.send().await.expect("an answer");
        let set = answer.headers()["set-cookie"].to_str().expect("text");
        let cookie = set.split(';').next().unwrap_or_default().to_owned();
        let login: Value = answer.json().await.expect("JSON");
        assert_eq!(login["person"], id, "{login}");
        let secret = login["secret"].as_str().expect("a secret").to_owned();
        Self { server, http, cookie, secret }
    }

    async fn send_request(&self, method: Method, path: &str, body: &Value) -> (u16, Value) {
        let request = self.http.request(method, format!("{}{path}", self.server.base()));
        let request = request.header("cookie", &self.cookie).header("x-holdshort-secret", &self.secret);
        let answer = request.json(body).send().await.expect("an answer");
        (answer.status().as_u16(), answer.json().await.unwrap_or_default())
    }

    async fn answers(&self, asked: &Value, text: &str) -> (u16, Value) {
        let path = format!("/v1/interrupts/{}/decisions", asked["id"].as_str().expect("an id"));
        self.send_request(Method::POST, &path, &json!({ "option": "answer", "text": text })).await
    }

    async fn sees(&self) -> Vec<Value> {
        let (status, list) = self.send_request(Method::GET, "/v1/interrupts?status=open", &Value::Null).await;
        assert_eq!(status, 200, "{list}");
        list["items"].as_array().expect("a list").iter().map(|each| each["id"].clone()).collect()
    }
}

/// Each person sees only questions that are assigned to them. If two people answer at the same instant, the agent
/// receives the first answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_answer_of_those_who_are_asked_counts() {
    let model = ScriptedModel::start().await;
    let server = asking(&model, "{approvers: [anna, ben]}").start().await;
    let (anna, ben) = (Person::new(&server, "anna").await, Person::new(&server, "ben").await);
    let cleo = Person::new(&server, "cleo").await;
    let run = server.start_run("solo", "ask").await;
    let asked = server.wait_one(&run).await;
    for (person, sees) in
        [(&anna, vec![asked["id"].clone()]), (&ben, vec![asked["id"].clone()]), (&cleo, vec![])]
    {
        assert_eq!(person.sees().await, sees);
    }
    let (status, refused) = cleo.answers(&asked, "Mine.").await;
    assert_eq!((status, &refused["code"]), (403, &json!("not_an_approver")), "{refused}");

    let (hers, his) =
        tokio::join!(anna.answers(&asked, "The left one."), ben.answers(&asked, "The right one."));
    let (won, by, lost) =
        if hers.0 == 200 { ("The left one.", "anna", his) } else { ("The right one.", "ben", hers) };
    assert_eq!((lost.0, &lost.1["code"]), (409, &json!("already_resolved")), "{}", lost.1);
    let ended = server.wait_status(&run, &["completed"]).await;
    assert_eq!(model.requests()[1].texts().last().map(String::as_str), Some(won));
    assert_eq!(ended["result"]["questions"][0]["by"], by);
}

/// A question with a quorum collects several answers. The agent reads each answer with its author, and the result lists
/// each answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_answers_are_gathered_where_the_workflow_says_so() {
    let model = ScriptedModel::start().await;
    let gate = "{assignment: {approvers: [anna, ben], quorum: {required: 2}}}";
    let server = asking(&model, gate).start().await;
    let (anna, ben) = (Person::new(&server, "anna").await, Person::new(&server, "ben").await);
    let run = server.start_run("solo", "ask").await;
    let asked = server.wait_one(&run).await;
    let (status, said) = ben.answers(&asked, "The left one.").await;
    assert_eq!((status, &said["status"]), (200, &json!("open")), "{said}");
    assert_eq!(model.requests().len(), 1, "one answer is not enough");
    let (status, said) = anna.answers(&asked, "The right one.").await;
    assert_eq!((status, &said["status"]), (200, &json!("resolved")), "{said}");
    let ended = server.wait_status(&run, &["completed"]).await;
    let heard = model.requests()[1].texts().last().cloned();
    assert_eq!(heard.as_deref(), Some("ben: The left one.\nanna: The right one."));
    assert_eq!(
        ended["result"]["questions"][0]["answers"],
        json!([{ "by": "ben", "answer": "The left one." }, { "by": "anna", "answer": "The right one." }])
    );
}

/// A question for a person who may not decide would never end. The server refuses to start and names the person.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_workflow_that_asks_somebody_who_can_not_decide_does_not_start() {
    let model = ScriptedModel::start().await;
    for nobody in ["audrey", "stranger"] {
        let mut server = asking(&model, &format!("{{approvers: [anna, {nobody}]}}")).stopped();
        let ended = server.try_start().await.expect_err("it does not start");
        let said = server.stderr();
        assert_eq!(ended.code(), Some(2), "{said}");
        assert!(said.contains(&format!("no person who may decide is named `{nobody}`")), "{said}");
    }
}
