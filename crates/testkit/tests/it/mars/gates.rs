//! Gates around steps and on calls: cases 06 to 09 and case 45.

use holdshort_core::time::Timestamp;
use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use super::{Mars, around_steps as config, check_invariants, error_summary, options, plan, planned};
use crate::play::{count, done, one, write};

fn two() -> Scripted {
    plan(&[("build", "engineer"), ("test", "engineer")])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn before_each_step_a_person_is_asked() {
    let (model, server) = planned(&[two()]).await;
    let mut mars = Mars::start(&server, "t1", "Build it.", config("before_step")).await;
    let first = mars.wait_for_request().await;
    assert_eq!(
        (options(&first), &first["checkpoint_type"]),
        (vec!["approve", "modify", "skip", "reject"], &json!("before_step"))
    );
    mars.resolve(&first, "skip", json!({})).await;
    let skipped = mars.wait("step_progress").await;
    assert_eq!((&skipped["status"], server.lines("count.txt")), (&json!("skipped"), 0));
    let second = mars.wait_for_request().await;
    let received = mars.resolve(&second, "approve", json!({"feedback": "only the fast ones"})).await;
    assert_eq!(received["approved"], true);
    let ended = mars.wait("workflow_completed").await;
    assert_eq!((server.lines("count.txt"), &ended["skipped_steps"]), (1, &json!([first["step_id"]])));
    assert_eq!(
        ended["step_feedback"],
        json!([{"step": second["step_id"], "timing": "before", "feedback": "only the fast ones"}])
    );
    assert!(model.requests_of("engineer")[0].texts().join("\n").contains("only the fast ones"));
    check_invariants(&server, &mars).await;
}

/// A person can rewrite the text of a step. A rejected step ends the run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_is_modified_and_the_next_one_rejected() {
    let (model, server) = planned(&[two()]).await;
    let mut mars = Mars::start(&server, "t1", "Build it.", config("manual")).await;
    let first = mars.wait_for_request().await;
    let received =
        mars.resolve(&first, "modify", json!({"modifications": {"sub_task": "build it in Rust"}})).await;
    assert_eq!(received["approval_status"], "modified");
    let second = mars.wait_for_request().await;
    assert!(model.requests_of("engineer")[0].texts().join("\n").contains("build it in Rust"));
    mars.say(&json!({"type": "approval_response", "approval_id": second["approval_id"], "approved": false}))
        .await;
    assert_eq!(mars.wait("workflow_failed").await["reason"], "rejected");
    assert_eq!(server.lines("count.txt"), 1);
    check_invariants(&server, &mars).await;
}

/// The agent receives the complete modified step, including its bullets. A modification cannot change the agent of the
/// step, and no field is silently ignored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_is_told_all_that_was_sent() {
    let plan = json!([
        {"sub_task": "build", "sub_task_agent": "engineer"},
        {"sub_task": "test", "sub_task_agent": "engineer", "depends_on": ["s1"]},
    ]);
    let (model, server) = planned(&[Scripted::text(plan.to_string())]).await;
    let mut mars = Mars::start(&server, "t1", "Build it.", config("manual")).await;
    let first = mars.wait_for_request().await;
    let modify = |asked: &Value, modifications: Value| {
        json!({"type": "resolve_approval", "approval_id": asked["approval_id"], "resolution": "modify",
               "modifications": modifications})
    };
    for (modifications, place) in [
        (json!({"sub_task": "S", "sub_task_agent": "researcher"}), "/sub_task_agent"),
        (json!({"sub_task": "S", "agent": "researcher"}), "/agent"),
        (json!({"sub_task": "S", "agent": "engineer", "sub_task_agent": "engineer"}), "/sub_task_agent"),
        (json!({"sub_task": "S", "zzz": 1}), "/zzz"),
        (json!({"sub_task": "S", "a/b": 1}), "/a~1b"),
        (json!({"sub_task": "S", "id": "s2"}), "/id"),
        (json!({"sub_task": "S", "depends_on": ["s2"]}), "/depends_on"),
        (json!({"sub_task": 42}), "/sub_task"),
        (json!({"sub_task": "S", "bullet_points": ["a", 5]}), "/bullet_points/1"),
        (json!({"sub_task": "S", "text": "T"}), "/sub_task"),
        (json!({"text": ["T"]}), "/text"),
        (json!({"sub_task_agent": "engineer"}), ""),
        (json!({"sub_task": "  "}), ""),
        (json!(json!({"sub_task": "S", "zzz": 1}).to_string()), "/zzz"),
    ] {
        let refused = mars.refused(&modify(&first, modifications.clone())).await;
        let pointer = format!("/modifications{place}");
        assert_eq!(error_summary(&refused), ("invalid_request", &*pointer), "{modifications}: {refused}");
    }
    let step = json!({
        "id": "s1", "sub_task": "build it", "sub_task_agent": "engineer",
        "bullet_points": ["ONLY SEPTEMBER", "in Rust"], "depends_on": [],
    });
    let received = mars.resolve(&first, "modify", json!({"modifications": step})).await;
    assert_eq!(received["modifications"], "build it\n- ONLY SEPTEMBER\n- in Rust");
    let second = mars.wait_for_request().await;
    assert!(model.requests_of("engineer")[0].texts().join("\n").contains("- ONLY SEPTEMBER"));
    // If the modification has the form of a planned step, the step keeps its dependencies.
    let step = json!({"sub_task": "test it", "sub_task_agent": null, "depends_on": ["s1"]});
    mars.resolve(&second, "modify", json!({"modifications": step})).await;
    mars.wait("workflow_completed").await;
    check_invariants(&server, &mars).await;
}

/// A text is passed on unchanged, even if it looks like a number.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_is_told_the_text_that_was_sent() {
    let (model, server) = planned(&[two()]).await;
    let mut mars = Mars::start(&server, "t1", "Build it.", config("manual")).await;
    let asked = mars.wait_for_request().await;
    let id = &asked["approval_id"];
    for modifications in [json!(42), json!([1]), json!(true)] {
        let frame = json!({"type": "resolve_approval", "approval_id": id, "resolution": "modify",
                           "modifications": modifications});
        assert_eq!(error_summary(&mars.refused(&frame).await), ("invalid_request", "/modifications"));
    }
    let received = mars.resolve(&asked, "modify", json!({"modifications": "00042"})).await;
    assert_eq!(received["modifications"], "00042");
    let asked = mars.wait_for_request().await;
    let received = mars.resolve(&asked, "modify", json!({"modifications": "4.20"})).await;
    assert_eq!(received["modifications"], "4.20");
    mars.wait("workflow_completed").await;
    assert!(model.requests_of("engineer")[0].texts().join("\n").contains("00042"));
    check_invariants(&server, &mars).await;
}

/// `allow_session` allows only the call that was decided. A person is still asked about the other open call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_grant_releases_no_other_open_call() {
    let (model, server) = planned(&[]).await;
    let both = ["a", "b"].map(|name| write(&format!("{name}.txt"), "x\n"));
    let calls = both.map(|(tool, arguments)| (tool.to_owned(), arguments)).to_vec();
    model.script("engineer", [Scripted::Calls { text: String::new(), calls }, done()]);
    let mut mars = Mars::start(&server, "t1", "Write.", json!({"tool_approval": "prompt"})).await;
    let first = mars.wait_for_request().await;
    let second = mars.wait_for_request().await;
    mars.resolve(&first, "allow_session", json!({})).await;
    assert_eq!(server.lines("b.txt"), 0);
    mars.resolve(&second, "allow", json!({})).await;
    mars.wait("workflow_completed").await;
    assert_eq!((server.lines("a.txt"), server.lines("b.txt")), (1, 1));
    check_invariants(&server, &mars).await;
}

/// The gates of the server's own workflow ask a person, whatever the client's config says.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_servers_own_workflow_is_a_floor() {
    let model = ScriptedModel::start().await;
    model.script("task_improver", [Scripted::text("Build it well.").repeat()]);
    model.script("planner", [plan(&[("build", "engineer")])]);
    model.script("engineer", [one(count("step")), done()]);
    let shipped = include_str!("../../../../edges/src/mars/base.yaml");
    let (agents, _) = shipped.split_once("\ngates:").unwrap();
    let own = format!("{agents}\ngates: {{plan: ask, before_step: ask}}\n");
    let server = TestServer::setup().workflow("mars", &own).model(&model).start().await;
    let mut settings = config("never");
    settings["tool_approval"] = json!("none");
    let mut mars = Mars::start(&server, "t1", "Build it.", settings).await;
    for (action, position) in [
        ("plan_approval", "after_planning"),
        ("checkpoint", "before_step"),
        ("tool_approval", "tool_approval"),
    ] {
        let asked = mars.wait_for_request().await;
        assert_eq!((&asked["action"], &asked["position"]), (&json!(action), &json!(position)));
        assert_eq!(server.lines("count.txt"), 0);
        mars.resolve(&asked, "approve", json!({})).await;
    }
    mars.wait("workflow_completed").await;
    assert_eq!(server.lines("count.txt"), 1);
    check_invariants(&server, &mars).await;
}

/// A person can have a step redone. After `max_redos` the option is no longer offered (case 07).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_step_it_is_done_again_or_accepted() {
    let (model, server) = planned(&[plan(&[("build", "engineer")])]).await;
    model.script("engineer", [one(count("one")), done(), one(count("two")), done()]);
    let mut settings = config("after_step");
    settings["max_redos"] = json!(1);
    let mut mars = Mars::start(&server, "t1", "Build it.", settings).await;
    let first = mars.wait_for_request().await;
    assert_eq!(options(&first), ["continue", "redo", "abort"]);
    mars.resolve(&first, "redo", json!({"feedback": "use ISO"})).await;
    let again = mars.wait("step_retry_started").await;
    assert_eq!((&again["strategy"], &again["attempt_number"]), (&json!("redo"), &json!(2)));
    let second = mars.wait_for_request().await;
    assert_eq!(options(&second), ["continue", "abort"], "max_redos is 1");
    let refused = mars
        .refused(
            &json!({"type": "resolve_approval", "approval_id": second["approval_id"], "resolution": "redo"}),
        )
        .await;
    assert!(refused["message"].as_str().unwrap().contains("choose one of: continue, abort"), "{refused}");
    let received = mars.resolve(&second, "continue", json!({"feedback": "good"})).await;
    assert_eq!(received["approved"], true, "continue is an approval (lesson 31)");
    let ended = mars.wait("workflow_completed").await;
    assert_eq!(
        (
            server.lines("count.txt"),
            &ended["step_results"][0]["redos"],
            &ended["step_results"][0]["attempts"]
        ),
        (2, &json!(1), &json!(2))
    );
    assert!(model.requests_of("engineer")[2].texts().join("\n").contains("use ISO"));
    check_invariants(&server, &mars).await;
}

/// After a failed step, a person decides whether to retry, skip or abort (case 08).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_fails_asks() {
    let fails = || one(("run_command", json!({"command": "false"})));
    for (resolution, ends, status) in [
        ("retry", "workflow_completed", "completed"),
        ("skip", "workflow_completed", "skipped"),
        ("abort", "workflow_failed", "failed"),
    ] {
        let (model, server) = planned(&[plan(&[("build", "engineer")])]).await;
        model.script("engineer", [fails(), one(count("again")), done()]);
        let mut mars = Mars::start(&server, "t1", "Build it.", config("on_error")).await;
        let asked = mars.wait_for_request().await;
        assert_eq!((&asked["checkpoint_type"], &asked["options"][0]), (&json!("on_error"), &json!("retry")));
        mars.resolve(&asked, resolution, json!({})).await;
        let ended = mars.wait(ends).await;
        if resolution == "retry" {
            assert_eq!((server.lines("count.txt"), &ended["step_results"][0]["attempts"]), (1, &json!(2)));
        }
        let last = mars.frames.iter().rev().find(|frame| frame["event_type"] == "dag_node_status_changed");
        assert_eq!(last.unwrap()["data"]["new_status"], status, "{resolution}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_is_stopped_at_its_limit_has_not_succeeded() {
    let (model, server) = planned(&[plan(&[("build", "engineer")])]).await;
    model.script("engineer", [one(count("once")), done()]);
    let mut settings = config("never");
    settings["max_rounds"] = json!(1);
    let mut mars = Mars::start(&server, "t1", "Build it.", settings).await;
    let asked = mars.wait_for_request().await;
    assert_eq!(asked["checkpoint_type"], "max_rounds");
    mars.resolve(&asked, "finish", json!({})).await;
    let ended = mars.wait("workflow_completed").await;
    assert_eq!((&ended["reason"], &ended["step_results"][0]["success"]), (&json!("partial"), &json!(false)));
    check_invariants(&server, &mars).await;
}

/// A mandatory checkpoint asks a person before a file edit, even if the gates around steps do not (case 09, second
/// layer).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_edit_is_asked_about_before_it_happens() {
    let (model, server) = planned(&[plan(&[("configure", "engineer")])]).await;
    model.script("engineer", [one(write("config.yaml", "a: 1\n")), done()]);
    let mut settings = config("never");
    settings["use_ag2_handoffs"] = json!(true);
    settings["ag2_mandatory_checkpoints"] = json!(["before_file_edit"]);
    let mut mars = Mars::start(&server, "t1", "Build it.", settings).await;
    let asked = mars.wait_for_request().await;
    assert_eq!(
        (options(&asked), [&asked["action"], &asked["checkpoint_type"], &asked["position"]]),
        (
            vec!["continue", "edit", "provide_instructions", "abort"],
            [&json!("ag2_dynamic"), &json!("ag2_dynamic"), &json!("before_file_edit")]
        )
    );
    assert_eq!(asked["context"]["arguments"]["path"], "config.yaml");
    assert!(asked["context"]["diff"].to_string().contains("a: 1"), "{asked}");
    assert!(!server.workspace().join("config.yaml").exists());
    mars.resolve(&asked, "continue", json!({})).await;
    mars.wait("workflow_completed").await;
    assert_eq!(std::fs::read_to_string(server.workspace().join("config.yaml")).unwrap(), "a: 1\n");
    assert_eq!(model.requests_of("engineer").len(), 2, "the same agent went on");

    // The option to abort ends the run. Instructions become the result of the call.
    let mut settings = config("never");
    settings["use_ag2_handoffs"] = json!(true);
    settings["ag2_mandatory_checkpoints"] = json!(["before_file_edit"]);
    std::fs::remove_file(server.workspace().join("config.yaml")).unwrap();
    let mut mars = Mars::start(&server, "t2", "Build it.", settings.clone()).await;
    let asked = mars.wait_for_request().await;
    mars.resolve(&asked, "provide_instructions", json!({"feedback": "archive instead"})).await;
    mars.wait("workflow_completed").await;
    assert!(!server.workspace().join("config.yaml").exists());
    assert!(model.requests().last().unwrap().texts().join("\n").contains("archive instead"));
    let mut mars = Mars::start(&server, "t3", "Build it.", settings).await;
    let asked = mars.wait_for_request().await;
    mars.resolve(&asked, "abort", json!({})).await;
    mars.wait("workflow_failed").await;
    check_invariants(&server, &mars).await;
}

/// With `tool_approval: prompt`, a person is asked about each call (case 17). The default in this protocol is `none`
/// (E32).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_ask_where_tool_approval_is_prompt() {
    let (model, server) = planned(&[]).await;
    model.script("engineer", [one(count("one")), one(count("two")), done()]);
    let config = json!({"mode": "one-shot", "toolApproval": "prompt"});
    let mut mars = Mars::start(&server, "t1", "Count.", config).await;
    let asked = mars.wait_for_request().await;
    assert_eq!(options(&asked), ["allow", "allow_session", "edit", "provide_instructions", "deny"]);
    let edited =
        json!({"modifications": json!({"arguments": {"command": "echo edited >> count.txt"}}).to_string()});
    let received = mars.resolve(&asked, "edit", edited).await;
    assert_eq!((&received["approved"], &received["approval_status"]), (&json!(true), &json!("modified")));
    let second = mars.wait_for_request().await;
    assert_eq!(std::fs::read_to_string(server.workspace().join("count.txt")).unwrap(), "edited\n");
    let received = mars.resolve(&second, "deny", json!({"feedback": "enough"})).await;
    assert_eq!((&received["approved"], &received["resolution"]), (&json!(false), &json!("deny")));
    mars.wait("workflow_completed").await;
    assert_eq!(server.lines("count.txt"), 1);
    assert!(model.requests().last().unwrap().texts().join("\n").contains("enough"));
    check_invariants(&server, &mars).await;
}

/// Edited arguments replace all arguments of the call. Unknown fields in the frame are refused with a JSON pointer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_stands_beside_arguments_is_refused() {
    let (model, server) = planned(&[]).await;
    model.script("engineer", [one(count("one")), done()]);
    let mut mars = Mars::start(&server, "t1", "Count.", json!({"tool_approval": "prompt"})).await;
    let asked = mars.wait_for_request().await;
    for (modifications, place) in [
        (json!({"arguments": {"command": "true"}, "note": "careful"}), "/note"),
        (json!({"arguments": {"command": "true", "zzz": 1}}), "/arguments"),
        (json!({"command": "true", "zzz": 1}), ""),
    ] {
        let frame = json!({"type": "resolve_approval", "approval_id": asked["approval_id"], "resolution": "edit",
                           "modifications": modifications});
        let refused = mars.refused(&frame).await;
        let pointer = format!("/modifications{place}");
        assert_eq!(error_summary(&refused), ("invalid_request", &*pointer), "{modifications}: {refused}");
    }
    let edited = json!({"modifications": {"command": "echo edited >> count.txt"}});
    mars.resolve(&asked, "edit", edited).await;
    mars.wait("workflow_completed").await;
    assert_eq!(std::fs::read_to_string(server.workspace().join("count.txt")).unwrap(), "edited\n");
    check_invariants(&server, &mars).await;
}

/// `message` contains the question in the runtime's own words. The agent's text is in a separate field, escaped and
/// truncated (A27).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_asked_stands_apart_from_what_the_agent_says() {
    // Columns: text and call of the agent, and the expected ends of `description`, `message` and `agent_says`.
    type Row<'a> = (&'a str, Option<(&'a str, Value)>, &'a str, &'a str, Value);
    let ask =
        |question: &str| ("ask_human", json!({"question": question, "context": "for the door\u{202e}"}));
    let delete = || ("run_command", json!({"command": "rm -r old"}));
    let harmless = "Listing the files,\nnothing is changed. \u{202e}\u{1b}[2J\u{7}";
    let long = "x".repeat(3_000);
    let cut = format!("{}…", "x".repeat(2_000));
    let why = "The agent wrote this question in its reply instead of asking it with a tool.";
    let printed = "I looked.\nWhich colour?";
    let table: [Row<'_>; 7] = [
        (
            harmless,
            Some(delete()),
            "\n\ncommand: rm -r old",
            "run_command: rm -r old (3 files)",
            json!("Listing the files,\nnothing is changed. \\u{202e}\\u{1b}[2J\\u{7}"),
        ),
        ("  \n ", Some(delete()), "\n\ncommand: rm -r old", "run_command: rm -r old (3 files)", json!(null)),
        (
            &long,
            Some(count("a")),
            "\n\ncommand: echo a >> count.txt",
            "run_command: echo a >> count.txt",
            json!(cut),
        ),
        (
            "",
            Some(write("a\u{202e}b", "")),
            "\n\ncontent: \npath: a\\u{202e}b",
            "write_file: a\\u{202e}b",
            json!(null),
        ),
        ("", Some(ask("Which colour?")), "", "Which colour?", json!("for the door\\u{202e}")),
        ("", Some(ask("One\nor two?\u{7}")), "", "One\nor two?\\u{7}", json!("for the door\\u{202e}")),
        (printed, None, "", &format!("Which colour?\n{why}"), json!(null)),
    ];
    let (model, server) = planned(&[]).await;
    std::fs::create_dir(server.workspace().join("old")).unwrap();
    for name in ["a", "b", "c"] {
        std::fs::write(server.workspace().join("old").join(name), "").unwrap();
    }
    for (i, (text, call, whole, message, says)) in table.into_iter().enumerate() {
        let says_it = match call.clone() {
            Some((tool, arguments)) => {
                Scripted::Calls { text: text.to_owned(), calls: vec![(tool.to_owned(), arguments)] }
            }
            None => Scripted::text(text),
        };
        // The first question in plain text is returned to the agent. The second question is shown to a person.
        let steps =
            if call.is_none() { vec![says_it, Scripted::text(text), done()] } else { vec![says_it, done()] };
        model.script("engineer", steps);
        let config = json!({"mode": "one-shot", "tool_approval": "prompt"});
        let mut mars = Mars::start(&server, &format!("t{i}"), "Work.", config).await;
        let asked = mars.wait_for_request().await;
        assert_eq!(
            (&asked["description"], &asked["message"], &asked["context"]["agent_says"]),
            (&json!(format!("{message}{whole}")), &json!(message), &says)
        );
    }
    // The message contains what the runtime adds to the title.
    model.script("planner", [plan(&[("build", "engineer")])]);
    model.script("engineer", [one(("run_command", json!({"command": "false"})))]);
    let mut mars = Mars::start(&server, "t", "Build it.", config("on_error")).await;
    let asked = mars.wait_for_request().await;
    assert_eq!(asked["description"], asked["message"]);
    let (title, why) = asked["message"].as_str().unwrap().split_once('\n').unwrap();
    let (why, spent) = why.split_once("\n\nSo far: ").unwrap();
    assert_eq!((title, why), ("Step `control/s1` failed", asked["context"]["error"].as_str().unwrap()));
    assert!(spent.starts_with("2 steps done, 1 call made"), "{spent}");
    assert_eq!(asked["context"].get("agent_says"), None);
}

/// A checkpoint expires after its own timeout. An expiry approves only if the config sets this (E9).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expiry_approves_only_what_was_configured() {
    let (_model, server) = planned(&[]).await;
    for (on_timeout, ends, status, approved) in [
        (None, "workflow_failed", "timeout", false),
        (Some("reject"), "workflow_failed", "timeout", false),
        (Some("approve"), "workflow_completed", "timeout_auto_approved", true),
    ] {
        let mut checkpoint = json!({"timeout_seconds": 0.05, "custom_message": "Shall it be?"});
        if let Some(option) = on_timeout {
            checkpoint["default_on_timeout"] = json!(option);
        }
        let config = json!({"phases": [{"type": "hitl_checkpoint", "config": checkpoint}]});
        let mut mars = Mars::start(&server, &format!("t-{on_timeout:?}"), "Wait.", config).await;
        let asked = mars.wait_for_request().await;
        assert_eq!(
            (&asked["description"], options(&asked)),
            (&json!("Shall it be?"), vec!["approve", "modify", "reject"])
        );
        let received = mars.wait("approval_received").await;
        assert_eq!((&received["approval_status"], &received["approved"]), (&json!(status), &json!(approved)));
        mars.wait(ends).await;
    }
}

/// A checkpoint with a default is approved by its timeout. The next step has a separate timeout, which never approves
/// (A12, A14).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_phase_has_its_own_time_and_options() {
    let (_model, server) = planned(&[plan(&[("build", "engineer")])]).await;
    let config = json!({"phases": [
        {"type": "hitl_planning", "config": {"n_plan_reviews": 0, "allow_plan_modification": false}},
        {"type": "hitl_checkpoint", "config": {"default_on_timeout": "approve", "timeout_seconds": 0.05}},
        {"type": "hitl_control", "config": {"allow_step_skip": false, "timeout_seconds": 0.2}},
    ]});
    let mut mars = Mars::start(&server, "t1", "Build it.", config).await;
    let asked = mars.wait_for_request().await;
    assert_eq!(options(&asked), ["approve", "revise", "reject"]);
    mars.resolve(&asked, "approve", json!({})).await;
    let checkpoint = mars.wait_for_request().await;
    assert_eq!(options(&checkpoint), ["approve", "modify", "reject"]);
    assert_eq!(mars.wait("approval_received").await["approval_status"], "timeout_auto_approved");
    let step = mars.wait_for_request().await;
    assert_eq!(
        (options(&step), &step["checkpoint_type"]),
        (vec!["approve", "modify", "reject"], &json!("before_step"))
    );
    let received = mars.wait("approval_received").await;
    assert_eq!((&received["approval_status"], &received["approved"]), (&json!("timeout"), &json!(false)));
    mars.wait("workflow_failed").await;
    let opened = server.events_of(&mars.run(), "interrupt_opened").await;
    let time = |value: &Value| value.as_str().unwrap().parse::<Timestamp>().unwrap();
    let ms = |event: &Value| time(&event["data"]["expires_at"]).ms_since(time(&event["at"]));
    assert_eq!(opened.iter().map(ms).collect::<Vec<_>>(), [3_600_000, 50, 200]);
    assert_eq!(server.lines("count.txt"), 0);
    check_invariants(&server, &mars).await;
}

/// The timeout of a phase also applies to its calls. A call that is not approved in time does not run (A5).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_waits_as_long_as_its_phase_says() {
    let (_model, server) = planned(&[]).await;
    let config = json!({"tool_approval": "prompt", "timeout_seconds": 0.2});
    let mut mars = Mars::start(&server, "t1", "Build it.", config).await;
    assert_eq!(mars.wait_for_request().await["action"], "tool_approval");
    assert_eq!(mars.wait("approval_received").await["approval_status"], "timeout");
    mars.wait("workflow_completed").await;
    assert_eq!(server.lines("count.txt"), 0);
    check_invariants(&server, &mars).await;
}

/// Without a connected client nothing is approved. The task waits, and is listed (case 45).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_connection_it_is_parked_and_listed() {
    let (_model, server) = planned(&[plan(&[("build", "engineer")])]).await;
    let config = json!({"mode": "hitl-interactive", "n_plan_reviews": 0});
    let mut mars = Mars::start(&server, "t1", "Build it.", config).await;
    mars.wait("workflow_started").await;
    let run = mars.run();
    drop(mars);
    let waits = server.wait_one(&run).await;
    assert_eq!((&waits["kind"], &waits["status"]), (&json!("plan_approval"), &json!("open")));
    assert_eq!(server.lines("count.txt"), 0);
}

/// Options that the config disables are not offered. A successful step needs no decision.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn options_that_are_switched_off_are_not_offered() {
    let (_model, server) = planned(&[two()]).await;
    let config = json!({
        "mode": "hitl-interactive", "n_plan_reviews": 0, "allow_plan_modification": false, "allow_step_skip": false,
        "allow_step_modification": false, "auto_approve_successful_steps": true,
    });
    let mut mars = Mars::start(&server, "t1", "Build it.", config).await;
    let asked = mars.wait_for_request().await;
    assert_eq!(options(&asked), ["approve", "revise", "reject"]);
    mars.resolve(&asked, "approve", json!({})).await;
    for _ in 0..2 {
        let asked = mars.wait_for_request().await;
        assert_eq!(
            (options(&asked), &asked["checkpoint_type"]),
            (vec!["approve", "reject"], &json!("before_step"))
        );
        mars.resolve(&asked, "approve", json!({})).await;
    }
    mars.wait("workflow_completed").await;
    check_invariants(&server, &mars).await;
}

/// An agent stops and asks for a person's instructions (A5, A7, second layer).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_hands_over_to_a_person() {
    let (model, server) = planned(&[plan(&[("build", "engineer")])]).await;
    let stop = Scripted::call("handoff_to_admin", json!({"message": "Two ways are open."}));
    model.script("engineer", [stop, one(count("step")), done()]);
    let mut settings = config("never");
    settings["use_ag2_handoffs"] = json!(true);
    settings["ag2_mandatory_checkpoints"] = json!([]);
    let mut mars = Mars::start(&server, "t1", "Build it.", settings).await;
    let asked = mars.wait_for_request().await;
    assert_eq!(
        (options(&asked), [&asked["action"], &asked["checkpoint_type"], &asked["position"]]),
        (
            vec!["continue", "provide_instructions", "abort"],
            [&json!("ag2_dynamic"), &json!("ag2_dynamic"), &json!("escalation")]
        )
    );
    assert!(asked["description"].as_str().unwrap().contains("> Two ways are open."), "{asked}");
    mars.resolve(&asked, "provide_instructions", json!({"feedback": "take the first"})).await;
    mars.wait("workflow_completed").await;
    assert!(model.requests_of("engineer")[1].texts().join("\n").contains("take the first"));
    assert_eq!(server.lines("count.txt"), 1);
    check_invariants(&server, &mars).await;
}

/// Smart approval allows a read, but asks a person about a deletion, with the reason (cases 10 and 11). The person's
/// text becomes the result that the agent reads.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn smart_approval_holds_what_speaks_of_risk() {
    let (model, server) = planned(&[plan(&[("tidy up", "engineer")])]).await;
    std::fs::create_dir(server.workspace().join("old_data")).unwrap();
    std::fs::write(server.workspace().join("old_data/a.csv"), "1\n").unwrap();
    let says = |text: &str, call: (&str, Value)| Scripted::Calls {
        text: text.to_owned(),
        calls: vec![(call.0.to_owned(), call.1)],
    };
    let clear = Scripted::text(json!({"escalate": false, "reasons": []}).to_string());
    model.script("overseer", [clear.repeat()]);
    model.script(
        "engineer",
        [
            says("I read data.", ("read_file", json!({"path": "old_data/a.csv"}))),
            says("I delete old_data/ now.", ("run_command", json!({"command": "rm -r old_data"}))),
            done(),
        ],
    );
    let mut settings = config("never");
    settings["use_ag2_handoffs"] = json!(true);
    settings["ag2_mandatory_checkpoints"] = json!([]);
    settings["ag2_smart_approval"] = json!(true);
    settings["ag2_smart_criteria"] = json!({"keywords": ["delete"]});
    let mut mars = Mars::start(&server, "t1", "Tidy up.", settings).await;
    let asked = mars.wait_for_request().await;
    assert_eq!(
        ([&asked["action"], &asked["checkpoint_type"], &asked["position"]], options(&asked)[0]),
        ([&json!("ag2_dynamic"), &json!("ag2_dynamic"), &json!("smart_approval")], "continue")
    );
    assert_eq!(asked["context"]["arguments"]["command"], "rm -r old_data", "the read was not held up");
    assert!(asked["context"]["reasons"].to_string().contains("`delete`"), "{asked:#}");
    mars.resolve(&asked, "provide_instructions", json!({"feedback": "archive instead"})).await;
    mars.wait("workflow_completed").await;
    assert!(server.workspace().join("old_data/a.csv").exists());
    assert!(model.requests_of("engineer")[2].texts().join("\n").contains("archive instead"));
    check_invariants(&server, &mars).await;
}

/// An edit that does not match the tool's schema is refused with a JSON pointer, and the approval stays open.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_that_no_tool_could_carry_out_leaves_the_approval_open() {
    let (model, server) = planned(&[]).await;
    model.script("engineer", [one(count("one")), done()]);
    let mut mars = Mars::start(&server, "t1", "Count.", json!({"tool_approval": "prompt"})).await;
    let asked = mars.wait_for_request().await;
    for (arguments, place) in [
        (json!({"command": "  "}), "/command"),
        (json!({"command": "true\u{0}"}), "/command"),
        (json!({"command": "true", "cwd": "../elsewhere"}), "/cwd"),
    ] {
        for (modifications, before) in
            [(json!({"arguments": arguments}), "/arguments"), (arguments.clone(), "")]
        {
            let frame = json!({"type": "resolve_approval", "approval_id": asked["approval_id"], "resolution": "edit",
                               "modifications": modifications});
            let refused = mars.refused(&frame).await;
            let pointer = format!("/modifications{before}{place}");
            assert_eq!(error_summary(&refused), ("invalid_request", &*pointer), "{modifications}: {refused}");
        }
    }
    let open = server.open(&mars.run()).await;
    assert_eq!((open.len(), server.events_of(&mars.run(), "decision_made").await.len()), (1, 0));
    mars.resolve(&asked, "edit", json!({"modifications": {"command": "echo edited >> count.txt"}})).await;
    mars.wait("workflow_completed").await;
    assert_eq!(std::fs::read_to_string(server.workspace().join("count.txt")).unwrap(), "edited\n");
    check_invariants(&server, &mars).await;
}
