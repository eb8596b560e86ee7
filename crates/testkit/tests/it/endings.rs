//! Endings of runs and the order of calls, over the real binary with a scripted provider.

use holdshort_testkit::model::Scripted;
use serde_json::json;

use crate::play::{SOLO, command, count, done, last_told, one, play, solo, write};

/// A truncated reply is returned to the model once, and then a person is asked. If the person accepts the reply, the
/// run ends as `partial` instead of `done`.
#[tokio::test]
async fn a_reply_that_is_not_whole_does_not_complete_a_run() {
    for (reason, flaw) in [("length", "cut"), ("content_filter", "filtered")] {
        let (model, server) =
            solo([Scripted::stopped("I have", reason), Scripted::stopped("I have", reason)]).await;
        let run = server.start_run("solo", "go on").await;
        let asked = server.wait_one(&run).await;
        assert_eq!((&asked["kind"], &asked["payload"]["flaw"]), (&json!("continuation"), &json!(flaw)));
        assert_eq!((&asked["payload"]["output"], model.requests().len()), (&json!("I have"), 2));
        assert!(last_told(&model).contains("does not end your work"), "{}", last_told(&model));
        server.choose(&asked, "finish").await;
        let ended = server.wait_status(&run, &["completed"]).await;
        assert_eq!(ended["end_reason"], "partial");
    }
}

/// A person is asked about a call that the model wrote as text, and about a question in plain text. Small models write
/// both.
#[tokio::test]
async fn a_call_as_text_and_a_question_in_words_reach_a_person() {
    let call = "```json\n{\"tool\": \"run_command\", \"arguments\": {\"command\": \"ls\"}}\n```";
    let (_model, server) = solo([Scripted::text(call), Scripted::text(call), done()]).await;
    let run = server.start_run("solo", "list the files").await;
    let asked = server.wait_one(&run).await;
    assert_eq!((&asked["kind"], &asked["payload"]["flaw"]), (&json!("continuation"), &json!("call_as_text")));
    assert!(asked["message"].as_str().unwrap().contains("run_command"), "{asked}");
    server.choose(&asked, "continue").await;
    server.wait_status(&run, &["completed"]).await;

    let words = "Should I proceed? Reply with yes or no.";
    let (model, server) = solo([Scripted::text(words), Scripted::text(words), done()]).await;
    let run = server.start_run("solo", "delete it").await;
    let asked = server.wait_one(&run).await;
    assert_eq!((&asked["kind"], &asked["title"]), (&json!("question"), &json!("Should I proceed?")));
    server.decide(&asked, &json!({"option": "answer", "text": "yes, do"})).await.ok();
    server.wait_status(&run, &["completed"]).await;
    assert!(last_told(&model).contains("yes, do"));
}

/// A model is corrected once per step, even if it makes calls between its faulty replies. A reply that only announces
/// work does not end a step, and neither does a reply whose calls were lost.
#[tokio::test]
async fn a_model_that_alternates_reaches_a_person() {
    let read = || one(("read_file", json!({"path": "."})));
    let lost = Scripted::stopped("I look.", "tool_calls");
    let words = Scripted::text("I can't continue: no API key is set.");
    let announces = || Scripted::text("I will now run the tests.");
    let steps = [lost, read(), words, announces(), read(), announces(), done()];
    let (model, server) = solo(steps).await;
    let run = server.start_run("solo", "test it").await;
    let asked = server.wait_one(&run).await;
    assert_eq!(
        (&asked["kind"], &asked["title"]),
        (&json!("question"), &json!("I can't continue: no API key is set."))
    );
    assert_eq!(model.requests().len(), 3, "told once, with a call in between");
    server.decide(&asked, &json!({"option": "answer", "text": "it is now"})).await.ok();
    let asked = server.wait_one(&run).await;
    assert_eq!((&asked["kind"], &asked["payload"]["flaw"]), (&json!("continuation"), &json!("announces")));
    server.choose(&asked, "continue").await;
    server.wait_status(&run, &["completed"]).await;
    let flaws: Vec<_> = server
        .events_of(&run, "end_refused")
        .await
        .iter()
        .map(|event| event["data"]["flaw"].clone())
        .collect();
    assert_eq!(flaws, [json!("unclear"), json!("announces")]);
}

/// Calls in the text formats of other models and frameworks are recognized and returned to the model.
#[tokio::test]
async fn calls_in_the_forms_of_others_are_seen() {
    let forms = [
        "[run_command(command=\"ls\")]",
        "{\"command\": \"ls\"}",
        "Tool: run_command\nArguments: {\"command\": \"ls\"}",
        "{'name': 'run_command', 'arguments': {'command': 'ls'}}",
        "<run_command command=\"ls\"/>",
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+b\n*** End Patch",
    ];
    let steps: Vec<Scripted> = forms.iter().map(|form| Scripted::text(*form)).chain([done()]).collect();
    let (_model, server) = solo(steps).await;
    let run = server.start_run("solo", "list the files").await;
    // Of two faulty replies, the first is returned to the model, and the second leads to a question for the person. The
    // person's answer resets the count.
    for _ in 0..forms.len() / 2 {
        let asked = server.wait_one(&run).await;
        assert_eq!(asked["payload"]["flaw"], "call_as_text", "{asked}");
        server.choose(&asked, "continue").await;
    }
    server.wait_status(&run, &["completed"]).await;
}

/// If a run fails without a person's decision, its event, its `end_message` and `show` contain the run's progress and
/// cost.
#[tokio::test]
async fn a_failed_run_says_what_it_spent() {
    let (_model, server) =
        solo([one(("read_file", json!({"path": "missing"}))), Scripted::status(401)]).await;
    let run = server.start_run("solo", "read it").await;
    let ended = server.wait_status(&run, &["failed"]).await;
    let spent = "So far: 0 steps done, 1 call made, 1 reply of a model";
    let failed = server.events_of(&run, "run_failed").await;
    let shown = server.client_command().args(["show", &run]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert_eq!(ended["end_reason"], "model_failed");
    for said in [ended["end_message"].to_string(), failed[0].to_string(), shown] {
        let words: Vec<&str> = said.split_whitespace().collect();
        assert!(words.join(" ").replace("\\n", " ").contains(spent), "{said}");
    }
}

/// A blank summary does not end a run. If one reply ends the work twice, neither end takes effect, so that the second
/// summary is not lost.
#[tokio::test]
async fn a_blank_end_and_two_ends_are_none() {
    let workflow = SOLO.replace("    instructions: Work.", "    instructions: Work.\n    ends: finish");
    let blank = one(("finish", json!({"summary": "   "})));
    let partly = || ("finish", json!({"summary": "Fixed.", "undone": ["the changelog"]}));
    let two = Scripted::calls([("finish", json!({"summary": "Fixed."})), partly()]);
    let (model, server) = play(&workflow, [blank, two, one(partly())]).await;
    let run = server.start_run("solo", "fix it").await;
    let ended = server.wait_status(&run, &["completed"]).await;
    assert_eq!(
        (&ended["end_reason"], &ended["result"]["undone"]),
        (&json!("partial"), &json!(["the changelog"]))
    );
    assert_eq!(model.requests().len(), 3);
    let finished = server.events_of(&run, "tool_finished").await;
    let codes: Vec<_> = finished.iter().map(|event| event["data"]["code"].clone()).collect();
    assert_eq!(
        codes,
        ["invalid_arguments", "second_handoff", "second_handoff", "finished"].map(|code| json!(code))
    );
}

/// If the workflow disables questions, a call that was written as text fails the run. A question in plain text is only
/// detected by a guess, so after one correction it ends the run.
#[tokio::test]
async fn where_nobody_may_be_asked() {
    let workflow =
        format!("{SOLO}asking: {{enabled: false}}\n").replace("read_file, ask_human]", "read_file]");
    let call = "<tool_call>{\"name\": \"run_command\", \"arguments\": {\"command\": \"ls\"}}</tool_call>";
    let table = [
        (call, "failed", "call_as_text"),
        ("It is done. Should I write a changelog, too?", "completed", "done"),
    ];
    for (text, status, reason) in table {
        let (model, server) = play(&workflow, [Scripted::text(text), Scripted::text(text)]).await;
        let run = server.start_run("solo", "go on").await;
        let ended = server.wait_status(&run, &["failed", "completed"]).await;
        assert_eq!((&ended["status"], &ended["end_reason"]), (&json!(status), &json!(reason)), "{text}");
        assert_eq!(model.requests().len(), 2, "told once: {text}");
    }
}

/// A person is asked after several consecutive replies whose calls failed.
#[tokio::test]
async fn failed_calls_in_a_row_reach_a_person() {
    let workflow = SOLO.replace("[read_file, ask_human], do", "[read_file, run_command], do");
    let fails = |n: u32| one(command(&format!("test -e missing-{n}")));
    // One successful call resets the count of failures.
    let replies = (0..5).map(fails).chain([one(command("true"))]).chain((5..11).map(fails));
    let (model, server) = play(&workflow, replies.chain([done()]).collect::<Vec<_>>()).await;
    let run = server.start_run("solo", "find it").await;
    let asked = server.wait_one(&run).await;
    assert_eq!(
        (&asked["kind"], &asked["payload"]["limit"]),
        (&json!("continuation"), &json!("failed_calls"))
    );
    assert_eq!(model.requests().len(), 12);
    server.choose(&asked, "continue").await;
    server.wait_status(&run, &["completed"]).await;
}

/// With `ends: finish`, the result, the reason, and the last lines of the terminal name the work that was left undone.
#[tokio::test]
async fn what_was_left_undone_is_seen() {
    let workflow = SOLO.replace("    instructions: Work.", "    instructions: Work.\n    ends: finish");
    let finish = ("finish", json!({"summary": "The code is fixed.", "undone": ["the changelog"]}));
    let (model, server) = play(&workflow, [done(), one(finish)]).await;
    let run = server.start_run("solo", "fix it").await;
    let ended = server.wait_status(&run, &["completed"]).await;
    assert_eq!(model.requests().len(), 2, "words alone ended nothing");
    assert!(model.requests()[0].tools().contains(&"finish".to_owned()));
    assert_eq!(
        (&ended["end_reason"], &ended["result"]["undone"]),
        (&json!("partial"), &json!(["the changelog"]))
    );
    assert_eq!(ended["result"]["text"], "The code is fixed.\n\nLeft undone:\n- the changelog");
    let told = server.client_command().args(["attach", &run]).output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("Completed in part") && told.contains("Left undone: the changelog"), "{told}");
    let mut show = server.client_command();
    show.args(["show", &run]).env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR");
    let shown = String::from_utf8(show.output().unwrap().stdout).unwrap();
    let first = shown.lines().next().unwrap_or_default();
    assert!(first.contains("\u{1b}[33mcompleted, in part"), "in the colour of a warning: {shown}");
}

/// The second call of a reply waits for the first call, even if the second was approved first. An edit of a file that
/// the first call creates is inspected when the file exists.
#[tokio::test]
async fn calls_of_one_reply_run_in_their_order() {
    let edit = ("edit_file", json!({"path": "a.txt", "old": "one", "new": "two"}));
    let calls = Scripted::calls([write("a.txt", "one"), count("second"), edit]);
    let (_model, server) = solo([calls, done()]).await;
    let run = server.start_run("solo", "write").await;
    let open = server.wait_open(&run, 2).await;
    let of = |tool: &str| open.iter().find(|each| each["payload"]["tool"] == tool).unwrap();
    let second = of("run_command");
    assert_eq!(second["payload"]["after"], json!([{"call_id": "call_1", "title": "write_file: a.txt"}]));
    let shown = server.client_command().args(["show", second["id"].as_str().unwrap()]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("after     write_file: a.txt, which runs before this"), "{shown}");
    server.choose(second, "approve").await;
    assert_eq!((server.lines("count.txt"), server.events_of(&run, "tool_started").await.len()), (0, 0));
    server.choose(of("write_file"), "approve").await;
    let edit = server.wait_one(&run).await;
    assert_eq!((&edit["payload"]["tool"], server.lines("count.txt")), (&json!("edit_file"), 1));
    assert_eq!(edit["payload"]["after"][1]["became"], "done");
    server.choose(&edit, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(std::fs::read_to_string(server.workspace().join("a.txt")).unwrap(), "two");
}

/// A refused call does not block later calls. A person who decides on a later call sees that the first was refused.
#[tokio::test]
async fn a_card_says_that_an_earlier_call_was_refused() {
    let (_model, server) = solo([Scripted::calls([write("a.txt", "one"), count("second")]), done()]).await;
    let run = server.start_run("solo", "write").await;
    let open = server.wait_open(&run, 2).await;
    server.choose(&open[0], "reject").await;
    let second = server.wait_one(&run).await;
    assert_eq!(
        (&second["id"], &second["payload"]["after"][0]["became"]),
        (&open[1]["id"], &json!("refused"))
    );
    let shown = server.client_command().args(["show", second["id"].as_str().unwrap()]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("write_file: a.txt, which was refused and did not run"), "{shown}");
    server.choose(&second, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(server.lines("count.txt"), 1);
}
