//! Capture of a trial for an external agent: standard output and error, and the reasons to discard the trial.

use holdshort_tools::{Capture, CommandTrialOutcome, Tools};

use crate::bench::Bench;
use crate::trial::tried;

fn capturing(bench: &Bench) -> Tools {
    bench.tools_with(|settings| settings.capture = true)
}

async fn captured(tools: &Tools, line: &str) -> (Capture, Option<i32>, String) {
    match tried(tools, line).await {
        CommandTrialOutcome::Yielded(trial) => {
            let code = trial.data["exit_code"].as_i64().map(|code| i32::try_from(code).unwrap());
            (*trial.capture.expect("the settings ask for it"), code, trial.text)
        }
        other => panic!("{line}: {other:?}"),
    }
}

#[tokio::test]
async fn both_streams_are_captured_byte_for_byte() {
    let bench = Bench::new();
    let line = "printf 'a\\nb'; printf 'wrong\\377' >&2; printf c; exit 3";
    let (capture, code, text) = captured(&capturing(&bench), line).await;
    assert_eq!(
        (capture.streams.stdout.as_slice(), capture.streams.stderr.as_slice()),
        (&b"a\nbc"[..], &b"wrong\xff"[..])
    );
    assert_eq!((code, capture.streams.is_cut, capture.why_doubtful(code)), (Some(3), false, None));
    assert!(text.contains("wrong") && text.ends_with("exit code 3"), "{text}");

    let CommandTrialOutcome::Yielded(plain) = tried(&bench.tools, line).await else { panic!("no trial") };
    assert_eq!(plain.capture, None, "a native trial has one stream");
}

#[tokio::test]
async fn the_environment_has_a_digest_that_changes_with_it() {
    let bench = Bench::new();
    let environment = async |path: &str| {
        let tools = bench.tools_with(|settings| {
            settings.capture = true;
            settings.path = format!("{path}:{}", settings.path);
        });
        captured(&tools, "true").await.0.environment
    };
    let same = [environment("/usr/bin").await, environment("/usr/bin").await];
    assert_eq!(same[0], same[1]);
    assert_ne!(same[0], environment("/usr/sbin").await);
}

#[tokio::test]
async fn a_trial_that_shows_something_else_says_why() {
    let bench = Bench::new();
    bench.put("log.txt", "Permission denied\nConnection refused\n");
    let table = [
        ("echo fine > made.txt", None),
        ("cat log.txt", None),
        ("sleep 0 & wait", None),
        ("touch $TMPDIR/x && rm $TMPDIR/x", None),
        ("mkdir -p ~/.cache/tool && touch ~/.cache/tool/x", None),
        ("sleep 600 &", Some("it left a process running")),
        ("(sleep 600 > /dev/null 2>&1 &)", Some("it left a process running")),
        ("echo x > /tmp/left", Some("it wrote outside the folder: `/tmp/left`")),
        ("mkdir -p /tmp/a/b; echo x > /tmp/a/b/c", Some("it wrote outside the folder: `/tmp/a/b/c`")),
        ("echo x > ~/.profile", Some("it wrote outside the folder: `~/.profile`")),
        ("touch /usr/x", Some("the sandbox may have denied it something")),
        ("cat log.txt; exit 1", Some("the sandbox may have denied it something")),
        ("echo 'Could not resolve host: x' >&2", Some("it may need the network or a service")),
        ("head -c 200000 /dev/zero", Some("it printed more than 128 KiB")),
    ];
    for (line, why) in table {
        let (capture, code, _) = captured(&capturing(&bench), line).await;
        let said = capture.why_doubtful(code);
        match (why, &said) {
            (Some(why), Some(said)) => assert!(said.starts_with(why), "{line}: {said}"),
            (why, said) => assert_eq!(said.as_deref(), why, "{line}"),
        }
    }
    assert!(!bench.at("made.txt").exists());
}
