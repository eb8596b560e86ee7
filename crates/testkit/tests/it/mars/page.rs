//! The web UI from a cold start (contract A33): the requests before its first frame, its decisions with words alone,
//! the buttons of its copilot's view, and its answers about what this server cannot do.

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::{Setup, TestServer};
use reqwest::Method;
use serde_json::{Value, json};

use super::changes::tried;
use super::tabs::get;
use super::ui::{Page, form};
use super::{Mars, check_invariants, error_summary, options, plan, planned, reader};
use crate::play::{command, count, done, one, write};

const BASE: &str = "/edges/mars/api";

fn prompting(more: &Value) -> Value {
    let mut form = form("one-shot", more);
    form["toolApproval"] = json!("prompt");
    form
}

/// The page sends a task only if `openai` is valid. This is so exactly if the server has a model that responds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_learns_before_its_first_frame_whether_a_model_answers() {
    let model = ScriptedModel::start().await;
    let unreachable = ["--model", "scripted", "--base-url", "http://127.0.0.1:1/v1"];
    let unreachable = unreachable.into_iter().fold(TestServer::setup(), Setup::argument);
    for (setup, expected, models) in [
        (TestServer::setup().model(&model), "valid", json!([{"value": "scripted", "label": "scripted"}])),
        (TestServer::setup().without_model(), "not_configured", json!([])),
        (unreachable, "error", json!([{"value": "scripted", "label": "scripted"}])),
    ] {
        let server = setup.start().await;
        let told = get(&server, "credentials/status").await;
        let own = &told["results"]["openai"];
        assert_eq!(own["status"], expected, "{told:#}");
        assert_eq!(own.get("error_details").is_some(), expected == "error", "{told:#}");
        assert_eq!(told["summary"]["valid"], u64::from(expected == "valid"), "{told:#}");
        assert_eq!(told["summary"]["total"], 5);
        assert!(!told.to_string().contains(server.token()), "{told:#}");
        assert_eq!(get(&server, "models/config").await["available_models"], models);
        assert_eq!(get(&server, "sessions?limit=100").await["sessions"], json!([]));
        for path in ["credentials/status", "models/config"] {
            let agent = server.agent_request(Method::GET, &format!("{BASE}/{path}"));
            assert_eq!(server.send(agent).await.refusal(), (403, "forbidden_role"), "{path}");
            let more = server.get(&format!("{BASE}/{path}?x=1")).await;
            assert_eq!(more.refusal(), (400, "invalid_query"), "{path}");
        }
    }
}

/// The page's edit of a call contains only a text. The call never runs, and the agent reads the text as the person's
/// (contract E43). `provide_instructions` has the same effect.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn words_alone_refuse_a_call_and_reach_the_agent_as_the_persons() {
    for option in ["edit", "provide_instructions"] {
        let (model, server) = planned(&[]).await;
        model.script("engineer", [one(count("first")), one(count("second")), done()]);
        let mut page = Page::start(&server, "t1", prompting(&json!({}))).await;
        page.drawn("tool_approval").await;
        page.choose(option, "use printf instead").await;
        let received = page.until("approval_received").await;
        assert_eq!(
            (&received["approved"], &received["resolution"], &received["feedback"]),
            (&json!(false), &json!("provide_instructions"), &json!("use printf instead")),
            "{option}: {received}"
        );
        let told = page.until("code_execution").await;
        assert_eq!(
            (&told["status"], &told["result"]),
            (&json!("refused"), &json!("a person refused this call: use printf instead")),
            "{option}: {told}"
        );
        // The agent may call again, and a person is asked again.
        page.drawn("tool_approval").await;
        let said = model.requests_of("engineer")[1].texts().join("\n");
        assert!(said.contains("a person refused this call: use printf instead"), "{option}: {said}");
        page.choose("allow", "").await;
        page.until("workflow_completed").await;
        let lines = std::fs::read_to_string(page.folder().join("count.txt")).unwrap();
        assert_eq!(lines, "second\n", "{option}");
        let finished = server.events_of(&page.mars.run(), "tool_finished").await;
        assert_eq!(finished[0]["data"]["end"], "refused", "{option}: {finished:#?}");
        check_invariants(&server, &page.mars).await;
    }
}

/// An edit without a text and without arguments is refused, and the panel shows the request again. Contradictory
/// members are refused, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_of_nothing_decides_nothing() {
    let (model, server) = planned(&[]).await;
    model.script("engineer", [one(count("first")), done()]);
    let mut page = Page::start(&server, "t1", prompting(&json!({}))).await;
    let asked = page.drawn("tool_approval").await;
    let frame = |more: Value| {
        let mut frame = json!({
            "type": "resolve_approval", "approval_id": asked["approval_id"], "resolution": "edit",
            "feedback": "", "modifications": "",
        });
        frame.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        frame
    };
    for (more, pointer) in [
        (json!({}), "/modifications"),
        (json!({"feedback": " \n"}), "/modifications"),
        (json!({"resolution": "modify"}), "/modifications"),
        (json!({"feedback": "other", "approved": true}), "/approved"),
        (json!({"resolution": "provide_instructions"}), "/feedback"),
        (json!({"feedback": "other", "modifications": "not json"}), "/modifications"),
    ] {
        page.mars.say(&frame(more.clone())).await;
        let refused = page.until("error_occurred").await;
        assert_eq!(error_summary(&refused), ("invalid_request", pointer), "{more}: {refused}");
        assert_eq!(page.until("approval_requested").await["approval_id"], asked["approval_id"]);
    }
    let (run, folder) = (page.mars.run(), page.folder());
    assert_eq!(server.events_of(&run, "decision_made").await.len(), 0);
    // A page that reloads in the middle shows the request again, and its edit with words still decides.
    page.panel.asked = None;
    page.comes_back(&server).await;
    page.drawn("tool_approval").await;
    page.choose("edit", "leave it").await;
    page.until("workflow_completed").await;
    assert!(!folder.join("count.txt").exists());
    assert_eq!(server.events_of(&run, "decision_made").await.len(), 1);
}

/// At a mandatory checkpoint, an edit with only a text refuses the call, but the run continues, unlike after `abort`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn words_alone_at_a_mandatory_checkpoint_let_the_agent_go_on() {
    let (model, server) = planned(&[]).await;
    model.script("engineer", [one(write("config.yaml", "a: 1\n")), done()]);
    let more = json!({"use_ag2_handoffs": true, "ag2_mandatory_checkpoints": ["before_file_edit"]});
    let mut page = Page::start(&server, "t1", form("one-shot", &more)).await;
    page.drawn("ag2_dynamic").await;
    page.choose("edit", "archive instead").await;
    assert_eq!(page.until("tool_call").await["status"], "refused");
    page.until("workflow_completed").await;
    assert!(!page.folder().join("config.yaml").exists());
    assert!(model.requests().last().unwrap().texts().join("\n").contains("archive instead"));
    check_invariants(&server, &page.mars).await;
}

/// A button of the copilot's view sends no text, so no drawn button needs a text. The other options are still accepted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_button_of_the_copilots_view_needs_words() {
    let (model, server) = planned(&[]).await;
    model.script("engineer", [one(count("first")), one(count("second")), done()]);
    let mut form = form("copilot", &json!({"intelligentRouting": "minimal", "toolApproval": "prompt"}));
    form["useDynamicRouting"] = json!(false);
    form["approvalMode"] = json!("none");
    let mut page = Page::start(&server, "t1", form).await;
    let asked = page.drawn("tool_approval").await;
    assert_eq!(options(&asked), ["allow", "allow_session", "deny"]);
    let all: Vec<&str> =
        asked["option_details"].as_array().unwrap().iter().filter_map(|each| each["id"].as_str()).collect();
    assert_eq!(all, ["allow", "allow_session", "edit", "provide_instructions", "deny"]);
    page.choose("deny", "").await;
    page.until("approval_received").await;
    let asked = page.drawn("tool_approval").await;
    // A client with a text field can still send words.
    let words = json!({
        "type": "resolve_approval", "approval_id": asked["approval_id"], "resolution": "provide_instructions",
        "feedback": "enough",
    });
    page.mars.say(&words).await;
    page.panel.asked = None;
    page.drawn("copilot_turn").await;
    assert!(
        model.requests().last().unwrap().texts().join("\n").contains("a person refused this call: enough")
    );
    page.choose("exit", "").await;
    page.until("workflow_completed").await;
    assert!(!page.folder().join("count.txt").exists());
}

/// A request after a step names the step.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_after_a_step_names_the_step() {
    let (_model, server) = planned(&[plan(&[("build it in Rust", "engineer")])]).await;
    let more = json!({"nPlanReviews": 0, "approvalMode": "after_step"});
    let mut page = Page::start(&server, "t1", form("hitl-interactive", &more)).await;
    page.drawn("after_planning").await;
    page.choose("approve", "").await;
    let asked = page.drawn("after_step").await;
    assert_eq!(asked["message"], "Step 1 is done: build it in Rust");
    assert!(asked["description"].as_str().unwrap().starts_with("Step 1 is done: build it in Rust\n\nDone."));
    page.choose("continue", "").await;
    page.until("workflow_completed").await;
}

/// The Files tab requests the content of a file by the path that the list has. Files that no run changed are not
/// served.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_content_of_a_file_is_served_and_of_no_other() {
    let (model, server) = planned(&[]).await;
    let files = [one(write("notes/plan.md", "one\n")), one(write("notes/plan.md", "two\n"))];
    let others = [one(write("drawing.svg", "<svg/>")), done()];
    model.script("engineer", [&files[..], &others].concat());
    let mut page = Page::start(&server, "t1", form("one-shot", &json!({}))).await;
    page.until("workflow_completed").await;
    let folder = page.folder();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let listed = get(&server, "runs/t1/files").await["files"].clone();
    assert_eq!(listed[0]["file_path"], path("notes/plan.md"));
    let content = get(&server, &format!("files/content?path={}", path("notes/plan.md"))).await;
    assert_eq!((&content["content"], &content["size"]), (&json!("two\n"), &json!(4)), "the last content");
    // A later task in the same folder that does not change the file does not hide the file.
    let mut same = form("one-shot", &json!({}));
    same["workDir"] = json!(folder);
    model.script("engineer", [done()]);
    Page::start(&server, "t2", same).await.until("workflow_completed").await;
    get(&server, &format!("files/content?path={}", path("notes/plan.md"))).await;

    let raw = async |path: &str| {
        let request = server.request(Method::GET, &format!("{BASE}/files/{path}"));
        let response = request.send().await.unwrap();
        let header = |name: &str| response.headers().get(name).map(|it| it.to_str().unwrap().to_owned());
        let found =
            [header("content-type"), header("content-disposition"), header("content-security-policy")];
        (response.status().as_u16(), found, response.text().await.unwrap())
    };
    let (status, [kind, attached, _], text) = raw(&format!("download?path={}", path("notes/plan.md"))).await;
    assert_eq!((status, text.as_str()), (200, "two\n"));
    assert_eq!(kind.as_deref(), Some("application/octet-stream"));
    assert_eq!(attached.as_deref(), Some("attachment; filename=\"plan.md\""));
    let (status, [kind, _, policy], _) = raw(&format!("serve-image?path={}", path("drawing.svg"))).await;
    assert_eq!((status, kind.as_deref()), (200, Some("image/svg+xml")));
    assert!(policy.unwrap().contains("default-src 'none'"), "a drawing runs no scripts");

    std::fs::write(folder.join("private.txt"), "secret").unwrap();
    for (request, refusal) in [
        (format!("content?path={}", path("private.txt")), (404, "not_found")),
        (format!("content?path={}", path("notes/../private.txt")), (404, "not_found")),
        (format!("content?path={}", path("notes")), (404, "not_found")),
        ("content?path=notes/plan.md".to_owned(), (404, "not_found")),
        ("content?path=/etc/passwd".to_owned(), (404, "not_found")),
        (format!("content?path={}", server.data().join("tokens.json").display()), (404, "not_found")),
        (format!("serve-image?path={}", path("notes/plan.md")), (400, "invalid_query")),
        ("content".to_owned(), (400, "invalid_query")),
        ("content?path=a&run=b".to_owned(), (400, "invalid_query")),
    ] {
        let answer = server.get(&format!("{BASE}/files/{request}")).await;
        assert_eq!(answer.refusal(), refusal, "{request}: {answer:?}");
        reader::refusal(&answer.body);
    }
    for route in ["content", "download", "serve-image"] {
        let path = format!("{BASE}/files/{route}?path={}", path("drawing.svg"));
        let agent = server.agent_request(Method::GET, &path);
        assert_eq!(server.send(agent).await.refusal(), (403, "forbidden_role"), "{route}");
    }
}

/// A file that is not text has no content to show, and a file beyond the limit is not served.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_not_text_or_too_large_is_not_shown() {
    let made = command("printf '\\377\\000' > data.bin && head -c 5000000 /dev/zero > large.bin");
    let (model, server) = tried(&[made, command("rm old.txt")]).await;
    let mut mars = Mars::start(&server, "t1", "Make them.", json!({})).await;
    mars.wait("workflow_completed").await;
    let path = |name: &str| server.workspace().join(name).to_str().unwrap().to_owned();
    let content = get(&server, &format!("files/content?path={}", path("data.bin"))).await;
    assert_eq!((&content["type"], &content["content"]), (&json!("binary"), &json!(null)), "{content}");
    assert_eq!(content["size"], 2);
    let large = server.get(&format!("{BASE}/files/content?path={}", path("large.bin"))).await;
    assert_eq!(large.refusal(), (409, "limit_reached"));
    let deleted = server.get(&format!("{BASE}/files/content?path={}", path("old.txt"))).await;
    assert_eq!(deleted.refusal(), (404, "not_found"));

    // A later task deletes a file: its earlier content is not served as current.
    model.script("engineer", [one(command("rm data.bin")), done()]);
    let mut later = Mars::start(&server, "t2", "Delete it.", json!({})).await;
    later.wait("workflow_completed").await;
    let deleted = server.get(&format!("{BASE}/files/content?path={}", path("data.bin"))).await;
    assert_eq!(deleted.refusal(), (404, "not_found"));
    assert!(reader::refusal(&deleted.body).contains("deleted the file"), "{deleted:?}");

    // An undo restores the file.
    let runs = server.get("/v1/runs?limit=1").await.ok();
    let undo = format!("/v1/runs/{}/undo", runs["items"][0]["id"].as_str().unwrap());
    let undo = server.post(&undo, &json!({})).await.ok();
    let undo = undo["id"].as_str().unwrap();
    let asked = server.wait_one(undo).await;
    server.choose(&asked, "approve").await;
    server.wait_status(undo, &["completed"]).await;
    let restored = get(&server, &format!("files/content?path={}", path("data.bin"))).await;
    assert_eq!(restored["size"], 2, "{restored}");
}

/// *Branch* and *play from a node* are not available. The page shows the reason.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_this_server_cannot_do_is_said() {
    let (model, server) = planned(&[]).await;
    model.script("engineer", [done()]);
    let mut page = Page::start(&server, "t1", form("one-shot", &json!({}))).await;
    page.until("workflow_completed").await;
    let branch = json!({
        "node_id": "s1", "branch_name": "b", "hypothesis": null, "new_instructions": null,
        "execute_immediately": false,
    });
    let node = json!({"node_id": "s1", "context_override": null});
    for (route, body, words) in
        [("branch", &branch, "cannot branch a run yet"), ("play-from-node", &node, "from a node yet")]
    {
        let answer = server.post(&format!("{BASE}/runs/t1/{route}"), body).await;
        assert_eq!(answer.refusal(), (404, "not_found"), "{route}");
        assert!(reader::refusal(&answer.body).contains(words), "{answer:?}");
        let unknown = server.post(&format!("{BASE}/runs/nobody/{route}"), body).await;
        assert!(!reader::refusal(&unknown.body).contains(words), "{unknown:?}");
        let agent = server.agent_request(Method::POST, &format!("{BASE}/runs/t1/{route}")).json(body);
        assert_eq!(server.send(agent).await.refusal(), (403, "forbidden_role"), "{route}");
    }
}

/// *Save & Test* and *Test* of a key, and *Clear Directory*, are refused. The page shows the messages of the results of an
/// accepted request, and the `detail` of a refusal.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_and_the_deletion_of_a_folder_are_refused_in_words() {
    let (model, server) = planned(&[]).await;
    model.script("engineer", [one(write("notes.md", "one\n")), done()]);
    let mut page = Page::start(&server, "t1", form("one-shot", &json!({}))).await;
    page.until("workflow_completed").await;
    let keys = json!({
        "openai_key": "sk-a-key", "anthropic_key": "", "vertex_json": "", "azure_openai_key": "",
        "azure_openai_endpoint": "", "azure_openai_deployment": "", "azure_openai_api_version": "",
    });
    for (route, member) in [("test", "results"), ("store", "test_results")] {
        let path = format!("{BASE}/credentials/{route}");
        let answer = server.post(&path, &keys).await.ok();
        for provider in ["openai", "anthropic", "vertex", "azure_openai"] {
            let shown = &answer[member][provider];
            assert_eq!(shown["status"], "error", "{route}: {answer:#}");
            assert!(shown["message"].as_str().unwrap().starts_with("Not stored: "), "{route}: {answer:#}");
        }
        assert!(!answer.to_string().contains("sk-a-key"), "{answer:#}");
        let agent = server.agent_request(Method::POST, &path).json(&keys);
        assert_eq!(server.send(agent).await.refusal(), (403, "forbidden_role"), "{route}");
    }
    assert_eq!(get(&server, "credentials/status").await["results"]["openai"]["status"], "valid");

    let file = page.folder().join("notes.md");
    let folder = page.folder().to_str().unwrap().to_owned();
    let path = format!("{BASE}/files/clear-directory?path={folder}");
    let answer = server.send(server.request(Method::DELETE, &path)).await;
    assert_eq!(answer.refusal(), (404, "not_found"));
    let detail = format!("this server deletes no folder for a page: delete the files in {folder} yourself");
    assert_eq!(reader::refusal(&answer.body), detail);
    assert!(file.exists());
    let agent = server.send(server.agent_request(Method::DELETE, &path)).await;
    assert_eq!(agent.refusal(), (403, "forbidden_role"));
    let long = format!("{BASE}/files/clear-directory?path={}%0A", "x".repeat(2_000));
    let answer = server.send(server.request(Method::DELETE, &long)).await;
    assert!(reader::refusal(&answer.body).len() < 700, "{answer:?}");
}

/// If the server's own workflow offers no option with a text for a call, an edit with only a text is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_no_words_are_offered_an_edit_needs_arguments() {
    let model = ScriptedModel::start().await;
    model.script("engineer", [one(count("first")), done()]);
    let shipped = include_str!("../../../../edges/src/mars/base.yaml");
    let own = shipped.replace(
        "\ngates:",
        "\ngates:\n  tool_approval: {options: [approve, edit, reject], reject: fail_run}",
    );
    let server = TestServer::setup().workflow("mars", &own).model(&model).start().await;
    let mut page = Page::start(&server, "t1", prompting(&json!({}))).await;
    page.drawn("tool_approval").await;
    page.choose("edit", "other").await;
    let refused = page.until("error_occurred").await;
    assert_eq!(error_summary(&refused), ("invalid_request", "/modifications"), "{refused}");
    page.drawn("tool_approval").await;
    page.choose("deny", "").await;
    page.until("workflow_failed").await;
    assert_eq!(model.requests_of("engineer").len(), 1);
}

/// The console of the page has one short line about config keys without effect. The reasons are in the frame.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_without_effect_are_one_short_line() {
    let (model, server) = planned(&[]).await;
    model.script("engineer", [Scripted::text("Done.").repeat()]);
    let mut page = Page::start(&server, "t1", form("one-shot", &json!({}))).await;
    let status = page.until("status").await;
    let ignored = status["ignored"].as_array().unwrap();
    let count = ignored.iter().filter(|each| each["key"] != "work_dir").count();
    assert!(ignored.iter().all(|each| !each["why"].as_str().unwrap().is_empty()), "{status}");
    let line = format!("{count} config keys have no effect in this task: see `ignored`.");
    assert!(count > 10 && status["message"].as_str().unwrap().ends_with(&line), "{status}");
    page.until("workflow_completed").await;
    // With one such key, the line is in the singular; without such a key, there is no line.
    for (n, (more, words)) in [
        (json!({"mode": "one-shot", "saveJson": true}), Some("1 config key has no effect")),
        (json!({"mode": "one-shot"}), None),
    ]
    .into_iter()
    .enumerate()
    {
        let mut config = more;
        config["work_dir"] = json!(server.workspace());
        let mut page = Page::start(&server, &format!("u{n}"), config).await;
        let message = page.until("status").await["message"].as_str().unwrap().to_owned();
        assert_eq!(message.contains("no effect"), words.is_some(), "{message}");
        assert!(words.is_none_or(|words| message.contains(words)), "{message}");
        page.until("workflow_completed").await;
    }
}
