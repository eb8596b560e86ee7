//! Callbacks that are repeated, reordered, late, or from a caller without permission (contracts E17, E18). The first
//! valid callback decides, whatever sending time a callback claims.

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::{BASE, get, model, paused, post, review, setup, wait_state};

#[derive(Clone, Copy, Debug)]
enum CallbackCredential {
    /// The callback has the token of a person. The text is the time at which the person claims to have sent the
    /// callback.
    Token(&'static str),
    /// The callback is a signed link: `Older` is the link that approves, created first, and `Newer` is the link that
    /// rejects.
    Older,
    Newer,
    Agent,
    Nobody,
    /// The callback is an invalid approving link. `Altered` has an altered signature, `OfAnother` belongs to a
    /// different review, and `Turned` contradicts the request body.
    Altered,
    OfAnother,
    Turned,
}
use CallbackCredential::{Agent, Altered, Newer, Nobody, OfAnother, Older, Token, Turned};

impl CallbackCredential {
    fn body(self, says: &str) -> Option<Value> {
        match self {
            Token(at) => Some(json!({"status": says, "timestamp": at})),
            Agent | Nobody | Turned => Some(json!({ "status": says })),
            Older | Newer | Altered | OfAnother => None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    InTime,
    /// The callbacks arrive after the review has expired.
    Late,
}
use When::{InTime, Late};

struct Row {
    what: &'static str,
    when: When,
    /// Callbacks for a review in the order of their arrival, each with the expected status.
    arrives: &'static [(CallbackCredential, &'static str, u16)],
    /// Expected final status of the task, and number of recorded decisions.
    ends: (&'static str, usize),
}

const EARLIER: &str = "2026-01-01T08:00:00Z";
const LATER: &str = "2026-01-01T09:00:00Z";

const TABLE: [Row; 10] = [
    Row {
        what: "replayed",
        when: InTime,
        arrives: &[
            (Token(EARLIER), "approved", 200),
            (Token(EARLIER), "approved", 200),
            (Token(LATER), "approved", 200),
            (Token(EARLIER), "rejected", 409),
        ],
        ends: ("COMPLETED", 1),
    },
    Row {
        what: "replayed by a link",
        when: InTime,
        arrives: &[(Older, "approved", 200), (Older, "approved", 200), (Newer, "rejected", 409)],
        ends: ("COMPLETED", 1),
    },
    Row {
        what: "reordered: what was sent later arrives first",
        when: InTime,
        arrives: &[
            (Token(LATER), "rejected", 200),
            (Token(EARLIER), "approved", 409),
            (Token(LATER), "rejected", 200),
        ],
        ends: ("FAILED", 1),
    },
    Row {
        what: "reordered: the newer of two links is followed first",
        when: InTime,
        arrives: &[(Newer, "rejected", 200), (Older, "approved", 409)],
        ends: ("FAILED", 1),
    },
    Row {
        what: "late",
        when: Late,
        arrives: &[(Token(EARLIER), "approved", 200), (Older, "approved", 410), (Newer, "rejected", 410)],
        ends: ("FAILED", 0),
    },
    Row {
        what: "forged: by nobody",
        when: InTime,
        arrives: &[(Nobody, "approved", 401)],
        ends: ("PAUSED", 0),
    },
    Row {
        what: "forged: by an agent",
        when: InTime,
        arrives: &[(Agent, "approved", 403)],
        ends: ("PAUSED", 0),
    },
    Row {
        what: "forged: an altered link",
        when: InTime,
        arrives: &[(Altered, "approved", 404)],
        ends: ("PAUSED", 0),
    },
    Row {
        what: "forged: the link of another review",
        when: InTime,
        arrives: &[(OfAnother, "approved", 404)],
        ends: ("PAUSED", 0),
    },
    Row {
        what: "forged: another decision than the link's",
        when: InTime,
        arrives: &[(Turned, "rejected", 422)],
        ends: ("PAUSED", 0),
    },
];

/// Task of a review, the signed links that decide it, and its callback path.
struct ReviewLinks {
    task: String,
    url: String,
    approving: String,
    rejecting: String,
}

impl ReviewLinks {
    async fn create(server: &TestServer, (task, review): (String, String)) -> Self {
        let path = format!("/webhooks/callback/{review}");
        let mut links = Vec::new();
        for decision in ["approved", "rejected"] {
            let (status, made) = post(server, &format!("{path}/links"), &json!({"decision": decision})).await;
            assert_eq!(status, 201, "{made}");
            links.push(made["url"].as_str().unwrap().to_owned());
        }
        let [approving, rejecting] = links.try_into().unwrap();
        Self { task, url: format!("{}{BASE}{path}", server.base()), approving, rejecting }
    }

    fn request(&self, server: &TestServer, by: CallbackCredential, other: &Self) -> RequestBuilder {
        let anonymous = |url: &str| {
            let client = holdshort_http::plain().no_proxy().build().unwrap();
            client.post(url)
        };
        let path = self.url.strip_prefix(server.base()).unwrap();
        match by {
            Token(_) => server.request(Method::POST, path),
            Agent => server.agent_request(Method::POST, path),
            Nobody => anonymous(&self.url),
            Older | Turned => anonymous(&self.approving),
            Newer => anonymous(&self.rejecting),
            Altered => anonymous(&self.approving[..self.approving.len() - 2]),
            OfAnother => {
                let link = other.approving.split_once('?').unwrap().1;
                anonymous(&format!("{}?{link}", self.url))
            }
        }
    }
}

/// Starts a server with two crews. Reviews of one crew expire soon.
async fn server_of_both() -> (ScriptedModel, TestServer) {
    let model = model().await;
    let brief = super::WORKFLOW.replace("name: fraud", "name: brief") + "gates: {review: {expires_in: 5s}}\n";
    let server = setup(&model).workflow("brief", &brief).env("CREW_RESUMES_PER_MINUTE", "1000").start().await;
    (model, server)
}

async fn expiring(server: &TestServer) -> ReviewLinks {
    let body = json!({"crew_name": "brief", "inputs": {"case": "T123"}, "async_execution": true});
    let (_, run) = post(server, "/crew/run", &body).await;
    let task = run["task_id"].as_str().unwrap().to_owned();
    let shown = wait_state(server, &task, "PAUSED").await;
    let known = ReviewLinks::create(server, (task, shown["review_id"].as_str().unwrap().to_owned())).await;
    wait_state(server, &known.task, "FAILED").await;
    known
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_what_arrives_the_first_that_counts_decides() {
    let (_model, server) = server_of_both().await;
    let other = ReviewLinks::create(&server, paused(&server).await).await;
    for Row { what, when, arrives, ends: (state, decisions) } in &TABLE {
        let known = match when {
            InTime => ReviewLinks::create(&server, paused(&server).await).await,
            Late => expiring(&server).await,
        };
        for (by, says, expected) in *arrives {
            let mut request = known.request(&server, *by, &other);
            if let Some(body) = by.body(says) {
                request = request.json(&body);
            }
            let told = server.send(request).await;
            assert_eq!(told.status, *expected, "{what}: {by:?}: {:?}", told.body);
            let success = json!(told.status == 200 && *when == InTime);
            assert!(told.status != 200 || told.body["success"] == success, "{what}: {:?}", told.body);
        }
        wait_state(&server, &known.task, state).await;
        let made = server.events_of(&known.task, "decision_made").await;
        assert_eq!(made.len(), *decisions, "{what}: {made:?}");
    }
    assert_eq!(get(&server, &format!("/crew/status/{}", other.task)).await["status"], "PAUSED");
}

/// Workflow of a crew with two checkers that work in parallel.
const SIDE_BY_SIDE: &str = "
name: both
description: Two reviews at once.
agents:
  first_checker: {instructions: You check., tools: [request_review]}
  second_checker: {instructions: You check., tools: [request_review]}
phases:
  - {id: first, kind: one_shot, agent: first_checker}
  - {id: second, kind: one_shot, agent: second_checker, needs: []}
";

/// Callbacks for two reviews in one run may arrive in any order, and each callback decides only its own review.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callbacks_of_two_reviews_of_one_run_arrive_in_any_order() {
    let model = model().await;
    for agent in ["first_checker", "second_checker"] {
        model.script(agent, vec![review(), Scripted::text("done")]);
    }
    let server = setup(&model).workflow("both", SIDE_BY_SIDE).start().await;
    let both = async || {
        let (status, run) =
            post(&server, "/crew/run", &json!({"crew_name": "both", "async_execution": true})).await;
        assert_eq!(status, 200, "{run}");
        let task = run["task_id"].as_str().unwrap().to_owned();
        let open = server.wait_open(&task, 2).await;
        let paths: Vec<String> =
            open.iter().map(|each| format!("/webhooks/callback/{}", each["id"].as_str().unwrap())).collect();
        let [sent_first, sent_last]: [String; 2] = paths.try_into().unwrap();
        (task, sent_first, sent_last)
    };
    let said = |status: &str, comments: &str, at: &str| json!({"status": status, "comments": comments, "timestamp": at});
    let (earlier, later) = (said("approved", "the first", EARLIER), said("approved", "the last", LATER));

    let (task, sent_first, sent_last) = both().await;
    assert_eq!(post(&server, &sent_last, &later).await.0, 200);
    assert_eq!(server.open(&task).await.len(), 1, "the other one waits as before");
    assert_eq!(post(&server, &sent_last, &earlier).await.0, 409, "it is decided, and with other words");
    assert_eq!(post(&server, &sent_first, &earlier).await.0, 200);
    wait_state(&server, &task, "COMPLETED").await;
    // Both callbacks are repeated, in the reverse order.
    assert_eq!(post(&server, &sent_last, &later).await.0, 200);
    assert_eq!(post(&server, &sent_first, &earlier).await.0, 200);
    assert_eq!(server.events_of(&task, "decision_made").await.len(), 2);
    for (path, words) in [(&sent_first, "the first"), (&sent_last, "the last")] {
        let id = path.rsplit('/').next().unwrap();
        assert_eq!(server.interrupt(id).await["resolution"]["text"], words);
    }

    // The callback that was sent last ends the task. The callback that was sent first arrives afterwards, and finds no
    // open review.
    let (task, sent_first, sent_last) = both().await;
    assert_eq!(post(&server, &sent_last, &said("rejected", "no", LATER)).await.0, 200);
    wait_state(&server, &task, "FAILED").await;
    let (status, told) = post(&server, &sent_first, &earlier).await;
    assert_eq!(status, 409, "{told}");
    assert_eq!(server.events_of(&task, "decision_made").await.len(), 1);
}
