//! Tests of `examples/external-agent`, as it is in the repository.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

use holdshort_testkit::home::{Home, Serving};
use serde_json::{Value, json};

fn start(
    home: &Home,
    serving: &Serving,
    program: &str,
    file: &str,
) -> (Child, BufReader<std::process::ChildStderr>) {
    let example = format!("{}/../../examples/external-agent/{file}", env!("CARGO_MANIFEST_DIR"));
    let mut child = home
        .command(program)
        .arg(example)
        .env("HOLDSHORT_URL", serving.started["listening"].as_str().unwrap())
        .env("HOLDSHORT_AGENT_TOKEN", serving.started["agent_token"].as_str().unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let errors = BufReader::new(child.stderr.take().unwrap());
    (child, errors)
}

fn read_interrupt_id(errors: &mut BufReader<std::process::ChildStderr>) -> String {
    let mut line = String::new();
    errors.read_line(&mut line).unwrap();
    line.trim().strip_prefix("holding short: ").expect(&line).to_owned()
}

fn resolution(child: &mut Child) -> Value {
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    let mut resolution: Value = serde_json::from_str(&out).expect(&out);
    resolution.as_object_mut().unwrap().remove("at");
    resolution
}

#[test]
fn the_python_agent_is_approved() {
    let home = Home::new();
    let serving = home.serve(&[]);
    let (mut agent, mut errors) = start(&home, &serving, "python3", "agent.py");
    let id = read_interrupt_id(&mut errors);
    let shown = home.run(&["show", &id]);
    assert!(
        shown.out.contains("an agent that runs elsewhere")
            && shown.out.contains("│ Delete 41 merged branches"),
        "{shown:?}"
    );
    assert_eq!(home.run(&["decide", &id, "approve", "--text", "go on"]).code, 0);
    assert_eq!(
        resolution(&mut agent),
        json!({"outcome": "approved", "option": "approve", "effect": "proceed", "text": "go on", "by": ["operator"],
               "cause": "decision"})
    );
    assert_eq!(agent.wait().unwrap().code(), Some(0));
    // The agent reports that it used the approval, and the terminal shows that report.
    let mut told = String::new();
    errors.read_to_string(&mut told).unwrap();
    let used = told.split(": ").next().unwrap_or_default().to_owned();
    assert!(used.starts_with("used at 2"), "{told}");
    let shown = home.run(&["show", &id]);
    assert!(shown.out.contains(&format!("{used} by agent")), "{told} {shown:?}");
    // The run's result contains the whole decision, not only its text.
    let run = home.json(&["show", &id])["run"].as_str().unwrap().to_owned();
    let shown = home.run(&["show", &run]).out;
    for line in [r#""outcome": "approved""#, r#""text": "go on""#] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    // A second decision comes too late.
    let late = home.run(&["decide", &id, "reject"]);
    assert_eq!(late.code, 1);
    assert!(late.err.contains("[already_resolved]"), "{late:?}");
    let when = late.err.split("approved with `approve` by operator, ").nth(1).unwrap_or_default();
    assert!(when.starts_with("just now") || when.contains(" min ago"), "{late:?}");
    assert!(late.err.contains("“go on”") && late.err.matches("resolved").count() == 2, "{late:?}");
}

#[test]
fn the_shell_agent_is_answered() {
    let home = Home::new();
    let serving = home.serve(&[]);
    let (mut agent, mut errors) = start(&home, &serving, "sh", "agent.sh");
    let id = read_interrupt_id(&mut errors);
    let wrong = home.run(&["decide", &id, "approve"]);
    assert_eq!(wrong.code, 2, "{wrong:?}");
    assert!(wrong.err.contains(": the option is not offered here; choose one of: answer"), "{wrong:?}");
    assert_eq!(home.run(&["decide", &id, "answer", "--text", "eu-west"]).code, 0);
    let found = resolution(&mut agent);
    assert_eq!((&found["outcome"], &found["text"]), (&json!("answered"), &json!("eu-west")));
    assert_eq!(agent.wait().unwrap().code(), Some(0));

    // The agent exits successfully only after an answer.
    let (mut agent, mut errors) = start(&home, &serving, "sh", "agent.sh");
    let id = read_interrupt_id(&mut errors);
    let run = home.json(&["show", &id])["run"].as_str().unwrap().to_owned();
    assert_eq!(home.run(&["cancel", &run]).code, 0);
    assert_eq!(resolution(&mut agent)["outcome"], "cancelled");
    assert_eq!(agent.wait().unwrap().code(), Some(1));
}
