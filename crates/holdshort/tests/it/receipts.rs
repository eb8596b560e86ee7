//! Tests of checkpoints and receipts as an outsider checks them: with the script in the documentation, and for a
//! changed journal.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use holdshort_core::digest::Digest;
use holdshort_core::tree::continues;
use holdshort_testkit::home::{Home, Serving};
use holdshort_testkit::terminal::{PROMPT, Terminal};
use serde_json::{Value, json};

async fn ask(serving: &Serving, body: Value) -> Value {
    let text = |name: &str| serving.started[name].as_str().unwrap();
    let http = holdshort_http::plain().build().unwrap();
    let url = format!("{}/v1/interrupts", text("listening"));
    let response = http.post(url).bearer_auth(text("agent_token")).json(&body).send().await.unwrap();
    assert_eq!(response.status(), 201);
    response.json().await.unwrap()
}

async fn ask_more(serving: &Serving, count: usize) {
    for n in 0..count {
        ask(serving, json!({"kind": "question", "title": format!("Question {n}?")})).await;
    }
}

/// Runs `docs/verify_receipt.py` on a receipt with Python's optimisation, which must not skip any check. Returns its
/// output or error.
fn checked(receipt: &Path, key: &str, interrupt: &str) -> Result<String, String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/verify_receipt.py");
    let ran =
        Command::new("python3").args(["-O", script]).arg(receipt).args([key, interrupt]).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if ran.status.success() { Ok(text(&ran.stdout)) } else { Err(text(&ran.stderr)) }
}

#[tokio::test]
async fn a_receipt_is_checked_without_holdshort_and_no_part_of_it_can_be_changed() {
    let home = Home::new();
    let serving = home.serve(&[]);
    let asked =
        ask(&serving, json!({"kind": "tool_approval", "title": "Delete it", "payload": {"path": "a"}})).await;
    let id = asked["id"].as_str().unwrap();
    // Further interrupts come before and after the tested interrupt, so that its events are spread over the tree.
    ask_more(&serving, 20).await;
    assert_eq!(home.run(&["decide", id, "approve", "--text", "It is a copy."]).code, 0);
    ask_more(&serving, 7).await;

    let path = home.path().join("receipt.json");
    let ran = home.run(&["receipt", id, "--out", path.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(home.run(&["receipt", id, "--out", path.to_str().unwrap()]).code, 2, "it is there already");
    let receipt: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let key = receipt["checkpoint"]["key"].as_str().unwrap().to_owned();
    let said = checked(&path, &key, id).unwrap();
    for part in [
        "run_started",
        "interrupt_opened",
        "decision_made  by operator",
        "  approve  ",
        "interrupt_resolved",
        "  approved",
        "good: ",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }

    let events = receipt["events"].as_array().unwrap();
    let decided =
        events.iter().position(|event| event["head"].as_str().unwrap().contains("decision_made")).unwrap();
    let place = |member: &str| format!("/events/{decided}/{member}");
    let replaced = |pointer: &str, from: &str, to: &str| {
        let mut changed = receipt.clone();
        let part = changed.pointer_mut(pointer).unwrap();
        let text = part.as_str().unwrap().replace(from, to);
        assert_ne!(part.as_str(), Some(&*text), "{pointer} has no {from}");
        *part = text.into();
        changed
    };
    let mut moved = receipt.clone();
    moved["events"][decided]["index"] = json!(0);
    // The digest covers the salt followed by the content.
    let mut shifted = receipt.clone();
    let event = &mut shifted["events"][decided];
    let salt = event["salt"].as_str().unwrap().to_owned();
    let (first, rest) = event["content"].as_str().unwrap().split_at(10);
    let salt = first.bytes().fold(salt, |salt, byte| format!("{salt}{byte:02x}"));
    let rest = rest.to_owned();
    (event["salt"], event["content"]) = (salt.into(), rest.into());
    let mut twice = receipt.clone();
    twice["events"].as_array_mut().unwrap().insert(decided, events[decided].clone());
    let mut started = receipt.clone();
    started["events"].as_array_mut().unwrap().truncate(1);
    let mut shorter = receipt.clone();
    shorter["events"][decided]["path"].as_array_mut().unwrap().pop();
    let table = [
        ("the beginning of a text", shifted),
        ("the same event twice", twice),
        ("nothing of it", started),
        ("whoever decided", replaced(&place("head"), "operator", "somebody")),
        ("what was said", replaced(&place("content"), "It is a copy.", "It is no copy.")),
        ("its place", moved),
        ("its path", shorter),
        ("when it was signed", replaced("/checkpoint/note", "\nat 20", "\nat 21")),
    ];
    for (what, changed) in table {
        fs::write(&path, changed.to_string()).unwrap();
        let said = checked(&path, &key, id).unwrap_err();
        assert!(said.starts_with("bad: "), "{what}: {said}");
    }
    // A proof about a different interrupt is rejected.
    fs::write(&path, receipt.to_string()).unwrap();
    let open = ask(&serving, json!({"kind": "question", "title": "Another?"})).await;
    let open = open["id"].as_str().unwrap();
    assert!(checked(&path, &key, open).unwrap_err().contains("is about something else"));
    let mut mixed = receipt.clone();
    let strange = home.json(&["receipt", open])["events"].as_array().unwrap().last().unwrap().clone();
    mixed["events"].as_array_mut().unwrap().push(strange);
    fs::write(&path, mixed.to_string()).unwrap();
    assert!(checked(&path, &key, id).unwrap_err().starts_with("bad: "), "an event of another interrupt");
    // A file without a receipt, or an invalid key, is reported as invalid too.
    let none = home.path().join("none.json");
    fs::write(&none, "{}").unwrap();
    fs::write(&path, receipt.to_string()).unwrap();
    for (path, key) in [
        (home.path().join("gone.json"), key.clone()),
        (none, key.clone()),
        (path.clone(), format!("{key}x")),
        (path.clone(), key.replace('+', "-")),
    ] {
        let said = checked(&path, &key, id).unwrap_err();
        assert!(said.starts_with("bad: ") && said.lines().count() == 1, "{key}: {said}");
    }
    fs::write(&path, receipt.to_string()).unwrap();
    let other = Home::new();
    let _other = other.serve(&[]);
    let signed = other.json(&["audit", "checkpoint"]);
    assert!(
        checked(&path, signed["key"].as_str().unwrap(), id).unwrap_err().contains("not signed with this key")
    );
    // The script prints the option's name that an agent chose, with escapes.
    let asked =
        ask(&serving, json!({"kind": "choice", "title": "How?", "options": [{"id": "größer"}]})).await;
    let id = asked["id"].as_str().unwrap();
    assert_eq!(home.run(&["decide", id, "größer"]).code, 0);
    fs::write(&path, home.json(&["receipt", id]).to_string()).unwrap();
    let said = checked(&path, &key, id).unwrap();
    assert!(said.contains(r"by operator  gr\xf6\xdfer") && said.is_ascii(), "{said}");
}

/// The receipt and the page of an interrupt contain the first view of each person. A client reports a view when it
/// shows the card; reading the interrupt over the API is no view.
#[tokio::test]
async fn the_record_says_who_looked_first_and_when() {
    let home = Home::new();
    let serving = home.serve(&[]);
    let asked = ask(&serving, json!({"kind": "tool_approval", "title": "Delete it"})).await;
    let id = asked["id"].as_str().unwrap();
    let text = |name: &str| serving.started[name].as_str().unwrap();
    let http = holdshort_http::plain().build().unwrap();
    let url = format!("{}/v1/interrupts/{id}", text("listening"));
    let look = async |token: &str| {
        let sent = http.post(format!("{url}/views")).bearer_auth(token).send().await.unwrap();
        sent.status().as_u16()
    };
    assert_eq!(http.get(&url).bearer_auth(text("token")).send().await.unwrap().status(), 200);
    assert_eq!(home.json(&["receipt", id])["events"].as_array().unwrap().len(), 2, "nobody has looked");
    assert_eq!((look(text("token")).await, look(text("token")).await), (200, 200));
    assert_eq!(look(text("agent_token")).await, 403);
    assert_eq!(home.run(&["decide", id, "approve"]).code, 0);
    assert_eq!(look(text("token")).await, 200, "too late to be news");

    let path = home.path().join("receipt.json");
    let receipt = home.json(&["receipt", id]);
    fs::write(&path, receipt.to_string()).unwrap();
    let said = checked(&path, receipt["checkpoint"]["key"].as_str().unwrap(), id).unwrap();
    let kinds: Vec<&str> = said.lines().filter_map(|line| line.split("  ").nth(1)).collect();
    let expected =
        ["run_started", "interrupt_opened", "interrupt_viewed", "decision_made", "interrupt_resolved"];
    assert_eq!(kinds, expected, "{said}");
    // The record of a view contains a digest of the shown content. A holder of the receipt can compute the same digest.
    let content = |at: usize| -> Value {
        serde_json::from_str(receipt["events"][at]["content"].as_str().unwrap()).unwrap()
    };
    let digest = Digest::of_json(&content(1)["data"]).to_string();
    assert_eq!(content(2)["data"], json!({ "digest": digest }));
    let page = home.run(&["receipt", id, "--html"]).out;
    assert!(page.contains("interrupt viewed") && page.contains(&digest), "{page}");
}

/// A card that is shown in a terminal is a view. The decision records how long the card was shown.
#[tokio::test]
async fn what_a_terminal_shows_is_a_look_and_what_a_pipe_takes_is_none() {
    let home = Home::new();
    let serving = home.serve(&[]);
    let kinds = |receipt: &Value| {
        let heads = receipt["events"].as_array().unwrap().iter().map(|each| each["head"].as_str().unwrap());
        heads.filter(|head| head.contains("interrupt_viewed") || head.contains("viewed_ms")).count()
    };
    let asked = ask(&serving, json!({"kind": "tool_approval", "title": "Post it"})).await;
    let (id, run) = (asked["id"].as_str().unwrap(), asked["run"].as_str().unwrap());
    assert_eq!(home.run(&["show", id]).code, 0);
    assert_eq!(kinds(&home.json(&["receipt", id])), 0, "nobody sits at a pipe");
    let mut terminal = Terminal::open(&home, &["show", id], &[]);
    terminal.expect("Post it");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(kinds(&home.json(&["receipt", id])), 1);
    let mut terminal = Terminal::open(&home, &["attach", run], &[]);
    terminal.expect(PROMPT);
    terminal.type_line("1");
    terminal.expect("✓ Approve");
    terminal.end();
    assert_eq!(kinds(&home.json(&["receipt", id])), 2, "one look, and one decision that says how long");
    let page = home.run(&["receipt", id, "--html"]).out;
    assert!(page.contains("with the card on screen, as the client says"), "{page}");

    // A cut card becomes a view only after the person has requested the rest of it.
    let lines: Vec<String> = (1..=80).map(|number| format!("line {number}")).collect();
    let long = json!({"kind": "tool_approval", "title": "Post all of it", "message": lines.join("\n")});
    let asked = ask(&serving, long).await;
    let (id, run) = (asked["id"].as_str().unwrap(), asked["run"].as_str().unwrap());
    let mut terminal = Terminal::open(&home, &["attach", run], &[]);
    let card = terminal.expect(PROMPT);
    assert!(!card.contains("line 80"), "{card}");
    assert_eq!(kinds(&home.json(&["receipt", id])), 0, "it was cut");
    terminal.type_line("v");
    terminal.expect("line 80");
    assert_eq!(kinds(&home.json(&["receipt", id])), 1);
    terminal.type_line("d");
    terminal.end();
}

#[tokio::test]
async fn a_journal_is_compared_with_checkpoints_that_were_kept() {
    let home = Home::new();
    let kept = home.path().join("kept.txt");
    let kept = kept.to_str().unwrap();
    let mut key = String::new();
    {
        let serving = home.serve(&[]);
        for _ in 0..3 {
            ask_more(&serving, 1).await;
            let signed = home.json(&["audit", "checkpoint", "--out", kept]);
            signed["key"].as_str().unwrap().clone_into(&mut key);
        }
        let held = home.json(&["audit", "verify", "--against", kept, "--key", &key]);
        let against = held["against"].as_array().unwrap();
        assert!(against.len() == 3 && against.iter().all(|each| each["holds"] == true), "{held}");
    }
    // The journal is read directly, without a server.
    let ran = home.run(&["audit", "verify", "--against", kept, "--key", &key]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = home.run(&["audit", "verify", "--against", kept]);
    assert!(ran.code == 2 && ran.err.contains("--key"), "{ran:?}");

    let other = Home::new();
    let serving = other.serve(&[]);
    ask_more(&serving, 9).await;
    let ran = other.run(&["audit", "verify", "--against", kept, "--key", &key]);
    assert!(
        ran.code == 1 && ran.out.contains("the journal was changed, or is a different journal"),
        "{ran:?}"
    );
    let strange = other.json(&["audit", "checkpoint"])["key"].as_str().unwrap().to_owned();
    let ran = home.run(&["audit", "verify", "--against", kept, "--key", &strange]);
    assert!(ran.code == 2 && ran.err.contains("not signed with this key"), "{ran:?}");
    // A checkpoint that was cut off by a crash is reported. All other checkpoints are valid.
    let whole = fs::read_to_string(kept).unwrap();
    fs::write(kept, format!("{}{whole}", &whole[..60])).unwrap();
    let ran = home.run(&["audit", "verify", "--against", kept, "--key", &key]);
    assert!(ran.code == 0 && ran.out.contains("checkpoint 1 is ignored"), "{ran:?}");
    let told = home.json(&["audit", "verify", "--against", kept, "--key", &key]);
    assert!(told["left_out"][0].as_str().unwrap().contains("checkpoint 1"), "{told}");
    // A head outside the checkpoints is compared too. An incomplete head must not be ignored as other text.
    let none = "0".repeat(24);
    for (beside, code) in [(format!("2026-11-27 2:{none}"), 1), (format!("2:{}", &none[..9]), 2)] {
        let behind_a_cut_one = format!("{}\n{beside}\n{whole}", &whole[..60]);
        for text in [format!("{beside}\n{whole}"), format!("{whole}{beside}\n"), behind_a_cut_one] {
            fs::write(kept, &text).unwrap();
            let ran = home.run(&["audit", "verify", "--against", kept, "--key", &key]);
            assert_eq!(ran.code, code, "{text}: {ran:?}");
        }
    }
    // If the number of heads leaves no room for a checkpoint, the error reports too many heads.
    fs::write(kept, format!("{}{whole}", format!("2:{none}\n").repeat(100))).unwrap();
    let ran = home.run(&["audit", "verify", "--against", kept, "--key", &key]);
    assert!(ran.code == 2 && ran.err.contains("contains 100 heads and its checkpoints"), "{ran:?}");
    fs::write(kept, &whole).unwrap();
    let changed = fs::read_to_string(kept).unwrap().replacen("at 2", "at 3", 1);
    fs::write(kept, changed).unwrap();
    let ran = home.run(&["audit", "verify", "--against", kept, "--key", &key]);
    assert!(ran.code == 2 && ran.err.contains("checkpoint 1"), "{ran:?}");
}

#[tokio::test]
async fn a_server_appends_checkpoints_while_its_journal_grows() {
    let home = Home::new();
    let kept = home.path().join("kept.txt");
    let path = kept.to_str().unwrap();
    let ran = home.run(&["serve", "--listen", "127.0.0.1:0", "--checkpoint-every", "1s"]);
    assert!(ran.code == 2 && ran.err.contains("checkpoint-file"), "{ran:?}");
    let ran = home.run(&["serve", "--listen", "127.0.0.1:0", "--checkpoint-file", "/nowhere/kept.txt"]);
    assert!(ran.code == 2 && ran.err.contains("/nowhere/kept.txt"), "{ran:?}");
    let serving = home.serve(&["--checkpoint-file", path, "--checkpoint-every", "1s"]);
    let notes = || fs::read_to_string(&kept).unwrap_or_default().matches("\nhead ").count();
    for count in 1..=2 {
        ask_more(&serving, 1).await;
        let written = async {
            while notes() < count {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), written).await.expect("a checkpoint is written");
    }
    let key = home.json(&["audit", "checkpoint"])["key"].as_str().unwrap().to_owned();
    ask_more(&serving, 1).await;
    assert_eq!(serving.stop().0, 0);
    // The last checkpoint covers all events.
    let held = home.json(&["audit", "verify", "--against", path, "--key", &key]);
    let all = held["events"].as_u64().unwrap();
    let against = held["against"].as_array().unwrap();
    assert!(against.iter().all(|each| each["holds"] == true), "{held}");
    let last = against.last().unwrap()["head"].as_str().unwrap();
    assert!(last.starts_with(&format!("{all}:root:")), "{held}");
}

/// The server proves, without the journal, that one checkpoint continues another.
#[tokio::test]
async fn the_server_proves_that_a_checkpoint_continues_another() {
    let home = Home::new();
    let serving = home.serve(&[]);
    let mut signed = Vec::new();
    for count in [3, 8] {
        ask_more(&serving, count).await;
        signed.push(home.json(&["audit", "checkpoint"]));
    }
    let tree = |signed: &Value| {
        let root: Digest = serde_json::from_value(signed["root"].clone()).unwrap();
        (signed["size"].as_u64().unwrap(), root)
    };
    let ((earlier, first), (size, second)) = (tree(&signed[0]), tree(&signed[1]));
    let text = |name: &str| serving.started[name].as_str().unwrap();
    let proof = async |earlier: u64, size: u64| {
        let url = format!("{}/v1/audit/consistency?earlier={earlier}&size={size}", text("listening"));
        let response = holdshort_http::plain().build().unwrap().get(url).bearer_auth(text("token")).send();
        let response = response.await.unwrap();
        (response.status().as_u16(), response.json::<Value>().await.unwrap())
    };
    let (status, proved) = proof(earlier, size).await;
    assert_eq!(status, 200);
    let path: Vec<Digest> = serde_json::from_value(proved["proof"].clone()).unwrap();
    assert!(continues((earlier, &first), (size, &second), &path));
    assert!(!continues((earlier, &second), (size, &second), &path));
    for (earlier, size) in [(0, size), (size + 1, size), (1, size + 1_000)] {
        assert_eq!(proof(earlier, size).await.0, 400, "{earlier} to {size}");
    }
}

const WORKFLOW: &str = "name: own
agents:
  ada: {instructions: Do it., tools: [write_file]}
phases:
  - {id: work, kind: one_shot, agent: ada}
";
const REHEARSAL: &str = "agents:
  ada:
    - text: First.
      calls:
        - {tool: write_file, arguments: {path: one.txt, content: \"one\\n\"}}
    - text: Done.
";

/// The receipt of a native call shows that the call was allowed, started and completed.
#[test]
fn the_receipt_of_a_call_of_ours_says_what_was_carried_out() {
    let home = Home::new();
    let (folder, workspace) = (home.path().join("workflows/own"), home.path().join("workspace"));
    fs::create_dir_all(&folder).unwrap();
    fs::create_dir(&workspace).unwrap();
    fs::write(folder.join("workflow.yaml"), WORKFLOW).unwrap();
    fs::write(folder.join("rehearsal.yaml"), REHEARSAL).unwrap();
    let _serving = home.serve(&["--workflows", home.path().join("workflows").to_str().unwrap()]);
    let place = workspace.to_str().unwrap();
    let ran = home.run(&["run", "own", "Write.", "--model", "rehearsal", "--workspace", place]);
    assert_eq!(ran.code, 4, "nobody is at a terminal: {ran:?}");
    let open = home.open_interrupt();
    let id = open["id"].as_str().unwrap();
    assert_eq!(home.run(&["decide", id, "approve"]).code, 0);
    let run = open["run"].as_str().unwrap();
    assert_eq!(home.run(&["attach", run]).code, 0, "it comes to its end");
    assert_eq!(fs::read_to_string(workspace.join("one.txt")).unwrap(), "one\n");

    let path = home.path().join("receipt.json");
    home.run(&["receipt", id, "--out", path.to_str().unwrap()]);
    let receipt: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let said = checked(&path, receipt["checkpoint"]["key"].as_str().unwrap(), id).unwrap();
    let places = ["interrupt_opened", "decision_made", "tool_authorised", "tool_started", "tool_finished"]
        .map(|kind| said.find(kind).unwrap_or_else(|| panic!("{kind}: {said}")));
    assert!(places.is_sorted(), "{said}");
    // The page for people is a single file that loads no other file.
    let page = home.path().join("record.html");
    let told = home.run(&["receipt", id, "--html", "--out", page.to_str().unwrap()]);
    assert_eq!((told.code, told.out.starts_with("A page in")), (0, true), "{told:?}");
    let page = fs::read_to_string(page).unwrap();
    for part in [
        "one.txt",
        "Approved",
        "The call was carried out.",
        "decision made",
        "tool finished",
        "operator",
        "<style>",
        "@media print",
        "holdshort&#x2f;",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for part in ["src=", "href=", "<script", "<form", "close this page", "happened yet"] {
        assert!(!page.contains(part), "{part}: {page}");
    }
}
