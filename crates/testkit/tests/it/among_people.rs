//! Conflicts among people who decide, over the real binary: many votes at once, removed approvers, circular delegation,
//! an escalation step without people, one person in two stages, and deadlines that pass while the server is down.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::StreamExt;
use holdshort_core::digest::Digest;
use holdshort_core::time::Timestamp;
use holdshort_testkit::issuer::now;
use holdshort_testkit::server::{TestServer, eventually};
use reqwest::Method;
use serde_json::{Value, json};

use crate::issued;

/// Server whose people authenticate with tokens of an issuer. All of them are reviewers, in the groups that the test
/// names.
struct Team {
    server: TestServer,
    http: reqwest::Client,
}

impl Team {
    async fn new() -> Self {
        let mut server = TestServer::setup().stopped();
        issued::trust_issuer(&server);
        server.start().await;
        Self { server, http: holdshort_http::plain().no_proxy().build().expect("a client") }
    }

    async fn send_request(&self, token: &str, method: Method, path: &str, body: &Value) -> (u16, Value) {
        let request = self.http.request(method, format!("{}{path}", self.server.base()));
        let answer = request.bearer_auth(token).json(body).send().await.expect("an answer");
        let status = answer.status().as_u16();
        (status, answer.json().await.unwrap_or_default())
    }

    async fn post(&self, token: &str, path: &str, body: &Value) -> Value {
        let (status, shown) = self.send_request(token, Method::POST, path, body).await;
        assert!((200..300).contains(&status), "{status} {shown}");
        shown
    }

    /// Authenticates a person at the server, so that later requests can name this person. Returns the person's token.
    async fn person(&self, id: &str, groups: &[&str]) -> String {
        let token = issued::token(id, groups, now());
        let (status, who) = self.send_request(&token, Method::GET, "/v1/login", &Value::Null).await;
        assert_eq!((status, &who["person"]), (200, &json!(id)), "{who}");
        token
    }

    async fn leaves(&self, id: &str) {
        let request = self.server.request(Method::DELETE, &format!("/v1/people/{id}"));
        self.server.send(request).await.ok();
    }

    async fn ask(&self, assignment: Value, more: Value) -> Value {
        let mut ask = json!({
            "kind": "tool_approval", "title": "Archive 41 branches", "payload": {"branches": 41}, "assignment": assignment,
        });
        ask.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        self.post(self.server.agent_token(), "/v1/interrupts", &ask).await
    }

    async fn approve(&self, token: &str, asked: &Value) -> (u16, Value) {
        self.send_request(token, Method::POST, &path(asked, "/decisions"), &json!({"option": "approve"}))
            .await
    }

    async fn now(&self, asked: &Value) -> Value {
        self.server.interrupt(asked["id"].as_str().expect("an id")).await
    }

    async fn happened(&self, asked: &Value, kind: &str) -> Vec<Value> {
        self.server.events_of(asked["run"].as_str().expect("a run"), kind).await
    }
}

fn path(asked: &Value, verb: &str) -> String {
    format!("/v1/interrupts/{}{verb}", asked["id"].as_str().expect("an id"))
}

/// When 200 reviewers vote at once and two of five approvers are required, only votes of the five approvers count, and
/// the call is approved once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_hundred_who_vote_at_once_two_of_the_five_release_it() {
    let team = Team::new().await;
    let ids: Vec<String> = (0..200).map(|n| format!("voter{n:03}")).collect();
    let coming = ids.iter().map(|id| team.person(id, &["crowd"]));
    let tokens: Vec<String> = futures::stream::iter(coming).buffered(20).collect().await;
    let asked = team.ask(json!({"approvers": ids[..5], "quorum": {"required": 2}}), json!({})).await;
    // The votes of the five approvers arrive in the middle of all other votes.
    let order = (5..100).chain(0..5).chain(100..200);
    let votes = futures::future::join_all(order.map(|n| {
        let (team, token, asked) = (&team, &tokens[n], &asked);
        async move { (n, team.approve(token, asked).await) }
    }));
    for (n, (status, said)) in votes.await {
        match n {
            0..5 => assert!(status == 200 || said["code"] == "already_resolved", "{n}: {status} {said}"),
            _ => assert_eq!(status, 403, "{n}: {said}"),
        }
    }
    let resolution = team.now(&asked).await["resolution"].clone();
    let by: BTreeSet<&str> =
        resolution["by"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert_eq!((&resolution["outcome"], by.len()), (&json!("approved"), 2), "{resolution}");
    assert!(by.iter().all(|id| ids[..5].iter().any(|asked| asked == id)), "{resolution}");
    assert_eq!(team.happened(&asked, "interrupt_resolved").await.len(), 1);
}

/// The terminal marks an interrupt that waits for another stage. A vote on such an interrupt exits with code 1, which
/// is not the code of a usage error.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whose_turn_it_is_not_reads_so_in_a_terminal() {
    let team = Team::new().await;
    let (ann, ben) = (team.person("ann", &["law"]).await, team.person("ben", &["money"]).await);
    let stages = json!([{"name": "law", "groups": ["law"]}, {"name": "money", "groups": ["money"]}]);
    let asked = team.ask(json!({ "stages": stages }), json!({})).await;
    let id = asked["id"].as_str().expect("an id");
    let called = |token: &str, arguments: &[&str]| {
        let output = team.server.client_command().env("HOLDSHORT_TOKEN", token).args(arguments).output();
        let output = output.expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        (output.status.code(), said.into_owned())
    };
    for (token, is_marked) in [(&ann, false), (&ben, true)] {
        let (code, said) = called(token, &["inbox"]);
        assert_eq!((code, said.contains("you are not allowed to decide")), (Some(0), is_marked), "{said}");
        assert!(said.contains(id), "{said}");
    }
    let (code, said) = called(&ben, &["decide", id, "approve"]);
    assert!(code == Some(1) && said.contains("[not_your_stage]"), "{code:?} {said}");
    assert_eq!(called(&ann, &["decide", id, "approve"]).0, Some(0));
    assert_eq!(called(&ben, &["decide", id, "approve"]).0, Some(0));
}

/// If all approvers of an interrupt were removed, admins and operators are asked instead. Votes of removed approvers
/// are void.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_approver_is_removed_while_votes_are_in() {
    let team = Team::new().await;
    let anna = team.person("anna", &["legal"]).await;
    team.person("ben", &["legal"]).await;
    let asked = team.ask(json!({"approvers": ["anna", "ben"], "quorum": {"required": 2}}), json!({})).await;
    assert_eq!(team.approve(&anna, &asked).await.0, 200);
    team.leaves("ben").await;
    assert!(team.now(&asked).await["resolution"].is_null(), "one vote is not two");
    team.leaves("anna").await;
    assert_eq!(team.approve(&anna, &asked).await.0, 401);
    let seen = team.now(&asked).await;
    assert_eq!((&seen["votes"], &seen["status"]), (&Value::Null, &json!("open")), "{seen}");
    assert_eq!(seen["you"]["may_decide"], true);
    let reassigned = team.happened(&asked, "interrupt_reassigned").await;
    assert_eq!(reassigned.last().expect("it is told")["data"]["cause"], "emptied");
    let (_, decided) = team.approve(team.server.token(), &asked).await;
    assert_eq!(decided["resolution"]["by"], json!(["operator"]), "{decided}");
}

/// Anna delegates to Cleo, and Cleo delegates back to Anna. Together they have one vote.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delegate_who_delegates_back_is_no_second_person() {
    let team = Team::new().await;
    let (anna, ben) = (team.person("anna", &["legal"]).await, team.person("ben", &["legal"]).await);
    let cleo = team.person("cleo", &["finance"]).await;
    let asked = team.ask(json!({"groups": ["legal"], "quorum": {"required": 2}}), json!({})).await;
    team.post(&anna, &path(&asked, "/delegate"), &json!({"to": "cleo"})).await;
    let (status, back) =
        team.send_request(&cleo, Method::POST, &path(&asked, "/delegate"), &json!({"to": "anna"})).await;
    assert!(matches!(status, 200 | 403 | 422), "{back}");
    // Both people also delegate all their other interrupts to each other.
    for (token, person, delegate) in [(&anna, "anna", "cleo"), (&cleo, "cleo", "anna")] {
        let body = json!({"delegate": delegate});
        let (status, told) =
            team.send_request(token, Method::PUT, &format!("/v1/people/{person}/away"), &body).await;
        assert_eq!(status, 200, "{told}");
    }
    assert_eq!(team.approve(&anna, &asked).await.0, 200);
    for token in [&cleo, &anna] {
        team.approve(token, &asked).await;
        let seen = team.now(&asked).await;
        assert_eq!((&seen["status"], &seen["assignment"]["needed"]), (&json!("open"), &json!(1)), "{seen}");
    }
    let (_, decided) = team.approve(&ben, &asked).await;
    assert_eq!(decided["resolution"]["outcome"], "approved", "{decided}");
}

/// If all people of an escalation step were removed, admins and operators are asked. The event lists the skipped step.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_reaches_nobody_asks_admins_and_operators() {
    let team = Team::new().await;
    let anna = team.person("anna", &["legal"]).await;
    team.person("cleo", &["finance"]).await;
    let step = json!({"escalation": [{"after_ms": 1_500, "groups": ["finance"]}]});
    let asked = team.ask(json!({"groups": ["legal"]}), step).await;
    team.leaves("cleo").await;
    let seen = eventually("it is escalated", async || {
        let seen = team.now(&asked).await;
        (seen["assignment"]["operators"] == true).then_some(seen)
    })
    .await;
    assert_eq!((&seen["assignment"]["groups"], &seen["escalates"]), (&json!(["legal"]), &Value::Null));
    let escalated = &team.happened(&asked, "interrupt_escalated").await[0]["data"];
    assert_eq!((escalated.get("step"), &escalated["skipped"]), (None, &json!([0])));
    // The interrupt does not wait for removed people, and releases nothing by itself. The first approvers may still
    // decide.
    assert_eq!(team.approve(&anna, &asked).await.0, 200);
}

/// Anna belongs to the groups of both stages. Her vote is valid in only one stage, and the other stage needs a second
/// person.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_person_in_two_stages_is_not_enough() {
    let team = Team::new().await;
    let anna = team.person("anna", &["legal", "finance"]).await;
    let ben = team.person("ben", &["finance"]).await;
    let stages =
        json!({"stages": [{"name": "law", "groups": ["legal"]}, {"name": "money", "groups": ["finance"]}]});
    let asked = team.ask(stages, json!({})).await;
    let (status, first) = team.approve(&anna, &asked).await;
    assert_eq!((status, &first["assignment"]["stage"]), (200, &json!(1)), "{first}");
    team.approve(&anna, &asked).await;
    let seen = team.now(&asked).await;
    assert_eq!((&seen["status"], &seen["assignment"]["stage"]), (&json!("open"), &json!(1)), "{seen}");
    let (_, decided) = team.approve(&ben, &asked).await;
    assert_eq!(decided["resolution"]["by"], json!(["anna", "ben"]), "{decided}");
}

/// Every deadline passes while a killed server is down: reminder, escalation step, expiry, snooze, delegation,
/// approval. Each deadline takes effect once, and none of them allows a call to run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_becomes_due_while_the_server_is_down() {
    const AHEAD: u64 = 3_000;
    let mut team = Team::new().await;
    let anna = team.person("anna", &["legal"]).await;
    let cleo = team.person("cleo", &["finance"]).await;
    let ahead = || Timestamp::from_millis(now() * 1_000).plus_ms(AHEAD).to_string();
    let waits = json!({
        "reminders": {"after_ms": AHEAD, "every_ms": 100, "limit": 100},
        "escalation": [{"after_ms": AHEAD + 100, "approvers": ["cleo"]}],
    });
    let mut ends = waits.clone();
    ends["expires_in_ms"] = json!(AHEAD + 200);
    let of_anna = || json!({"approvers": ["anna"]});
    let (waits, ends) = (team.ask(of_anna(), waits).await, team.ask(of_anna(), ends).await);
    team.post(&anna, &path(&waits, "/snooze"), &json!({"until": ahead()})).await;
    let lent = team.ask(of_anna(), json!({})).await;
    team.post(&anna, &path(&lent, "/delegate"), &json!({"to": "cleo", "until": ahead()})).await;
    let allowed = team.ask(of_anna(), json!({"usable_ms": AHEAD})).await;
    assert_eq!(team.approve(&anna, &allowed).await.0, 200);

    team.server.kill();
    tokio::time::sleep(Duration::from_millis(AHEAD + 1_000)).await;
    team.server.start().await;

    assert_eq!(team.happened(&waits, "interrupt_escalated").await.len(), 1);
    let reminded = team.happened(&waits, "interrupt_reminded").await;
    let woken = reminded.iter().filter(|event| event["data"]["cause"] == "snoozed").count();
    assert_eq!(woken, 1, "{reminded:?}");
    assert_eq!(team.now(&waits).await["status"], "open");
    let resolution = team.now(&ends).await["resolution"].clone();
    assert_eq!((&resolution["outcome"], &resolution["cause"]), (&json!("expired"), &json!("expiry")));
    assert_eq!(team.happened(&ends, "interrupt_resolved").await.len(), 1);
    let (status, refused) = team.approve(&cleo, &lent).await;
    assert_eq!((status, &refused["code"]), (403, &json!("not_an_approver")), "{refused}");
    let digest = json!({"digest": Digest::of_json(&allowed["payload"]).to_string()});
    let (status, refused) = team
        .send_request(team.server.agent_token(), Method::POST, &path(&allowed, "/consume"), &digest)
        .await;
    assert_eq!((status, &refused["code"]), (409, &json!("approval_expired")), "{refused}");
}

/// A reviewer may not read runs, but sees all content of the interrupts that they decide.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reviewer_is_shown_their_question_in_the_terminal() {
    let team = Team::new().await;
    let anna = team.person("anna", &[]).await;
    let asked = team.ask(json!({"approvers": ["anna"]}), json!({})).await;
    let id = asked["id"].as_str().unwrap();
    let mut show = team.server.client_command();
    show.args(["show", id]).env("HOLDSHORT_SERVER", team.server.base()).env("HOLDSHORT_TOKEN", &anna);
    let shown = show.output().unwrap();
    let words = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.status.success() && words.contains("Archive 41 branches"), "{shown:?}");
    assert!(words.contains(&format!("decide {id} OPTION")), "{words}");
    // A reviewer also sees that the interrupt's agent is frozen.
    let reason = json!({"agent": asked["agent"], "reason": "the release is broken"});
    team.server.post("/v1/system/freeze", &reason).await.ok();
    for arguments in [&["inbox"][..], &["show", id], &["doctor"]] {
        let mut verb = team.server.client_command();
        verb.args(arguments).env("HOLDSHORT_SERVER", team.server.base()).env("HOLDSHORT_TOKEN", &anna);
        let ran = verb.output().unwrap();
        let told = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("the release is broken") && told.contains("frozen"), "{arguments:?}: {told}");
    }
    // A reviewer may not know whether the whole server is frozen.
    let mut verb = team.server.client_command();
    verb.args(["doctor", "--json"]).env("HOLDSHORT_SERVER", team.server.base()).env("HOLDSHORT_TOKEN", &anna);
    let report: Value = serde_json::from_slice(&verb.output().unwrap().stdout).unwrap();
    let told = &report["server"];
    assert_eq!(
        (&told["freezes"][0]["reason"], &told["frozen"]),
        (&reason["reason"], &Value::Null),
        "{report}"
    );
    let run = asked["run"].as_str().unwrap();
    let looks = team.server.events_of(run, "interrupt_viewed").await;
    assert!(looks.is_empty(), "a pipe is nobody: {looks:#?}");
}
