//! Tests of `serve`, and of the commands that use its server.

use std::process::Stdio;

use holdshort_testkit::home::Home;
use holdshort_testkit::server::real;
use serde_json::json;

#[test]
fn serve_prints_one_line_and_stops_when_it_is_told() {
    let home = Home::new();
    let serving = home.serve(&[]);
    let keys: Vec<&String> = serving.started.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["listening", "token", "agent_token", "login"]);
    let address = serving.started["listening"].as_str().unwrap();
    assert!(address.starts_with("http://127.0.0.1:"), "{address}");

    let doctor = home.json(&["doctor"]);
    assert_eq!(doctor["server"]["address"], address);
    assert_eq!(home.json(&["inbox"]), json!([]));
    let of_packs = holdshort::PACKS.for_server().workflows.len();
    assert_eq!(home.json(&["workflows"]).as_array().unwrap().len(), 11 + of_packs);
    assert_eq!(home.json(&["audit", "verify"])["intact"], true);
    let nothing = format!("0:{}", "0".repeat(24));
    assert_eq!(
        home.run(&["audit", "verify"]).out,
        format!("✓ 0 events in 0 streams verified. No change was detected.\n  Its head is {nothing}\n")
    );
    assert_eq!(home.run(&["audit", "head"]).out, format!("{nothing}\n"));
    assert_eq!(home.json(&["freeze", "--reason", "a look"])["frozen"], true);
    assert!(home.run(&["audit", "verify"]).out.contains("✓ 1 event in 1 stream verified."));
    assert_eq!(home.json(&["doctor"])["server"]["frozen"], true);
    assert!(home.run(&["doctor"]).out.contains("Everything is frozen"));
    let inbox = home.run(&["inbox"]);
    assert!(
        inbox.err.contains("Everything is frozen since")
            && inbox.err.contains("by operator: a look.")
            && inbox.err.contains("unfreeze`"),
        "{inbox:?}"
    );
    assert_eq!(home.json(&["unfreeze"])["frozen"], false);
    assert!(!home.run(&["inbox"]).err.contains("frozen"));

    let ran = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("another server uses this data folder"), "{ran:?}");
    // A demo does not use a running server. It creates its own folder unless a folder is named.
    let ran = home.run(&["demo", "--data", home.data().to_str().unwrap()]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains(
            "another server uses this data folder. Stop that server, or name another folder with `--data DIR`"
        ),
        "{ran:?}"
    );
    let ran = home.run(&["rebuild"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("stop that server first"), "{ran:?}");

    assert_eq!(serving.stop(), (0, String::new()));
    assert!(!home.data().join("server.json").exists());
    assert_eq!(
        home.json(&["rebuild"]),
        json!({"runs": 0, "sessions": 0, "interrupts": 0, "grants": 0, "answers": 0})
    );
}

/// `ready` waits for a starting server, for tools, and checks a running one, for monitors.
#[test]
fn ready_says_whether_it_can_serve_and_waits_until_it_can() {
    let home = Home::new();
    let ran = home.run(&["ready"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("no server uses"), "{ran:?}");
    let waiting = home.command(real()).args(["ready", "--wait", "10m"]).stdout(Stdio::piped()).spawn();
    let waiting = waiting.unwrap();
    let serving = home.serve(&[]);
    let waited = waiting.wait_with_output().unwrap();
    assert_eq!((waited.status.code(), &*waited.stdout), (Some(0), &b"The server is ready.\n"[..]));
    assert_eq!(home.json(&["ready"]), json!({"status": "ok"}));
    serving.kill();
    assert_eq!(home.run(&["ready", "--wait", "1ms"]).code, 2);
}

#[test]
fn the_address_of_a_killed_server_counts_for_nothing() {
    let home = Home::new();
    home.serve(&[]).kill();
    assert!(home.data().join("server.json").exists());
    let doctor = home.json(&["doctor"]);
    assert_eq!(doctor["server"]["reachable"], false);
    let serving = home.serve(&[]);
    assert_eq!(home.json(&["doctor"])["server"]["address"], serving.started["listening"]);
}

/// `localhost:PORT` is accepted as an address.
#[test]
fn localhost_is_an_address() {
    let home = Home::new();
    let serving = home.serve_at("localhost:0", &[]);
    let listening = serving.started["listening"].as_str().unwrap();
    let port = listening.strip_prefix("http://127.0.0.1:").expect(listening);
    for server in
        [format!("localhost:{port}"), format!("http://localhost:{port}"), format!("127.0.0.1:{port}")]
    {
        assert_eq!(home.json(&["inbox", "--server", &server]), json!([]), "{server}");
    }
}

const MISSPELT: &str = "\
name: careful
agents:
  writer:
    instructions: Write.
    tools: [reed_file]
phases:
  - {id: draft, kind: one_shot, agent: writer}
gates: {tool_approval: {expire_in: 2h, approvers: [release-manager]}}
";

/// Workflow files are checked without a server or a data folder: one file, several files, or a folder.
#[test]
fn workflow_files_are_checked_where_they_lie() {
    let home = Home::new();
    let at = |name: &str| home.path().join(name).display().to_string();
    std::fs::create_dir(at("mine")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(at(name), text).unwrap();
    write("mine/careful.yaml", MISSPELT);
    write("mine/base.yaml", "name: base\nphases: [{id: look, kind: checkpoint, message: Look.}]\n");
    write("mine/more.yaml", "name: more\nextends: base\ndescription: More.\n");
    write("alone.yaml", "name: alone\nextends: base\ndescription: More.\n");
    write("compose.yaml", "services: {}\n");

    let ran = home.run(&["workflows", "check", &at("mine/careful.yaml")]);
    let file = at("mine/careful.yaml");
    let specs = holdshort_tools::catalogue(&holdshort::PACKS.for_server().toolsets);
    let mut tools: Vec<String> = specs.into_iter().map(|spec| spec.name).collect();
    tools.sort();
    let tools = tools.join(", ");
    let problems = [
        format!(
            "{file}:5:13: there is no tool `reed_file`; the tools are: {tools} (did you mean `read_file`?)"
        ),
        format!("{file}:8:25: unknown key `expire_in` (did you mean `expires_in`?)"),
        format!(
            "{file}:8:52: no person who may decide is named `release-manager`; known approvers: `operator`"
        ),
    ];
    assert_eq!(
        (ran.code, ran.out.lines().collect::<Vec<_>>()),
        (2, problems.iter().map(|line| &**line).collect())
    );
    assert!(ran.err.starts_with("No people are configured") && ran.err.contains("--people FILE"), "{ran:?}");

    let ran = home.run(&["workflows", "check", &at("mine/more.yaml")]);
    assert_eq!((ran.code, &*ran.out), (0, &*format!("{}: no problems found\n", at("mine/more.yaml"))));
    let ran = home.run(&["workflows", "check", &at("mine")]);
    assert_eq!((ran.code, ran.out.lines().count()), (2, 5), "{ran:?}");
    let ran = home.run(&["workflows", "check", &at("alone.yaml"), &at("mine/base.yaml")]);
    assert!(
        ran.code == 2
            && ran.out.contains("alone.yaml:2:10: ")
            && ran.out.ends_with("base.yaml: no problems found\n"),
        "{ran:?}"
    );
    // A rehearsal is checked with its workflow.
    std::fs::create_dir_all(at("own/played")).unwrap();
    write(
        "own/played/workflow.yaml",
        "name: played\nagents: {ada: {instructions: Do it., tools: [read_file]}}\nphases: [{id: work, kind: one_shot, \
         agent: ada}]\n",
    );
    write(
        "own/played/rehearsal.yaml",
        "agents:\n  ada:\n    - calls:\n        - {tool: read_flie}\n    - text: Done.\n",
    );
    let ran = home.run(&["workflows", "check", &at("own")]);
    let script = at("own/played/rehearsal.yaml");
    let problem =
        format!("{script}:4:18: the workflow `played` has no tool `read_flie` (did you mean `read_file`?)");
    assert!(ran.code == 2 && ran.out.lines().any(|line| line == problem), "{ran:?}");
    for name in ["nowhere.yaml", "compose.yaml/x"] {
        let ran = home.run(&["workflows", "check", &at(name)]);
        assert!(ran.code == 2 && ran.err.contains(name) && ran.out.is_empty(), "{ran:?}");
    }

    let ran = home.run(&["workflows", "check", &file, "--json"]);
    let told: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &told["files"]), (2, &json!([file])));
    assert_eq!(
        told["problems"][1],
        json!({"file": file, "line": 8, "column": 25, "path": "gates.tool_approval.expire_in",
               "message": "unknown key `expire_in`", "suggestion": "expires_in"})
    );
    assert!(!home.data().exists(), "looking changes nothing");
}

/// The check of workflow files uses the people of the server of the data folder, or the people file on the command
/// line.
#[test]
fn workflow_files_are_checked_for_the_people_of_the_running_server() {
    let home = Home::new();
    let at = |name: &str| home.path().join(name).display().to_string();
    let workflow = "name: own\nphases: [{id: look, kind: checkpoint, message: Look.}]\n\
                    gates: {checkpoint: {assignment: {approvers: [anna], groups: [legal]}}}\n";
    std::fs::write(at("own.yaml"), workflow).unwrap();
    let unknown = home.run(&["workflows", "check", &at("own.yaml")]);
    assert!(unknown.code == 2 && unknown.err.contains("No people are configured"), "{unknown:?}");
    let serving = home.serve(&[]);
    let set = ["people", "set", "anna", "--role", "reviewer", "--group", "legal"];
    assert_eq!(home.run(&set).code, 0);
    let ran = home.run(&["workflows", "check", &at("own.yaml")]);
    assert_eq!((ran.code, &*ran.err), (0, ""), "{ran:?}");
    std::fs::write(at("people.yaml"), "people:\n  ben: {roles: [reviewer], groups: [legal]}\n").unwrap();
    let ran = home.run(&["workflows", "check", &at("own.yaml"), "--people", &at("people.yaml")]);
    assert!(ran.code == 2 && ran.out.contains("known approvers: `ben`, `operator`"), "{ran:?}");
    assert_eq!(ran.err, "");
    serving.stop();
}

/// A question that requires structured data is answered from a file.
#[tokio::test]
async fn an_answer_of_data_is_sent_as_it_is() {
    let home = Home::new();
    let serving = home.serve(&[]);
    let question = json!({"kind": "question", "title": "When?", "response_schema":
        {"type": "object", "properties": {"hour": {"type": "integer"}}, "required": ["hour"]}});
    let url = format!("{}/v1/interrupts", serving.started["listening"].as_str().unwrap());
    let request = holdshort_http::plain()
        .build()
        .unwrap()
        .post(url)
        .bearer_auth(serving.started["agent_token"].as_str().unwrap());
    let asked: serde_json::Value = request.json(&question).send().await.unwrap().json().await.unwrap();
    let id = asked["id"].as_str().unwrap();
    assert!(home.run(&["snooze", id, "--for", "2h"]).out.contains("Hidden from your inbox until"));
    assert!(home.run(&["snooze", id, "--off"]).out.contains("in your inbox again"));
    let answer = home.path().join("answer.json");
    let decide = |text: &str| {
        std::fs::write(&answer, text).unwrap();
        home.run(&["decide", id, "answer", "--edit", answer.to_str().unwrap()])
    };
    let ran = decide("at nine");
    assert!(
        ran.code == 2
            && ran.err.contains("answer.json is not valid JSON, which this option requires: expected"),
        "{ran:?}"
    );
    let ran = decide("{\"hour\": \"nine\"}");
    assert!(
        ran.code == 2 && ran.err.contains("--edit, at /hour: \"nine\" is not of type \"integer\""),
        "{ran:?}"
    );
    assert_eq!(home.run(&["decide", id, "answer", "--text", "nine"]).code, 2);
    assert_eq!(decide("{\"hour\": 9}").code, 0);
    let decided = home.json(&["show", id]);
    assert_eq!(decided["resolution"]["edit"], json!({"hour": 9}));
    let shown = home.run(&["show", id]).out;
    assert!(shown.contains("hour: 9"), "{shown}");
}

/// The check of workflow files reports a gate that the given people can never satisfy.
#[test]
fn a_workflow_that_nobody_could_decide_is_found_without_a_server() {
    let home = Home::new();
    let at = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(
        at("people.yaml"),
        "people:\n  anna: {roles: [reviewer], groups: [legal]}\n  ben: {roles: [reviewer], groups: [legal]}\n",
    )
    .unwrap();
    std::fs::write(
        at("three.yaml"),
        "name: three\nphases: [{id: look, kind: checkpoint, message: Look.}]\n\
         gates: {checkpoint: {assignment: {groups: [legal], quorum: {required: 3}}}}\n",
    )
    .unwrap();
    let ran = home.run(&["workflows", "check", &at("three.yaml"), "--people", &at("people.yaml")]);
    let told = format!(
        "{}:1:1: the workflow `three` would wait forever: `gates.checkpoint` needs 3 approvers, but only 2 may decide\n",
        at("three.yaml")
    );
    assert_eq!((ran.code, ran.out), (2, told));
}
