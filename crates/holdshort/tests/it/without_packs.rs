//! Tests of the program without packs: no addition of a pack is available or mentioned.
#![cfg(not(feature = "packs"))]

use holdshort_testkit::home::Home;

#[test]
fn nothing_of_a_pack_is_there() {
    let home = Home::new();
    let help = home.run(&["run", "--help"]).out;
    assert!(
        !help.contains("--config") && !help.contains("--case") && !help.contains("--output-dir"),
        "{help}"
    );
    let refused = home.run(&["init", "pair"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains("no workflow of this build has a configuration"), "{refused:?}");
    let refused = home.run(&["demo", "nothing"]);
    assert!(refused.err.contains("only of codelab, copilot, pair, research"), "{refused:?}");
}
