//! People over HTTP: setting people, signing in, lists of reviewers, and decisions of several people.

use holdshort_web::limits::LEFT_INTERRUPTS;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Api, Login, Served, StatusAndBody, created, ok, send_request, text};
use crate::socket::{Socket, types};

impl Served {
    pub(crate) async fn set(&self, id: &str, roles: &[&str], groups: &[&str]) -> Value {
        let body = json!({"roles": roles, "groups": groups});
        let request = self.operator().request(Method::PUT, &format!("/v1/people/{id}")).json(&body);
        ok(send_request(request).await)
    }

    pub(crate) async fn signed_in_as(&self, person: &str) -> Api {
        self.let_in_by(&self.operator(), person).await
    }

    /// Returns a client with a browser login of this person, from a login link that the client `by` created.
    pub(crate) async fn let_in_by(&self, by: &Api, person: &str) -> Api {
        let link = created(by.post("/v1/login-links", &json!({"person": person})).await);
        let (_, code) = text(&link, "url").split_once('#').expect("a code");
        let response = self.api(None).redeem(code).await;
        let cookie = response.headers()["set-cookie"].to_str().expect("text");
        let cookie = cookie.split(';').next().expect("a pair").to_owned();
        let login: Value = response.json().await.expect("JSON");
        assert_eq!(login["person"], person);
        self.signed_in(Login { cookie, secret: text(&login, "secret").to_owned() })
    }

    pub(crate) async fn ask_of(&self, assignment: Value) -> Value {
        let ask = json!({"kind": "tool_approval", "title": "Archive 41 branches", "assignment": assignment});
        created(self.agent().post("/v1/interrupts", &ask).await)
    }
}

pub(crate) fn code(said: &StatusAndBody) -> (u16, &str) {
    (said.0, said.1["code"].as_str().unwrap_or_default())
}

pub(crate) async fn approve(api: &Api, asked: &Value) -> StatusAndBody {
    api.decide(asked, &json!({"option": "approve"})).await
}

/// Starts a server with a people file, and with a workflow `own` whose only checkpoint has this assignment.
pub(crate) async fn looked_at(assignment: &str, people: &str) -> (Served, tempfile::TempDir) {
    let gate = format!("        assignment: {assignment}");
    let workflow = [
        "name: own",
        "phases:",
        "  - id: look",
        "    kind: checkpoint",
        "    message: Is it good?",
        "    gates:",
        "      checkpoint:",
        &gate,
    ]
    .join("\n");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("people.yaml");
    std::fs::write(&file, people).expect("it is written");
    (Served::with_workflow(&workflow, |options| options.people = Some(file.clone())).await, folder)
}

/// Starts a server with three people: `anna` and `ben` are in the group `legal`, `cleo` is in `finance`.
pub(crate) async fn peopled() -> Served {
    let served = Served::new().await;
    served.set("anna", &["reviewer"], &["legal"]).await;
    served.set("ben", &["reviewer"], &["legal"]).await;
    served.set("cleo", &["reviewer"], &["finance"]).await;
    served
}

#[tokio::test]
async fn people_are_set_listed_changed_and_removed() {
    let served = Served::new().await;
    let whole = json!({
        "name": "Anna Berg", "roles": ["reviewer", "auditor"], "groups": ["legal"],
        "addresses": {"email": "anna@example.org"}, "time_zone": "Europe/Berlin", "language": "de",
    });
    let put = |id: &str, body: &Value| {
        send_request(served.operator().request(Method::PUT, &format!("/v1/people/{id}")).json(body))
    };
    let set = ok(put("anna", &whole).await);
    for (key, value) in whole.as_object().expect("an object") {
        assert_eq!(&set[key], value, "{key}");
    }
    assert_eq!((&set["source"], &set["may_decide"]), (&json!("api"), &json!(true)));
    let list = ok(served.operator().get("/v1/people").await);
    let ids: Vec<&str> =
        list["items"].as_array().expect("a list").iter().map(|one| text(one, "id")).collect();
    assert_eq!((ids, list.get("next_cursor")), (vec!["operator", "anna"], None));

    let wrong = put("operator", &whole).await;
    assert_eq!(code(&wrong), (422, "invalid_request"));
    assert_eq!(wrong.1["errors"][0]["pointer"], "/id");
    let nowhere = put("x", &json!({"roles": ["reviewer"], "time_zone": "Europe/Berlln"})).await;
    let place = &nowhere.1["errors"][0]["pointer"];
    assert_eq!((code(&nowhere), place), ((422, "invalid_request"), &json!("/time_zone")));
    assert_eq!(code(&put("x", &json!({"roles": []})).await), (422, "invalid_request"));
    assert_eq!(code(&put("x", &json!({"roles": ["agent"]})).await), (422, "invalid_request"));
    assert_eq!(code(&put("x", &json!({"roles": ["reviewer"], "role": "x"})).await), (422, "invalid_request"));

    let served = served.restart().await;
    assert_eq!(
        ok(served.operator().get("/v1/people/anna").await)["name"],
        "Anna Berg",
        "it is in the journal"
    );
    assert_eq!(served.operator().delete("/v1/people/anna").await.0, 200);
    assert_eq!(code(&served.operator().get("/v1/people/anna").await), (404, "not_found"));
    assert_eq!(code(&served.operator().delete("/v1/people/anna").await), (404, "not_found"));
}

/// A quorum of two needs votes of different people, each with their own login.
#[tokio::test]
async fn two_of_a_group_release_it() {
    let served = peopled().await;
    let (anna, ben, cleo) = (
        served.signed_in_as("anna").await,
        served.signed_in_as("ben").await,
        served.signed_in_as("cleo").await,
    );
    let asked = served.ask_of(json!({"groups": ["legal"], "quorum": {"required": 2}})).await;
    assert_eq!(
        (&asked["assignment"]["groups"], &asked["assignment"]["needed"]),
        (&json!(["legal"]), &json!(2))
    );

    assert_eq!(code(&approve(&cleo, &asked).await), (403, "not_an_approver"));
    assert_eq!(code(&approve(&served.operator(), &asked).await), (403, "not_an_approver"));
    let once = ok(approve(&anna, &asked).await);
    assert_eq!((&once["status"], &once["votes"][0]["by"]), (&json!("open"), &json!("anna")));
    assert_eq!(once["assignment"]["needed"], 1);
    let again = ok(approve(&anna, &asked).await);
    assert_eq!(again["status"], "open", "each counts once");

    let path = format!("/v1/interrupts/{}", text(&asked, "id"));
    assert_eq!(ok(ben.get(&path).await)["you"], json!({"may_decide": true}));
    assert_eq!(code(&cleo.get(&path).await), (403, "forbidden_role"), "it is not theirs to read");
    let settled = ok(approve(&ben, &asked).await);
    assert_eq!(settled["resolution"]["by"], json!(["anna", "ben"]));
}

#[tokio::test]
async fn a_vote_is_taken_back() {
    let served = peopled().await;
    let (anna, ben) = (served.signed_in_as("anna").await, served.signed_in_as("ben").await);
    let asked = served.ask_of(json!({"groups": ["legal"], "quorum": {"required": 2}})).await;
    let path = format!("/v1/interrupts/{}/decisions", text(&asked, "id"));
    assert_eq!(code(&anna.delete(&path).await), (409, "no_vote"));
    ok(approve(&anna, &asked).await);
    let back = ok(anna.delete(&path).await);
    assert_eq!((back.get("votes"), &back["assignment"]["needed"]), (None, &json!(2)));
    ok(approve(&ben, &asked).await);
    ok(approve(&anna, &asked).await);
    assert_eq!(code(&ben.delete(&path).await), (409, "already_resolved"));
}

#[tokio::test]
async fn stages_come_one_after_the_other() {
    let served = peopled().await;
    let (anna, cleo) = (served.signed_in_as("anna").await, served.signed_in_as("cleo").await);
    let stages = json!({"stages": [
        {"name": "law", "groups": ["legal"]},
        {"name": "money", "groups": ["finance"]},
    ]});
    let asked = served.ask_of(stages).await;
    assert_eq!(code(&approve(&cleo, &asked).await), (403, "not_your_stage"));
    let path = format!("/v1/interrupts/{}", text(&asked, "id"));
    let seen = ok(cleo.get(&path).await);
    assert_eq!((&seen["you"]["may_decide"], &seen["you"]["code"]), (&json!(false), &json!("not_your_stage")));
    let first = ok(approve(&anna, &asked).await);
    assert_eq!(
        (&first["assignment"]["stage"], &first["assignment"]["groups"]),
        (&json!(1), &json!(["finance"]))
    );
    let settled = ok(approve(&cleo, &asked).await);
    assert_eq!(settled["resolution"]["by"], json!(["anna", "cleo"]));
}

/// An assignment that names an approver who does not exist or may not decide is refused with a JSON pointer.
#[tokio::test]
async fn who_is_named_has_to_be_there() {
    let served = peopled().await;
    served.set("audrey", &["auditor"], &[]).await;
    let table = [
        (json!({"approvers": ["audrey"]}), "/assignment/approvers/0"),
        (json!({"approvers": ["anna", "nobody-here"]}), "/assignment/approvers/1"),
        (json!({"groups": ["marketing"]}), "/assignment/groups/0"),
        (json!({"groups": []}), "/assignment/groups"),
        (json!({"groups": ["finance"], "quorum": {"required": 2}}), "/assignment"),
        (json!({"stages": []}), "/assignment/stages"),
        (json!({"stages": [{"approvers": ["anna"]}, {"approvers": ["anna"]}]}), "/assignment/stages/1"),
        (json!({"stages": [{"approvers": ["anna"]}], "approvers": ["ben"]}), "/assignment/stages"),
        (json!({"groups": ["legal"], "quorum": {"required": 0}}), "/assignment/quorum/required"),
        (json!({"groups": ["legal"], "quorum": {"needed": 2}}), "/assignment/quorum/needed"),
    ];
    for (assignment, pointer) in table {
        let ask = json!({"kind": "tool_approval", "title": "t", "assignment": assignment});
        let refused = served.agent().post("/v1/interrupts", &ask).await;
        assert_eq!(code(&refused), (422, "invalid_request"), "{ask}");
        assert_eq!(refused.1["errors"][0]["pointer"], pointer, "{ask}: {}", refused.1);
        let told = refused.1.to_string();
        for name in ["anna", "ben", "cleo", "legal", "operator"] {
            assert!(!told.contains(name), "{ask}: an agent is told who is there: {told}");
        }
    }
}

#[tokio::test]
async fn reviewers_are_shown_what_is_theirs() {
    let served = peopled().await;
    let (anna, cleo) = (served.signed_in_as("anna").await, served.signed_in_as("cleo").await);
    let of_legal = served.ask_of(json!({"groups": ["legal"]})).await;
    let of_anna = served.ask_of(json!({"approvers": ["anna"]})).await;
    let of_anybody = served.agent().ask().await;
    let listed = async |api: &Api, query: &str| {
        let list = ok(api.get(&format!("/v1/interrupts?status=open{query}")).await);
        let mut ids: Vec<String> =
            list["items"].as_array().expect("a list").iter().map(|one| text(one, "id").to_owned()).collect();
        ids.sort();
        ids
    };
    let ids = |of: &[&Value]| {
        let mut ids: Vec<String> = of.iter().map(|one| text(one, "id").to_owned()).collect();
        ids.sort();
        ids
    };
    assert_eq!(listed(&anna, "").await, ids(&[&of_legal, &of_anna]));
    assert_eq!(listed(&anna, "&assignee=me").await, ids(&[&of_anna]));
    assert_eq!(listed(&anna, "&group=mine").await, ids(&[&of_legal]));
    assert_eq!(listed(&cleo, "").await, ids(&[]));
    assert_eq!(listed(&cleo, "&group=legal").await, ids(&[]), "not by asking for it either");
    assert_eq!(listed(&served.operator(), "").await, ids(&[&of_legal, &of_anna, &of_anybody]));
    assert_eq!(listed(&served.operator(), "&assignee=anna").await, ids(&[&of_anna]));
    assert_eq!(
        code(&cleo.get(&format!("/v1/runs/{}", text(&of_legal, "run"))).await),
        (403, "forbidden_role")
    );
    assert_eq!(code(&anna.get("/v1/people").await), (403, "forbidden_role"));
}

#[tokio::test]
async fn it_is_reassigned_and_delegated() {
    let served = peopled().await;
    let (anna, ben, cleo) = (
        served.signed_in_as("anna").await,
        served.signed_in_as("ben").await,
        served.signed_in_as("cleo").await,
    );
    let asked = served.ask_of(json!({"approvers": ["anna"]})).await;
    let path = |verb: &str| format!("/v1/interrupts/{}/{verb}", text(&asked, "id"));
    assert_eq!(code(&ben.post(&path("delegate"), &json!({"to": "ben"})).await), (403, "not_an_approver"));
    let soon = "2020-01-01T00:00:00Z";
    let late = anna.post(&path("delegate"), &json!({"to": "ben", "until": soon})).await;
    assert_eq!((code(&late), &late.1["errors"][0]["pointer"]), ((422, "invalid_request"), &json!("/until")));
    let given = ok(anna.post(&path("delegate"), &json!({"to": "ben"})).await);
    assert_eq!(given["assignment"]["delegations"], json!([{"from": "anna", "to": "ben"}]));
    let seen = ok(ben.get(&format!("/v1/interrupts/{}", text(&asked, "id"))).await);
    assert_eq!(seen["you"], json!({"may_decide": true, "in_place_of": "anna"}));

    let to_finance = json!({"assignment": {"groups": ["finance"]}, "text": "It is about money."});
    let moved = ok(served.operator().post(&path("reassign"), &to_finance).await);
    assert_eq!((&moved["assignment"]["groups"], &moved["version"]), (&json!(["finance"]), &json!(2)));
    assert_eq!(code(&approve(&anna, &asked).await), (403, "not_an_approver"));
    let stale = cleo.decide(&asked, &json!({"option": "approve", "version": 1})).await;
    assert_eq!(code(&stale), (409, "stale"));
    assert_eq!(ok(approve(&cleo, &asked).await)["resolution"]["by"], json!(["cleo"]));

    // A delegate of an operator also sees interrupts that are assigned to nobody.
    let anybodys = served.agent().ask().await;
    let open = async || ok(cleo.get("/v1/interrupts?status=open").await)["items"].clone();
    assert_eq!(open().await, json!([]));
    served.set("olga", &["operator"], &[]).await;
    let path = "/v1/people/olga/away";
    ok(send_request(served.operator().request(Method::PUT, path).json(&json!({"delegate": "cleo"}))).await);
    let seen = open().await;
    assert_eq!((&seen[0]["id"], &seen[0]["you"]["in_place_of"]), (&anybodys["id"], &json!("olga")));
}

/// A delegate is offered no grant, because it would cover no call.
#[tokio::test]
async fn whoever_stands_in_is_offered_no_grant() {
    let workflow = "name: own\nagents:\n  ada:\n    instructions: Do it.\n    tools: [write_file]\n\
        phases:\n  - {id: work, kind: one_shot, agent: ada}\n";
    let rehearsal = "agents:\n  ada:\n    - text: I write.\n      calls:\n        - {tool: write_file, arguments: {path: a.txt, content: x}}\n    - text: Done.\n";
    let served = Served::with_workflow_and_rehearsal(workflow, rehearsal).await;
    for who in ["anna", "cleo"] {
        served.set(who, &["reviewer"], &[]).await;
    }
    let (anna, cleo) = (served.signed_in_as("anna").await, served.signed_in_as("cleo").await);
    let held = served.held().await;
    let path = format!("/v1/interrupts/{}", text(&held, "id"));
    let to_anna = json!({"assignment": {"approvers": ["anna"]}});
    ok(served.operator().post(&format!("{path}/reassign"), &to_anna).await);
    ok(anna.post(&format!("{path}/delegate"), &json!({"to": "cleo"})).await);
    for (who, expected) in [(&anna, true), (&cleo, false)] {
        let card = ok(who.get(&path).await);
        let mut offered = card["options"].as_array().expect("a list").iter();
        assert_eq!(offered.any(|option| option["id"] == "approve_session"), expected, "{card}");
    }
    let refused = cleo.decide(&held, &json!({"option": "approve_session"})).await;
    assert_eq!(
        (code(&refused), &refused.1["errors"][0]["pointer"]),
        ((422, "invalid_request"), &json!("/option"))
    );
    assert_eq!(ok(approve(&cleo, &held).await)["resolution"]["by"], json!(["cleo"]));
}

async fn inbox_of(served: &Served, who: &str) -> Socket {
    let browser = served.signed_in_as(who).await;
    let origin = format!("http://localhost:{}", served.address().port());
    let headers = [("cookie", &*browser.login().cookie), ("origin", &*origin)];
    let mut socket = Socket::open(served, &headers).await.expect("it opens");
    let welcome = socket.ask(&json!({"type": "hello", "secret": browser.login().secret})).await;
    assert_eq!(welcome["person"], who);
    socket.subscribe(json!({"id": "in", "topic": "inbox"})).await;
    socket
}

/// The inbox of a reviewer contains only events of interrupts on which the reviewer may decide.
#[tokio::test]
async fn the_inbox_of_a_reviewer_tells_of_what_is_theirs() {
    let served = peopled().await;
    let (anna, ben) = (served.signed_in_as("anna").await, served.signed_in_as("ben").await);
    let mut socket = inbox_of(&served, "ben").await;
    let of_finance = served.ask_of(json!({"groups": ["finance"]})).await;
    let theirs = served.ask_of(json!({"groups": ["legal"], "quorum": {"required": 2}})).await;
    ok(approve(&anna, &theirs).await);
    ok(approve(&ben, &theirs).await);
    let told = socket.events("in", 4).await;
    assert_eq!(types(&told), ["interrupt_opened", "decision_made", "decision_made", "interrupt_resolved"]);
    assert!(told.iter().all(|event| event["run"] != of_finance["run"]), "{told:?}");
}

/// A reviewer gets the event of every interrupt that is delegated to them, even if the event is read before the run in
/// memory has changed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_inbox_of_a_reviewer_tells_of_what_becomes_theirs() {
    const TIMES: usize = 60;
    let served = peopled().await;
    let anna = served.signed_in_as("anna").await;
    let mut socket = inbox_of(&served, "cleo").await;
    for n in 0..TIMES {
        let asked = served.ask_of(json!({"approvers": ["anna"]})).await;
        let path = format!("/v1/interrupts/{}/delegate", text(&asked, "id"));
        ok(anna.post(&path, &json!({"to": "cleo"})).await);
        // If the interrupt was already delegated when `interrupt_opened` was read, the inbox contains this event too.
        let mut told = socket.events("in", 1).await;
        if types(&told) == ["interrupt_opened"] {
            told = socket.events("in", 1).await;
        }
        assert_eq!(types(&told), ["interrupt_delegated"], "{n}");
        assert_eq!(told[0]["run"], asked["run"], "{n}");
    }
}

/// The inboxes of the previous approvers get the event of a reassignment, and no later events of the interrupt.
#[tokio::test]
async fn the_inbox_of_a_reviewer_tells_that_it_went_to_others() {
    let served = peopled().await;
    let cleo = served.signed_in_as("cleo").await;
    let (mut of_anna, mut of_ben) = (inbox_of(&served, "anna").await, inbox_of(&served, "ben").await);
    let asked = served.ask_of(json!({"approvers": ["anna"]})).await;
    assert_eq!(types(&of_anna.events("in", 1).await), ["interrupt_opened"]);
    let to_finance = json!({"assignment": {"groups": ["finance"]}});
    let path = format!("/v1/interrupts/{}/reassign", text(&asked, "id"));
    ok(served.operator().post(&path, &to_finance).await);
    assert_eq!(types(&of_anna.events("in", 1).await), ["interrupt_reassigned"]);
    ok(approve(&cleo, &asked).await);
    let of_legal = served.ask_of(json!({"groups": ["legal"]})).await;
    for socket in [&mut of_anna, &mut of_ben] {
        let told = socket.events("in", 1).await;
        assert_eq!((types(&told), &told[0]["run"]), (vec!["interrupt_opened"], &of_legal["run"]));
    }
}

/// The response shows the edit in a vote, so that a second approver can agree by sending the same edit.
#[tokio::test]
async fn an_edit_to_agree_with_stands_in_its_vote() {
    let served = peopled().await;
    let (anna, ben) = (served.signed_in_as("anna").await, served.signed_in_as("ben").await);
    let ask = json!({
        "kind": "review", "title": "t", "payload": {"content": "ready"},
        "assignment": {"groups": ["legal"], "quorum": {"required": 2}},
    });
    let asked = created(served.agent().post("/v1/interrupts", &ask).await);
    ok(anna.decide(&asked, &json!({"option": "edit", "edit": "sent"})).await);
    let seen = ok(ben.get(&format!("/v1/interrupts/{}", text(&asked, "id"))).await);
    let edit = &seen["votes"][0]["edit"];
    assert_eq!(edit, "sent");
    let settled = ok(ben.decide(&asked, &json!({"option": "edit", "edit": edit})).await);
    assert_eq!(settled["resolution"]["by"], json!(["anna", "ben"]));
}

/// The inbox contains an event for each change of votes and approvers.
#[tokio::test]
async fn the_inbox_tells_of_votes_taken_back_and_of_others_who_are_asked() {
    let served = peopled().await;
    let anna = served.signed_in_as("anna").await;
    let mut socket = Socket::operator(&served).await;
    socket.subscribe(json!({"id": "in", "topic": "inbox"})).await;
    let asked = served.ask_of(json!({"approvers": ["anna", "ben"], "quorum": {"required": 2}})).await;
    let path = |verb: &str| format!("/v1/interrupts/{}/{verb}", text(&asked, "id"));
    ok(approve(&anna, &asked).await);
    ok(anna.delete(&path("decisions")).await);
    ok(anna.post(&path("delegate"), &json!({"to": "cleo"})).await);
    let to_finance = json!({"assignment": {"groups": ["finance"]}});
    let refused = served.operator().post(&path("reassign"), &to_finance).await;
    assert_eq!(refused.0, 422, "two have to agree, and finance is one: {refused:?}");
    let to_groups = json!({"assignment": {"groups": ["finance", "legal"]}});
    let shown = ok(served.operator().post(&path("reassign"), &to_groups).await);
    assert_eq!(shown["assignment"]["quorum"]["required"], json!(2), "as many as before");
    let told = socket.events("in", 5).await;
    assert_eq!(
        types(&told),
        [
            "interrupt_opened",
            "decision_made",
            "vote_withdrawn",
            "interrupt_delegated",
            "interrupt_reassigned"
        ]
    );
}

/// An interrupt is escalated to admins and operators if its remaining approvers cannot decide after a removal.
#[tokio::test]
async fn what_leaving_empties_escalates() {
    let served = peopled().await;
    let anna = served.signed_in_as("anna").await;
    let asked = served.ask_of(json!({"approvers": ["anna", "ben"], "quorum": {"required": 2}})).await;
    ok(approve(&anna, &asked).await);
    assert_eq!(served.operator().delete("/v1/people/anna").await.0, 200);
    assert_eq!(code(&approve(&anna, &asked).await), (401, "unauthenticated"), "nor is she let in");
    let path = format!("/v1/interrupts/{}", text(&asked, "id"));
    let seen = ok(served.operator().get(&path).await);
    assert_eq!((seen.get("votes"), &seen["assignment"]["approvers"]), (None, &json!([])));
    assert_eq!(seen["you"], json!({"may_decide": true}));
    let events = ok(served.operator().get_json(&format!("/v1/runs/{}/events", text(&asked, "run"))).await);
    let types: Vec<&str> =
        events["items"].as_array().expect("a list").iter().map(|event| text(event, "type")).collect();
    assert!(types.ends_with(&["decision_made", "interrupt_reassigned", "vote_withdrawn"]), "{types:?}");
    assert_eq!(ok(approve(&served.operator(), &asked).await)["resolution"]["by"], json!(["operator"]));
}

/// The response to the removal of a person lists the interrupts that named this person, and says for each if other
/// approvers can decide.
#[tokio::test]
async fn whoever_removes_somebody_is_told_what_that_leaves() {
    let served = peopled().await;
    let (anna, ben) = (served.signed_in_as("anna").await, served.signed_in_as("ben").await);
    let alone = served.ask_of(json!({"approvers": ["anna"]})).await;
    let either = served.ask_of(json!({"approvers": ["anna", "ben"]})).await;
    let both = served.ask_of(json!({"approvers": ["anna", "ben"], "quorum": {"required": 2}})).await;
    let or_group = served.ask_of(json!({"approvers": ["anna"], "groups": ["finance"]})).await;
    // None of these interrupts names her: one of her group, a resolved one, and one that she has as a delegate.
    served.ask_of(json!({"groups": ["legal"]})).await;
    let settled = served.ask_of(json!({"approvers": ["anna"]})).await;
    ok(approve(&anna, &settled).await);
    let given = served.ask_of(json!({"approvers": ["ben"]})).await;
    let path = format!("/v1/interrupts/{}/delegate", text(&given, "id"));
    ok(ben.post(&path, &json!({"to": "anna"})).await);

    let left = ok(served.operator().delete("/v1/people/anna").await);
    let items = left["interrupts"].as_array().expect("a list");
    let mut told: Vec<(&str, bool)> =
        items.iter().map(|one| (text(one, "id"), one["others_may_decide"] == true)).collect();
    let mut expected = vec![
        (text(&alone, "id"), false),
        (text(&either, "id"), true),
        (text(&both, "id"), false),
        (text(&or_group, "id"), true),
    ];
    told.sort_unstable();
    expected.sort_unstable();
    assert_eq!((told, left.get("more")), (expected.clone(), None), "{left}");
    for one in items {
        assert_eq!((text(one, "kind"), text(one, "title")), ("tool_approval", "Archive 41 branches"));
    }
    for (id, others) in expected {
        let seen = ok(served.operator().get(&format!("/v1/interrupts/{id}")).await);
        assert_eq!(seen["you"]["may_decide"], json!(!others), "{seen}");
    }
    assert_eq!(ok(approve(&ben, &either).await)["resolution"]["by"], json!(["ben"]));
    assert_eq!(ok(served.operator().delete("/v1/people/cleo").await), json!({"interrupts": []}));
}

#[tokio::test]
async fn what_somebody_leaves_is_cut_and_says_so() {
    let served = peopled().await;
    for _ in 0..=LEFT_INTERRUPTS {
        served.ask_of(json!({"approvers": ["anna", "ben"]})).await;
    }
    let left = ok(served.operator().delete("/v1/people/anna").await);
    let told = left["interrupts"].as_array().map(Vec::len);
    assert_eq!((told, &left["more"]), (Some(LEFT_INTERRUPTS), &json!(true)));
}

#[tokio::test]
async fn out_of_office_with_a_delegate() {
    let served = peopled().await;
    let (anna, cleo) = (served.signed_in_as("anna").await, served.signed_in_as("cleo").await);
    let asked = served.ask_of(json!({"approvers": ["anna"]})).await;
    let away = |body: Value| send_request(anna.request(Method::PUT, "/v1/people/anna/away").json(&body));
    assert_eq!(code(&away(json!({"delegate": "anna"})).await), (422, "invalid_request"));
    assert_eq!(code(&away(json!({"until": "yesterday"})).await), (422, "invalid_request"));
    let never = away(json!({"until": "9999-12-31T23:59:59Z"})).await;
    let why = text(&never.1["errors"][0], "message");
    assert!(
        code(&never) == (422, "invalid_request") && why.contains("at the latest 9999-12-30T22:00:00Z"),
        "{why}"
    );
    let set = ok(away(json!({"until": "2099-01-01T00:00:00Z", "delegate": "cleo"})).await);
    assert_eq!(set["away"]["delegate"], "cleo");
    let other = send_request(cleo.request(Method::PUT, "/v1/people/anna/away").json(&json!({}))).await;
    assert_eq!(code(&other), (403, "forbidden_role"));
    assert_eq!(ok(anna.get("/v1/people/anna").await)["away"], set["away"], "she sees it herself");
    let path = "/v1/people/cleo/away";
    ok(send_request(served.operator().request(Method::PUT, path).json(&json!({"delegate": "ben"}))).await);
    assert_eq!(ok(served.operator().delete(path).await).get("away"), None, "an admin says it of others");
    assert_eq!(code(&anna.get("/v1/people/cleo").await), (404, "not_found"), "and nobody else");
    let seen = ok(cleo.get("/v1/interrupts?status=open&assignee=me").await);
    assert_eq!(text(&seen["items"][0], "id"), text(&asked, "id"));
    assert_eq!(seen["items"][0]["you"]["in_place_of"], "anna");
    assert_eq!(ok(approve(&cleo, &asked).await)["resolution"]["by"], json!(["cleo"]));
}

/// 20 reviewers vote ten times each, at the same time, with a quorum of two. The work is released once, by the votes of
/// two of them.
#[tokio::test]
async fn many_vote_at_once() {
    let served = Served::new().await;
    let mut voters = Vec::new();
    for n in 0..20 {
        let id = format!("voter{n}");
        served.set(&id, &["reviewer"], &["crowd"]).await;
        voters.push(served.signed_in_as(&id).await);
    }
    let asked = served.ask_of(json!({"groups": ["crowd"], "quorum": {"required": 2}})).await;
    let approvals = voters.iter().flat_map(|voter| (0..10).map(|_| approve(voter, &asked)));
    let said = futures::future::join_all(approvals).await;
    let released = said.iter().filter(|said| said.1["resolution"]["outcome"] == "approved").count();
    assert!(released > 0);
    for answer in &said {
        assert!(matches!(code(answer), (200, _) | (409, "already_resolved")), "{answer:?}");
    }
    let end = ok(served.operator().get(&format!("/v1/interrupts/{}", text(&asked, "id"))).await);
    assert_eq!(end["resolution"]["by"].as_array().map(Vec::len), Some(2), "{end}");
}

#[tokio::test]
async fn a_gate_of_a_workflow_names_people_of_the_file() {
    let people = "people:\n  anna: {roles: [reviewer], groups: [legal]}\n  ben: {roles: [reviewer], groups: [legal]}\n";
    let (served, folder) =
        looked_at("{groups: [legal], quorum: {required: 2}, self_approval: false}", people).await;
    let (anna, ben) = (served.signed_in_as("anna").await, served.signed_in_as("ben").await);
    let start = json!({"workflow": "own", "input": {"task": "t"}});
    let run = created(served.operator().post("/v1/runs", &start).await);
    let held = served.next_of(text(&run, "id")).await;
    assert_eq!(
        (&held["assignment"]["self_approval"], &held["assignment"]["needed"]),
        (&json!(false), &json!(2))
    );
    ok(approve(&anna, &held).await);
    ok(approve(&ben, &held).await);
    assert_eq!(served.ended(text(&run, "id")).await["status"], "completed");

    let changed = send_request(
        served.operator().request(Method::PUT, "/v1/people/anna").json(&json!({"roles": ["admin"]})),
    )
    .await;
    assert_eq!(code(&changed), (409, "other_source"));
    // Ben is removed from the file. The server does not start, because a workflow needs two people of legal.
    let file = folder.path().join("people.yaml");
    std::fs::write(file, "people:\n  anna: {roles: [reviewer], groups: [legal]}\n").expect("it is written");
    let refused = served.restart_refused().await;
    assert!(refused.contains("needs 2 approvers, but only 1"), "{refused}");
}

#[tokio::test]
async fn a_person_who_leaves_is_signed_out() {
    let served = peopled().await;
    let anna = served.signed_in_as("anna").await;
    assert_eq!(ok(anna.get("/v1/login").await)["person"], "anna");
    let mut stream = anna
        .request(Method::GET, "/v1/events")
        .header("accept", "text/event-stream")
        .send()
        .await
        .expect("it answers");
    assert_eq!(stream.status(), 200);
    assert_eq!(served.operator().delete("/v1/people/anna").await.0, 200);
    let ended =
        tokio::time::timeout(crate::harness::SOON, async { while let Ok(Some(_)) = stream.chunk().await {} });
    ended.await.expect("the stream ends");
    assert_eq!(code(&anna.get("/v1/login").await), (401, "unauthenticated"));
}
