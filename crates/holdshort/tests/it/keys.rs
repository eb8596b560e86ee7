//! Tests of `keys`, which prints only the secret to standard output, and only once.

use holdshort_testkit::home::{CommandOutput, Home};
use holdshort_testkit::server::real;
use serde_json::json;

fn run_as(home: &Home, token: &str, arguments: &[&str]) -> CommandOutput {
    CommandOutput::from_output(
        home.command(real()).args(arguments).env("HOLDSHORT_TOKEN", token).output().unwrap(),
    )
}

#[test]
fn keys_are_made_listed_rotated_and_revoked() {
    let home = Home::new();
    let _serving = home.serve(&[]);
    let none = home.run(&["keys", "list"]);
    assert!(none.out.is_empty() && none.err.contains("holdshort keys create NAME"), "{none:?}");

    let made = home.run(&["keys", "create", "build-bot", "--expires-in", "90d"]);
    let secret = made.out.trim_end();
    assert_eq!((made.code, secret.len(), &secret[..7]), (0, 71, "hs_key_"), "{made:?}");
    assert!(made.err.contains("`build-bot`, an agent until ") && !made.err.contains(secret), "{made:?}");
    let listed = home.json(&["keys"]);
    let id = listed[0]["id"].as_str().unwrap().to_owned();
    assert!(made.err.contains(&id), "{made:?}");

    let asks = run_as(&home, secret, &["keys"]);
    assert_eq!(asks.code, 1, "the command is right, and refused: {asks:?}");
    assert!(asks.err.contains("[forbidden_role]"), "{asks:?}");
    let list = home.run(&["keys", "list"]);
    assert!(list.out.contains("build-bot  agent  until ") && list.out.contains("last used"), "{list:?}");
    assert!(!list.out.contains(secret), "{list:?}");

    let rotated = home.run(&["keys", "rotate", &id, "--overlap", "1h"]);
    let second = rotated.out.trim_end();
    assert!(second.starts_with("hs_key_") && second != secret, "{rotated:?}");
    assert!(rotated.err.contains("The previous secret is valid until "), "{rotated:?}");
    for token in [secret, second] {
        assert!(run_as(&home, token, &["keys"]).err.contains("[forbidden_role]"));
    }
    let revoked = home.run(&["keys", "revoke", &id]);
    assert_eq!(revoked.out, "The key `build-bot` is revoked. Its open connections are closed.\n");
    assert_eq!(home.json(&["keys", "revoke", &id])["status"], "revoked");
    for token in [secret, second] {
        let ran = run_as(&home, token, &["keys"]);
        assert!(
            ran.err.contains("[unauthenticated]") && ran.err.contains("is unknown, expired or revoked"),
            "{ran:?}"
        );
    }
    let late = home.run(&["keys", "rotate", &id]);
    assert!(late.code != 0 && late.err.contains("[key_ended]"), "{late:?}");
    assert!(home.run(&["keys"]).out.contains("revoked"));
}

#[test]
fn what_can_not_be_made_says_why() {
    let home = Home::new();
    let _serving = home.serve(&[]);
    let table = [
        (&["keys", "create", "operator"][..], "[name_taken]"),
        (&["keys", "create", "Bot"], "lower-case letters"),
        (&["keys", "create", "bot\u{202e}"], "lower-case letters"),
        (&["keys", "create", "bot", "--role", "admin"], "agent, operator, reviewer, auditor"),
        (&["keys", "create", "bot", "--expires-in", "soon"], "is not a duration such as"),
        (&["keys", "rotate", "run_01k6f0000000000000000000aa"], "is a run, not a key"),
        (&["keys", "revoke", "key_01k6f0000000000000000000aa"], "no such key"),
    ];
    for (arguments, said) in table {
        let ran = home.run(arguments);
        assert!(ran.code != 0 && ran.err.contains(said), "{arguments:?}: {ran:?}");
    }
    assert_eq!(home.json(&["keys"]), json!([]));
}
