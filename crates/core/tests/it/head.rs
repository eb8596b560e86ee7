//! Heads of streams: a head covers all events before it, and a stored head text matches only the head from which it was
//! made.

use holdshort_core::digest::Digest;
use holdshort_core::head::{Head, HeadNote, Malformed};

fn head_of(events: &[&str]) -> Head {
    events.iter().fold(Head::START, |head, event| head.then(&Digest::of_bytes(event.as_bytes())))
}

#[test]
fn a_head_tells_number_and_order_of_all_events() {
    let head = head_of(&["a", "b", "c"]);
    assert_eq!(head.events, 3);
    let by_hand = ["a", "b", "c"].iter().fold(Digest::ZERO, |before, event| {
        Digest::of_parts(&[before.as_bytes(), Digest::of_bytes(event.as_bytes()).as_bytes()])
    });
    assert_eq!(head.hash, by_hand);
    for other in [&["a", "b"][..], &["a", "c", "b"], &["b", "c"], &["a", "b", "x"], &["a", "b", "c", "c"]] {
        assert_ne!(head_of(other), head, "{other:?}");
    }
}

#[test]
fn what_was_written_down_names_one_head() {
    let head = head_of(&["a", "b"]);
    let line = head.to_string();
    assert_eq!(line.len(), "2:".len() + 24);
    let noted: HeadNote = line.parse().unwrap();
    assert_eq!(noted.to_string(), line);
    let whole: HeadNote = format!("2:{}", head.hash.to_string().to_ascii_uppercase()).parse().unwrap();
    for noted in [noted, whole] {
        assert!(noted.is(&head, &Digest::ZERO));
        assert!(!noted.is(&head_of(&["b", "a"]), &head.hash));
        assert!(!noted.is(&Head { events: 3, ..head }, &Digest::ZERO));
    }
}

#[test]
fn what_a_checkpoint_says_is_a_root_and_no_head() {
    let (head, root) = (head_of(&["a", "b"]), Digest::of_bytes(b"root"));
    let noted = HeadNote::root(2, &root);
    assert_eq!(noted.to_string(), format!("2:root:{root}"));
    assert_eq!(noted.to_string().parse(), Ok(noted.clone()));
    assert!(noted.is(&head, &root));
    assert!(!noted.is(&Head { hash: root, ..head }, &Digest::ZERO));
    assert!(!noted.is(&Head { events: 3, ..head }, &root));
    assert_eq!(noted.to_string()[..60].parse::<HeadNote>(), Err(Malformed));
}

#[test]
fn other_texts_are_no_heads() {
    let digits = "0123456789abcdef".repeat(4);
    for text in [
        "",
        "2",
        ":",
        &digits,
        &format!("2:{}", &digits[..23]),
        &format!("2:{digits}0"),
        &format!("-2:{digits}"),
        &format!("+2:{digits}"),
        &format!(":{digits}"),
        &format!("2:{}g", &digits[..30]),
        &format!("2 :{digits}"),
        &format!("99999999999999999999:{digits}"),
    ] {
        assert_eq!(text.parse::<HeadNote>(), Err(Malformed), "{text}");
    }
}
