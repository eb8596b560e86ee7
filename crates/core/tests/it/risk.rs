//! Risk computed from words and flags in the payload of an external agent.

use holdshort_core::actor::Actor;
use holdshort_core::gate::Source;
use holdshort_core::gate::foreign::ForeignCall;
use holdshort_core::interrupt::{Kind, Risk};
use holdshort_core::level::Level;
use holdshort_core::run::{Ask, Config, Input, Origin};
use serde_json::{Value, json};

use crate::pairs::ask;
use crate::world::{self, World, calls, says};

fn risk(title: &str, payload: Value) -> Risk {
    risk_of_ask(Ask {
        kind: Kind::ToolApproval,
        title: title.to_owned(),
        message: String::new(),
        payload,
        ..ask()
    })
}

fn risk_of_call(arguments: Value) -> Risk {
    let call = ForeignCall { tool: "x".to_owned(), arguments, ..ForeignCall::default() };
    let kind = Kind::ToolApproval;
    risk_of_ask(Ask { kind, message: String::new(), payload: Value::Null, call: Some((call, None)), ..ask() })
}

fn risk_of_ask(ask: Ask) -> Risk {
    let mut world = World::new(world::external());
    let Input::Start(mut start) = world.start_input(Config::default()) else { unreachable!() };
    start.origin = Origin::External;
    let agent = Actor::agent("their-agent", "rest");
    world.try_send(&agent, Input::Start(start)).expect("it may start");
    let kind = ask.kind;
    world.try_send(&agent, Input::Ask(Box::new(ask))).expect("it may ask");
    let id = world.open(kind);
    world.run.interrupts[&id].opened.risk.clone()
}

/// Formats a risk as its level, followed by the codes of its reasons.
fn describe_risk(risk: &Risk) -> String {
    let level = match risk.level {
        Level::Low => "low",
        Level::Medium => "medium",
        Level::High => "high",
        Level::Critical => "critical",
    };
    let codes = risk.reasons.iter().map(|reason| reason.code.as_str());
    std::iter::once(level).chain(codes).collect::<Vec<_>>().join(" ")
}

#[test]
fn words_raise_the_level_and_stand_on_the_card() {
    for (said, expected) in [
        ("Delete 41 branches", "high destructive"),
        ("deletes the branches", "high destructive"),
        ("DELETION of the account", "high destructive"),
        ("deleteUser", "high destructive"),
        ("delete_user", "high destructive"),
        ("user.delete()", "high destructive"),
        ("destroying the cluster", "high destructive"),
        ("DROP TABLE users", "high destructive"),
        ("drop\n  table users", "high destructive"),
        ("dropTable(users)", "high destructive"),
        ("TRUNCATE TABLE users", "high destructive"),
        ("purged all caches", "high destructive"),
        ("wipe the disk", "high destructive"),
        ("Remove-Item -Recurse -Force build", "high destructive"),
        ("rm -rf build", "high destructive"),
        ("clean -fr build", "high destructive"),
        ("push --force", "high destructive"),
        ("push --force-with-lease=main", "high destructive"),
        ("git reset --hard HEAD~3", "high destructive"),
        ("a force push to main", "high destructive"),
        ("this is irreversible", "high destructive"),
        ("deploy to prod", "high production"),
        ("--env=prod", "high production"),
        ("PRODUCTION", "high production"),
        ("restart prod2", "high production"),
        ("PROD_DB_URL", "high production"),
        ("prodDatabase", "high production"),
        ("db.prod.acme.example", "high production"),
        ("sudo systemctl restart nginx", "high privilege"),
        ("run as root", "high privilege"),
        ("--user root", "high privilege"),
        ("docker run --privileged img", "high privilege"),
        ("chmod 777 .", "high privilege"),
        ("GRANT ALL ON db TO bob", "high privilege"),
        ("curl the page", "high network"),
        ("scp a b", "high network"),
        ("upload the file", "high network"),
        ("see https://api.acme.example/v1", "medium network"),
        ("postgres://db.acme.example/x", "medium network"),
        ("send to api.acme.com", "medium network"),
        ("send to 10.1.2.3", "medium network"),
        ("send to cache.acme.example:6379", "medium network"),
        ("delete the prod database", "critical destructive production"),
        ("sudo rm -rf / on prod", "critical destructive production privilege"),
    ] {
        assert_eq!(describe_risk(&risk(said, Value::Null)), expected, "as the title: {said}");
        assert_eq!(
            describe_risk(&risk("t", json!({ "what": [{ "to_do": said }] }))),
            expected,
            "in the payload: {said}"
        );
    }
}

/// The risk is computed even if no option releases work, because an external agent continues with every answer.
#[test]
fn questions_and_choices_of_agents_elsewhere_are_read() {
    let choice = |label: &str| {
        let options =
            vec![("a".to_owned(), Some(label.to_owned())), ("b".to_owned(), Some("Wait".to_owned()))];
        Ask { kind: Kind::Choice, options, ..ask() }
    };
    for (ask, expected) in [
        (ask(), "medium"),
        (Ask { title: "Drop database production?".to_owned(), ..ask() }, "critical destructive production"),
        (Ask { payload: json!({"command": "sudo ls"}), ..ask() }, "high privilege"),
        (choice("Go on"), "medium"),
        (choice("Delete production"), "critical destructive production"),
    ] {
        assert_eq!(describe_risk(&risk_of_ask(ask.clone())), expected, "{ask:?}");
    }
}

#[test]
fn words_within_others_raise_nothing() {
    for said in [
        "Refund 120 EUR",
        "a product of the products page",
        "reproduce the error",
        "productive work, reproduced",
        "the prodigal son",
        "undeleted files",
        "the indelible mark",
        "read the terminal",
        "drop by for a table of figures",
        "a droplet",
        "enforce the rule, reinforced",
        "a workforce of ten",
        "hard to say",
        "--format=json --reformat",
        "--force=false",
        "--no-hardlinks",
        "formal wear",
        "the project root",
        "pseudo code",
        "sudoku",
        "platform, transform, harm",
        "farm -x",
        "a curly brace, a wgetter",
        "curlew",
        "mail to ann@acme.com",
        "http://localhost:8080/x and 127.0.0.1:99",
        "src/main.rs, a.py and socket.io",
        "asp.net",
        "version 1.2.3",
        "at 10:30",
        "branch -r",
        "tar -xf a.tar",
    ] {
        let found = risk(said, json!({ "what": said }));
        assert_eq!(describe_risk(&found), "medium", "{said}: {found:?}");
    }
}

#[test]
fn lines_are_read_as_the_shell_reads_them() {
    for (line, expected) in [
        ("ls -l", "medium"),
        ("grep -rn delete src", "medium"),
        ("grep -rn production .", "medium"),
        ("rm -rf build", "high deletes_folders"),
        ("sudo rm -rf build", "high deletes_folders privilege"),
        ("kill -9 1234", "high destructive"),
        ("dd if=a of=b", "high"),
        ("nc host 99", "high network"),
        ("git push --force", "high forced deploys"),
        ("psql -c 'DROP TABLE users'", "high destructive"),
        ("psql -c 'DELETE FROM users'", "high destructive"),
        ("tool delete user-4711", "high destructive"),
        ("python3 -c 'import shutil; shutil.rmtree(\"x\")'", "high destructive"),
        ("node -e 'fs.unlinkSync(\"x\")'", "high destructive"),
        ("perl -e 'unlink \"x\"'", "high destructive"),
        ("python3 -c 'print(1)'", "medium"),
        ("chmod 4755 f", "high rights"),
        ("chmod u+s f", "high rights"),
        ("chmod 777 f", "high rights"),
        ("tool show notes/delete/a.txt", "medium"),
        ("rm -f build/a.o", "medium"),
        ("chmod +x run.sh", "medium"),
    ] {
        let found = risk("t", json!({ "arguments": { "command": line } }));
        let told = describe_risk(&found);
        assert!(told == expected || (expected == "high" && told.starts_with("high")), "{line}: {told}");
    }
}

#[test]
fn members_that_are_switched_on_count() {
    for (payload, expected) in [
        (json!({ "force": true }), "high destructive"),
        (json!({ "options": { "force": "yes" } }), "high destructive"),
        (json!({ "delete_all": true }), "high destructive"),
        (json!({ "is_admin": true }), "high privilege"),
        (json!({ "force": false, "purge": false }), "medium"),
        (json!({ "enforce": true }), "medium"),
    ] {
        assert_eq!(describe_risk(&risk("t", payload.clone())), expected, "{payload}");
    }
}

/// Names of members and the length of texts cannot hide a risk, because the external agent chooses these names and
/// texts.
#[test]
fn no_agent_elsewhere_takes_the_risk_off_by_how_it_says_it() {
    const SAID: &str = "drop database production";
    let padded = |text: &str| format!("{text}{}", " x".repeat(3_000));
    let long = "critical unread_texts destructive production";
    for (payload, expected) in [
        (json!({ "content": SAID }), "critical destructive production"),
        (json!({ "old": "", "new": SAID }), "critical destructive production"),
        (json!({ SAID: "yes" }), "critical destructive production"),
        (json!({ SAID: null }), "critical destructive production"),
        (json!({ SAID: false }), "medium"),
        (json!({ "text": padded(SAID) }), long),
        (json!({ "output": padded(SAID) }), long),
        (json!({ padded(SAID): 1 }), long),
        (json!({ "text": padded("") + SAID }), "high unread_texts"),
        (json!({ "text": padded("") }), "high unread_texts"),
    ] {
        assert_eq!(describe_risk(&risk("t", payload.clone())), expected, "{payload}");
        let of_call = risk_of_call(payload.clone());
        let codes = describe_risk(&of_call).replace(" default", "");
        assert_eq!(codes, expected, "as the arguments of a call: {payload}");
    }
    assert_eq!(describe_risk(&risk_of_ask(Ask { message: padded(SAID), ..ask() })), long);
    // The title, the message and the name of the member are texts, too.
    for (values, expected) in [(997, "medium"), (998, "high unread_texts")] {
        assert_eq!(describe_risk(&risk("t", json!({ "a": vec!["x"; values] }))), expected, "{values}");
    }
    // A long table repeats its member names in each row. The repetition does not raise the risk.
    let rows: Vec<Value> = (0..400).map(|n| json!({ "sum": n, "note": "x", "to": "y" })).collect();
    assert_eq!(describe_risk(&risk("t", json!({ "rows": rows }))), "medium");
}

/// Words in a text that a native file tool writes do not raise the risk, because the card shows the text as a diff.
#[test]
fn a_document_of_our_own_agents_speaks_of_many_things() {
    for content in ["delete production".to_owned(), format!("delete {}", "x ".repeat(3_000))] {
        let write = calls(&[("write_file", json!({ "path": "a.md", "content": content }))]);
        let mut world = World::started(world::definition(), vec![write, says("x")]);
        world.work();
        let id = world.open(Kind::ToolApproval);
        let codes = describe_risk(&world.run.interrupts[&id].opened.risk);
        assert!(!codes.contains("destructive") && !codes.contains("unread_texts"), "{codes}");
    }
}

#[test]
fn a_reason_names_what_was_found_and_where() {
    let found = risk("Clean up", json!({ "sql": "DROP TABLE users; DELETE FROM carts", "force": true }));
    let reason = &found.reasons[0];
    assert_eq!((reason.source, reason.rule), (Source::Words, None));
    assert!(
        reason.text.starts_with("the request mentions an action that cannot be undone: `"),
        "{}",
        reason.text
    );
    assert!(reason.text.ends_with("` in the payload"), "{}", reason.text);
    for word in ["delete", "delete from", "drop table"] {
        assert!(reason.text.contains(&format!("`{word}`")), "{}", reason.text);
    }
}

/// The computed risk also applies to plans of native agents, and to reviews for which the agent claims a lower level.
#[test]
fn it_holds_in_every_workflow_and_no_agent_lowers_it() {
    let plan = |what: &str| {
        let subtasks = json!([{ "id": "a", "description": what, "agent": "pair", "depends_on": [] }]);
        let mut world = World::started(
            world::definition(),
            vec![calls(&[("create_plan", json!({ "subtasks": subtasks }))])],
        );
        world.work();
        let id = world.open(Kind::PlanApproval);
        describe_risk(&world.run.interrupts[&id].opened.risk)
    };
    assert_eq!(plan("look at the code"), "low");
    assert_eq!(plan("drop table users in production"), "critical destructive production");
    let review = |level: &str, title: &str| {
        let arguments = json!({ "title": title, "content": "x", "risk_level": level });
        let mut world =
            World::started(world::definition(), vec![calls(&[("request_review", arguments)]), says("x")]);
        world.work();
        let id = world.open(Kind::Review);
        describe_risk(&world.run.interrupts[&id].opened.risk)
    };
    assert_eq!(
        [review("low", "A note"), review("critical", "A note"), review("low", "Delete all accounts")],
        ["medium", "critical", "high destructive"],
    );
}
