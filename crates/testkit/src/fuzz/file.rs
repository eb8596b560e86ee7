//! Fuzz targets for workflow YAML and rehearsal scripts. Each input must give one of two results: a value that is the
//! same after it was written and read again, or problems with their positions in the file.

use holdshort_core::definition::Definition;
use holdshort_core::json;
use holdshort_workflow::{Problem, rehearsal as scripts};

pub(super) fn workflow(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match holdshort_workflow::parse("w.yaml", text, &holdshort_tools::catalogue(&[])) {
        Err(problems) => are_inside(text, &problems),
        Ok(definition) => {
            assert_eq!(
                holdshort_workflow::parse("w.yaml", text, &holdshort_tools::catalogue(&[])).ok().as_ref(),
                Some(&definition)
            );
            // Checks the canonical form, because the journal stores the definition in this form, under its digest.
            let kept = json::canonical(&definition);
            let read: Definition = json::from_slice(&kept).unwrap_or_else(|error| panic!("{error}: {text}"));
            assert_eq!((&read, read.digest()), (&definition, definition.digest()));
            assert_eq!(json::canonical(&read), kept);
        }
    }
}

pub(super) fn rehearsal(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match scripts::parse("r.yaml", text) {
        Err(problems) => are_inside(text, &problems),
        Ok(script) => assert_eq!(scripts::parse("r.yaml", text).ok(), Some(script)),
    }
}

fn are_inside(text: &str, problems: &[Problem]) {
    assert!(!problems.is_empty());
    let lines = text.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']).count() as u64;
    for problem in problems {
        let inside = (1..=lines + 1).contains(&problem.line) && problem.column >= 1;
        assert!(inside && !problem.message.is_empty(), "{problem}: {text:?}");
    }
}
