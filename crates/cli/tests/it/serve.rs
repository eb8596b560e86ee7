//! `serve`, and the verbs beside it.

use serde_json::json;

use crate::home::Home;

#[test]
fn serve_prints_one_line_and_stops_when_it_is_told() {
    let home = Home::new();
    let serving = home.serve(&[]);
    let keys: Vec<&String> = serving.started.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["listening", "token", "agent_token", "login"]);
    let address = serving.started["listening"].as_str().unwrap();
    assert!(address.starts_with("http://127.0.0.1:"), "{address}");

    let doctor = home.json(&["doctor"]);
    assert_eq!(doctor["server"]["address"], address);
    assert_eq!(home.json(&["inbox"]), json!([]));
    assert_eq!(home.json(&["workflows"]).as_array().unwrap().len(), 10);
    assert_eq!(home.json(&["audit", "verify"])["intact"], true);
    let nothing = format!("0:{}", "0".repeat(24));
    assert_eq!(
        home.run(&["audit", "verify"]).out,
        format!("✓ 0 events in 0 streams, every one as it was written.\n  Its head is {nothing}\n")
    );
    assert_eq!(home.run(&["audit", "head"]).out, format!("{nothing}\n"));
    assert_eq!(home.json(&["freeze"])["frozen"], true);
    assert!(home.run(&["audit", "verify"]).out.contains("✓ 1 event in 1 stream, "));
    assert_eq!(home.json(&["doctor"])["server"]["frozen"], true);
    assert!(home.run(&["doctor"]).out.contains("Everything is frozen"));
    let inbox = home.run(&["inbox"]);
    assert!(
        inbox.err.contains("Everything is frozen") && inbox.err.contains("holdshort unfreeze"),
        "{inbox:?}"
    );
    assert_eq!(home.json(&["unfreeze"])["frozen"], false);
    assert!(!home.run(&["inbox"]).err.contains("frozen"));

    let ran = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("another server uses this data folder"), "{ran:?}");
    let ran = home.run(&["rebuild"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("stop it first"), "{ran:?}");

    assert_eq!(serving.stop(), (0, String::new()));
    assert!(!home.data().join("server.json").exists());
    assert_eq!(home.json(&["rebuild"]), json!({"runs": 0, "sessions": 0, "interrupts": 0, "grants": 0}));
}

#[test]
fn the_address_of_a_killed_server_counts_for_nothing() {
    let home = Home::new();
    home.serve(&[]).kill();
    assert!(home.data().join("server.json").exists());
    let doctor = home.json(&["doctor"]);
    assert_eq!(doctor["server"]["reachable"], false);
    let serving = home.serve(&[]);
    assert_eq!(home.json(&["doctor"])["server"]["address"], serving.started["listening"]);
}
