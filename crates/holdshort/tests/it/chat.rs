//! Tests of `holdshort chat`: a conversation at a terminal, and from a script.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use holdshort_testkit::home::{CommandOutput, Home, Serving};
use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::real;
use holdshort_testkit::terminal::{PROMPT, Terminal};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::proxy::Proxy;

fn finish(summary: &str) -> Scripted {
    Scripted::call("finish", json!({ "summary": summary }))
}

fn write(path: &str, content: &str) -> Scripted {
    Scripted::Calls {
        text: format!("I write {path}."),
        calls: vec![("write_file".to_owned(), json!({"path": path, "content": content}))],
    }
}

struct Scene {
    runtime: Runtime,
    model: ScriptedModel,
    home: Home,
}

impl Scene {
    fn new() -> Self {
        let runtime = Runtime::new().unwrap();
        let model = runtime.block_on(ScriptedModel::start());
        let home = Home::new();
        std::fs::create_dir(home.path().join("work")).unwrap();
        Self { runtime, model, home }
    }

    fn chosen(&self) -> [&str; 4] {
        ["--model", "scripted", "--base-url", self.model.base_url()]
    }

    fn work(&self) -> String {
        self.home.path().join("work").to_str().unwrap().to_owned()
    }

    fn text(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(Path::new(&self.work()).join(name)).ok()
    }

    fn push(&self, replies: impl IntoIterator<Item = Scripted>) {
        replies.into_iter().for_each(|reply| self.model.push("copilot", reply));
    }

    fn chat(&self, arguments: &[&str]) -> Terminal {
        let mut terminal = Terminal::open(&self.home, &[&["chat"], arguments].concat(), &[]);
        terminal.expect("> ");
        terminal
    }

    fn piped(&self, arguments: &[&str], lines: &str) -> CommandOutput {
        use std::io::Write;
        let mut child = self
            .home
            .command(real())
            .arg("chat")
            .args(arguments)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        CommandOutput::from_output(child.wait_with_output().unwrap())
    }
}

/// Waits until a process with this command line runs on this machine.
fn runs(line: &str) {
    let is_it = |process: std::fs::DirEntry| {
        std::fs::read(process.path().join("cmdline")).is_ok_and(|found| found == line.as_bytes())
    };
    let until = std::time::Instant::now() + std::time::Duration::from_mins(1);
    while !std::fs::read_dir("/proc").unwrap().flatten().any(is_it) {
        assert!(std::time::Instant::now() < until, "nobody runs {line:?}");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

fn session_of(text: &str) -> String {
    let word = text.split_whitespace().find(|word| word.starts_with("ses_"));
    word.unwrap_or_else(|| panic!("no session: {text}")).to_owned()
}

#[test]
fn a_conversation_from_a_question_to_an_undo_and_back_again() {
    let scene = Scene::new();
    let serving = scene.home.serve(&scene.chosen());
    scene.push([
        Scripted::call("ask_user", json!({"question": "Which greeting?"})),
        Scripted::call("create_plan", json!({"subtasks": [{"id": "a", "description": "Write hello.txt"}]})),
        write("hello.txt", "hello\n"),
        Scripted::Hang(Box::new(Scripted::text("Still here."))),
        Scripted::text("Greeted."),
    ]);
    let work = scene.work();
    let mut terminal = scene.chat(&["--workspace", &work]);

    // Several lines form one message if they are pasted or continued with a backslash.
    terminal.type_raw("\u{1b}[200~greet\nthe world\u{1b}[201~");
    terminal.expect("the world");
    terminal.type_raw(" \\\rplease\r");
    terminal.expect("Which greeting?");
    terminal.expect("d leave");
    let told = scene.model.requests()[0].texts().join("\n");
    assert!(told.contains("greet\nthe world \nplease"), "{told}");

    // An answer is sent without being shown back.
    terminal.type_raw("hello, 2 times\r");
    terminal.expect("✓ Answer");
    let card = terminal.expect("d leave");
    assert!(card.contains("Holding short: plan") && card.contains("Write hello.txt"), "{card}");
    terminal.type_raw("approve\r");
    terminal.expect("✓ ");

    // A single key decides. The card above shows the call.
    let card = terminal.expect("d leave");
    assert!(card.contains("I write hello.txt.") && card.contains("+ hello"), "{card}");
    terminal.expect(PROMPT);
    // Enter is needed if the key arrived before the card had been shown long enough.
    terminal.type_raw("1\r");
    terminal.expect("✓ Approve");
    terminal.expect("✓ write_file hello.txt");
    scene.runtime.block_on(scene.model.wait_for_requests(4));

    // The person can type while the agent works. An unknown command is not sent.
    terminal.type_raw("/paln\r");
    terminal.expect("There is no command /paln, so nothing was sent.");
    terminal.type_raw("use tabs\r");
    terminal.expect("use tabs");
    terminal.expect(PROMPT);
    terminal.type_raw("\u{3}");
    terminal.expect("Interrupted. Say what to do instead");
    terminal.type_raw("and be brief\r");
    terminal.expect("The work continues.");
    scene.model.release();
    terminal.expect("copilot │ Greeted.");
    // The person's turn has no card: the next typed text answers it.
    let turn = terminal.expect("Say what is next, or /done.");
    assert!(turn.contains("Does this meet your needs?") && !turn.contains("Holding short"), "{turn}");
    let requests = scene.model.requests();
    let told = requests.last().unwrap().texts().join("\n");
    assert!(told.contains("use tabs") && told.contains("and be brief") && !told.contains("paln"), "{told}");
    assert_eq!(scene.text("hello.txt").as_deref(), Some("hello\n"));

    for (word, shown) in [
        ("/plan", "Write hello.txt"),
        ("/grants", "This session has no grants."),
        ("/cost", "requests"),
        ("/help", "Ctrl-C"),
        ("/pause", "No task is running."),
    ] {
        terminal.type_raw(&format!("{word}\r"));
        terminal.expect(shown);
    }

    terminal.type_raw("/undo\r");
    let card = terminal.expect("d leave");
    assert!(card.contains("1 file deleted") && card.contains("hello.txt"), "{card}");
    terminal.expect(PROMPT);
    terminal.type_raw("approve\r");
    // The call deletes a file, so a `yes` is needed.
    terminal.expect("y sends it");
    terminal.type_raw("y\r");
    terminal.expect("✓ Undo the changes");
    terminal.expect("✓ Done.");
    assert_eq!(scene.text("hello.txt"), None);
    // A second undo is rejected, because nothing is left to undo.
    terminal.type_raw("/undo\r");
    terminal.expect("already undone");
    terminal.type_raw("/done\r");
    let ended = terminal.expect("✓ Done.");
    assert!(!ended.contains("by operator") && !ended.contains("Holding short"), "{ended}");
    terminal.type_raw("/plan\r");
    let told = terminal.expect("No task is running. The last task is done. The plan of this task was:");
    assert!(!told.contains("Write hello.txt"), "{told}");
    terminal.expect("Write hello.txt");
    terminal.type_raw("/done\r");
    terminal.expect("There is no task to end");
    terminal.type_raw("/quit\r");
    let (code, left) = terminal.end();
    assert_eq!(code, 0, "{left}");
    assert!(
        left.contains("You left the conversation. To come back:\n  holdshort chat --session ses_"),
        "{left}"
    );

    // After resuming, the messages and the input history are still available.
    let session = session_of(&left);
    let mut terminal = Terminal::open(&scene.home, &["chat", "--session", &session], &[]);
    let shown = terminal.expect("and be brief");
    for said in ["operator │ greet", "copilot │ Which greeting?", "hello, 2 times", "and be brief"] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    terminal.type_raw("\u{1b}[A\u{1b}[A\u{1b}[A");
    terminal.expect("/done");
    terminal.type_raw("\u{15}\u{4}");
    let (code, left) = terminal.end();
    assert_eq!(code, 0, "{left}");
    let history = std::fs::metadata(scene.home.data().join("chat-history")).unwrap();
    assert_eq!(history.permissions().mode() & 0o777, 0o600);
    assert_eq!(serving.stop().0, 0);
}

/// Ctrl-C interrupts a reply, a command and an open card. It is then the person's turn.
#[test]
fn ctrl_c_interrupts_whatever_the_agent_is_at() {
    let scene = Scene::new();
    let serving = scene.home.serve(&scene.chosen());
    let said = "I will rewrite all of the files, one after the other.\nFirst the readme";
    scene.push([
        Scripted::Held(said.to_owned()),
        Scripted::call("run_command", json!({"command": "echo begun; sleep 631.25; echo over"})),
        write("a.txt", "a\n"),
        Scripted::Held("Once more".to_owned()),
    ]);
    let work = scene.work();
    let mut terminal = scene.chat(&["--workspace", &work]);
    terminal.type_raw("rewrite it\r");
    terminal.expect("one after the other.");
    terminal.type_raw("\u{3}");
    terminal.expect("Interrupted. Say what to do instead");
    let shown = terminal.expect("and was interrupted there");
    assert!(shown.contains("First the readme"), "{shown}");

    // The next message continues the work, and the model receives its interrupted reply.
    terminal.type_raw("only the readme\r");
    terminal.expect("The work continues.");
    scene.runtime.block_on(scene.model.wait_for_requests(2));
    let told = scene.model.requests()[1].texts();
    assert!(told.iter().any(|text| text.starts_with("I will rewrite all")), "{told:?}");
    assert!(told.last().unwrap().contains("only the readme"), "{told:?}");

    // After an interruption during a command, an empty line continues the work.
    runs("sleep\x00631.25\0");
    terminal.type_raw("\u{3}");
    terminal.expect("Interrupted. Say what to do instead");
    terminal.expect("interrupted");
    terminal.type_raw("\r");
    terminal.expect("The work continues.");

    // Ctrl-C while a card is open.
    terminal.expect("d leave");
    terminal.type_raw("\u{3}");
    terminal.expect("Interrupted. Say what to do instead");
    terminal.type_raw("not this file\r");
    terminal.expect("The work continues.");
    scene.runtime.block_on(scene.model.wait_for_requests(4));
    assert_eq!(scene.text("a.txt"), None);

    // The second Ctrl-C leaves, and prints the command that resumes the conversation. The run waits for the next
    // message.
    terminal.type_raw("\u{3}");
    terminal.expect("Interrupted. Say what to do instead");
    terminal.type_raw("\u{3}");
    let (code, left) = terminal.end();
    assert_eq!(code, 4, "{left}");
    assert!(left.contains("holdshort chat --session ses_"), "{left}");
    let session = session_of(&left);
    let mut terminal = Terminal::open(&scene.home, &["chat", "--session", &session], &[]);
    terminal.expect("The agent was interrupted. Say what to do instead");
    terminal.type_raw("/done\r");
    terminal.expect("The task ends here.");
    terminal.expect("Done in part");
    terminal.type_raw("/continue\r");
    terminal.expect("Nothing is interrupted.");
    // Before the first prompt, the terminal itself handles the key.
    terminal.expect(PROMPT);
    terminal.type_raw("\u{4}");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(serving.stop().0, 0);
}

/// Commands of the chat work while the agent is working.
#[test]
fn it_is_paused_and_grants_are_taken_back_while_the_agent_works() {
    let scene = Scene::new();
    let serving = scene.home.serve(&scene.chosen());
    scene.push([
        write("a.txt", "a\n"),
        Scripted::Hang(Box::new(write("a.txt", "b\n"))),
        Scripted::Hang(Box::new(write("a.txt", "c\n"))),
        Scripted::text("Written."),
    ]);
    let work = scene.work();
    let mut terminal = scene.chat(&["--workspace", &work]);
    terminal.type_raw("write it\r");
    terminal.expect("d leave");
    terminal.expect(PROMPT);
    terminal.type_raw("approve_session\r");
    terminal.expect("✓ write_file a.txt");
    scene.runtime.block_on(scene.model.wait_for_requests(2));

    // During a pause, a reply of the agent starts no call, and messages are stored.
    terminal.type_raw("/resume\r");
    terminal.expect("Nothing is paused.");
    terminal.type_raw("/pause\r");
    terminal.expect("Paused: your messages are kept and delivered after /resume.");
    terminal.type_raw("use tabs\r");
    terminal.type_raw("/grants\r");
    terminal.expect("1 ");
    terminal.expect("/grants revoke N revokes grant N");
    terminal.type_raw("/grants revoke 2\r");
    terminal.expect("There is no grant with this number");
    terminal.type_raw("/grants all\r");
    terminal.expect("/grants lists the grants, /grants revoke N revokes grant N.");
    assert_eq!(scene.text("a.txt").as_deref(), Some("a\n"));

    // The grant is revoked while the agent works, so the next write needs a decision.
    terminal.type_raw("/grants revoke 1\r");
    terminal.expect("is revoked. The calls");
    terminal.type_raw("/grants\r");
    terminal.expect("This session has no grants.");
    terminal.type_raw("/resume\r");
    terminal.expect(PROMPT);
    scene.model.release();
    let card = terminal.expect("d leave");
    assert!(card.contains("+ b"), "{card}");
    assert_eq!(scene.text("a.txt").as_deref(), Some("a\n"));
    terminal.expect(PROMPT);
    terminal.type_raw("approve\r");
    terminal.expect("d leave");
    let told = scene.model.requests()[2].texts().join("\n");
    assert!(told.contains("use tabs"), "{told}");
    assert_eq!(scene.text("a.txt").as_deref(), Some("b\n"));
    terminal.expect(PROMPT);
    terminal.type_raw("approve\r");
    terminal.expect("Written.");
    terminal.expect("Say what is next, or /done.");
    terminal.type_raw("/done\r");
    terminal.expect("✓ Done.");
    terminal.expect(PROMPT);
    terminal.type_raw("\u{4}");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(serving.stop().0, 0);
}

#[test]
fn ctrl_c_counts_also_where_it_comes_with_the_line_before_it() {
    let scene = Scene::new();
    let serving = scene.home.serve(&scene.chosen());
    scene.push([Scripted::Held("I begin".to_owned())]);
    let work = scene.work();
    let mut terminal = scene.chat(&["--workspace", &work]);
    // Both parts are sent in one write, so that the editor reads them together.
    terminal.type_raw("rewrite it\r\u{3}");
    terminal.expect("Interrupted. Say what to do instead");
    terminal.type_raw("/done\r");
    terminal.expect("The task ends here.");
    terminal.expect(PROMPT);
    terminal.type_raw("\u{4}");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(serving.stop().0, 0);
}

/// Returns a chat whose agent was interrupted in the middle of a reply, before any event of the interruption has
/// arrived.
fn interrupted_without_events(scene: &Scene, serving: &Serving) -> (Terminal, Proxy) {
    scene.push([Scripted::Held("I begin\n".to_owned())]);
    let proxy = Proxy::to(serving.started["listening"].as_str().unwrap());
    let (url, work) = (proxy.url(), scene.work());
    let token = serving.started["token"].as_str().unwrap();
    let arguments = ["chat", "--server", &url, "--workspace", &work];
    let mut terminal = Terminal::open(&scene.home, &arguments, &[("HOLDSHORT_TOKEN", token)]);
    terminal.expect("> ");
    terminal.type_raw("rewrite it\r");
    terminal.expect("I begin");
    terminal.expect(PROMPT);
    proxy.hold_events();
    terminal.type_raw("\u{3}");
    terminal.expect("Interrupted. Say what to do instead");
    terminal.expect(PROMPT);
    (terminal, proxy)
}

/// Text that was typed before the chat knows that it is the person's turn waits. A second Ctrl-C leaves at once.
#[test]
fn ctrl_c_leaves_also_where_words_wait_for_the_turn() {
    let scene = Scene::new();
    let serving = scene.home.serve(&scene.chosen());
    let (mut terminal, proxy) = interrupted_without_events(&scene, &serving);
    terminal.type_raw("only the readme\r");
    terminal.expect(PROMPT);
    terminal.type_raw("\u{3}");
    let (code, left) = terminal.end();
    assert_eq!(code, 4, "{left}");
    assert!(left.contains("Not sent: only the readme"), "{left}");
    proxy.release_events();
    // If the event arrives first, the text answers the turn, and the next Ctrl-C interrupts again.
    let (mut terminal, proxy) = interrupted_without_events(&scene, &serving);
    scene.push([Scripted::text("Adapted.")]);
    terminal.type_raw("only the readme\r");
    proxy.release_events();
    terminal.expect("The work continues.");
    terminal.expect("copilot │ Adapted.");
    terminal.expect("Say what is next, or /done.");
    terminal.expect(PROMPT);
    terminal.type_raw("\u{3}");
    terminal.expect("No task is running. Ctrl-C again leaves.");
    terminal.type_raw("/done\r");
    terminal.expect("✓ Done.");
    terminal.expect(PROMPT);
    terminal.type_raw("\u{4}");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(serving.stop().0, 0);
}

#[test]
fn lines_that_wait_for_the_turn_are_no_more_than_a_few() {
    let scene = Scene::new();
    let serving = scene.home.serve(&scene.chosen());
    let (mut terminal, proxy) = interrupted_without_events(&scene, &serving);
    scene.push([Scripted::text("Adapted.")]);
    for n in 1..=20 {
        terminal.type_raw(&format!("line {n}\r"));
        terminal.expect(PROMPT);
    }
    terminal.type_raw("one too many\r");
    terminal.expect("20 lines already wait to be sent, so “one too many” was dropped.");
    proxy.release_events();
    terminal.expect("The work continues.");
    scene.runtime.block_on(scene.model.wait_for_requests(2));
    let told = scene.model.requests()[1].texts().join("\n");
    assert!(told.contains("line 1"), "{told}");
    assert!(!told.contains("one too many"), "{told}");
    terminal.expect(PROMPT);
    terminal.type_raw("\u{4}");
    terminal.end();
    assert_eq!(serving.stop().0, 0);
}

/// The card shows the plan, and the rest of the planner's text is printed once.
#[test]
fn a_plan_is_shown_by_its_card_and_not_as_json() {
    let scene = Scene::new();
    let serving = scene.home.serve(&scene.chosen());
    scene.push([
        Scripted::call("invoke_planning_phase", json!({"task": "write hello.txt"})),
        Scripted::text("Planned."),
    ]);
    let plan = "Two steps.\n```json\n{\"subtasks\": [{\"id\": \"a\", \"description\": \"Write hello.txt\", \"agent\": \"copilot\"}, {\"id\": \"b\", \"description\": \"Read it again\", \"agent\": \"copilot\"}]}\n```";
    scene.model.push("planner", Scripted::text(plan));
    let work = scene.work();
    let mut terminal = scene.chat(&["--workspace", &work]);
    terminal.type_raw("greet\r");
    let shown = terminal.expect("d leave");
    assert!(shown.contains("Write hello.txt") && shown.contains("Read it again"), "{shown}");
    assert!(!shown.contains("subtasks") && !shown.contains("```"), "{shown}");
    assert_eq!(shown.matches("Two steps.").count(), 1, "{shown}");
    terminal.expect(PROMPT);
    terminal.type_raw("approve\r");
    terminal.expect("copilot │ Planned.");
    terminal.expect("Say what is next, or /done.");
    terminal.type_raw("/done\r");
    terminal.expect("✓ Done.");
    terminal.expect(PROMPT);
    terminal.type_raw("\u{4}");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(serving.stop().0, 0);
}

#[test]
fn two_terminals_are_in_one_conversation() {
    let scene = Scene::new();
    let serving = scene.home.serve(&scene.chosen());
    scene.push([write("a.txt", "a\n"), Scripted::text("Written."), Scripted::text("A letter.")]);
    let work = scene.work();
    let mut one = Terminal::open(&scene.home, &["chat", "--workspace", &work], &[]);
    let session = session_of(&one.expect("> "));
    let mut two = scene.chat(&["--session", &session]);
    one.type_raw("write it\r");
    one.expect("d leave");
    // A message that is typed in one terminal is printed in the other terminal. It is printed only once in its own
    // terminal.
    let shown = two.expect("d leave");
    assert!(shown.contains("operator │ write it") && shown.contains("I write a.txt."), "{shown}");
    two.expect(PROMPT);
    two.type_raw("approve\r");
    two.expect("✓ Approve");
    let shown = one.expect("Say what is next");
    assert!(shown.contains("No longer asked:") && shown.contains("by operator (cli)"), "{shown}");
    assert!(!shown.contains("operator │ write it"), "{shown}");
    two.expect("Say what is next");
    // An answer to a turn that is typed in one terminal is printed in the other terminal, as a message and not as a
    // decision.
    two.type_raw("what is in it?\r");
    let told = two.expect("Say what is next");
    assert!(told.contains("copilot │ A letter.") && !told.contains("operator"), "{told}");
    let told = one.expect("Say what is next");
    assert!(told.contains("operator │ what is in it?") && !told.contains("answered"), "{told}");
    // The second Ctrl-C leaves.
    two.type_raw("\u{3}");
    two.expect("Ctrl-C again leaves.");
    two.type_raw("\u{3}");
    assert_eq!(two.end().0, 0);

    // An open interrupt is shown again after the conversation is left and resumed.
    scene.push([write("b.txt", "b\n")]);
    one.type_raw("and b\r");
    one.expect("d leave");
    one.type_raw("\u{4}");
    let (code, left) = one.end();
    assert_eq!(code, 4, "{left}");
    assert!(left.contains("A request waits for your decision."), "{left}");
    let mut back = Terminal::open(&scene.home, &["chat", "--session", &session], &[]);
    back.expect("d leave");
    back.type_raw("\u{3}");
    back.expect("Ctrl-C again leaves.");
    back.type_raw("\u{3}");
    assert_eq!(back.end().0, 4);
    assert_eq!(serving.stop().0, 0);
}

#[test]
fn a_script_says_one_thing_after_the_other() {
    let scene = Scene::new();
    scene.push([
        Scripted::call("ask_user", json!({"question": "Which?"})),
        write("a.txt", "a\n"),
        Scripted::text("Written."),
        Scripted::text("Nothing more."),
    ]);
    let work = scene.work();
    let arguments = [&["--workspace", &work], &scene.chosen()[..]].concat();
    let ran = scene.piped(&arguments, "write\nthe first\napprove\n/cost\nand now?\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(scene.text("a.txt").as_deref(), Some("a\n"), "{ran:?}");
    // The last turn is open and does not delay the exit, because it waits for the person's next message.
    for shown in ["Which?", "✓ Approve", "copilot │ Written.", "3 requests", "copilot │ Nothing more."]
    {
        assert!(ran.out.contains(shown), "{shown}: {ran:?}");
    }
    assert!(!ran.out.contains('\u{1b}'), "{ran:?}");
    let session = session_of(&ran.out);

    // At the end of input, open interrupts stay open. The next command starts an embedded server again.
    scene.push([write("b.txt", "b\n"), Scripted::text("Written.")]);
    let arguments = [&["--session", &session], &scene.chosen()[..]].concat();
    let ran = scene.piped(&arguments, "write b\n");
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.out.contains("A request waits for your decision."), "{ran:?}");
    let ran = scene.piped(&arguments, "approve\n");
    assert_eq!((ran.code, scene.text("b.txt").as_deref()), (0, Some("b\n")), "{ran:?}");
}

/// The copilot remembers the earlier rounds of its conversation, and an undo reverts only the last round.
#[test]
fn rounds_of_a_conversation_are_one_run_and_are_taken_back_one_by_one() {
    let scene = Scene::new();
    scene.push([
        write("a.txt", "a\n"),
        Scripted::text("Written."),
        write("a.txt", "b\n"),
        Scripted::text("Written anew."),
        Scripted::text("It holds a again."),
    ]);
    let work = scene.work();
    let arguments = [&["--workspace", &work], &scene.chosen()[..]].concat();
    let typed = "write a\napprove\nnow b\napprove\n/undo\napprove\nwhat is in it?\n";
    let ran = scene.piped(&arguments, typed);
    assert_eq!((ran.code, scene.text("a.txt").as_deref()), (0, Some("a\n")), "{ran:?}");
    let told = scene.model.requests()[2].body["messages"].to_string();
    assert!(told.contains("write_file") && told.contains("now b"), "{told}");
    // The copilot is informed about the undo once, together with the next message.
    let told = scene.model.requests()[4].body["messages"].to_string();
    assert_eq!(told.matches("undone changes").count(), 1, "{told}");
    assert!(told.contains("in their earlier state again: `a.txt`"), "{told}");
}

/// Neither a router's reply nor its preview is printed, because a router's reply is only for the run.
#[test]
fn what_a_router_says_is_not_shown() {
    let scene = Scene::new();
    let folder = scene.home.path().join("workflows/helper");
    std::fs::create_dir_all(&folder).unwrap();
    let workflow = "name: helper\ndescription: Helps.\nagents:\n  router: {instructions: Route.}\n  pair: {instructions: Work., tools: [read_file]}\nphases:\n  - {id: work, kind: copilot, agent: pair, routing: balanced, router: router}\n";
    std::fs::write(folder.join("workflow.yaml"), workflow).unwrap();
    let answer = r#"{"route_type": "direct", "complexity": 20, "refined_task": "Sort it."}"#;
    scene.model.push("router", Scripted::text(answer));
    scene.model.push("pair", Scripted::text("Sorted."));
    let workflows = scene.home.path().join("workflows").to_str().unwrap().to_owned();
    let serving = scene.home.serve(&[&scene.chosen()[..], &["--workflows", &workflows]].concat());
    let work = scene.work();
    let mut terminal = scene.chat(&["--workflow", "helper", "--workspace", &work]);
    terminal.type_raw("sort the list by length\r");
    let shown = terminal.expect("Sorted.");
    assert!(shown.contains("the task is routed by the router: direct"), "{shown}");
    assert!(!shown.contains("route_type"), "{shown}");
    terminal.type_raw("/quit\r");
    assert!(matches!(terminal.end().0, 0 | 4));
    assert_eq!(serving.stop().0, 0);
}

#[test]
fn a_rehearsal_is_called_one() {
    let scene = Scene::new();
    let folder = scene.home.path().join("workflows/mine");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("workflow.yaml"), "name: mine\nextends: pair\ndescription: Mine.\n").unwrap();
    let script = "agents:\n  pair:\n    - text: Done.\n      calls: [{tool: finish, arguments: {summary: Nothing to do.}}]\n";
    std::fs::write(folder.join("rehearsal.yaml"), script).unwrap();
    let workflows = scene.home.path().join("workflows").to_str().unwrap().to_owned();
    let serving = scene.home.serve(&["--workflows", &workflows]);
    let work = scene.work();
    let arguments = ["--workflow", "mine", "--workspace", &work, "--model", "rehearsal"];
    let ran = scene.piped(&arguments, "do it\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.out.matches("A rehearsal: the agents' words are scripted.").count(), 1, "{ran:?}");
    assert_eq!(serving.stop().0, 0);
}

/// In a script, the line after a refusal answers the next question, and does not release the refused call.
#[test]
fn in_a_script_a_refusal_is_sent_at_once() {
    let scene = Scene::new();
    scene.push([write("a.txt", "a\n"), Scripted::text("Not written, then.")]);
    let work = scene.work();
    let arguments = [&["--workspace", &work], &scene.chosen()[..]].concat();
    let ran = scene.piped(&arguments, "write a\nno, not that one\n1\n");
    assert_eq!((ran.code, scene.text("a.txt")), (0, None), "{ran:?}");
    let told = scene.model.requests()[1].body["messages"].to_string();
    assert!(told.contains("no, not that one"), "{told}");
}

/// The conversation of the next run mentions an undo in a run that has ended.
#[test]
fn the_next_run_of_a_conversation_knows_what_was_taken_back() {
    let scene = Scene::new();
    let write = Scripted::call("write_file", json!({"path": "a.txt", "content": "a\n"}));
    for scripted in [write, finish("Written."), finish("It is gone.")] {
        scene.model.push("pair", scripted);
    }
    let work = scene.work();
    let arguments = [&["--workflow", "pair", "--workspace", &work], &scene.chosen()[..]].concat();
    let ran = scene.piped(&arguments, "write a\napprove\n/undo\napprove\nwhere is it?\n");
    assert_eq!((ran.code, scene.text("a.txt")), (0, None), "{ran:?}");
    let told = scene.model.requests()[2].body["messages"].to_string();
    assert!(told.contains("(took back changes)") && told.contains("`a.txt`"), "{told}");
}

/// Each message starts a new run if the agent ends its run after each answer.
#[test]
fn another_workflow_is_spoken_to_by_its_name() {
    let scene = Scene::new();
    scene.model.push("pair", finish("Nothing to do."));
    scene.model.push("pair", finish("Nor now."));
    let work = scene.work();
    let arguments = [&["--workflow", "pair", "--workspace", &work], &scene.chosen()[..]].concat();
    let ran = scene.piped(&arguments, "do it\nand now?\n");
    assert_eq!((ran.code, ran.out.matches("✓ Done.").count()), (0, 2), "{ran:?}");
    assert!(ran.out.contains("finish │ Nor now."), "{ran:?}");
}

#[test]
fn a_session_that_can_not_be_spoken_to_is_an_error() {
    let scene = Scene::new();
    let serving = scene.home.serve(&scene.chosen());
    let work = scene.work();
    let opened = scene.piped(&["--workspace", &work], "/quit\n");
    assert_eq!(opened.code, 0, "{opened:?}");
    let session = session_of(&opened.out);
    for (arguments, told) in [
        (&["--session", "ses_00000000000000000000000000"][..], "no such session"),
        (&["--session", "run_00000000000000000000000000"], "is a run, not a session"),
        (&["--session", &session, "--workflow", "research"], "is a conversation with `copilot`"),
        (&["--session", &session, "--workspace", &work], "cannot be used with"),
        (&["--workflow", "nobody"], "no workflow with this name"),
        (&["--workspace", "/nowhere"], "/nowhere"),
        (&["--json"], "no JSON"),
    ] {
        let ran = scene.piped(arguments, "hello\n");
        assert!(ran.code == 2 && ran.err.contains(told), "{arguments:?}: {ran:?}");
    }
    assert_eq!(scene.home.run(&["cancel", &session]).code, 0);
    let ran = scene.piped(&["--session", &session], "hello\n");
    assert!(ran.code == 2 && ran.err.contains("is closed (completed)"), "{ran:?}");
    assert_eq!(scene.model.requests().len(), 0);
    assert_eq!(serving.stop().0, 0);
}

/// Text begun for a card on which another person then decides is shown, and sent neither as a message nor as an answer.
#[test]
fn text_begun_for_a_card_that_is_gone_is_sent_nowhere() {
    let scene = Scene::new();
    let serving = scene.home.serve(&scene.chosen());
    scene.push([write("a.txt", "a\n"), Scripted::text("Written."), Scripted::text("A letter.")]);
    let work = scene.work();
    let mut one = Terminal::open(&scene.home, &["chat", "--workspace", &work], &[]);
    let session = session_of(&one.expect("> "));
    let mut two = scene.chat(&["--session", &session]);
    one.type_raw("write it\r");
    one.expect("d leave");
    one.expect(PROMPT);
    two.expect("d leave");
    two.expect(PROMPT);
    one.type_raw("no, not that");
    one.expect("no, not that");
    two.type_raw("approve\r");
    two.expect("✓ Approve");
    one.expect("Say what is next");
    one.type_raw("\r");
    one.expect("Not sent: no, not that");
    one.type_raw("what is in it?\r");
    let told = two.expect("A letter.");
    assert!(told.contains("operator │ what is in it?") && !told.contains("not that"), "{told}");
    assert_eq!(serving.stop().0, 0);
}
