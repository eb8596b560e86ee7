//! Gates for calls of external agents, over HTTP: a rules file, interrupts that rules resolve at once, grants, and
//! policy checks.

use holdshort_core::digest::Digest;
use serde_json::{Value, json};

use crate::harness::{Api, Served, created, ok, refusal, text};

const RULES: &str = "rules:\n\
    - {tools: [shell], commands: [\"git push *\"], do: forbid, reason: Pushes are for people.}\n\
    - {tools: [shell], commands: [\"cargo test *\"], do: allow}\n";

/// Starts a server with these rules for the whole installation.
async fn served(rules: &str) -> (Served, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rules.yaml");
    std::fs::write(&path, rules).unwrap();
    (Served::with(|options| options.rules = Some(path)).await, folder)
}

fn call(line: &str) -> Value {
    json!({"tool": "shell", "arguments": {"command": line}, "workspace": "/home/me/project"})
}

async fn ask(agent: &Api, call: &Value, more: Value) -> Value {
    let mut body = json!({"kind": "tool_approval", "title": "t", "call": call});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    created(agent.post("/v1/interrupts", &body).await)
}

#[tokio::test]
async fn a_rule_allows_and_another_forbids_at_once() {
    let (served, _folder) = served(RULES).await;
    let agent = served.agent();
    let tests = call("cargo test --all");
    let allowed = ask(&agent, &tests, json!({})).await;
    let resolution = &allowed["resolution"];
    assert_eq!(
        (
            &allowed["status"],
            &resolution["outcome"],
            &resolution["cause"],
            &resolution["by"],
            &allowed["policy"]
        ),
        (
            &json!("resolved"),
            &json!("approved"),
            &json!("rule"),
            &json!([]),
            &json!({"rule": "system/1", "version": 1})
        )
    );
    let digest = Digest::of_json(&tests).to_string();
    assert_eq!((&allowed["action_digest"], &allowed["approval"]["digest"]), (&json!(digest), &json!(digest)));
    let path = format!("/v1/interrupts/{}/consume", text(&allowed, "id"));
    assert_eq!(ok(agent.post(&path, &json!({"digest": digest})).await)["approved"], tests);

    let refused = ask(&agent, &call("cargo test && git push origin main"), json!({})).await;
    assert_eq!(
        (&refused["resolution"]["outcome"], &refused["resolution"]["cause"], &refused["policy"]["rule"]),
        (&json!("rejected"), &json!("rule"), &json!("system/0"))
    );
    assert_eq!(refused["risk"]["reasons"][0]["text"], "Pushes are for people.");
    // The two calls ask no person. Both interrupts are in the journal and in the feed of the agent.
    assert_eq!(ok(served.operator().get("/v1/interrupts?status=open").await)["items"], json!([]));
    let told = ok(agent.get("/v1/agent/decisions").await);
    let causes: Vec<&Value> = told["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["interrupt"]["resolution"]["cause"])
        .collect();
    assert_eq!(causes, [&json!("rule"), &json!("rule")]);
}

#[tokio::test]
async fn what_asks_says_why_and_a_grant_covers_the_next() {
    let (served, _folder) = served(RULES).await;
    let (agent, operator) = (served.agent(), served.operator());
    let open = ask(&agent, &call("touch a"), json!({"payload": {"ticket": 7}})).await;
    assert_eq!(open["risk"]["reasons"][0]["code"], "default");
    assert_eq!(
        (&open["payload"]["tool"], &open["payload"]["arguments"], &open["payload"]["ticket"]),
        (&json!("shell"), &json!({"command": "touch a"}), &json!(7))
    );
    let ids: Vec<&str> =
        open["options"].as_array().unwrap().iter().map(|option| text(option, "id")).collect();
    assert_eq!(ids, ["approve", "approve_session", "edit", "respond", "reject"]);
    ok(operator.decide(&open, &json!({"option": "approve_session"})).await);
    let session = text(&open, "session");
    let next = ask(&agent, &call("touch a"), json!({"session": session})).await;
    assert_eq!(
        (&next["resolution"]["outcome"], &next["resolution"]["cause"]),
        (&json!("approved"), &json!("grant"))
    );
    let check = json!({"call": call("touch a"), "session": session});
    let told = ok(agent.post("/v1/policy/check", &check).await);
    assert_eq!((&told["verdict"], &told["allowed_by"]), (&json!("allow"), &json!("grant")));
    // The grant does not apply in a different session.
    let other = ask(&agent, &call("touch a"), json!({})).await;
    assert_eq!(other["status"], "open");

    let changed =
        json!({"tool": "write", "arguments": {"path": "a"}, "before": "one\ntwo\n", "after": "one\n2\n"});
    let card = ask(&agent, &changed, json!({})).await;
    assert_eq!(
        (&card["payload"]["diff"]["added"], &card["payload"]["diff"]["removed"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(card["payload"]["category"], "file_write");
}

#[tokio::test]
async fn a_check_opens_nothing() {
    let (served, _folder) = served(RULES).await;
    let (agent, operator) = (served.agent(), served.operator());
    for (line, verdict, code, level) in [
        ("cargo test --all", "allow", "", "medium"),
        ("git push origin main", "forbid", "rule", "high"),
        ("ls", "ask", "default", "low"),
        ("rm -rf build", "ask", "default", "high"),
        ("sudo touch a", "ask", "opaque_command", "high"),
        ("echo $(touch x)", "ask", "opaque_command", "high"),
    ] {
        let told = ok(agent.post("/v1/policy/check", &json!({"call": call(line)})).await);
        let found = told["risk"]["reasons"][0]["code"].as_str().unwrap_or_default();
        assert_eq!(
            (text(&told, "verdict"), text(&told["risk"], "level")),
            (verdict, level),
            "{line}: {told}"
        );
        if line != "sudo touch a" {
            assert_eq!(found, code, "{line}: {told}");
        }
    }
    let named = json!({"call": call("ls"), "agent": "billing-bot"});
    assert_eq!(agent.post("/v1/policy/check", &named).await.0, 403);
    assert_eq!(operator.post("/v1/policy/check", &named).await.0, 200);
    let (status, refused) =
        agent.post("/v1/policy/check", &json!({"call": {"tool": "", "arguments": 1}})).await;
    assert_eq!((status, refused["errors"].as_array().map(Vec::len)), (422, Some(2)));
    assert_eq!(ok(operator.get("/v1/interrupts").await)["items"], json!([]));
    assert_eq!(ok(operator.get("/v1/runs").await)["items"], json!([]));
}

#[tokio::test]
async fn rules_of_a_file_stay_and_change_with_it() {
    let (served, folder) = served(RULES).await;
    let version = |system: Value| system["policy_version"].clone();
    assert_eq!(version(ok(served.operator().get("/v1/system").await)), 1);
    let served = served.restart().await;
    assert_eq!(version(ok(served.operator().get("/v1/system").await)), 1);
    std::fs::write(folder.path().join("rules.yaml"), "rules: []\n").unwrap();
    let served = served.restart().await;
    assert_eq!(version(ok(served.operator().get("/v1/system").await)), 2);
    let told = ok(served.agent().post("/v1/policy/check", &json!({"call": call("git push origin")})).await);
    assert_eq!(told["verdict"], "ask");
    std::fs::write(folder.path().join("rules.yaml"), "rules:\n  - {tols: [shell], do: forbid}\n").unwrap();
    let why = served.restart_refused().await;
    assert!(why.contains("rules.yaml:2") && why.contains("tols"), "{why}");
}

/// A changed rule that forbids an open call of an external agent rejects its interrupt, and the agent gets the reason.
#[tokio::test]
async fn rules_that_change_end_what_they_forbid() {
    let (served, folder) = served("rules: []\n").await;
    let forbidden = ask(&served.agent(), &call("git push origin main"), json!({})).await;
    let left = ask(&served.agent(), &call("make x"), json!({})).await;
    assert_eq!((&forbidden["status"], &left["status"]), (&json!("open"), &json!("open")));
    std::fs::write(folder.path().join("rules.yaml"), RULES).unwrap();
    let served = served.restart().await;
    let path = format!("/v1/interrupts/{}?wait=20", text(&forbidden, "id"));
    let ended = ok(served.agent().get(&path).await);
    assert_eq!(
        (&ended["resolution"]["outcome"], &ended["resolution"]["cause"], &ended["policy"]["rule"]),
        (&json!("rejected"), &json!("rule"), &json!("system/0")),
        "{ended}"
    );
    let path = format!("/v1/interrupts/{}", text(&left, "id"));
    assert_eq!(ok(served.agent().get(&path).await)["status"], "open");
}

/// A changed rule that forbids an open call of a native agent also rejects its interrupt.
#[tokio::test]
async fn rules_that_change_end_what_they_forbid_of_agents_here() {
    let steps = "    - calls:\n        - {tool: write_file, arguments: {path: a.txt, content: x}}\n    - text: Done.\n";
    let served = Served::playing(steps).await;
    let held = served.held().await;
    let rules = served.workspace().parent().expect("a folder").join("rules.yaml");
    std::fs::write(&rules, "rules:\n  - {tools: [write_file], do: forbid, reason: Nothing is written.}\n")
        .unwrap();
    let served = served.restart_with(|options| options.rules = Some(rules)).await;
    let run = served.ended(text(&held, "run")).await;
    assert_eq!(run["status"], "completed", "{run}");
    let ended = ok(served.operator().get(&format!("/v1/interrupts/{}", text(&held, "id"))).await);
    assert_eq!(ended["resolution"]["outcome"], "superseded", "{ended}");
    assert!(!served.workspace().join("a.txt").exists());
}

/// The risk of an interrupt is derived from the call, and an agent cannot set it.
#[tokio::test]
async fn no_agent_says_how_risky_its_own_ask_is() {
    let (served, _folder) = served(RULES).await;
    let agent = served.agent();
    let destructive = call("rm -rf build");
    for key in ["risk", "risk_level"] {
        let mut ask = json!({"kind": "tool_approval", "title": "t", "call": destructive});
        ask[key] = json!("low");
        let refused = agent.post("/v1/interrupts", &ask).await;
        assert_eq!(refusal(&refused), (422, "invalid_request", vec![&*format!("/{key}")]));
    }
    let told = json!({"payload": {"risk_level": "low", "risk": {"level": "low"}}});
    let asked = ask(&agent, &destructive, told).await;
    assert_eq!(asked["risk"]["level"], "high", "{asked}");
}
