//! Tests of the help text.

use super::*;

fn without_a_word(command: &clap::Command) -> Vec<String> {
    let of = |name: &str| format!("{} {name}", command.get_name());
    let arguments = command.get_arguments().filter(|each| each.get_help().is_none());
    let mut found: Vec<String> = arguments.map(|each| of(each.get_id().as_str())).collect();
    for verb in command.get_subcommands() {
        found.extend(verb.get_about().is_none().then(|| of(verb.get_name())));
        found.extend(without_a_word(verb));
    }
    found
}

#[test]
fn no_line_below_the_options_is_wider_than_a_terminal() {
    let wide: Vec<String> = help().lines().filter(|line| line.len() > 80).map(str::to_owned).collect();
    assert_eq!(wide, Vec::<String>::new());
}

#[test]
fn what_starts_a_server_of_its_own_offers_no_other() {
    for verb in OWN_SERVER.into_iter().chain(NO_SERVER) {
        let mut command = Args::described(Packs::default());
        let shown = command.find_subcommand_mut(verb).unwrap().render_long_help().to_string();
        assert!(!shown.contains("--server"), "{verb}: {shown}");
        assert_eq!(shown.contains("--model"), OWN_SERVER.contains(&verb), "{verb}: {shown}");
        let place = matches!(verb, "backup" | "export" | "import" | "init").then_some("place");
        let named = ["holdshort", verb].into_iter().chain(place).chain(["--server", "http://127.0.0.1:1"]);
        let parsed = Args::parse(Packs::default(), named).unwrap();
        assert_eq!(parsed.reach.server.as_deref(), Some("http://127.0.0.1:1"), "{verb}: refused with words");
    }
    assert_eq!(
        Args::parse(Packs::default(), ["holdshort", "inbox", "--server", "x"])
            .unwrap()
            .reach
            .server
            .as_deref(),
        Some("x")
    );
}

#[test]
fn a_request_is_put_off_for_until_or_no_more_and_says_which() {
    let snoozed = |more: &[&str]| {
        Args::parse(Packs::default(), [&["holdshort", "snooze", "int_1"], more].concat()).is_ok()
    };
    for one in [&["--for", "2h"][..], &["--until", "2026-02-07T09:00:00Z"], &["--off"]] {
        assert!(snoozed(one), "{one:?}");
    }
    assert!(!snoozed(&[]) && !snoozed(&["--for", "2h", "--off"]));
}

#[test]
fn the_help_has_a_word_for_everything() {
    assert_eq!(without_a_word(&Args::command()), Vec::<String>::new());
}
