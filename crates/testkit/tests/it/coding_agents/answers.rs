//! Effect of each answer of a hook in each agent. The agent would run the command without a prompt and without a
//! sandbox, so that only the hook can stop it; then its own prompt or sandbox is on.

use holdshort_testkit::coding_agent::{AgentHook, CodingAgent, SecondLine};
use serde_json::json;

use super::Outcome::{Ran, Rewritten, Stopped};
use super::{Outcome, REWRITE, answer, gated, play, print, rewrite};

pub(super) struct Answer {
    pub(super) case: &'static str,
    /// Lines of the hook's script that print the answer.
    lines: fn(CodingAgent) -> String,
    /// Effect of the answer if only the hook can stop the command: in Claude Code, Codex, Gemini CLI.
    pub(super) alone: [Outcome; 3],
    /// Effect of the answer if the agent's own prompt or sandbox is on as well.
    pub(super) with_second_line: [Outcome; 3],
}

/// Seconds after which a coding agent stops waiting for the hook, in the case of a hook that is too slow.
const TIME_OUT_SECONDS: u64 = 1;

/// Name of the case in which the hook takes longer than [`TIME_OUT_SECONDS`].
const TOO_SLOW: &str = "longer than the agent's time-out";

const NEVER: [Outcome; 3] = [Stopped; 3];

pub(super) const ANSWERS: &[Answer] = &[
    Answer {
        case: "`deny` with a reason",
        lines: |agent| print(&answer(agent, "deny", Some("no"))),
        alone: NEVER,
        with_second_line: NEVER,
    },
    Answer {
        case: "`deny` with a reason, and text on standard error",
        lines: |agent| print(&answer(agent, "deny", Some("no"))) + "echo noise >&2\n",
        alone: NEVER,
        with_second_line: NEVER,
    },
    Answer {
        case: "`deny` with a reason of 1 MB",
        lines: |agent| print(&answer(agent, "deny", Some(&"x".repeat(1_000_000)))),
        alone: NEVER,
        with_second_line: NEVER,
    },
    Answer {
        case: "`deny` with a blank reason",
        lines: |agent| print(&answer(agent, "deny", Some("  "))),
        alone: [Stopped, Ran, Stopped],
        with_second_line: NEVER,
    },
    Answer {
        case: "`deny` without a reason",
        lines: |agent| print(&answer(agent, "deny", None)),
        alone: [Stopped, Ran, Stopped],
        with_second_line: NEVER,
    },
    Answer {
        case: "`deny` with a member that the agent does not know",
        lines: |agent| with_member(agent, "holdshort", json!(1)),
        alone: [Stopped, Ran, Stopped],
        with_second_line: NEVER,
    },
    Answer {
        case: "`deny` with `continue: false`",
        lines: |agent| with_member(agent, "continue", json!(false)),
        alone: [Stopped, Ran, Stopped],
        with_second_line: NEVER,
    },
    Answer {
        case: "`deny` with `suppressOutput: true`",
        lines: |agent| with_member(agent, "suppressOutput", json!(true)),
        alone: [Stopped, Ran, Stopped],
        with_second_line: NEVER,
    },
    Answer {
        case: "`deny` with a changed input",
        lines: |agent| print(&rewrite(agent, "deny", REWRITE)),
        alone: [Stopped, Ran, Stopped],
        with_second_line: NEVER,
    },
    Answer {
        case: "`defer`",
        lines: |agent| print(&answer(agent, "defer", Some("later"))),
        alone: [Stopped, Ran, Ran],
        with_second_line: NEVER,
    },
    Answer {
        case: "`allow`",
        lines: |agent| print(&answer(agent, "allow", None)),
        alone: [Ran; 3],
        with_second_line: [Ran, Stopped, Stopped],
    },
    Answer {
        case: "`allow` with a changed input",
        lines: |agent| print(&rewrite(agent, "allow", REWRITE)),
        alone: [Rewritten; 3],
        with_second_line: [Rewritten, Stopped, Stopped],
    },
    Answer {
        case: "a line, then `allow` with a changed input",
        lines: |agent| format!("echo starting\n{}", print(&rewrite(agent, "allow", REWRITE))),
        alone: [Ran; 3],
        with_second_line: NEVER,
    },
    Answer {
        case: "nothing, exit 0",
        lines: |_| "cat > /dev/null\n".into(),
        alone: [Ran; 3],
        with_second_line: NEVER,
    },
    Answer {
        case: "a line, then `deny`",
        lines: |agent| format!("echo starting\n{}", print(&answer(agent, "deny", Some("no")))),
        alone: [Ran; 3],
        with_second_line: NEVER,
    },
    Answer {
        case: "`deny`, then a line",
        lines: |agent| print(&answer(agent, "deny", Some("no"))) + "echo done\n",
        alone: [Ran; 3],
        with_second_line: NEVER,
    },
    Answer {
        case: "two documents, `deny` and `allow`",
        lines: |agent| print(&answer(agent, "deny", Some("no"))) + &print(&answer(agent, "allow", None)),
        alone: [Ran; 3],
        with_second_line: NEVER,
    },
    Answer {
        case: "half a document",
        lines: |_| "cat > /dev/null\nprintf '{\"decision\": \"deny\", '\n".into(),
        alone: [Ran; 3],
        with_second_line: NEVER,
    },
    Answer {
        case: "exit 2 with text",
        lines: |_| "cat > /dev/null\necho stop >&2\nexit 2\n".into(),
        alone: NEVER,
        with_second_line: NEVER,
    },
    Answer {
        case: "exit 2 with text, the payload not read",
        lines: |_| "echo stop >&2\nexit 2\n".into(),
        alone: NEVER,
        with_second_line: NEVER,
    },
    Answer {
        case: "exit 2 with 1 MB of text",
        lines: |_| "cat > /dev/null\nhead -c 1000000 /dev/zero | tr '\\0' x >&2\nexit 2\n".into(),
        alone: NEVER,
        with_second_line: NEVER,
    },
    Answer {
        case: "exit 2 with text, and a line on standard output",
        lines: |_| "cat > /dev/null\necho starting\necho stop >&2\nexit 2\n".into(),
        alone: NEVER,
        with_second_line: NEVER,
    },
    Answer {
        case: "exit 2 with text, and `allow` on standard output",
        lines: |agent| print(&answer(agent, "allow", None)) + "echo stop >&2\nexit 2\n",
        alone: [Stopped, Stopped, Ran],
        with_second_line: NEVER,
    },
    Answer {
        case: "exit 2 with blank text",
        lines: |_| "cat > /dev/null\necho ' ' >&2\nexit 2\n".into(),
        alone: [Stopped, Ran, Ran],
        with_second_line: NEVER,
    },
    Answer {
        case: "exit 2 without text",
        lines: |_| "cat > /dev/null\nexit 2\n".into(),
        alone: [Stopped, Ran, Ran],
        with_second_line: NEVER,
    },
    Answer {
        case: "exit 1 with text",
        lines: |_| "cat > /dev/null\necho broken >&2\nexit 1\n".into(),
        alone: [Ran; 3],
        with_second_line: NEVER,
    },
    Answer {
        case: "exit 1 with `deny`",
        lines: |agent| print(&answer(agent, "deny", Some("no"))) + "exit 1\n",
        alone: [Stopped, Ran, Stopped],
        with_second_line: NEVER,
    },
    Answer {
        case: "killed",
        lines: |_| "cat > /dev/null\nkill -9 $$\n".into(),
        alone: [Ran; 3],
        with_second_line: NEVER,
    },
    Answer {
        case: "program missing",
        lines: |_| "cat > /dev/null\nexec ./missing-program\n".into(),
        alone: [Ran, Ran, Stopped],
        with_second_line: NEVER,
    },
    Answer {
        case: TOO_SLOW,
        lines: |agent| {
            // `exec` leaves no child that keeps the pipes open.
            format!("cat > /dev/null\n{}exec sleep 20\n", print(&answer(agent, "deny", Some("no"))))
        },
        alone: [Ran; 3],
        with_second_line: NEVER,
    },
];

/// Names of the cases that the short test plays. The campaign plays all cases.
const SAMPLE: [&str; 3] = ["`deny` with a reason", "`allow` with a changed input", "exit 2 with text"];

fn with_member(agent: CodingAgent, name: &str, value: serde_json::Value) -> String {
    let mut document = answer(agent, "deny", Some("no"));
    document[name] = value;
    print(&document)
}

fn plays(agent: CodingAgent, answer: &Answer, second_line: SecondLine) -> Outcome {
    let home = gated(agent, &(answer.lines)(agent)).second_line(second_line);
    let mut home = home;
    if answer.case == TOO_SLOW {
        let hook = AgentHook {
            event: agent.before_tool(),
            command: home.folder().join("hook").display().to_string(),
            timeout: Some(TIME_OUT_SECONDS),
        };
        home.replace_hooks(vec![hook]);
    }
    play(agent, &home).0
}

fn check(agent: CodingAgent, answers: impl Iterator<Item = &'static Answer>, lines: &[SecondLine]) {
    let at = CodingAgent::ALL.iter().position(|one| *one == agent).unwrap();
    let mut wrong = Vec::new();
    for answer in answers {
        for line in lines {
            let expected = match line {
                SecondLine::Off => answer.alone[at],
                SecondLine::On => answer.with_second_line[at],
            };
            // Names the case if the agent does not end.
            eprintln!("{}, second line {line:?}", answer.case);
            let got = plays(agent, answer, *line);
            if got != expected {
                wrong.push(format!("{}, second line {line:?}: {got:?}, not {expected:?}", answer.case));
            }
        }
    }
    assert!(wrong.is_empty(), "{}: {wrong:#?}", agent.title());
}

fn sample() -> impl Iterator<Item = &'static Answer> {
    ANSWERS.iter().filter(|answer| SAMPLE.contains(&answer.case))
}

#[test]
#[ignore = "it starts programs that npm installs"]
fn campaign_claude_code_obeys_refusals_and_rewrites() {
    check(CodingAgent::Claude, sample(), &[SecondLine::Off]);
}

#[test]
#[ignore = "it starts programs that npm installs"]
fn campaign_codex_obeys_refusals_and_rewrites() {
    check(CodingAgent::Codex, sample(), &[SecondLine::Off]);
}

#[test]
#[ignore = "it starts programs that npm installs"]
fn campaign_gemini_cli_obeys_refusals_and_rewrites() {
    check(CodingAgent::Gemini, sample(), &[SecondLine::Off]);
}

#[test]
#[ignore = "it starts the agent twice for each answer"]
fn campaign_of_answers_to_claude_code() {
    check(CodingAgent::Claude, ANSWERS.iter(), &[SecondLine::Off, SecondLine::On]);
}

#[test]
#[ignore = "it starts the agent twice for each answer"]
fn campaign_of_answers_to_codex() {
    check(CodingAgent::Codex, ANSWERS.iter(), &[SecondLine::Off, SecondLine::On]);
}

#[test]
#[ignore = "it starts the agent twice for each answer"]
fn campaign_of_answers_to_gemini_cli() {
    check(CodingAgent::Gemini, ANSWERS.iter(), &[SecondLine::Off, SecondLine::On]);
}

/// Codex skips a hook that nobody has trusted, without a message. Then only its sandbox protects.
#[test]
#[ignore = "it starts programs that npm installs"]
fn campaign_codex_skips_a_hook_that_nobody_has_trusted() {
    let lines = "cat > /dev/null\necho stop >&2\nexit 2\n";
    let untrusted = |line| gated(CodingAgent::Codex, lines).untrusted().second_line(line);
    assert_eq!(play(CodingAgent::Codex, &untrusted(SecondLine::Off)).0, Ran);
    assert_eq!(play(CodingAgent::Codex, &untrusted(SecondLine::On)).0, Stopped);
}
