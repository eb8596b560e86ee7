//! Access of people, and how it ends: logins, links, lists, and open connections.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Api, Served, created, fetch_page, ok, send_request, text};
use crate::people::{approve, code, looked_at, peopled};
use crate::socket::{Socket, SocketMessage};

impl Served {
    async fn socket_of(&self, api: &Api) -> Socket {
        let origin = format!("http://localhost:{}", self.address().port());
        let headers = [("cookie", &*api.login().cookie), ("origin", &*origin)];
        let mut socket = Socket::open(self, &headers).await.expect("it opens");
        let welcome = socket.ask(&json!({"type": "hello", "secret": api.login().secret})).await;
        assert_eq!(welcome["type"], "welcome", "{welcome}");
        socket
    }

    async fn ids(&self, api: &Api, path: &str) -> Vec<String> {
        let list = ok(api.get(path).await);
        list["items"].as_array().expect("a list").iter().map(|one| text(one, "id").to_owned()).collect()
    }
}

/// Returns the last problem frame of a socket, and the close code of the socket.
async fn end(socket: &mut Socket) -> (Value, Option<u16>) {
    let mut last = Value::Null;
    loop {
        match socket.came().await {
            SocketMessage::Frame(frame) => last = frame["problem"]["code"].clone(),
            SocketMessage::Close(code) => return (last, code),
        }
    }
}

/// A socket is closed when its person is removed or gets other permissions. Sockets of other people stay open.
#[tokio::test]
async fn what_is_open_ends_with_what_somebody_was() {
    let served = peopled().await;
    let ben = served.signed_in_as("ben").await;
    let mut others = served.socket_of(&ben).await;
    for change in ["role", "group", "removed"] {
        let anna = served.signed_in_as("anna").await;
        let mut socket = served.socket_of(&anna).await;
        socket.subscribe(json!({"id": "in", "topic": "inbox"})).await;
        match change {
            "role" => drop(served.set("anna", &["operator"], &["legal"]).await),
            "group" => drop(served.set("anna", &["operator"], &["finance"]).await),
            _ => assert_eq!(served.operator().delete("/v1/people/anna").await.0, 200),
        }
        assert_eq!(end(&mut socket).await, (json!("access_ended"), Some(4401)), "{change}");
        let expected = if change == "removed" { 401 } else { 200 };
        assert_eq!(anna.get("/v1/login").await.0, expected, "{change}");
    }
    assert_eq!(others.ask(&json!({"type": "ping", "id": "1"})).await["type"], "pong");
}

/// A person who was removed and added again must sign in again. Earlier logins and login links are invalid.
#[tokio::test]
async fn sign_ins_and_links_end_when_somebody_leaves() {
    let served = peopled().await;
    let (anna, ben) = (served.signed_in_as("anna").await, served.signed_in_as("ben").await);
    let link = created(served.operator().post("/v1/login-links", &json!({"person": "anna"})).await);
    let (_, spent) = text(&link, "url").split_once('#').expect("a code");
    assert_eq!(served.operator().delete("/v1/people/anna").await.0, 200);
    served.set("anna", &["admin"], &[]).await;
    assert_eq!(code(&anna.get("/v1/login").await), (401, "unauthenticated"));
    assert_eq!(served.api(None).redeem(spent).await.status(), 403);
    let kept = served.data().join("logins.json");
    let stands_there = || std::fs::read_to_string(&kept).expect("it is there").contains("\"anna\"");
    let gone = async {
        while stands_there() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(crate::harness::SOON, gone).await.expect("it is purged");
    assert_eq!(ok(ben.get("/v1/login").await)["person"], "ben");
    let anew = served.signed_in_as("anna").await;
    assert_eq!(ok(anew.get("/v1/login").await)["role"], "admin");
}

/// Decision links of a removed person stay invalid, even if the person is added again.
#[tokio::test]
async fn links_to_decide_by_end_when_their_person_leaves_also_where_they_come_back() {
    let served = Served::new().await;
    let asked = served.agent().ask().await;
    let path = format!("/v1/interrupts/{}/links", text(&asked, "id"));
    let shows = async |link: &Value| {
        let (_, token) = text(link, "url").split_once("/d/").expect("a link");
        fetch_page(served.api(None).request(Method::GET, &format!("/d/{token}"))).await.status
    };
    served.set("anna", &["operator"], &[]).await;
    let first = created(served.signed_in_as("anna").await.post(&path, &json!({})).await);
    assert_eq!(shows(&first).await, 200);
    assert_eq!(served.operator().delete("/v1/people/anna").await.0, 200);
    assert_eq!(shows(&first).await, 410);
    served.set("anna", &["operator"], &[]).await;
    assert_eq!(shows(&first).await, 410, "they are there again, and the link is not");
    let anna = served.signed_in_as("anna").await;
    let second = created(anna.post(&path, &json!({})).await);
    assert_eq!(shows(&second).await, 200);
    // Signing out everywhere does not end decision links.
    assert_eq!(anna.delete("/v1/logins").await.0, 204);
    assert_eq!(shows(&second).await, 200);
}

/// *Sign out everywhere* ends all logins of one person and no others. An admin can sign other people out.
#[tokio::test]
async fn somebody_is_signed_out_everywhere() {
    let served = peopled().await;
    let (one, two) = (served.signed_in_as("anna").await, served.signed_in_as("anna").await);
    let ben = served.signed_in_as("ben").await;
    let link = created(served.operator().post("/v1/login-links", &json!({"person": "anna"})).await);
    let (_, invited) = text(&link, "url").split_once('#').expect("a code");
    let mut socket = served.socket_of(&one).await;
    assert_eq!(code(&ben.delete("/v1/people/anna/logins").await), (403, "forbidden_role"));
    assert_eq!(code(&served.agent().delete("/v1/people/anna/logins").await), (403, "forbidden_role"));
    assert_eq!(code(&served.agent().delete("/v1/logins").await), (404, "not_found"));
    assert_eq!(code(&served.operator().delete("/v1/people/nobody/logins").await), (404, "not_found"));
    assert_eq!(ok(two.get("/v1/login").await)["person"], "anna");

    assert_eq!(two.delete("/v1/logins").await.0, 204);
    assert_eq!(end(&mut socket).await, (json!("access_ended"), Some(4401)));
    for login in [&one, &two] {
        assert_eq!(code(&login.get("/v1/login").await), (401, "unauthenticated"));
    }
    assert_eq!(served.api(None).redeem(invited).await.status(), 403, "nor do they come in by an old link");
    assert_eq!(ok(ben.get("/v1/login").await)["person"], "ben");
    let again = served.signed_in_as("anna").await;
    assert_eq!(served.operator().delete("/v1/people/anna/logins").await.0, 204);
    assert_eq!(again.get("/v1/login").await.0, 401);
    let events = ok(served.operator().get_json("/v1/events?limit=200").await);
    let out = events["items"].as_array().expect("a list").iter().filter(|it| it["type"] == "signed_out");
    let by: Vec<&Value> = out.map(|it| &it["actor"]["id"]).collect();
    assert_eq!(by, ["anna", "operator"]);
}

/// Login links can be created only for people of the installation. The journal records who created a link, but not the
/// code in it.
#[tokio::test]
async fn login_links_are_of_people_and_in_the_journal() {
    let served = peopled().await;
    created(served.operator().post("/v1/keys", &json!({"name": "bot", "role": "operator"})).await);
    for nobody in ["bot", "nobody-here", "agent", ""] {
        let refused = served.operator().post("/v1/login-links", &json!({"person": nobody})).await;
        assert_eq!(
            (code(&refused), &refused.1["errors"][0]["pointer"]),
            ((422, "invalid_request"), &json!("/person"))
        );
    }
    let link = created(served.operator().post("/v1/login-links", &json!({"person": "anna"})).await);
    let (_, secret) = text(&link, "url").split_once('#').expect("a code");
    let events = ok(served.operator().get_json("/v1/events?limit=200").await);
    let made: Vec<Value> = events["items"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|event| event["type"] == "login_link_made")
        .map(|event| json!([event["stream"], event["actor"]["id"], event["data"]]))
        .collect();
    assert_eq!(made, [json!(["sys", "operator", {"person": "anna"}])]);
    assert!(!events.to_string().contains(secret));
}

#[tokio::test]
async fn people_come_in_pages() {
    let served = peopled().await;
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = ok(served.operator().get(&format!("/v1/people?limit=1{cursor}")).await);
        seen.extend(page["items"].as_array().expect("a list").iter().map(|one| text(one, "id").to_owned()));
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
        // The cursor works even if the person in the cursor was removed.
        if next == "ben" {
            assert_eq!(served.operator().delete("/v1/people/ben").await.0, 200);
        }
    }
    assert_eq!(seen, ["operator", "anna", "ben", "cleo"]);
    assert_eq!(code(&served.operator().get("/v1/people?limit=0").await), (400, "invalid_query"));
}

/// The person who started a run may stop the work of this run, but not release it (four-eyes principle).
#[tokio::test]
async fn own_work_is_refused() {
    let people = "people:\n  anna: {roles: [operator]}\n";
    let (served, _folder) = looked_at("{self_approval: false}", people).await;
    let anna = served.signed_in_as("anna").await;
    let start = json!({"workflow": "own", "input": {"task": "t"}});
    let run = created(anna.post("/v1/runs", &start).await);
    let held = served.next_of(text(&run, "id")).await;
    let path = format!("/v1/interrupts/{}", text(&held, "id"));
    let options = held["options"].as_array().expect("options");
    let release = options.iter().find(|option| option["effect"] == "proceed").expect("one that releases");
    let release = json!({"option": release["id"]});
    assert_eq!(code(&anna.decide(&held, &release).await), (403, "own_work"));
    let seen = ok(anna.get(&path).await);
    assert_eq!((&seen["you"]["may_decide"], &seen["you"]["code"]), (&json!(false), &json!("own_work")));
    let settled = ok(served.operator().decide(&held, &release).await);
    assert_eq!(settled["resolution"]["by"], json!(["operator"]));
}

/// An admin and the people as whom the admin signs in are counted as one person. The record of the interrupt shows
/// this.
#[tokio::test]
async fn whoever_signs_in_as_others_is_one_person() {
    let legal = |id: &str| format!("  {id}: {{roles: [reviewer], groups: [legal]}}\n");
    let legal: String = ["anna", "ben", "cleo"].map(legal).concat();
    let people = format!("people:\n  dora: {{roles: [admin]}}\n  otto: {{roles: [operator]}}\n{legal}");
    let gate = "{groups: [legal], quorum: {required: 2}, self_approval: false}";
    let (served, _folder) = looked_at(gate, &people).await;
    let dora = served.signed_in_as("dora").await;
    let (anna, ben) = (served.let_in_by(&dora, "anna").await, served.let_in_by(&dora, "ben").await);
    let start = json!({"workflow": "own", "input": {"task": "t"}});
    // A run that she started while signed in as a different person is also her own work.
    for starter in [&dora, &served.let_in_by(&dora, "otto").await] {
        let run = created(starter.post("/v1/runs", &start).await);
        let own = served.next_of(text(&run, "id")).await;
        assert_eq!(code(&approve(&anna, &own).await), (403, "own_work"));
    }

    let run = created(served.operator().post("/v1/runs", &start).await);
    let held = served.next_of(text(&run, "id")).await;
    ok(approve(&anna, &held).await);
    let twice = ok(approve(&ben, &held).await);
    assert_eq!((&twice["status"], &twice["votes"][1]["let_in_by"]), (&json!("open"), &json!("dora")));
    let settled = ok(approve(&served.signed_in_as("cleo").await, &held).await);
    assert_eq!(
        settled["resolution"]["let_in_by"],
        json!({"anna": "dora", "ben": "dora", "cleo": "operator"}),
        "{settled}"
    );
    let page = format!("/v1/receipts/{}/page", text(&held, "id"));
    let page = served.operator().request(Method::GET, &page).send().await.expect("it answers");
    let page = page.text().await.expect("text");
    assert!(page.contains("signed in with a link of <bdi>dora</bdi>"), "{page}");
}

/// The list of interrupts for a delegate leaves out interrupts of an approver who may no longer decide.
#[tokio::test]
async fn a_reviewer_is_listed_what_they_may_take_part_in() {
    let served = peopled().await;
    let cleo = served.signed_in_as("cleo").await;
    let away = json!({"delegate": "cleo"});
    ok(send_request(served.operator().request(Method::PUT, "/v1/people/anna/away").json(&away)).await);
    let asked = served.ask_of(json!({"approvers": ["anna", "ben"]})).await;
    let path = "/v1/interrupts?status=open";
    assert_eq!(served.ids(&cleo, path).await, [text(&asked, "id")]);
    served.set("anna", &["auditor"], &["legal"]).await;
    assert_eq!(served.ids(&cleo, path).await, Vec::<String>::new());
    assert_eq!(served.ids(&cleo, &format!("{path}&assignee=me")).await, Vec::<String>::new());
    assert_eq!(code(&approve(&cleo, &asked).await), (403, "not_an_approver"));
}

/// A person with two roles reads an interrupt with the role that sees more. The response says if the other role may
/// decide.
#[tokio::test]
async fn an_auditor_who_reviews_is_told_what_they_decide() {
    let served = peopled().await;
    served.set("anna", &["reviewer", "auditor"], &["legal"]).await;
    let anna = served.signed_in_as("anna").await;
    let (theirs, others) = (
        served.ask_of(json!({"groups": ["legal"]})).await,
        served.ask_of(json!({"groups": ["finance"]})).await,
    );
    let list = ok(anna.get("/v1/interrupts?status=open").await);
    let you = |asked: &Value| {
        let items = list["items"].as_array().expect("a list");
        items.iter().find(|one| one["id"] == asked["id"]).map(|one| one["you"]["may_decide"].clone())
    };
    assert_eq!((you(&theirs), you(&others)), (Some(json!(true)), Some(json!(false))));
    let read = ok(anna.get(&format!("/v1/interrupts/{}", text(&theirs, "id"))).await);
    assert_eq!(read["you"], json!({"may_decide": true}));
    ok(approve(&anna, &theirs).await);
}

#[tokio::test]
async fn a_people_file_that_others_may_write_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("people.yaml");
    std::fs::write(&file, "people:\n  anna: {roles: [reviewer]}\n").expect("it is written");
    let served = Served::with(|options| options.people = Some(file.clone())).await;
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o664)).expect("changed");
    let refused = served.restart_refused().await;
    assert!(refused.contains("mode 664") && refused.contains("chmod go-w"), "{refused}");
}

/// A people file may contain the maximum number of people, with all common fields.
#[tokio::test]
async fn a_people_file_holds_everybody() {
    let mut text = "people:\n".to_owned();
    for n in 0..10_000 {
        text.extend([format!(
            "  person-{n:05}:\n    name: Somebody of a long name number {n}\n    roles: [reviewer, auditor]\n    \
             groups: [legal, finance, team-{n}]\n    addresses: {{email: \"person-{n:05}@example.org\"}}\n    \
             time_zone: Europe/Berlin\n    language: de\n"
        )]);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("people.yaml");
    std::fs::write(&file, text).expect("it is written");
    let served = Served::with(|options| options.people = Some(file.clone())).await;
    let page = ok(served.operator().get("/v1/people?cursor=person-09998").await);
    assert_eq!((text_of(&page), page.get("next_cursor")), (vec!["person-09999"], None));
}

fn text_of(page: &Value) -> Vec<&str> {
    page["items"].as_array().expect("a list").iter().map(|one| text(one, "id")).collect()
}

/// Timestamps of people and keys have the same format in every response.
#[tokio::test]
async fn times_of_people_and_keys_are_told_as_times() {
    let served = peopled().await;
    let until = "2099-01-01T00:00:00.000Z";
    let away = json!({"until": until});
    ok(send_request(served.operator().request(Method::PUT, "/v1/people/anna/away").json(&away)).await);
    let key = created(served.operator().post("/v1/keys", &json!({"name": "bot"})).await);
    let rotate = format!("/v1/keys/{}/rotate", text(&key, "id"));
    ok(served.operator().post(&rotate, &json!({"overlap_ms": 60_000})).await);
    let asked = served.ask_of(json!({"approvers": ["anna"]})).await;
    let delegate = format!("/v1/interrupts/{}/delegate", text(&asked, "id"));
    let delegation = json!({"from": "anna", "to": "ben", "until": until});
    ok(served.operator().post(&delegate, &delegation).await);
    let events = ok(served.operator().get_json("/v1/events?limit=200").await);
    let fact = |kind: &str, pointer: &str| {
        let found = events["items"].as_array().expect("a list").iter().find(|event| event["type"] == kind);
        found.and_then(|event| event["data"].pointer(pointer)).cloned().unwrap_or_default()
    };
    assert_eq!(fact("away_set", "/away/until"), until);
    assert_eq!(fact("interrupt_delegated", "/delegation/until"), until);
    assert!(fact("key_rotated", "/previous_until").is_string(), "{events}");
}

/// The response to a decision or sign-in reports the remaining quota of the caller, who has a separate quota.
#[tokio::test]
async fn rates_are_told_and_kept() {
    let rates = holdshort_server::PerMinute { sign_ins: 3, decisions: 2 };
    let served = Served::with(|options| options.per_minute = rates).await;
    let told = async |request: reqwest::RequestBuilder| {
        let answer = request.send().await.expect("an answer");
        let header = |name: &str| answer.headers().get(name).map(|it| it.to_str().expect("text").to_owned());
        let told = [header("ratelimit-policy"), header("ratelimit"), header("retry-after")];
        (answer.status().as_u16(), told.map(Option::unwrap_or_default))
    };
    let asked = served.agent().ask().await;
    let path = format!("/v1/interrupts/{}/decisions", text(&asked, "id"));
    let decide = |api: Api| api.request(Method::POST, &path).json(&json!({"option": "nothing"}));
    let mut came = Vec::new();
    for _ in 0..3 {
        let (status, [policy, left, retry]) = told(decide(served.operator())).await;
        assert_eq!(policy, "\"decisions\";q=2;w=60");
        came.push((status, left.split(';').nth(1).unwrap_or_default().to_owned(), retry.is_empty()));
    }
    let expected = [(422, "r=1", true), (422, "r=0", true), (429, "r=0", false)];
    assert_eq!(came, expected.map(|(status, left, retry)| (status, left.to_owned(), retry)));
    // An agent may not decide, but its requests count against its own quota.
    assert_eq!(told(decide(served.agent())).await.0, 403);

    // Decisions over a socket count against the same quota.
    let mut socket = Socket::operator(&served).await;
    let frame = json!({"type": "decide", "id": "d", "interrupt": asked["id"], "option": "nothing"});
    let over = socket.ask(&frame).await;
    assert_eq!((&over["type"], &over["problem"]["code"]), (&json!("error"), &json!("too_many_requests")));
    // A browser gets the refusal as a page.
    let form =
        || served.api(None).request(Method::POST, "/d/x").header("accept", "text/html,*/*;q=0.8").body("");
    let mut pages = Vec::new();
    for _ in 0..3 {
        let page = fetch_page(form()).await;
        pages.push((page.status, page.header("content-type").starts_with("text/html")));
    }
    assert_eq!(pages.last(), Some(&(429, true)), "{pages:?}");
    // Requests without authentication from one address share a quota.
    for path in ["/v1/login/backchannel", "/integrations/slack/interactions"] {
        assert_eq!(told(served.api(None).request(Method::POST, path).body("")).await.0, 429, "{path}");
    }

    let redeem = || served.api(None).request(Method::POST, "/v1/login").json(&json!({"code": "guessed"}));
    let mut status = Vec::new();
    for _ in 0..4 {
        status.push(told(redeem()).await.0);
    }
    assert_eq!(status, [403, 403, 403, 429]);
    let other = told(served.operator().request(Method::GET, "/v1/login")).await;
    assert_eq!(other, (200, <[String; 3]>::default()), "nothing else is counted");
}

/// The `OpenAPI` document contains, for each route, the rate limit against which requests to the route are counted.
#[test]
fn each_route_declares_the_rate_that_it_counts_against() {
    let document = holdshort_server::openapi();
    let mut limited = Vec::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            let limit = operation["x-rate-limit"].as_str().unwrap_or("NOT DECLARED");
            if limit != "none" {
                limited.push(format!("{method} {path}: {limit}"));
            }
        }
    }
    limited.sort();
    let expected = [
        "post /v1/device-logins/progress: sign-in",
        "post /v1/device-logins: sign-in",
        "post /v1/interrupts/{id}/decisions: decisions",
        "post /v1/interrupts/{id}/views: decisions",
        "post /v1/login/backchannel: decisions of the address",
        "post /v1/login: sign-in",
    ];
    assert_eq!(limited, expected);
}

/// All decisions of one person are counted against the same quota, on all routes. Reads are not limited.
#[tokio::test]
async fn decisions_count_on_every_way_that_they_come() {
    const NONE: &str = "int_01k6f0000000000000000000aa";
    let interrupts = format!("/v1/interrupts/{NONE}");
    let review = "REV-01K6F0000000000000000000AA";
    let ways = [
        (Method::POST, format!("{interrupts}/decisions"), true),
        (Method::POST, format!("{interrupts}/views"), true),
        (Method::POST, "/edges/crew/crew/resume/run_01k6f0000000000000000000aa".to_owned(), true),
        (Method::POST, "/edges/crew/api/v1/crew/resume/run_01k6f0000000000000000000aa".to_owned(), true),
        (Method::POST, format!("/edges/crew/webhooks/callback/{review}"), true),
        (Method::GET, format!("/edges/crew/webhooks/callback/{review}"), false),
        (Method::GET, interrupts, false),
        (Method::GET, "/edges/crew/crew/reviews".to_owned(), false),
    ];
    for (method, path, counts) in ways {
        let rates = holdshort_server::PerMinute { sign_ins: 3, decisions: 2 };
        let served = Served::with(|options| options.per_minute = rates).await;
        let mut told = Vec::new();
        for _ in 0..3 {
            let request =
                served.operator().request(method.clone(), &path).json(&json!({"status": "approved"}));
            let answer = request.send().await.expect("an answer");
            let policy =
                answer.headers().get("ratelimit-policy").map(|it| it.to_str().expect("text").to_owned());
            told.push((answer.status().as_u16() == 429, policy));
        }
        let policy = counts.then(|| "\"decisions\";q=2;w=60".to_owned());
        let expected = [false, false, counts].map(|refused| (refused, policy.clone()));
        assert_eq!(told, expected, "{method} {path}");
    }
}

/// Decisions with a link and decisions with a token are counted against the same quota.
#[tokio::test]
async fn decisions_with_a_link_count_for_the_person_whom_it_is_for() {
    let rates = holdshort_server::PerMinute { sign_ins: 3, decisions: 4 };
    let served = Served::with(|options| options.per_minute = rates).await;
    let asked = served.agent().ask().await;
    let id = text(&asked, "id");
    let link = created(served.operator().post(&format!("/v1/interrupts/{id}/links"), &json!({})).await);
    let form = async || {
        let client = holdshort_http::plain().build().expect("a client");
        let request = client
            .post(text(&link, "url"))
            .body("option=nothing")
            .header("content-type", "application/x-www-form-urlencoded");
        request.send().await.expect("an answer").status().as_u16()
    };
    for _ in 0..3 {
        assert_ne!(form().await, 429);
    }
    let decide = format!("/v1/interrupts/{id}/decisions");
    let decide = async || {
        let request = served.operator().request(Method::POST, &decide).json(&json!({"option": "nothing"}));
        request.send().await.expect("an answer").status().as_u16()
    };
    assert_eq!([decide().await, decide().await], [422, 429]);
}
