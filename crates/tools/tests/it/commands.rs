//! Runs commands: their output, exit codes, limits, and how they are stopped.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use holdshort_core::tool::{CommandEffect, Outcome, SandboxLevel};
use holdshort_tools::limits;
use serde_json::json;

use crate::bench::{Bench, PROGRAM, call, is_running, until};

#[tokio::test]
async fn output_and_exit_code() {
    let bench = Bench::new();
    let (text, data) = bench.command("echo one; echo two >&2; printf three; exit 7").await;
    assert_eq!(text, "one\ntwo\nthree\nexit code 7");
    let level = holdshort_tools::sandbox::level(Path::new(PROGRAM), false);
    assert_eq!(
        data,
        json!({
            "exit_code": 7, "truncated": false, "sandbox": level, "timed_out": false, "effect": "workspace",
        })
    );
    assert_eq!(bench.command("true").await.0, "exit code 0");
    assert_eq!(bench.command("kill -9 $$").await.0, "killed by signal 9");
    assert_eq!(bench.command(r"printf '\377ok'").await.0, "\u{fffd}ok\nexit code 0");
    assert_eq!(bench.command("read x; echo \"[$x]\"").await.0, "[]\nexit code 0");
}

#[tokio::test]
async fn what_a_person_is_shown() {
    let bench = Bench::new();
    fs::create_dir(bench.at("src")).unwrap();
    let inspection =
        bench.ready("run_command", json!({"command": "make all", "cwd": "src", "timeout_s": 5})).await;
    let cwd = fs::canonicalize(bench.at("src")).unwrap();
    assert_eq!(inspection.cwd, cwd.to_str().unwrap());
    let paths: Vec<&str> = inspection.preconditions.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["./", "src/", "src/GNUmakefile", "src/Makefile", "src/makefile"]);
    let mut card = inspection.card;
    assert!(
        card["note"].take().as_str().unwrap().contains("workspace files that the command line runs by name")
    );
    assert_eq!(
        card,
        json!({
            "command": "make all", "cwd": cwd, "sandbox": inspection.sandbox, "network": false,
            "timeout_s": 5.0, "note": null,
        })
    );
    let expected: &[&str] = match inspection.sandbox {
        Some(SandboxLevel::Full) => &[],
        Some(SandboxLevel::Partial) => &["sandbox_partial"],
        _ => &["sandbox_none"],
    };
    assert_eq!(inspection.ask_because, expected);
    for command in ["", "  ", "a\0b", "# make", "\u{200b}"] {
        assert_eq!(bench.code("run_command", json!({"command": command})).await, "bad_command");
    }
}

#[tokio::test]
async fn a_host_without_the_sandbox_asks_and_runs_nothing() {
    let bench = Bench::with(|settings| settings.sandbox_program = "/bin/false".into());
    let inspection = bench.ready("run_command", json!({"command": "touch x"})).await;
    assert_eq!(
        (inspection.sandbox, inspection.ask_because),
        (Some(SandboxLevel::None), vec!["sandbox_none".to_owned()])
    );
    let outcome = bench.run("run_command", json!({"command": "touch x"}), &[]).await;
    assert!(matches!(outcome, Outcome::Failed { .. }), "{outcome:?}");
    assert!(!bench.at("x").exists());
}

#[tokio::test]
async fn it_runs_where_it_is_told() {
    let bench = Bench::new();
    bench.put("src/x", "");
    let Outcome::Done { text, .. } =
        bench.run("run_command", json!({"command": "pwd; touch made; ls", "cwd": "src"}), &[]).await
    else {
        panic!("it did not run")
    };
    assert_eq!(
        text,
        format!("{}\nmade\nx\nexit code 0", fs::canonicalize(bench.at("src")).unwrap().display())
    );
    assert!(bench.at("src/made").exists());
}

#[tokio::test]
async fn live_output_comes_in_whole_characters() {
    let bench = Bench::new();
    let (outcome, chunks) = bench.watched(r"printf '\342\202'; sleep 0.1; printf '\254 '; echo end").await;
    assert!(matches!(outcome, Outcome::Done { .. }));
    assert_eq!(chunks.concat(), "€ end\n");
}

#[tokio::test]
async fn a_flood_is_stopped_and_cut() {
    let bench = Bench::new();
    let (text, data) = bench.command("echo first; yes").await;
    assert!(text.starts_with("first\ny\n"));
    assert!(text.ends_with(&format!("y\nkilled: more than {} bytes of output", limits::OUTPUT_BYTES)));
    assert!(text.contains("bytes left out …]"));
    assert!(text.len() < limits::OUTPUT_HEAD_BYTES + limits::OUTPUT_TAIL_BYTES + 200);
    assert_eq!((&data["truncated"], &data["exit_code"]), (&json!(true), &json!(null)));
}

#[tokio::test]
async fn what_never_ends_is_ended() {
    let bench = Bench::with(|settings| settings.command_timeout_ms = 300);
    let marker = format!("{}.25", 700_000 + std::process::id());
    let (text, data) = bench.command(&format!("echo begun; trap '' TERM INT HUP; sleep {marker}")).await;
    assert_eq!(text, "begun\nkilled after 0.3 s");
    assert_eq!((&data["timed_out"], &data["exit_code"]), (&json!(true), &json!(null)));
    assert!(!is_running(&marker));
    // The output is closed, but the command still runs.
    assert_eq!(bench.command("exec >/dev/null 2>&1; sleep 1000").await.0, "killed after 0.3 s");
}

#[tokio::test]
async fn what_forks_wildly_is_stopped() {
    let bench = Bench::new();
    let marker = format!("{}.75", 800_000 + std::process::id());
    // The loop is bounded, so that a failing test does not overload the machine.
    let line = format!("i=0; while [ $i -lt 1500 ]; do sleep {marker} & i=$((i+1)); done; wait");
    let (text, _) = bench.command(&line).await;
    assert_eq!(text, format!("killed: too many processes (more than {})", limits::PROCESSES));
    assert!(!is_running(&marker));
}

#[tokio::test]
async fn what_stays_behind_is_gone() {
    let bench = Bench::new();
    let marker = format!("{}.5", 900_000 + std::process::id());
    let (text, _) = bench
        .command(&format!("setsid sh -c 'touch up; exec sleep {marker}' & while ! [ -e up ]; do :; done"))
        .await;
    assert_eq!(text, "exit code 0");
    assert!(!is_running(&marker));
}

#[tokio::test]
async fn dropping_the_future_stops_everything() {
    let bench = Bench::new();
    let marker = format!("{}.125", 600_000 + std::process::id());
    let line = format!("setsid sleep {marker} & sleep {marker}");
    let call = call("run_command", json!({"command": line}));
    {
        let running = bench.tools.run(&call, &[], Some(&CommandEffect::Workspace), |_| {});
        tokio::pin!(running);
        let deadline = Instant::now() + Duration::from_secs(20);
        while !is_running(&marker) {
            assert!(Instant::now() < deadline, "it never started");
            tokio::select! {
                outcome = &mut running => panic!("it ended: {outcome:?}"),
                () = tokio::task::yield_now() => {}
            }
        }
    }
    // The task runs on the runtime of this thread, so the test must yield.
    let deadline = Instant::now() + Duration::from_secs(20);
    while is_running(&marker) {
        assert!(Instant::now() < deadline, "it was not stopped");
        tokio::task::yield_now().await;
    }
}

#[test]
fn the_end_of_the_server_stops_everything() {
    let bench = Bench::new();
    let marker = format!("{}.0625", 500_000 + std::process::id());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let tools = bench.tools.clone();
    let call = call("run_command", json!({"command": format!("sleep {marker}")}));
    runtime.spawn(async move { tools.run(&call, &[], Some(&CommandEffect::Workspace), |_| {}).await });
    until("the command starts", || is_running(&marker));
    // Drops the tasks at their current point, as the end of the process does.
    runtime.shutdown_background();
    until("the command ends", || !is_running(&marker));
}

/// Git runs no program that is configured in a workspace folder, even if the folder looks like a repository.
#[tokio::test]
async fn reading_with_git_runs_nothing_that_the_workspace_names() {
    let bench = Bench::new();
    bench.put("sub/HEAD", "ref: refs/heads/main\n");
    bench.put("sub/objects/x", "");
    bench.put("sub/refs/x", "");
    bench.put(
        "sub/config",
        "[core]\nbare = false\nworktree = .\nrepositoryformatversion = 0\nfsmonitor = \"touch pwned; false\"\n",
    );
    let (text, _) = bench.command("cd sub && git status").await;
    assert!(text.contains("safe.bareRepository"), "{text}");
    assert!(!bench.at("sub/pwned").exists(), "{text}");
}
