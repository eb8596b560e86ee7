//! Tests of lines that answer the list of open calls that a grant would cover.

use holdshort_protocol::AlsoCovered;

use super::*;

fn covered(titles: &[&str]) -> Vec<AlsoCovered> {
    let each = |(at, title): (usize, &&str)| AlsoCovered {
        interrupt: format!("int_{}", at + 1),
        title: (*title).to_owned(),
    };
    titles.iter().enumerate().map(each).collect()
}

#[test]
fn only_listed_calls_that_the_person_named_are_released() {
    let three = covered(&["write a.txt", "write b.txt", "write c.txt"]);
    let decision = Decision { option: "approve_session".to_owned(), ..Decision::default() };
    for (line, released) in [
        ("y", Some(&["int_1", "int_2", "int_3"][..])),
        (" YES ", Some(&["int_1", "int_2", "int_3"])),
        ("n", Some(&[])),
        ("no", Some(&[])),
        ("2", Some(&["int_2"])),
        ("3, 1", Some(&["int_1", "int_3"])),
        ("2 2", Some(&["int_2"])),
        ("", None),
        (",", None),
        ("0", None),
        ("4", None),
        ("1 4", None),
        ("-1", None),
        ("all", None),
        ("int_1", None),
        ("y 2", None),
    ] {
        let answered = also::answered(&decision, &three, line);
        let kept = answered.as_ref().map(|decision| decision.also.clone());
        assert_eq!(
            kept.as_deref(),
            released.map(|ids| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>()).as_deref(),
            "{line:?}"
        );
        let shown = answered.map(|decision| decision.also_shown.len());
        assert!(shown.is_none_or(|shown| shown == 3), "{line:?}: the record names all that were shown");
    }
}

#[test]
fn the_list_names_each_call_on_a_line_of_its_own() {
    assert_eq!(also::list(&[], Paint::plain()), [""; 0]);
    let shown = also::list(&covered(&["write a.txt", "two\nlines\u{202e}"]), Paint::plain()).join("\n");
    assert_eq!(
        shown,
        "  The grant would also cover 2 other open calls:\n    1  write a.txt  (int_1)\n    2  two\\nlines\\u{202e}  (int_2)"
    );
}
